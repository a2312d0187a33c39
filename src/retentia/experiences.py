"""Experiences: what was tried, what came of it, and what that teaches for the next task. `Memory.experience` has it.

An experience is kept as it was and never changed; what is learned from them is calculated anew each time.
"""

from collections.abc import Mapping, Sequence

from retentia.doors import Doors
from retentia.errors import InvalidInput, NotFound
from retentia.experience.rules import ExperienceRules, rules_from
from retentia.model.experience import Experience, experience_of
from retentia.model.experience_fields import ExperienceLike
from retentia.model.ids import id_bytes
from retentia.model.provenance import Source
from retentia.model.record import ItemRecord, Kind
from retentia.model.scope import Scope
from retentia.store import experiences, records, tenant_settings
from retentia.store.database import Database
from retentia.write.experience_pipeline import ExperiencePipeline
from retentia.write.receipt import Receipt

SHORT_TERM = 5
"""How many of the latest experiences are the short-term store."""
_KINDS = (Kind.EXPERIENCE,)


class Experiences:
    """What was learned by doing, by scope. Every verb takes the scope; safe to use from many threads."""

    def __init__(self, database: Database, doors: Doors, pipeline: ExperiencePipeline) -> None:
        self._database = database
        self._doors = doors
        self._pipeline = pipeline

    def behind(self, doors: Doors) -> "Experiences":
        """Return the same verbs behind other doors."""
        return Experiences(self._database, doors, self._pipeline)

    def record(
        self,
        experience: ExperienceLike | Sequence[ExperienceLike],
        *,
        scope: Scope,
        session: str = "",
        sources: Sequence[Source] = (),
    ) -> Receipt:
        """Keep one experience, or many in one transaction; a mapping has the fields of `experience_fields.FIELDS`.

        `session` names where it happened, `sources` are the records that show it: when all of them are erased, it goes
        with them. What comes again under one key is one experience. Those of many that are refused are named in the
        receipt with the reason and the others are kept. Raises InvalidInput, ContentTooLarge and ErasedEarlier.
        """
        given = [experience] if isinstance(experience, (Experience, Mapping)) else list(experience)
        with self._doors.writing(scope, _KINDS):
            return self._pipeline.run(given, scope, session=session, sources=sources)

    def get(self, record_id: str, *, scope: Scope) -> Experience:
        """Return an experience with its sources; raise NotFound."""
        try:
            raw = id_bytes(record_id)
        except ValueError as error:
            raise InvalidInput(str(error)) from error
        with self._doors.reading(scope, _KINDS) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                found = records.fetch(transaction, view, {Kind.EXPERIENCE: [raw]}).get(raw)
            shown = show([found] if isinstance(found, ItemRecord) and found.kind is Kind.EXPERIENCE else [])
        if not shown:
            raise NotFound(f"there is no experience {record_id!r} in {scope}")
        return experience_of(shown[0])

    def recent(self, *, scope: Scope, limit: int = SHORT_TERM) -> list[Experience]:
        """Return the latest experiences, the newest first: the short-term store."""
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")
        with self._doors.reading(scope, _KINDS) as show:
            with self._database.read(scope.tenant) as transaction:
                view = records.view_of(transaction, scope)
                latest = experiences.latest(transaction, view.scope_ids, limit=limit)
                found = records.fetch(transaction, view, {Kind.EXPERIENCE: latest})
            shown = show([one for raw in latest if isinstance(one := found.get(raw), ItemRecord)])
        return [experience_of(one) for one in shown]

    def rules(self, tenant: str) -> ExperienceRules:
        """Return the categories and strategies that a tenant has beside the shipped ones."""
        with self._database.read(tenant) as transaction:
            return rules_from(tenant_settings.load(transaction).experience_rules)

    def set_rules(self, rules: Mapping[str, object] | None, *, tenant: str) -> ExperienceRules:
        """Set them: {"categories": [name], "strategies": {name: instruction}}; None leaves the shipped ones alone.

        Raises InvalidInput.
        """
        parsed = None if rules is None else ExperienceRules.parse(rules)
        with self._database.write(tenant) as transaction:
            tenant_settings.set_experience_rules(transaction, None if parsed is None else parsed.as_data())
        return self.rules(tenant)
