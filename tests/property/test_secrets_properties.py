from hypothesis import given
from hypothesis import strategies as st

from retentia.security.secrets import mask_json, mask_secrets

# Pieces that meet each other at every seam: secrets, labels, marks, joints, and what is none of them.
SECRETS = (
    "sk-" + "abcdEFGH1234567890abcdefgh",
    "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEF12",
    "4111 1111 " + "1111 1111",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN",
)
PIECES = st.sampled_from(
    (
        *("password", "Passwort", "пароль", "PIN", "secret", "token", "api key", "API_KEY", "Cookie", "Bearer", "pass"),
        *(
            ":",
            "=",
            " ",
            " is ",
            " ist ",
            " — ",
            "\n",
            '"',
            "'",
            "„",
            "“",
            "://",
            "@",
            "&",
            ".",
            ",",
            "-",
            "--",
            "\\n",
            "/",
        ),
        *(
            "hunter2",
            "Sommer2024!",
            "swordfish",
            "wrong",
            "4821",
            "4111",
            "user",
            "[secret:",
            "[secret:token]",
            "]",
            "[",
            "§",
        ),
        *SECRETS,
    )
)
MIXTURES = st.lists(PIECES | st.text(max_size=6), max_size=14).map("".join)
PLAIN = st.text(st.characters(categories=("L", "M", "P", "S", "Zs"), exclude_characters="_-:=/.[]"), max_size=200)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | MIXTURES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(MIXTURES | st.just("password"), inner, max_size=4),
    max_leaves=12,
)


@given(MIXTURES)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask_secrets(text).text
    assert mask_secrets(once).text == once
    assert mask_secrets(once).found == ()


@given(MIXTURES)
def test_a_text_is_its_unmasked_stretches_with_marks_between_them(text: str) -> None:
    masked = mask_secrets(text)
    rebuilt, end = [], 0
    for found in masked.found:
        assert end <= found.start < found.end <= len(text)
        rebuilt += [text[end : found.start], f"[secret:{found.kind}]"]
        end = found.end
    assert "".join([*rebuilt, text[end:]]) == masked.text


@given(MIXTURES, st.sampled_from(SECRETS), MIXTURES)
def test_a_secret_that_stands_by_itself_never_survives(before: str, secret: str, after: str) -> None:
    start = len(before) + 2
    found = mask_secrets(f"{before} \n{secret}\n {after}").found
    assert any(one.start <= start and start + len(secret) <= one.end for one in found)


@given(PLAIN)
def test_words_without_signs_and_digits_come_back_unchanged(text: str) -> None:
    assert mask_secrets(text).text == text


@given(st.text())
def test_any_text_can_be_masked(text: str) -> None:
    masked = mask_secrets(text)
    assert bool(masked.found) == (masked.text != text)


@given(JSON)
def test_masking_json_twice_changes_nothing(value: object) -> None:
    once = mask_json(value)  # type: ignore[arg-type]
    again = mask_json(once.value)
    assert again.value == once.value
    assert again.kinds == ()


@given(st.lists(st.sampled_from(SECRETS), min_size=1, max_size=3), st.sampled_from(["note", "password", "list"]))
def test_no_secret_survives_in_json(secrets: list[str], key: str) -> None:
    masked = mask_json({key: secrets, "inner": {"text": " \n".join(secrets)}})
    assert not any(secret in str(masked.value) for secret in secrets)
