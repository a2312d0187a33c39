"""What support is shown: records and hits with marks, such as "[email]", where personal data stood. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from retentia.model.belief import Belief
from retentia.model.claim import claim_of
from retentia.model.manifest import Why
from retentia.model.message import JSON
from retentia.model.record import ItemRecord, Record
from retentia.model.session_record import SessionRecord
from retentia.model.summary import Summary
from retentia.read.excerpt import excerpt
from retentia.read.query import Hit, Span
from retentia.security.personal import PersonalFinding, find_personal, mask_personal
from retentia.working.opening import Opening
from retentia.working.tokens import TokenCounter

_R = TypeVar("_R", bound=Record)
_OPAQUE = frozenset({"id", "session_id"})


def masked(text: str) -> str:
    """Mask the personal data in a text."""
    return mask_personal(text, find_personal(text))


def masked_record(record: _R) -> _R:
    """Mask the personal data in everything that a record says: its text and whatever was kept beside it."""
    changed: dict[str, Any] = {}
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name not in _OPAQUE and (type(value) is str or isinstance(value, (Mapping, list))):
            changed[one.name] = _masked_json(value)
    return replace(record, **changed)


def masked_belief(found: Belief, record: ItemRecord) -> Belief:
    """Mask what a belief says, whose record was masked already: its claim is read from that."""
    changes = tuple(replace(one, reason=masked(one.reason)) for one in found.changes)
    return replace(found, claim=claim_of(record.body) or found.claim, record=record, changes=changes)


def masked_summary(made: Summary) -> Summary:
    """Mask the personal data in a summary; what it quotes beside its text is left out."""
    return replace(made, text=masked(made.text), body={})


def masked_session(record: SessionRecord) -> SessionRecord:
    """Mask the personal data in the record of a session."""
    return replace(
        record,
        session=masked(record.session),
        topic=masked(record.topic),
        summary=masked(record.summary),
        decisions=tuple(replace(one, text=masked(one.text)) for one in record.decisions),
        open_items=tuple(replace(one, text=masked(one.text)) for one in record.open_items),
    )


def masked_opening(found: Opening) -> Opening:
    """Mask the personal data in what a session begins with."""
    return replace(
        found,
        profile=tuple(masked_record(one) for one in found.profile),
        open_items=tuple(replace(one, text=masked(one.text)) for one in found.open_items),
        sessions=tuple(masked_session(one) for one in found.sessions),
    )


def masked_why(found: Why) -> Why:
    """Mask the personal data in a reply and in what was shown for it."""

    def mask(record: Record | Summary | None) -> Record | Summary | None:
        match record:
            case None:
                return None
            case Summary():
                return masked_summary(record)
            case _:
                return masked_record(record)

    shown = tuple(replace(one, record=mask(one.record)) for one in found.shown)
    return replace(found, reply=masked_record(found.reply), shown=shown)


def masked_hit(hit: Hit, counter: TokenCounter) -> Hit:
    """Mask a hit. Its excerpt is cut from the masked text: one that was cut before may show half of a number."""
    text = hit.record.text
    findings = find_personal(text)
    spans = tuple(_moved(span, findings) for span in hit.spans)
    record = masked_record(hit.record)
    whole = hit.text == text
    shown = record.text if whole else excerpt(record.text, spans)
    newer = None if hit.newer is None else replace(hit.newer, text=masked(hit.newer.text))
    tokens = counter.count(shown if newer is None else f"{shown}\n{newer.text}")
    return replace(hit, record=record, text=shown, spans=spans, tokens=tokens, newer=newer)


def _moved(span: Span, findings: Sequence[PersonalFinding]) -> Span:
    """Return where a span of a text lies after masking; what it shares with a finding becomes the whole mark."""
    start, end = span.start, span.end
    for finding in findings:
        mark = len(finding.kind.value) + 2
        longer = mark - (finding.end - finding.start)
        if finding.end <= span.start:
            start += longer
        elif finding.start < span.start:
            start -= span.start - finding.start
        if finding.end <= span.end:
            end += longer
        elif finding.start < span.end:
            end += finding.start + mark - span.end
    return Span(start, end)


def _masked_json(value: JSON, name: str = "") -> JSON:
    """Mask what is in JSON; the name of a field tells what its value is, as in {"phone": "0151 23456789"}."""
    if isinstance(value, Mapping):
        return {masked(key): _masked_json(one, key) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked_json(one, name) for one in value]
    if isinstance(value, str):
        return _masked_value(value, name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        told = _masked_value(str(value), name)
        return value if told == str(value) else told
    return value


def _masked_value(value: str, name: str) -> str:
    hint = f"{name}: " if name else ""
    findings = find_personal(hint + value)
    if not hint or not findings:
        return mask_personal(value, findings)
    at = len(hint)
    inside = [replace(one, start=max(one.start - at, 0), end=one.end - at) for one in findings if one.end > at]
    return masked(mask_personal(value, inside))
