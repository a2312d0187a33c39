"""Writing experiences, step by step: draft each -> know those of a key again -> one transaction -> queue embedding."""

from collections.abc import Sequence

from retentia.errors import ErasedEarlier
from retentia.experience.rules import rules_from
from retentia.model.experience_fields import ExperienceLike
from retentia.model.ids import id_text, new_id_bytes
from retentia.model.provenance import Source
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import generations, records, schema, tenant_settings
from retentia.store.database import Database
from retentia.write import indexed
from retentia.write.experiences import Drafted, draft_each, keyed_id
from retentia.write.items import check_sources, key_content, link_sources
from retentia.write.place import Buried, Place
from retentia.write.receipt import Failed, Receipt, Written
from retentia.write.rows import Row


class ExperiencePipeline:
    """Writes experiences; see the module for the order of steps."""

    def __init__(self, database: Database, tombstones: Buried, *, zone: str) -> None:
        self._database = database
        self._tombstones = tombstones
        self._zone = zone

    def run(
        self,
        given: Sequence[ExperienceLike],
        scope: Scope,
        *,
        session: str = "",
        sources: Sequence[Source] = (),
        raises: bool = True,
    ) -> Receipt:
        """Keep experiences in one transaction; what has a key is kept once, and not again where it was erased.

        Those that are refused are named in the receipt; when all are, the first refusal is raised if `raises`.
        """
        with self._database.read(scope.tenant) as transaction:
            rules = rules_from(tenant_settings.load(transaction).experience_rules)
            store = generations.read_setting(transaction, generations.STORE) or ""
        now = Moment.at(self._database.now(), self._zone)
        drafted, failed = draft_each(given, rules=rules, session=session, now=now, raises=raises)
        with self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope, self._tombstones)
            check_sources(transaction, scope, sources)
            written, rows, erased = _sorted_out(place, drafted, store)
            job_ids = place.insert(schema.item, rows)
            for row in rows:
                link_sources(transaction, row.indexed.record_id, sources)
        if raises and erased and not written:
            raise ErasedEarlier
        return Receipt(
            scope=scope,
            written=tuple(written),
            failed=tuple(sorted((*failed, *erased), key=lambda one: one.position)),
            notes=tuple(dict.fromkeys(note for one in drafted for note in one.draft.notes)),
            job_ids=job_ids,
        )


def _sorted_out(place: Place, drafted: Sequence[Drafted], store: str) -> tuple[list[Written], list[Row], list[Failed]]:
    """Tell what is there already, also within the batch itself, what is new, and what was erased and stays so."""
    contents = {one.position: key_content(one.draft.key) for one in drafted if one.draft.key}
    ids = {one.position: keyed_id(store, place.scope, one.draft.key) for one in drafted if one.draft.key}
    wanted = {(Kind.EXPERIENCE.value, content) for content in contents.values()}
    known = {key: id_ for (_, key), id_ in records.known_contents(place.transaction, place.scope_id, wanted).items()}
    gone = place.erased_ids(ids.values())
    written: list[Written] = []
    rows: list[Row] = []
    erased: list[Failed] = []
    for one in drafted:
        content = contents.get(one.position)
        record_id = ids.get(one.position) or new_id_bytes()
        earlier = known.get(content) if content else None
        if earlier is None and record_id in gone:
            erased.append(Failed(position=one.position, code=ErasedEarlier.code, reason=str(ErasedEarlier())))
            continue
        written.append(Written(position=one.position, id=id_text(earlier or record_id), is_new=earlier is None))
        if earlier is None:
            described = indexed.item(Kind.EXPERIENCE, **one.draft.known(record_id, place.transaction.now))
            rows.append(one.draft.row(described, content_key=content))
            if content is not None:
                known[content] = record_id
    return written, rows, erased
