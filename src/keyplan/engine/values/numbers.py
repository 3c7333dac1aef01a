"""DynamoDB's numbers: 38 significant digits, magnitudes from 1E-130 to just under 1E+126, exact.

A number travels and is stored as a string in normal form (plain decimal notation, no superfluous sign, zeros or
exponent), so that two equal numbers are equal strings. `sort_key` gives bytes whose order is the order of the values.
"""

import re
from collections.abc import Callable
from decimal import Context, Decimal, Inexact
from functools import lru_cache

from keyplan.engine.errors import DynamoError, validation_error

DIGITS = 38
LARGEST_EXPONENT = 125
SMALLEST_EXPONENT = -130

# What is in normal form already needs no work: integers and fractions of at most 38 digits in plain notation.
_NORMAL = re.compile(r"(?:0|-?[1-9][0-9]{0,37})\Z|-?(?=[0-9.]{3,39}\Z)(?:0|[1-9][0-9]*)\.[0-9]*[1-9]\Z").match
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)0*([0-9]+))?\Z").match

_EXACT = Context(prec=DIGITS, traps=[Inexact])


def normal(text: str) -> str:
    """The normal form of a number as a client wrote it; AWS's error where it is none or out of range."""
    if _NORMAL(text):
        return text
    match = _NUMBER(text)
    if match is None or not (match[2] or match[3]):
        raise _not_numeric(text)
    sign, whole, fraction, exponent_sign, exponent_digits = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0"
    # An exponent of more than six digits is out of range whatever the digits are, unless they are absurdly many.
    exponent = int(exponent_digits[:7] or "0")
    magnitude = len(digits) - len(fraction) - 1 + (-exponent if exponent_sign == "-" else exponent)
    return _plain("-" if sign == "-" else "", digits.rstrip("0"), magnitude)


def _plain(sign: str, digits: str, magnitude: int) -> str:
    """Plain notation of digits whose first stands at 10**magnitude."""
    count = len(digits)
    if count > DIGITS:
        raise validation_error("Attempting to store more than 38 significant digits in a Number")
    if magnitude > LARGEST_EXPONENT:
        raise validation_error(
            "Number overflow. Attempting to store a number with magnitude larger than supported range"
        )
    if magnitude < SMALLEST_EXPONENT:
        raise validation_error(
            "Number underflow. Attempting to store a number with magnitude smaller than supported range"
        )
    if magnitude < 0:
        return f"{sign}0.{'0' * (-magnitude - 1)}{digits}"
    if count <= magnitude + 1:
        return sign + digits + "0" * (magnitude + 1 - count)
    return f"{sign}{digits[: magnitude + 1]}.{digits[magnitude + 1 :]}"


def _not_numeric(text: str) -> DynamoError:
    if not text:
        return validation_error("The parameter cannot be converted to a numeric value")
    return validation_error(f"The parameter cannot be converted to a numeric value: {text}")


@lru_cache(maxsize=4096)
def to_decimal(number: str) -> Decimal:
    """The value, for comparisons."""
    return Decimal(number)


def add(left: str, right: str) -> str:
    """The exact sum; an error where 38 digits do not hold it."""
    return _exact(_EXACT.add, left, right)


def subtract(left: str, right: str) -> str:
    """The exact difference; an error where 38 digits do not hold it."""
    return _exact(_EXACT.subtract, left, right)


def _exact(operate: Callable[[Decimal, Decimal], Decimal], left: str, right: str) -> str:
    try:
        return normal(str(operate(Decimal(left), Decimal(right))))
    except Inexact:
        raise validation_error("Attempting to store more than 38 significant digits in a Number") from None


def sort_key(number: str) -> bytes:
    """Bytes that compare as the numbers do, and no two of which are equal for different numbers.

    A byte for the sign, one for the exponent, then the digits two by two as 1..100; for negative numbers everything
    after the sign is inverted and closed with 0xFF, so that more digits mean a smaller number.
    """
    if number == "0":
        return b"\x80"
    digits, magnitude = digits_of(number)
    pairs = digits + "0" if len(digits) % 2 else digits
    body = bytes([magnitude - SMALLEST_EXPONENT]) + bytes(int(pairs[i : i + 2]) + 1 for i in range(0, len(pairs), 2))
    if number[0] == "-":
        return b"\x40" + bytes(255 - byte for byte in body) + b"\xff"
    return b"\xc0" + body


def digits_of(number: str) -> tuple[str, int]:
    """The significant digits of a number other than zero, and the power of ten of the first of them."""
    whole, _, fraction = number.lstrip("-").partition(".")
    if whole != "0":
        return (whole + fraction).rstrip("0"), len(whole) - 1
    digits = fraction.lstrip("0")
    return digits, len(digits) - len(fraction) - 1


def normal_size(text: str) -> int:
    """The size of a number that is in normal form already; zero for any other text."""
    if text.isdigit() and text.isascii():  # most are: no need for more
        if len(text) > DIGITS or (text[0] == "0" and text != "0"):
            return 0
        return 1 + (len(text.rstrip("0")) + 1) // 2
    whole, _, fraction = text.partition(".")
    if whole.isdigit() and fraction.isdigit() and whole[0] != "0" and fraction[-1] != "0" and text.isascii():
        return 1 + (len(whole) + 1) // 2 + (len(fraction) + 1) // 2 if len(text) <= DIGITS + 1 else 0
    return size(text) if _NORMAL(text) else 0


def size(number: str) -> int:
    """The size that DynamoDB counts for a number in normal form.

    One byte, one more for a minus sign, and a byte for every two digits, where those before and those behind the
    point are paired separately; zeros at the outer ends do not count.
    """
    if number.isdigit():
        return 1 + (len(number.rstrip("0")) + 1) // 2
    whole, _, fraction = number.lstrip("-").partition(".")
    sign = 1 if number[0] == "-" else 0
    if not fraction:
        return 1 + sign + (len(whole.rstrip("0")) + 1) // 2
    if whole == "0":
        return 1 + sign + (len(fraction.lstrip("0")) + 1) // 2
    return 1 + sign + (len(whole) + 1) // 2 + (len(fraction) + 1) // 2
