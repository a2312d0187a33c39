"""From a row to a line of an export, and from a line to what is inserted. Pure; nothing here touches a store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retentia.errors import EmptyContent, InvalidInput, InvalidMoment
from retentia.model.ids import RecordId, id_bytes
from retentia.model.message import JSON
from retentia.model.portable import LINE_KINDS, SESSION, Line, occurred_json
from retentia.model.provenance import Source
from retentia.model.record import Kind
from retentia.model.time import Moment, Precision
from retentia.store.records import TABLES
from retentia.store.schema import item
from retentia.transfer.fields import FIELDS, REQUIRED
from retentia.write.admission import TRUST_BY_ROLE, admit_name

_IN_SESSION = frozenset((Kind.MESSAGE.value, Kind.TOOL_CALL.value))
_BY_SCHEDULE = frozenset(("review_at", "expires_at"))  # where a line does not say how long, the store does
_SOURCE_FIELDS = frozenset(("kind", "id", "start", "end", "role"))
_LONGEST = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """One line, checked. `id` is None where the line has none; `session` is a name; `values` are columns."""

    kind: str
    id: bytes | None
    values: Mapping[str, Any]
    moment: Moment | None
    session: str
    sources: tuple[Source, ...]
    notes: tuple[str, ...]

    @property
    def is_item(self) -> bool:
        """Whether it is something known, which has sources and whose content makes it the same."""
        return is_item(self.kind)


def is_item(kind: str) -> bool:
    """Tell whether lines of a kind are items."""
    return kind != SESSION and TABLES[Kind(kind)] is item


def line_of(
    kind: str, record_id: str, row: Mapping[str, Any], *, session: str = "", sources: Sequence[Source] = ()
) -> dict[str, JSON]:
    """Write a row as a line: every field, always in the same order."""
    line: dict[str, JSON] = {"kind": kind, "id": record_id}
    if kind in _IN_SESSION:
        line["session"] = session
    for field in FIELDS[kind]:
        value = row[field.stored_as]
        line[field.name] = None if value is None else field.codec.write(value)
    if kind != SESSION:
        line["occurred"] = occurred_json(_moment_of(row))
    if is_item(kind):
        line["sources"] = [
            {"kind": one.kind, "id": one.id, "start": one.start, "end": one.end, "role": one.role} for one in sources
        ]
    return line


def parse_line(line: Line, *, now: Moment) -> Parsed:
    """Check a line of an export; raise InvalidInput naming the field that cannot be used.

    `now` is when something was said whose line does not tell; what has no zone is in the zone of `now`.
    """
    kind = line.get("kind")
    if not isinstance(kind, str) or kind not in LINE_KINDS:
        raise InvalidInput(
            f"a line of kind {str(kind)[:40]!r} is not known; use one of {', '.join(sorted(LINE_KINDS))}"
        )
    _check_names(kind, line)
    notes: list[str] = []
    values: dict[str, Any] = {}
    for field in FIELDS[kind]:
        given = line.get(field.name)
        if field.name in _BY_SCHEDULE and field.name not in line:
            continue
        values[field.stored_as] = field.default if given is None else field.codec.read(field.name, given, notes)
    record_id, session = line.get("id"), line.get("session")
    parsed = Parsed(
        kind=kind,
        id=None if record_id is None else _id("id", record_id),
        values=values,
        moment=None if kind == SESSION else _occurred(line.get("occurred"), now, needed=kind in _IN_SESSION),
        session=admit_name("session", "default" if session is None else session),  # type: ignore[arg-type]  # it checks
        sources=tuple(_source(one) for one in _listed(line.get("sources"))),
        notes=tuple(dict.fromkeys(notes)),
    )
    _check_content(parsed)
    if kind == Kind.MESSAGE.value and line.get("trust") is None:
        values["trust"] = TRUST_BY_ROLE[values["role"]].value
    return parsed


def _check_names(kind: str, line: Line) -> None:
    known = {"kind", "id", *(field.name for field in FIELDS[kind])}
    if kind in _IN_SESSION:
        known.add("session")
    if kind != SESSION:
        known.add("occurred")
    if is_item(kind):
        known.add("sources")
    if unknown := sorted(line.keys() - known):
        raise InvalidInput(f"a {kind} has no field {', '.join(map(repr, unknown))[:200]}; nothing of it was taken")
    if missing := [name for name in REQUIRED[kind] if line.get(name) is None]:
        raise InvalidInput(f"a {kind} needs {', '.join(missing)}")


def _check_content(parsed: Parsed) -> None:
    if parsed.kind == SESSION or str(parsed.values["text"]).strip():
        return
    if parsed.kind != Kind.MESSAGE.value or parsed.values["parts"] is None:
        raise EmptyContent(f"the {parsed.kind} has no content")


def _occurred(value: JSON, now: Moment, *, needed: bool) -> Moment | None:
    match value:
        case None:
            return now if needed else None
        case str():
            return Moment.parse(value, zone=now.zone)
        case {"start": int(start), "end": int(end), "precision": str(precision), "zone": str(zone)}:
            try:
                return Moment(start, end, Precision(precision), zone)
            except ValueError:
                raise InvalidMoment(f"{precision[:40]!r} is no precision of a time") from None
    raise InvalidMoment("occurred must be ISO 8601 text, or an object with start, end, precision and zone")


def _moment_of(row: Mapping[str, Any]) -> Moment | None:
    if row["occurred_start"] is None:
        return None
    return Moment(row["occurred_start"], row["occurred_end"], Precision(row["precision"]), row["zone"])


def _listed(value: JSON) -> Sequence[JSON]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidInput(f"sources must be a list, not {type(value).__name__}")
    return value


def _source(value: JSON) -> Source:
    if not isinstance(value, Mapping) or not {"kind", "id"} <= value.keys() <= _SOURCE_FIELDS:
        raise InvalidInput("a source has kind and id, and may have start, end and role")
    _id("the id of a source", value["id"])
    span = [value.get("start", 0), value.get("end", 0)]
    if not all(isinstance(place, int) and not isinstance(place, bool) and 0 <= place <= _LONGEST for place in span):
        raise InvalidInput("start and end of a source must be characters counted from 0")
    kind, role = value["kind"], value.get("role", "evidence")
    return Source(
        kind=admit_name("kind of a source", kind),  # type: ignore[arg-type]  # it checks
        id=RecordId(str(value["id"])),
        start=int(str(span[0])),
        end=int(str(span[1])),
        role=admit_name("role of a source", role),  # type: ignore[arg-type]
    )


def _id(what: str, value: JSON) -> bytes:
    try:
        return id_bytes(value)  # type: ignore[arg-type]  # text or refused
    except (ValueError, AttributeError):
        raise InvalidInput(f"{what} must be 32 hexadecimal digits, not {str(value)[:40]!r}") from None
