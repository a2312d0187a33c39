"""A summary of summaries quotes what they quote, and has their literals, the most important ones first."""

from retentia.model.ids import new_id
from retentia.model.summary import Summary
from retentia.working.extractive import Extractive
from retentia.working.missing import MARK
from retentia.working.tokens import EstimatingCounter

SUMMARISER = Extractive(EstimatingCounter())


def summary(text: str, *literals: str) -> Summary:
    line = {"kind": "decision", "quote": text, "message_id": "018f-aa11", "start": 0, "end": len(text)}
    return Summary(
        id=new_id(),
        level=1,
        first_seq=1,
        last_seq=2,
        text=f"Decision [018faa11]: {text}",
        made_by="extractive",
        messages=2,
        tokens=20,
        started_at=0,
        ended_at=0,
        created_at=0,
        body={"lines": [line], "literals": list(literals)},
    )


def test_a_merged_summary_takes_literals_from_the_bodies_and_no_message_ids_from_the_text() -> None:
    made = SUMMARISER.merge([summary("We took the tiles.", "$213.00"), summary("We took the boat.", "14:30")], words=60)
    line = made.text.partition(MARK)[2]
    assert "$213.00" in line
    assert "14:30" in line
    assert "018f" not in line


def test_the_most_important_literals_of_each_summary_come_first_and_stay_in_the_body() -> None:
    below = [summary("We took the tiles.", "$213.00", "7 kg"), summary("We took the boat.", "14:30", "9 km")]
    made = SUMMARISER.merge(below, words=60)
    assert made.body["literals"] == ["$213.00", "14:30", "7 kg", "9 km"]


def test_a_summary_without_literals_can_be_merged() -> None:
    assert MARK not in SUMMARISER.merge([summary("We took the tiles."), summary("We took the boat.")], words=60).text
