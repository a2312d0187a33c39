"""Experiences: what was tried, what came of it, and what that teaches for the next task. `Memory.experience` has it.

An experience is kept as it was and never changed; what is learned from them is calculated anew each time.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from retentia.doors import Doors
from retentia.errors import InvalidInput, NotFound
from retentia.experience.curve import WINDOW, Curve, curve_from
from retentia.experience.pool import Ranking
from retentia.experience.priority import HALF_LIFE, STANDARD, Order, Weights, check_half_life, order_of, weights_of
from retentia.experience.remembered import Remembered
from retentia.experience.replay import Replay, relevant
from retentia.experience.rules import ExperienceRules, rules_from
from retentia.experience.skills import WEAK_BELOW, Skill, skills_from
from retentia.experience.strategy import MIN_EVIDENCE, NEAREST, Choice, choose
from retentia.experience.words import language_for
from retentia.model.experience import UNKNOWN, Experience, Outcome, experience_of, outcome_of
from retentia.model.experience_fields import ExperienceLike
from retentia.model.ids import id_bytes
from retentia.model.progress import Progress, unheard
from retentia.model.provenance import Source
from retentia.model.record import ItemRecord, Kind
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.read.experience_pools import ExperienceReading, Only, Told
from retentia.store import experiences, records, tenant_settings
from retentia.store.database import Database
from retentia.working.experience_prompt import replay_of
from retentia.working.tokens import EstimatingCounter, TokenCounter
from retentia.write.experience_pipeline import ExperiencePipeline
from retentia.write.receipt import Receipt

if TYPE_CHECKING:  # what few processes need is imported by the verb that needs it
    from retentia.experience_files import Imported

TOP_K = 3
_AT_ONCE = 500
_MOST = 1_000_000
SHORT_TERM = 5
"""How many of the latest experiences are the short-term store."""
_KINDS = (Kind.EXPERIENCE,)


class Experiences:
    """What was learned by doing, by scope. Every verb takes the scope; safe to use from many threads."""

    def __init__(
        self, database: Database, doors: Doors, pipeline: ExperiencePipeline, reading: ExperienceReading
    ) -> None:
        self._database = database
        self._doors = doors
        self._pipeline = pipeline
        self._reading = reading

    def behind(self, doors: Doors) -> "Experiences":
        """Return the same verbs behind other doors, without those of the tenant's owner."""
        return Experiences(self._database, doors, self._pipeline, self._reading)

    @property
    def embedder(self) -> str:
        """The name of the embedder that likeness is told by, "none" without one."""
        return self._reading.embedder

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

    def import_file(self, path: str | Path, *, scope: Scope, progress: Progress = unheard) -> "Imported":
        """Keep the experiences of a file: JSONL, one a line, or trajectories as tau-bench has them; also of a folder.

        What has a key and is there is not kept twice, so a run that was interrupted goes on. Lines that cannot be kept
        are named with the reason and the others are kept. Raises InvalidInput for a file that cannot be read.
        """
        from retentia.experience_files import import_file

        keep = partial(self._pipeline.run, scope=scope, raises=False)
        with self._doors.writing(scope, _KINDS):
            now = Moment.at(self._database.now())
            return import_file(Path(path), keep, now=now, progress=progress)

    def export_file(self, path: str | Path, *, scope: Scope) -> int:
        """Write all experiences of a scope to a file, one a line, the oldest first; return how many.

        `import_file` reads them back. Raises InvalidInput where the file cannot be written.
        """
        from retentia.ingest.experiences import write_experiences

        return write_experiences(Path(path), self.all(scope=scope))

    def all(self, *, scope: Scope) -> Iterator[Experience]:
        """Yield all experiences, the oldest first, some hundred at a time."""
        told = self._told(scope)
        for start in range(0, len(told.ids), _AT_ONCE):
            wanted = told.ids[start : start + _AT_ONCE]
            with self._doors.reading(scope, _KINDS) as show:
                with self._database.read(scope.tenant) as transaction:
                    found = records.fetch(transaction, records.view_of(transaction, scope), {Kind.EXPERIENCE: wanted})
                shown = show([one for raw in wanted if isinstance(one := found.get(raw), ItemRecord)])
            yield from map(experience_of, shown)

    def get(self, record_id: str, *, scope: Scope) -> Experience:
        """Return an experience with its sources; raise NotFound."""
        try:
            raw = id_bytes(record_id)
        except ValueError:
            raise InvalidInput(
                f"{record_id!r} is no id of an experience; `retentia experience list` shows some"
            ) from None
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
                latest = experiences.latest(transaction, view.scope_ids, limit=min(limit, _MOST))
                found = records.fetch(transaction, view, {Kind.EXPERIENCE: latest})
            shown = show([one for raw in latest if isinstance(one := found.get(raw), ItemRecord)])
        return [experience_of(one) for one in shown]

    def recall(
        self,
        task: str,
        *,
        scope: Scope,
        top_k: int = TOP_K,
        category: str | None = None,
        outcome: Outcome | str | None = None,
        strategy: str | None = None,
        order: Order | str = Order.PRIORITISED,
        weights: Weights | str = STANDARD,
        half_life: timedelta = HALF_LIFE,
    ) -> list[Remembered]:
        """Find the experiences that bear most on a task, best first; `category`, `outcome` and `strategy` narrow it.

        `order` is "similarity" of the tasks, "decayed" (it fades by half in each `half_life`), or "prioritised": a
        weighted sum of likeness, recency, reward and outcome. `weights` are those of the sum, or the name of a phase:
        "standard", "early" (likeness leads) or "late" (recency leads). Nothing is left out by a guess: the ranking is
        that of all experiences. Raises InvalidInput.
        """
        if top_k < 1:
            raise InvalidInput(f"top_k must be at least 1, not {top_k}")
        only = Only(category=category, outcome=None if outcome is None else outcome_of(outcome), strategy=strategy)
        by = Ranking(order=order_of(order), weights=weights_of(weights), half_life=check_half_life(half_life))
        with self._doors.reading(scope, _KINDS) as show:
            if category is not None:
                self._check_category(category, scope)
            found = self._reading.best(task, scope, limit=top_k, only=only, by=by)
            shown = show([one.record for one in found])
        return [
            Remembered(
                experience=experience_of(record),
                similarity=one.similarity,
                recency=one.recency,
                priority=one.priority,
                score=one.score,
            )
            for one, record in zip(found, shown, strict=True)
        ]

    def replay(
        self,
        task: str,
        *,
        scope: Scope,
        budget: int = 800,
        top_k: int = TOP_K,
        avoid: int = 1,
        weights: Weights | str = STANDARD,
        half_life: timedelta = HALF_LIFE,
        language: str = "",
        counter: TokenCounter | None = None,
    ) -> Replay:
        """Return what a task brings to mind, as values and as a prompt of at most `budget` tokens.

        Only what is like the task is shown. Where none of the `top_k` best failed, up to `avoid` failures are shown
        after them: what not to do again. `language` is that of the task where it is not given. Raises InvalidInput.
        """
        if avoid < 0:
            raise InvalidInput(f"avoid must be a number from 0 on, not {avoid}")
        best = self.recall(task, scope=scope, top_k=top_k, weights=weights, half_life=half_life)
        if avoid and all(one.experience.outcome is not Outcome.FAILURE for one in best):
            best += self.recall(
                task, scope=scope, top_k=avoid, outcome=Outcome.FAILURE, weights=weights, half_life=half_life
            )
        counter = counter or EstimatingCounter()
        return replay_of(task, best, budget=budget, counter=counter, embedder=self.embedder, language=language)

    def skills(self, *, scope: Scope, weak_below: float = WEAK_BELOW) -> dict[str, Skill]:
        """Return by category how well its tasks went: count, successes, average reward and iterations, success rate."""
        told = self._told(scope)
        return skills_from(told.category, told.worth == 1, told.reward, told.iterations, weak_below=weak_below)

    def choose_strategy(
        self,
        task: str,
        *,
        scope: Scope,
        category: str = UNKNOWN,
        complexity: float = 0.5,
        min_evidence: int = MIN_EVIDENCE,
        weak_below: float = WEAK_BELOW,
        language: str = "",
    ) -> Choice:
        """Choose how to go about a task, with the reason in words: what worked for the five most like it, or else.

        Raises InvalidInput.
        """
        near = self.recall(task, scope=scope, top_k=NEAREST, order=Order.SIMILARITY)
        rules = self._rules(scope.tenant)
        rules.check_category(category)
        return choose(
            relevant(near, self.embedder),
            self.skills(scope=scope, weak_below=weak_below).get(category),
            complexity,
            min_evidence=min_evidence,
            language=language or language_for(task),
            own=rules.strategies,
        )

    def curve(self, *, scope: Scope, window: int = WINDOW, category: str | None = None) -> Curve:
        """Return the learning curve, of all tasks or of a category: what came of them over time, and a verdict."""
        told = self._told(scope, category=category)
        return curve_from(told.reward, (told.worth == 1).astype(float), window=window)

    def _told(self, scope: Scope, *, category: str | None = None) -> Told:
        with self._doors.reading(scope, _KINDS) as show:
            show([])
            return self._reading.told(scope, category=category)

    def _check_category(self, category: str, scope: Scope) -> None:
        """Refuse a category that the tenant has not, unless experiences are there that were kept under it."""
        rules = self._rules(scope.tenant)
        if not rules.knows(category) and category not in self._reading.told(scope).category:
            rules.check_category(category)

    def _rules(self, tenant: str) -> ExperienceRules:
        with self._database.read(tenant) as transaction:
            return rules_from(tenant_settings.load(transaction).experience_rules)


class OwnerExperiences(Experiences):
    """The same, with what is of a tenant as a whole: `Memory.experience`. No principal has it."""

    def rules(self, tenant: str) -> ExperienceRules:
        """Return the categories and strategies that a tenant has beside the shipped ones."""
        return self._rules(tenant)

    def set_rules(self, rules: Mapping[str, object] | None, *, tenant: str) -> ExperienceRules:
        """Set them: {"categories": [name], "strategies": {name: instruction}}; None leaves the shipped ones alone.

        Raises InvalidInput.
        """
        parsed = None if rules is None else ExperienceRules.parse(rules)
        with self._database.write(tenant) as transaction:
            tenant_settings.set_experience_rules(transaction, None if parsed is None else parsed.as_data())
        return self.rules(tenant)
