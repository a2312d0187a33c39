"""What is a literal and what is not, row by row, in English, German, Ukrainian and some others."""

import pytest

from retentia.working.literal import LiteralKind, folded_text
from retentia.working.literals import find_literals, parts_of

# A sentence, and what is found in it as "kind text", in order.
ENGLISH = [
    ("It costs $1,299.50 today", ["amount $1,299.50"]),
    ("It costs $213.00.", ["amount $213.00"]),
    ("about US$20 or 20 USD", ["amount US$20", "amount 20 USD"]),
    ("EUR 480 before taxes", ["amount EUR 480"]),
    ("£5 and ¥300", ["amount £5", "amount ¥300"]),
    ("raised $2.5 million, then $5k", ["amount $2.5 million", "amount $5k"]),
    ("480 euros and 30 cents", ["amount 480 euros", "amount 30 cents"]),
    ("-$5 or $ 7", ["amount $5", "amount $ 7"]),
    ("up 12.5% and 3 percent", ["percent 12.5%", "percent 3 percent"]),
    ("drove 20 km at 90 km/h", ["quantity 20 km", "quantity 90 km/h"]),
    ("a 15GB file in 300 ms", ["quantity 15GB", "quantity 300 ms"]),
    ("2.5 hours, 45 minutes", ["quantity 2.5 hours", "quantity 45 minutes"]),
    ("it is -5 °C and 80°F", ["quantity -5 °C", "quantity 80°F"]),
    ("a 20-year-old with 3 cats", ["quantity 20-year", "number 3"]),
    ("1,299 people of 2.5 million", ["number 1,299", "number 2.5 million"]),
    ("the 3rd of 12", ["number 3rd", "number 12"]),
    ("music of the 1990s", ["number 1990s"]),
    ("a ratio of 16:9, 24/7", ["number 16:9", "number 24/7"]),
    ("due 2026-03-03", ["date 2026-03-03"]),
    ("at 2026-03-03T14:30:00Z", ["date 2026-03-03T14:30:00Z"]),
    ("at 2026-03-03 14:30:00+02:00", ["date 2026-03-03 14:30:00+02:00"]),
    ("in 2026-03 and 2026/03/03", ["date 2026-03", "date 2026/03/03"]),
    ("on 12/31/2026 or 3/3/26", ["date 12/31/2026", "date 3/3/26"]),
    ("on March 3rd we met", ["date March 3rd"]),
    ("on March 3, 2026 we met", ["date March 3, 2026"]),
    ("on March 3rd, 2026-03-04 it was", ["date March 3rd", "date 2026-03-04"]),
    ("the 3rd of March 2026", ["date 3rd of March 2026"]),
    ("5 May is fine, 5 may be too many", ["date 5 May", "number 5"]),
    ("since September 2024", ["date September 2024"]),
    ("at 14:30 sharp", ["time 14:30"]),
    ("at 2:30 pm, not 9am", ["time 2:30 pm", "time 9am"]),
    ("at 10 a.m. tomorrow", ["time 10 a.m."]),
    ("at 14:30:15 UTC", ["time 14:30:15 UTC"]),
    ("from 14:30 UTC", ["time 14:30 UTC"]),
    ("at 5 o'clock", ["time 5 o'clock"]),
    ("upgrade to v2.3.1 now", ["version v2.3.1"]),
    ("PostgreSQL 14 on AWS RDS", ["version PostgreSQL 14"]),
    ("Python 3.11.4 and node 20", ["version Python 3.11.4", "version node 20"]),
    ("release 2.0.0-rc1", ["version 2.0.0-rc1"]),
    ("PostgreSQL version 14.2", ["version PostgreSQL version 14.2"]),
    ("version 7 is out", ["version version 7"]),
    ("Python 3 days a week", ["quantity 3 days"]),
    ("code ZX-9137-KIWI", ["code ZX-9137-KIWI"]),
    ("msg om_x100b54 arrived", ["code om_x100b54"]),
    ("id 550e8400-e29b-41d4-a716-446655440000", ["uuid 550e8400-e29b-41d4-a716-446655440000"]),
    ("commit deadbeef12 broke", ["hash deadbeef12"]),
    ("at 0xFF3A", ["hash 0xFF3A"]),
    ("sha256:9f86d081884c7d65", ["code sha256", "hash 9f86d081884c7d65"]),
    ("ticket #4512 and JIRA-331", ["ticket #4512", "ticket JIRA-331"]),
    ("issue 77 and PR 12", ["ticket issue 77", "ticket PR 12"]),
    ("set MAX_RETRIES and --dry-run", ["code MAX_RETRIES", "code --dry-run"]),
    ("use GPT-4o or B2B", ["code GPT-4o", "code B2B"]),
    ("CVE-2024-3094", ["code CVE-2024-3094"]),
    ("color #ff00aa", ["code #ff00aa"]),
    ("ISBN 978-3-16-148410-0", ["code 978-3-16-148410-0"]),
    ("mac 00:1a:2b:3c:4d:5e", ["code 00:1a:2b:3c:4d:5e"]),
    ("see https://example.com/a?b=1.", ["url https://example.com/a?b=1"]),
    ("(see https://en.wikipedia.org/wiki/A_(b))", ["url https://en.wikipedia.org/wiki/A_(b)"]),
    ("www.example.org/x, and example.com", ["url www.example.org/x", "url example.com"]),
    ("postgres://db.internal:5432/app", ["url postgres://db.internal:5432/app"]),
    ("mail bob.smith+x@example.co.uk!", ["email bob.smith+x@example.co.uk"]),
    ("edit /usr/local/bin/run.sh", ["path /usr/local/bin/run.sh"]),
    ("edit ~/.bashrc and ./x and ../y/z", ["path ~/.bashrc", "path ./x", "path ../y/z"]),
    (r"open C:\Users\x\a.txt now", [r"path C:\Users\x\a.txt"]),
    (r"on \\server\share\doc", [r"path \\server\share\doc"]),
    ("in src/app/main.py and config.yaml", ["path src/app/main.py", "path config.yaml"]),
    ("this and/or that, he/she", []),
    ('"/my files/a b.txt" is quoted', ['quoted "/my files/a b.txt"']),
    ("auth.py line 42 fails", ["line auth.py line 42"]),
    ("auth.py:42 and src/a.py:7:3", ["line auth.py:42", "line src/a.py:7:3"]),
    ("lines 10-20 of it", ["line lines 10-20"]),
    ("call +49 170 1234567 or (555) 123-4567", ["phone +49 170 1234567", "phone (555) 123-4567"]),
    ("call 555-123-4567 or 555-0123", ["phone 555-123-4567", "phone 555-0123"]),
    ("from 192.168.1.10:8080 to 10.0.0.0/8", ["ip 192.168.1.10:8080", "ip 10.0.0.0/8"]),
    ("on ::1 and fe80::1ff", ["ip ::1", "ip fe80::1ff"]),
    ("he said “yes please” and left", ["quoted “yes please”"]),
    ('he said "yes please" and left', ['quoted "yes please"']),
    ("he said 'yes, don't' and left", ["quoted 'yes, don't'"]),
    ("she said ‘it’s fine’ again", ["quoted ‘it’s fine’"]),
    ("don't, the dogs' toys, rock 'n roll", []),
    ('a 5" pipe and a 6" pipe', ["number 5", "number 6"]),
    ("run `make test` first", ["snippet `make test`"]),
    ("run ``a ` b`` first", ["snippet ``a ` b``"]),
    ("```py\nx = 42\n```", ["block ```py\nx = 42\n```"]),
    ("a\n~~~\ny 7\n~~~\nb 8", ["block ~~~\ny 7\n~~~", "number 8"]),
    ("```\nno end 5", ["block ```\nno end 5"]),
    ("1. first\n2. second, at 9\n## 3. third\n(4) fourth", ["number 9", "number 4"]),
    ("the July 10 weekend", ["date July 10"]),
    ("GBP 1,800 x 3, rated 4.8/5, 2c", ["amount GBP 1,800", "number 3", "number 4.8", "number 5"]),
    ("github.com/a/b and a/b_c", ["url github.com/a/b", "path a/b_c"]),
    ('{"total": "$213.00", "n": 7}', ['quoted "$213.00"', "number 7"]),
    ("nothing to keep here", []),
    ("pay $5 and again $5", ["amount $5"]),
]
GERMAN = [
    ("Das kostet 1.299,50 € netto", ["amount 1.299,50 €"]),
    ("Das kostet 1.299,50 EUR netto", ["amount 1.299,50 EUR"]),
    ("rund 2,5 Mio. Euro im Jahr", ["amount 2,5 Mio. Euro"]),
    ("etwa 480 Euro und 50 Cent", ["amount 480 Euro", "amount 50 Cent"]),
    ("CHF 1'200.50 pro Jahr", ["amount CHF 1'200.50"]),
    ("3,5 % oder 4 Prozent", ["percent 3,5 %", "percent 4 Prozent"]),
    ("am 3. März 2026 um neun", ["date 3. März 2026"]),
    ("am 3. März ist Schluss", ["date 3. März"]),
    ("vom 3.–5. März 2026", ["date 3.–5. März 2026"]),
    ("am 03.03.26 und 03.03.2026", ["date 03.03.26", "date 03.03.2026"]),
    ("am 24.12. abends", ["date 24.12."]),
    ("seit Januar 2025", ["date Januar 2025"]),
    ("um 14.30 Uhr oder 14:30 Uhr", ["time 14.30 Uhr", "time 14:30 Uhr"]),
    ("ab 9 Uhr", ["time 9 Uhr"]),
    ("12 Stunden und 3 Tage", ["quantity 12 Stunden", "quantity 3 Tage"]),
    ("eine 3-Zimmer-Wohnung mit 75 m²", ["number 3", "quantity 75 m²"]),
    ("der 24-Stunden-Service", ["quantity 24-Stunden"]),
    ("Zeile 42 ist falsch", ["line Zeile 42"]),
    ("in auth.py, Zeile 42", ["line auth.py, Zeile 42"]),
    ("Ticket Nr. 4512", ["ticket Nr. 4512"]),
    ("Version 2.1 läuft", ["version Version 2.1"]),
    ("läuft auf Ubuntu 22.04", ["version Ubuntu 22.04"]),
    ("Er sagte „nicht heute“ und ging", ["quoted „nicht heute“"]),
    ("Er sagte „nicht heute” und ging", ["quoted „nicht heute”"]),
    ("Er sagte »nicht heute« und ging", ["quoted »nicht heute«"]),
    ("Er sagte ‚nie‘ und ging", ["quoted ‚nie‘"]),
    ("12.000 Nutzer und 1.250.000 Zeilen", ["number 12.000", "quantity 1.250.000 Zeilen"]),
    ("Tel. 0171/1234567", ["phone 0171/1234567"]),
    ("Tel. 030 12345678", ["phone 030 12345678"]),
    ("AZ 12-345/B an müller@beispiel.de", ["number 12", "number 345", "email müller@beispiel.de"]),
    ("Größe 42, der 2. Versuch", ["number 42", "number 2"]),
    ("in den 90er Jahren", ["number 90er"]),
    ("minus −7 Grad", ["quantity −7 Grad"]),
    ("von 5 bis 7 kWh", ["number 5", "quantity 7 kWh"]),
    ("nichts zu merken, oder?", []),
]
UKRAINIAN = [
    ("Це коштує 1 299,50 грн разом", ["amount 1 299,50 грн"]),
    ("Це коштує 1\u00a0299,50\u00a0грн разом", ["amount 1\u00a0299,50\u00a0грн"]),
    ("₴500 або 500₴", ["amount ₴500", "amount 500₴"]),
    ("20 гривень і 50 копійок", ["amount 20 гривень", "amount 50 копійок"]),
    ("10 тис. грн на рік", ["amount 10 тис. грн"]),
    ("2,5 млн доларів", ["amount 2,5 млн доларів"]),
    ("15% або 20 відсотків", ["percent 15%", "percent 20 відсотків"]),
    ("зустріч 3 березня", ["date 3 березня"]),
    ("зустріч 3 березня 2026 року", ["date 3 березня 2026 року"]),
    ("3-го березня", ["date 3-го березня"]),
    ("від 03.03.2026 до 05.03.26", ["date 03.03.2026", "date 05.03.26"]),
    ("у 2024 році", ["date 2024 році"]),
    ("о 14:30 чекаю", ["time 14:30"]),
    ("рядок 42 у файлі", ["line рядок 42"]),
    ("auth.py, рядок 42", ["line auth.py, рядок 42"]),
    ("тікет № 4512", ["ticket № 4512"]),
    ("версія 2.1 вийшла", ["version версія 2.1"]),
    ("PostgreSQL 15 на Ubuntu 22.04", ["version PostgreSQL 15", "version Ubuntu 22.04"]),
    ("він сказав «не сьогодні» і пішов", ["quoted «не сьогодні»"]),
    ("він сказав „не сьогодні“ і пішов", ["quoted „не сьогодні“"]),
    ('він сказав "не сьогодні" і пішов', ['quoted "не сьогодні"']),
    ("дзвони 067 123 45 67", ["phone 067 123 45 67"]),
    ("дзвони +380 67 123 45 67", ["phone +380 67 123 45 67"]),
    ("12 ГБ і 90 км/год", ["quantity 12 ГБ", "quantity 90 км/год"]),
    ("5 днів, 3 години, 20 хв", ["quantity 5 днів", "quantity 3 години", "quantity 20 хв"]),
    ("номер АА1234ВВ", ["code АА1234ВВ"]),
    ("п'ять м'ячів", []),
    ("олена@приклад.укр", ["email олена@приклад.укр"]),
    ("2-га спроба з 3-х", ["number 2", "number 3-х"]),
    ("мінус -5 °С", ["quantity -5 °С"]),
    ("14 300 користувачів", ["number 14 300"]),
    ("нічого особливого", []),
]
OTHERS = [
    ("价格5000元", ["amount 5000元"]),
    ("会議は14:30です", ["time 14:30"]),
    ("彼は「また明日」と言った", ["quoted 「また明日」"]),
    ("à 14h30, 1 299,50 €", ["time 14h30", "amount 1 299,50 €"]),
    ("il a dit « oui » hier", []),
    ("١٢٣ كتاب", ["number ١٢٣"]),
    ("हिंदी में 42 शब्द", ["number 42"]),
    ("tom 😀 5 😀", ["number 5"]),
    ("\x00 7 \x00", ["number 7"]),
    ("\ud800 7 \udfff", ["number 7"]),
    ("\u202e 7 \u202c", ["number 7"]),
]


def found(text: str) -> list[str]:
    return [f"{literal.kind.value} {literal.text}" for literal in find_literals(text)]


@pytest.mark.parametrize(("text", "expected"), ENGLISH + GERMAN + UKRAINIAN + OTHERS)
def test_literals_are_found_as_they_are_written(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$1,299.50", "$1299.50"),
        ("1.299,50 €", "1299,50€"),
        ("1 299,50 грн", "1\u202f299,50 грн"),
        ("1'200", "1200"),
        ("„ja so“", '"ja so"'),
        ("«ja so»", "“ja so”"),
        ("DEADBEEF12", "deadbeef12"),
        ("Bob@Example.com", "bob@example.com"),
        ("2:30 PM", "2:30 pm"),
        ("3. März\u00a02026", "3. März 2026"),
        ("12 %", "12%"),
        ("`x_1`", "'x_1'"),
        ("１２３", "123"),
    ],
)
def test_two_writings_of_a_literal_have_one_key(one: str, other: str) -> None:
    assert [literal.key for literal in find_literals(one)] == [literal.key for literal in find_literals(other)] != []


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.299", "1299"), ("$5", "€5"), ("ZX-9", "zx-9"), ("/etc/A1", "/etc/a1"), ("3.14", "314"), ("$213.00", "$213")],
)
def test_what_may_differ_has_different_keys(one: str, other: str) -> None:
    assert [literal.key for literal in find_literals(one)] != [literal.key for literal in find_literals(other)]


def test_a_mask_is_no_literal_and_nothing_inside_it_is() -> None:
    text = 'key [secret:api_key], "[secret:password]", `[secret:token]`, 5 and "use [secret:token] now"'
    assert found(text) == ["number 5", 'quoted "use [secret:token] now"']


def test_nothing_inside_a_block_of_code_is_reported_again_but_its_parts_can_be_asked_for() -> None:
    (block,) = find_literals("```py\nprice = 42\nhost = 'a b'\n```")
    assert block.kind is LiteralKind.BLOCK
    assert [part.text for part in parts_of(block)] == ["42", "'a b'"]
    assert parts_of(find_literals("14:30")[0]) == ()


def test_folding_keeps_words_and_drops_what_is_not_seen() -> None:
    assert folded_text("„A\u200bB“\u00a0\n 1\u2009299,5") == '"AB" 1299.5'
