import pytest

from retentia.read.mentions import Question


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What are we using Redis for?", "Redis"),
        ("k8s?", "k8s"),
        ("how do our JWTs expire", "JWT"),
        ("is auth handled by redis", "auth redis"),
        ("the pipeline of our CI", "CI pipeline"),
        ("Wer betreut die Größenordnung?", "Groessenordnung"),
        ("Що нового у Києві?", "Київ"),
        ("Anna's plan", "Anna"),
        ("how do I configure typscript", "TypeScript"),
        ("typsecript config", "TypeScript"),
        ("eror handling", "error"),
        ("a Mongoose schema", "moongoose"),
        ("is it written in C++ or C#?", "C#"),
    ],
)
def test_a_question_mentions_a_name_also_inflected_or_misspelt(question: str, name: str) -> None:
    assert Question(question).mentions(["something else", name])


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("mango connection pooling", "Mongo"),
        ("just do it", "jest"),
        ("a regular expression", "Express"),
        ("we talked about the team and what comes back from a long session there", "session backend"),
        ("the session was long; a few words later somebody mentions the backend", "session backend"),
        ("is it written in C++?", "C#"),
        ("Ann called", "Anna"),
        ("release 12 of 2026", "release 13"),
        ("", "Redis"),
        ("Redis", ""),
        ("anything", " - "),
    ],
)
def test_what_only_looks_like_a_name_is_no_mention(question: str, name: str) -> None:
    assert not Question(question).mentions([name])


def test_nothing_is_mentioned_without_names() -> None:
    assert not Question("What about Redis?").mentions([])
