"""Sessions with literals in three languages, drawn by hypothesis: what summaries and extracts are tried on."""

from hypothesis import strategies as st

from retentia.working.original import Original

_SENTENCES = (
    *("The invoice says {}, please check.", "We decided on {} because {} was too slow.", "Remember {} and {}."),
    *(
        "We tried {}, but it failed because of {}.",
        "Our server runs PostgreSQL 14 at {}.",
        "Actually it is {}, not {}.",
    ),
    *(
        "Auf der Rechnung steht {}, bitte prüfen.",
        "Wir haben {} verworfen, weil {} zu langsam war.",
        "Offen ist noch {}.",
    ),
    *(
        "Wir nehmen {}, denn {} ist günstiger.",
        "У рахунку вказано {}, перевір, будь ласка.",
        "Залишилося перевірити {}.",
    ),
    *(
        "Ми відмовилися від {}, бо {} надто повільно.",
        "Вирішили взяти {} замість {}.",
        "Hi there!",
        "Danke!",
        "Привіт!",
    ),
    *("We talked about gardens and music.", "Der Garten ist schön im Mai.", "Сад гарний навесні."),
)
_WORDS = st.sampled_from(("alpha", "Beta", "größe", "сад", "x_y", "node"))
_DIGITS = st.integers(0, 99_999)


def _amount(value: int) -> st.SearchStrategy[str]:
    whole, cents = f"{value:,}", f"{value % 100:02}"
    return st.sampled_from(
        (
            f"${whole}.{cents}",
            f"{whole.replace(',', '.')},{cents} €",
            f"{whole.replace(',', ' ')},{cents} грн",
            f"{whole.replace(',', chr(0xA0))} Euro",
        )
    )


def _other(value: int) -> st.SearchStrategy[str]:
    hour, minute, day, month = value % 24, value % 60, value % 28 + 1, value % 12 + 1
    return st.sampled_from(
        (
            *(f"{hour}:{minute:02}", f"{hour}.{minute:02} Uhr", f"2026-{month:02}-{day:02}", f"{day}. März 2026"),
            *(f"{day} березня", f"{day:02}.{month:02}.26", f"March {day}", f"v{month}.{day}.{hour}", f"{value}%"),
            *(f"ZX-{value}-KIWI", f"om_x{value}b", f"#{value}", f"{value:08x}a1", f"auth.py:{value}", f"{value} GB"),
            *(
                f"https://example.com/{value}?a=b",
                f"bob{value}@example.com",
                f"/srv/app{value}/x.log",
                f"Zeile {value}",
            ),
            *(
                f"10.0.{hour}.{minute}",
                f"`run {value}`",
                f"“no {value}”",
                f"„nie {value}“",
                f"«ні {value}»",
                str(value),
            ),
        )
    )


literal_texts = _DIGITS.flatmap(lambda value: _amount(value) | _other(value))
"""Texts of literals as people write them."""


@st.composite
def originals(draw: st.DrawFn, *, most: int = 12) -> list[Original]:
    """Draw a session of messages that say literals, small talk, decisions and tool results."""
    messages = []
    for place in range(draw(st.integers(1, most))):
        sentences = draw(st.lists(st.sampled_from(_SENTENCES), min_size=1, max_size=3))
        text = " ".join(
            sentence.format(*(draw(literal_texts | _WORDS) for _ in range(sentence.count("{}"))))
            for sentence in sentences
        )
        role = draw(st.sampled_from(("user", "assistant", "tool")))
        tool, status = ("probe", draw(st.sampled_from(("ok", "error")))) if role == "tool" else ("", "")
        messages.append(Original(id=f"m{place}", role=role, text=text, tool=tool, status=status))
    return messages
