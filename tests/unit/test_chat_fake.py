from concurrent.futures import ThreadPoolExecutor

import pytest

from retentia.errors import ModelReplyInvalid, ModelUnavailable
from retentia.providers.chat import ChatMessage, Completion, Usage
from retentia.testing import FakeModel, Held

ASK = [ChatMessage("user", "where?")]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_a_fake_model_replays_its_script_and_notes_what_it_was_asked() -> None:
    exact = Completion(text="x", raw="x", usage=Usage(1, 2))
    model = FakeModel("Lisbon", {"city": "Kyiv"}, exact, lambda asked: asked[-1].text.upper())
    assert model.complete(ASK, max_tokens=5).text == "Lisbon"
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "Kyiv"}
    assert model.complete(ASK) is exact
    assert model.complete(ASK).text == "WHERE?"
    assert model.asked == [tuple(ASK)] * 4
    assert model.schemas == [None, SCHEMA, None, None]
    assert model.limits == [5, None, None, None]
    assert model.left == 0


def test_a_fake_model_raises_what_its_script_says_and_is_not_asked_more_often() -> None:
    model = FakeModel(ModelUnavailable("down"), "ok")
    with pytest.raises(ModelUnavailable, match="down"):
        model.complete(ASK)
    assert model.complete(ASK).text == "ok"
    with pytest.raises(AssertionError, match="more often than its script"):
        model.complete(ASK)
    assert [FakeModel(then="ok").complete(ASK).text for _ in range(2)] == ["ok", "ok"]


def test_prose_where_json_was_asked_for_is_no_answer_of_a_fake_model_either() -> None:
    with pytest.raises(ModelReplyInvalid) as raised:
        FakeModel("You like Lisbon.").complete(ASK, schema=SCHEMA)
    assert raised.value.reply == "You like Lisbon."
    assert raised.value.tokens_out > 0
    assert FakeModel('```json\n{"city": "Lisbon"}\n```').complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}


def test_an_answer_is_held_back_until_it_is_released() -> None:
    held = Held("Lisbon")
    model = FakeModel(held)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(model.complete, ASK)
        assert held.asked.wait(10)
        assert not answer.done()
        held.release.set()
        assert answer.result(10).text == "Lisbon"


def test_a_stream_gives_the_same_in_pieces() -> None:
    stream = FakeModel("Lisbon in spring").stream(ASK)
    pieces = list(stream)
    assert len(pieces) > 1
    assert "".join(pieces) == stream.completion.text == "Lisbon in spring"
