"""DynamoDB's numbers: exact, with 38 significant digits and magnitudes from 1E-130 to just under 1E+126.

A number is sent and stored as a string. In normal form (plain decimal notation without unnecessary sign, zeros or
exponent) equal numbers are equal strings. `sort_key` returns bytes that sort like the values.
"""

import re
from collections.abc import Callable
from decimal import Context, Decimal, Inexact
from functools import lru_cache

from keyplan.engine.errors import DynamoError, PlainError

DIGITS = 38
LARGEST_EXPONENT = 125
SMALLEST_EXPONENT = -130

# Integers and fractions of at most 38 digits in plain notation: in normal form already.
_NORMAL = re.compile(r"(?:0|-?[1-9][0-9]{0,37})\Z|-?(?=[0-9.]{3,39}\Z)(?:0|[1-9][0-9]*)\.[0-9]*[1-9]\Z").match
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)0*([0-9]+))?\Z").match

_EXACT = Context(prec=DIGITS, traps=[Inexact])


def normal(text: str) -> str:
    """Return the normal form of a number; raise AWS's error if it isn't a number or is out of range."""
    if _NORMAL(text):
        return text
    match = _NUMBER(text)
    if match is None or not (match[2] or match[3]):
        raise _not_numeric(text)
    sign, whole, fraction, exponent_sign, exponent_digits = match.groups(default="")
    # An exponent of more than six digits is out of range, whatever the digits are.
    exponent = int(exponent_digits[:7] or "0") * (-1 if exponent_sign == "-" else 1) - len(fraction)
    digits = (whole + fraction).lstrip("0")
    if not digits:
        # The service counts zero as one digit: 0e126 is out of range.
        _check_range(exponent)
        return "0"
    return _plain("-" if sign == "-" else "", digits.rstrip("0"), len(digits) - 1 + exponent)


def _plain(sign: str, digits: str, magnitude: int) -> str:
    """The plain notation of digits, the first of which counts 10**magnitude."""
    count = len(digits)
    if count > DIGITS:
        raise PlainError("Attempting to store more than 38 significant digits in a Number")
    _check_range(magnitude)
    if magnitude < 0:
        return f"{sign}0.{'0' * (-magnitude - 1)}{digits}"
    if count <= magnitude + 1:
        return sign + digits + "0" * (magnitude + 1 - count)
    return f"{sign}{digits[: magnitude + 1]}.{digits[magnitude + 1 :]}"


def _check_range(magnitude: int) -> None:
    if magnitude > LARGEST_EXPONENT:
        raise _overflow()
    if magnitude < SMALLEST_EXPONENT:
        raise PlainError("Number underflow. Attempting to store a number with magnitude smaller than supported range")


def _overflow() -> DynamoError:
    return PlainError("Number overflow. Attempting to store a number with magnitude larger than supported range")


def _not_numeric(text: str) -> DynamoError:
    if not text:
        return PlainError("The parameter cannot be converted to a numeric value")
    return PlainError(f"The parameter cannot be converted to a numeric value: {text}")


@lru_cache(maxsize=4096)
def to_decimal(number: str) -> Decimal:
    """Return the value, for comparisons."""
    return Decimal(number)


def add(left: str, right: str) -> str:
    """Return the exact sum; raise AWS's error if it needs more than 38 digits."""
    return _exact(_EXACT.add, left, right)


def subtract(left: str, right: str) -> str:
    """Return the exact difference; raise AWS's error if it needs more than 38 digits."""
    return _exact(_EXACT.subtract, left, right)


def _exact(operate: Callable[[Decimal, Decimal], Decimal], left: str, right: str) -> str:
    try:
        result = operate(Decimal(left), Decimal(right))
        return normal(str(result)) if result else "0"
    except Inexact:  # AWS has no other message for the result of an operation
        raise _overflow() from None


def sort_key(number: str) -> bytes:
    """Return bytes that compare like the numbers; different numbers have different bytes.

    One byte is for the sign, one for the exponent, then pairs of digits as 1 to 100. For negative numbers, everything
    after the sign is inverted and followed by 0xFF, so that more digits mean a smaller number.
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
    """Return the significant digits of a number other than zero, and the power of ten of the first digit."""
    whole, _, fraction = number.lstrip("-").partition(".")
    if whole != "0":
        return (whole + fraction).rstrip("0"), len(whole) - 1
    digits = fraction.lstrip("0")
    return digits, len(digits) - len(fraction) - 1


def normal_size(text: str) -> int:
    """Return the size of a number in normal form, and zero for any other text."""
    if text.isdigit() and text.isascii():  # the usual case
        if len(text) > DIGITS or (text[0] == "0" and text != "0"):
            return 0
        return 1 + (len(text.rstrip("0")) + 1) // 2
    whole, _, fraction = text.partition(".")
    if whole.isdigit() and fraction.isdigit() and whole[0] != "0" and fraction[-1] != "0" and text.isascii():
        return 1 + (len(whole) + 1) // 2 + (len(fraction) + 1) // 2 if len(text) <= DIGITS + 1 else 0
    return size(text) if _NORMAL(text) else 0


def size(number: str) -> int:
    """Return the size that DynamoDB counts for a number in normal form.

    It is one byte, one more for a minus sign, and one for every two digits. Digits before and after the point are
    paired separately; leading and trailing zeros don't count.
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
