import pytest

from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.provenance import Trust
from retentia.model.record import Importance, ItemRecord, Kind, Status
from retentia.model.scope import Scope
from retentia.working.procedures import fitting


def procedure(text: str, task: str = "", *, number: int = 1, kind: Kind = Kind.PROCEDURE) -> ItemRecord:
    body: dict[str, JSON] = {"task": task} if task else {}
    return ItemRecord(
        id=RecordId(f"{number:032x}"),
        kind=kind,
        scope=Scope("acme", "anna"),
        text=text,
        occurred=None,
        recorded_at=number,
        trust=Trust.PERSON,
        status=Status.STATED,
        confidence=1.0,
        importance=Importance.NORMAL,
        valid_from=None,
        valid_to=None,
        seen_count=1,
        version=1,
        author="user",
        body=body,
    )


KNOWN = [
    procedure("briefly", number=1),
    procedure("security first", "review code", number=2),
    procedure("no print", "review Python code", number=3),
    procedure("formal", "write e-mails to clients", number=4),
    procedure("Sicherheit zuerst", "Code prüfen", number=5),
    procedure("спочатку безпека", "перевіряєш код", number=6),
    procedure("not one", number=7, kind=Kind.NOTE),
]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("Please review this Python code", ["no print", "security first", "briefly"]),
        ("reviewing the code of a colleague", ["security first", "no print", "briefly"]),
        ("Kannst du den Code bitte prüfen?", ["Sicherheit zuerst", "briefly"]),
        ("перевір цей код, будь ласка", ["спочатку безпека", "briefly"]),
        ("book a table", ["briefly"]),
        ("", ["briefly"]),
    ],
)
def test_what_fits_the_task_comes_first_the_most_specific_first(task: str, expected: list[str]) -> None:
    found = [one.text for one in fitting(KNOWN, task)]
    assert [text for text in found if text in expected] == expected


@pytest.mark.parametrize("absent", ["formal", "not one"])
def test_what_is_for_another_task_or_no_procedure_is_left_out(absent: str) -> None:
    assert absent not in [one.text for one in fitting(KNOWN, "Please review this Python code")]


def test_the_order_of_what_is_known_changes_nothing() -> None:
    shuffled = [KNOWN[shift:] + KNOWN[:shift] for shift in range(len(KNOWN))]
    assert len({tuple(one.id for one in fitting(known, "review Python code")) for known in shuffled}) == 1
