import pytest

from retentia.learn.closing import closed_by
from retentia.model.commitment import Commitment, CommitmentStatus, commitment_of
from retentia.model.time import Moment

FRIDAY = Moment.parse("2026-05-15", zone="Europe/Kyiv")


def test_a_commitment_is_overdue_when_its_due_day_is_over_where_it_was_promised() -> None:
    made = Commitment(what="send the report", due=FRIDAY)
    assert made.status(FRIDAY.start - 1) is CommitmentStatus.OPEN
    assert made.status(FRIDAY.end - 1) is CommitmentStatus.OPEN
    assert made.status(FRIDAY.end) is CommitmentStatus.OVERDUE


def test_a_commitment_without_a_due_time_is_never_overdue() -> None:
    assert Commitment(what="learn Polish").status(2**52) is CommitmentStatus.OPEN


def test_what_a_body_says_wrongly_is_left_out() -> None:
    broken = {"owner": 3, "due": "by Friday", "closing": {"outcome": "eaten", "id": "m1"}}
    assert commitment_of("w", broken) == Commitment(what="w")  # type: ignore[arg-type]
    assert commitment_of("w", {"owner": "Anna"}) == Commitment(what="w", owner="Anna")


@pytest.mark.parametrize(
    ("what", "sentence", "outcome"),
    [
        ("send the report to Anna", "I sent the report.", "done"),
        ("send the report to Anna", "I've finally sent Anna the report, it took all morning.", "done"),
        ("send the report to Anna", "The report is done", "done"),
        ("pay the rent", "Rent has been paid!", "done"),
        ("die Steuererklärung abgeben", "Steuererklärung ist erledigt.", "done"),
        ("den Bericht an Anna schicken", "Ich habe den Bericht endlich abgeschickt.", "done"),
        ("den Bericht schicken", "Bericht: erledigt!", "done"),
        ("надіслати звіт Олені", "Звіт надіслала", "done"),
        ("оплатити оренду", "Я вже оплатив оренду.", "done"),
        ("migrate to Kafka", "We dropped the plan to migrate to Kafka.", "dropped"),
        ("migrate to Kafka", "We decided not to migrate to Kafka", "dropped"),
        ("die Reise nach Wien buchen", "Die Reise nach Wien haben wir abgesagt, sie ist gestrichen.", "dropped"),
        ("die Kündigung schreiben", "Die Kündigung muss ich doch nicht schreiben", "dropped"),
        ("купити диван", "Ми передумали купити диван", "dropped"),
    ],
)
def test_a_sentence_closes_the_commitment_it_names(what: str, sentence: str, outcome: str) -> None:
    assert closed_by(sentence, Commitment(what=what)) == outcome


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("send the report to Anna", "Done."),
        ("send the report to Anna", "I sent the letter to Anna."),
        ("send the report to Anna", "I haven't sent the report yet."),
        ("send the report to Anna", "I almost sent the report."),
        ("send the report to Anna", "I will have sent the report by Friday."),
        ("send the report to Anna", "Have I sent the report?"),
        ("send the report to Anna", "If I sent the report, would she read it?"),
        ("send the report to Anna", "Bob says the report is done."),
        ("send the report to Anna", "I finished the first part of the report."),
        ("book a hotel in Lviv", "I booked the flight to Lviv."),
        ("den Bericht schicken", "Ich habe den Bericht noch nicht abgeschickt."),
        ("den Bericht schicken", "Erledigt!"),
        ("den Bericht schicken", "Ich habe die Rechnung bezahlt."),
        ("надіслати звіт", "Ще не надіслала звіт"),
        ("надіслати звіт", "Завтра надішлю звіт"),
        ("надіслати звіт", "Купила хліб"),
        ("send the report", ""),
    ],
)
def test_a_sentence_that_leaves_a_doubt_closes_nothing(what: str, sentence: str) -> None:
    assert closed_by(sentence, Commitment(what=what)) is None
