from retentia.index.tokenizer import split_passages


def cut(text: str, *, whole_up_to: int = 600) -> list[str]:
    return [text[start:end] for start, end in split_passages(text, whole_up_to=whole_up_to)]


def test_a_message_of_ordinary_length_stays_whole() -> None:
    text = "One sentence. Another one.\nA third. " * 15
    assert split_passages(text) == [(0, len(text.rstrip()))]


def test_a_text_without_visible_characters_has_no_passage() -> None:
    assert split_passages(" \n\t " * 300) == []
    assert split_passages("") == []


def test_a_long_text_is_cut_at_sentence_ends_and_packed() -> None:
    sentences = [f"This is sentence number {number}, and it says one thing." for number in range(30)]
    passages = cut(" ".join(sentences))
    assert all(passage.endswith(".") for passage in passages)
    assert all(150 < len(passage) <= 300 for passage in passages[:-1])
    assert " ".join(passages) == " ".join(sentences)


def test_lines_are_cut_like_sentences() -> None:
    assert cut("- first item\n- second item\n" * 40)[0].endswith("item")


def test_a_full_stop_inside_a_word_ends_nothing() -> None:
    assert cut("Use auth.py with Python 3.11.7 here. " * 2, whole_up_to=0) == [
        "Use auth.py with Python 3.11.7 here. Use auth.py with Python 3.11.7 here."
    ]


def test_sentences_without_spaces_between_them_are_cut_too() -> None:
    assert all(passage.endswith("。") for passage in cut("我昨天去了北京，今天回来了。" * 60))


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    passages = cut("word " * 400)
    assert max(map(len, passages)) <= 300
    assert set(" ".join(passages).split()) == {"word"}


def test_a_run_without_spaces_is_cut_hard() -> None:
    assert [len(passage) for passage in cut("x" * 1_000)] == [300, 300, 300, 100]


def test_a_document_is_packed_even_when_it_is_short() -> None:
    text = "First sentence of a document. " * 15
    assert len(split_passages(text)) == 1
    assert len(split_passages(text, whole_up_to=0)) > 1
