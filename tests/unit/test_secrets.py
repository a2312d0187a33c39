"""Secrets are written in pieces here, so that nothing that scans this repository takes them for real ones."""

import json

import pytest

from retentia.errors import InvalidInput
from retentia.security.secrets import SecretFound, mask_json, mask_secrets

DIGITS_AND_LETTERS = "16C7e42F292c6912E7710c838347Ae178B4a"

VENDORS = {
    "sk-" + "proj-abcdEFGH1234567890abcdefgh": "api_key",
    "sk-" + "ant-api03-AbCd1234EfGh5678IjKl9012-xyz_AA": "api_key",
    "ghp_" + DIGITS_AND_LETTERS: "api_key",
    "github_" + "pat_11ABCDEFG0abcdefghij_klmnopqrstuvwxyz": "api_key",
    "glpat-" + "abcdefghij1234567890": "api_key",
    "AKIA" + "IOSFODNN7EXAMPLE": "api_key",
    "ASIA" + "IOSFODNN7EXAMPLE": "api_key",
    "AIza" + "SyD-1234567890abcdefghijklmnopqrstu": "api_key",
    "xoxb-" + "123456789012-abcdefABCDEF": "api_key",
    "xoxe.xoxp-" + "1-abcdefABCDEF12": "api_key",
    "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEF12": "api_key",
    "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789": "api_key",
    "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc": "api_key",
    "rk_" + "test_4eC39HqLyjWDarjtT1zdp7dc": "api_key",
    "123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1": "api_key",
    "https://hooks." + "slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX": "webhook",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U": "jwt",
    "4111 1111 " + "1111 1111": "card_number",
    "4111-1111-" + "1111-1111": "card_number",
    "55555555" + "55554444": "card_number",
    "3782 822463 " + "10005": "card_number",
}


@pytest.mark.parametrize("secret", VENDORS)
@pytest.mark.parametrize(
    "frame", ["{}", "it is {}, keep it", "KEY={}", '{{"v": "{}"}}', "(„{}“)", "so:\n{}\nbye", "так: {}."]
)
def test_what_has_a_vendors_form_is_masked_wherever_it_stands(secret: str, frame: str) -> None:
    masked = mask_secrets(frame.format(secret))
    assert masked.text == frame.format(f"[secret:{VENDORS[secret]}]")
    (found,) = masked.found
    assert frame.format(secret)[found.start : found.end] == secret


ANNOUNCED = [
    ("password: hunter2", "password: [secret:password]"),
    ("Password = Tr0ub4dor&3", "Password = [secret:password]"),
    ("My password is hunter2, don't tell", "My password is [secret:password], don't tell"),
    ("my password is swordfish.", "my password is [secret:password]."),
    ("the wifi password is now: Blume77", "the wifi password is now: [secret:password]"),
    ("The password for the staging server is hunter2", "The password for the staging server is [secret:password]"),
    ("set the password to Hunter22", "set the password to [secret:password]"),
    ("the passphrase: “correct horse battery staple”", "the passphrase: “[secret:password]”"),
    ("login: bob, password: swordfish, url: example.org", "login: bob, password: [secret:password], url: example.org"),
    ("Mein Passwort ist Sommer2024!", "Mein Passwort ist [secret:password]"),
    ("Passwort: geheim123", "Passwort: [secret:password]"),
    ("Das Passwort für das WLAN lautet Sonnenblume.", "Das Passwort für das WLAN lautet [secret:password]."),
    ("Datenbankpasswort: Xy9!kk", "Datenbankpasswort: [secret:password]"),
    ("Kennwort lautet jetzt: „Sommer 2024“", "Kennwort lautet jetzt: „[secret:password]“"),
    ("Passwort auf Sommer2024! geändert", "Passwort auf [secret:password] geändert"),
    ("пароль: Київ2024", "пароль: [secret:password]"),
    ("Мій пароль — соняшник2024", "Мій пароль — [secret:password]"),
    ("мій пароль Qwerty123", "мій пароль [secret:password]"),
    ("Пароль від вайфаю: мандаринка", "Пароль від вайфаю: [secret:password]"),
    ("Змінила пароль на Qwerty_123!", "Змінила пароль на [secret:password]"),
    ("PASSWORD=swordfish", "PASSWORD=[secret:password]"),
    ('export DB_PASSWORD="correct horse"', 'export DB_PASSWORD="[secret:password]"'),
    ("postgresql://user:pass@host:5432/db", "postgresql://user:[secret:password]@host:5432/db"),
    ("postgresql://user:p@ss@host/db", "postgresql://user:[secret:password]@host/db"),
    ("redis://:s3cret@localhost", "redis://:[secret:password]@localhost"),
    ('{"user": "bob", "password": "hunter2"}', '{"user": "bob", "password": "[secret:password]"}'),
    ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[secret:password]\\"}'),
    ("mysql -u root --password hunter22", "mysql -u root --password [secret:password]"),
    ("user=bob&password=swordfish&x=1", "user=bob&password=[secret:password]&x=1"),
    ("curl -u bob:hunter2 https://x.org", "curl -u bob:[secret:password] https://x.org"),
    ("API_KEY=abcd1234efgh5678", "API_KEY=[secret:api_key]"),
    ("my api key is abcd1234efgh5678ijkl.", "my api key is [secret:api_key]."),
    ('client_secret: "9fceb02d0ae598e95dc970b7"', 'client_secret: "[secret:token]"'),
    ("X-Api-Key: 8f14e45fceea167a5a36dedd", "X-Api-Key: [secret:api_key]"),
    ("Authorization: Bearer abc123def456ghi789jkl", "Authorization: Bearer [secret:token]"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [secret:password]"),
    ("Cookie: session=0123456789abcdef; theme=dark", "Cookie: [secret:token]"),
    ("The PIN for my card is 4821", "The PIN for my card is [secret:password]"),
    ("PIN-Code 4821, CVV: 123", "PIN-Code [secret:password], CVV: [secret:password]"),
    (
        "seed phrase: witch collapse practice feed shame open despair creek road again ice least",
        "seed phrase: [secret:seed_phrase]",
    ),
]


@pytest.mark.parametrize(("text", "masked"), ANNOUNCED)
def test_what_is_announced_as_a_secret_is_masked_and_nothing_around_it(text: str, masked: str) -> None:
    assert mask_secrets(text).text == masked


HARMLESS = """
I forgot my password yesterday
The password is wrong.
password is too long
My password expired, please reset it
Reset your password to continue
How do I change the password for user42?
Password: required
Password must be at least 8 characters
Das Passwort ist abgelaufen.
Ich habe mein Passwort vergessen.
Mein Passwort-Manager ist 1Password
Я забула свій пароль учора
пароль неправильний
пароль потрібно змінити до 14 травня
Пароль має містити щонайменше вісім символів.
1Password is great.
Forgot password: https://example.org/reset
his password is the name of his dog
password hash: 5f4dcc3b5aa765d61d8327deb882cf99
password: ${DB_PASSWORD}
password: <your password>
password: ********
def login(user: str, password: str) -> None:
password = getpass.getpass()
password=os.environ["PASSWORD"]
connect(user=user, password=password)
{"password": {"type": "string", "description": "The password of the user"}}
{"password": "This field is required"}
grep -v root /etc/passwd bb1e734aeffd2111417761f5938dea3b53759598
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
550e8400-e29b-41d4-a716-446655440000
019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071
call +49 170 1234567 or +380 67 123 45 67
tel. 0800 1234 5678 9012 3456
the price is $213.00, now $218.40
om_x100b54
order 4111111111111112
order number 1234567890123456
1700000000000000
2026-05-01 14:30:00.123456
IBAN DE89 3704 0044 0532 0130 00
max_tokens: 4096
next_page_token: CAoQAA1234567890abcd
The token is refreshed after it has expired.
the token budget is 1300
my key takeaway: be kind
API key rotation is due on 2026-05-01
the secret ingredient is love
secret santa: 24.12.2024
I pinned 2024 pins
pin 1000 posts to the board
Bearer of bad news
Basic understanding of telecommunications
risk-averse task-oriented sk-learn-something-long-slug-here
sk-ssh-ed25519-cert-v01@openssh.com
http://localhost:8080/a@b
git@github.com:retentia/retentia.git
the line -----BEGIN PRIVATE KEY----- opens a key file
[secret:password]
password: [secret:password]
""".strip().split("\n")


@pytest.mark.parametrize("text", HARMLESS)
def test_prose_numbers_hashes_and_code_stay_as_they_are(text: str) -> None:
    assert mask_secrets(text).text == text
    assert mask_secrets(text).found == ()


@pytest.mark.parametrize("line_break", ["\n", "\\n", "\r\n"])
@pytest.mark.parametrize("name", ["RSA PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY"])
def test_a_key_block_is_masked_whole(name: str, line_break: str) -> None:
    lines = [f"-----BEGIN {name}-----", "MIIEpAIBAAKCAQEA1234567890abcdef", "ABCDEFabcdef==", f"-----END {name}-----"]
    assert mask_secrets(f"key: {line_break.join(lines)} end").text == "key: [secret:private_key] end"


def test_a_key_block_that_is_cut_off_is_masked_as_far_as_it_goes() -> None:
    text = "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890abcdef\nMIIEpAIBAAKCAQEA1234567890abcdef"
    assert mask_secrets(text).text == "[secret:private_key]"


def test_a_long_password_is_masked_to_its_end() -> None:
    secret = "aB3-" * 100
    assert mask_secrets(f"password: {secret}. Then").text == "password: [secret:password]. Then"
    assert mask_secrets(f'secret = "{secret}"').text == 'secret = "[secret:token]"'
    assert mask_secrets(f"password='{secret}',user='bob'").text == "password='[secret:password]',user='bob'"


def test_two_secrets_in_one_place_become_one_mark() -> None:
    token = "ghp_" + DIGITS_AND_LETTERS
    masked = mask_secrets(f"password={token}")
    assert masked.text in ("password=[secret:api_key]", "password=[secret:password]")
    assert masked.found == (SecretFound(masked.found[0].kind, 9, 9 + len(token)),)


def test_spans_name_the_characters_of_the_original() -> None:
    text = "пароль: Київ2024, а ключ " + "ghp_" + DIGITS_AND_LETTERS
    assert [text[found.start : found.end] for found in mask_secrets(text).found] == [
        "Київ2024",
        "ghp_" + DIGITS_AND_LETTERS,
    ]


@pytest.mark.parametrize(
    "text", ["", "\0", "\ud83d", "İ" * 50 + " password: hunter2", "𝕡𝕒𝕤𝕤", "a" * 100_000, "[secret:"]
)
def test_odd_text_is_survived(text: str) -> None:
    assert "hunter2" not in mask_secrets(text).text


def test_json_is_masked_by_key_and_by_content() -> None:
    masked = mask_json(
        {
            "user": "bob",
            "password": "hunter2",
            "nested": [{"token": "abc"}, {"X-Api-Key": "k"}, {"clientSecret": "s"}],
            "Authorization": "Bearer abc",
            "pin": 1234,
            "note": "пароль: Qwerty1",
            "arguments": '{"password": "x1", "n": 1.5, "name": "Ґанна"}',
            "n": 5,
            "flag": None,
        }
    )
    assert masked.value == {
        "user": "bob",
        "password": "[secret:password]",
        "nested": [
            {"token": "[secret:token]"},
            {"X-Api-Key": "[secret:api_key]"},
            {"clientSecret": "[secret:api_key]"},
        ],
        "Authorization": "[secret:token]",
        "pin": "[secret:password]",
        "note": "пароль: [secret:password]",
        "arguments": '{"password": "[secret:password]", "n": 1.5, "name": "Ґанна"}',
        "n": 5,
        "flag": None,
    }
    assert masked.kinds == ("password", "token", "api_key", "api_key", "token", "password", "password", "password")
    assert mask_json(masked.value).value == masked.value


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 100, "next_page_token": "abc", "password_hash": "9fc", "passwords_allowed": 3},
        {"properties": {"password": {"type": "string"}}, "required": ["password"]},
        {"password": "", "token": None, "secret": True, "api_key": "${API_KEY}", "auth": "<token>"},
        ["a", 1, 2.5, [], {}, '{"a": 1}', "{not json}", "[1, 2"],
        "plain",
        None,
    ],
)
def test_json_without_secrets_comes_back_equal(value: object) -> None:
    masked = mask_json(value)  # type: ignore[arg-type]
    assert masked.value == value
    assert masked.kinds == ()


def test_a_list_under_a_telling_key_is_masked_item_by_item() -> None:
    assert mask_json({"token": ["a", "b"]}).value == {"token": ["[secret:token]", "[secret:token]"]}


def test_secrets_in_keys_are_masked_and_no_entry_is_lost() -> None:
    first, second = "ghp_" + DIGITS_AND_LETTERS, "ghp_" + DIGITS_AND_LETTERS[::-1]
    masked = mask_json({first: 1, second: 2})
    assert masked.value == {"[secret:api_key]": 1, "[secret:api_key]'": 2}


def test_json_nested_beyond_reason_is_refused_by_name() -> None:
    value: list[object] = []
    for _ in range(500):
        value = [value]
    with pytest.raises(InvalidInput, match="200 levels"):
        mask_json(value)  # type: ignore[arg-type]
    deep_text = "[" * 100_000 + "]" * 100_000
    assert mask_json(deep_text).value == deep_text


def test_masked_json_can_be_written() -> None:
    assert (
        json.dumps(mask_json({"a": ("x", {"password": "y"})}).value)
        == '{"a": ["x", {"password": "[secret:password]"}]}'
    )
