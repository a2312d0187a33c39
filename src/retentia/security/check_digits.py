"""Numbers that carry a check digit, or a form that only they have: each test says whether a text is such a number.

Account numbers: ISO 13616 (IBAN). German tax id: ISO 7064 MOD 11,10 and the rule of repeated digits (BZSt). Ukrainian
tax number: the first five digits count days since 1899-12-31, weights by the State Tax Service.
"""

from collections import Counter

_IPN_WEIGHTS = (-1, 5, 7, 9, 4, 6, 10, 5, 7)
_YOUNGEST_IPN = 50_000  # days after 1899: born in 2036
_OLDEST_IPN = 5_000  # born in 1913


def is_iban(text: str) -> bool:
    """Tell whether letters and digits without blanks are an account number, whatever their length."""
    moved = (text[4:] + text[:4]).upper()
    if not (moved.isascii() and moved.isalnum()):
        return False
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def is_steuer_id(digits: str) -> bool:
    """Tell whether eleven digits are a German tax id."""
    if len(digits) != 11 or digits[0] == "0":
        return False
    often = [count for count in Counter(digits[:10]).values() if count > 1]
    if often not in ([2], [3]) or _thrice_in_a_row(digits[:10]):
        return False
    product = 10
    for digit in digits[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def is_ukrainian_tax_number(digits: str) -> bool:
    """Tell whether ten digits are a РНОКПП of someone born between 1913 and 2036."""
    if len(digits) != 10 or not _OLDEST_IPN <= int(digits[:5]) < _YOUNGEST_IPN:
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_IPN_WEIGHTS, digits, strict=False))
    return total % 11 % 10 == int(digits[9])


def _thrice_in_a_row(digits: str) -> bool:
    return any(digit * 3 in digits for digit in digits)
