import time

import pytest

from retentia.model.ids import id_bytes, id_text, new_id, new_id_bytes


def test_ids_are_uuids_of_version_seven_and_of_this_moment() -> None:
    raw = new_id_bytes()
    assert raw[6] >> 4 == 7
    assert raw[8] >> 6 == 2
    assert abs(int.from_bytes(raw[:6], "big") - time.time_ns() // 1_000_000) < 60_000


def test_text_and_bytes_say_the_same() -> None:
    raw = new_id_bytes()
    assert id_bytes(id_text(raw)) == raw
    assert len(new_id()) == 36


def test_ids_do_not_repeat() -> None:
    assert len({new_id() for _ in range(10_000)}) == 10_000


@pytest.mark.parametrize("text", ["", "xyz", "1234", "0" * 31, "0" * 34])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the border turns it into a named error
        id_bytes(text)
