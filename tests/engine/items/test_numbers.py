"""Numbers: one form for equal values, exact arithmetic, and sort keys in the order of the values."""

from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyplan.engine.errors import DynamoError
from keyplan.engine.values import numbers
from tests.engine.support import make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    """Any number that DynamoDB can hold."""
    digits = draw(st.text("0123456789", min_size=1, max_size=38)).strip("0")
    if not digits:
        return Decimal(0)
    magnitude = draw(st.integers(-130, 125) | st.integers(-3, 3))
    sign = draw(st.sampled_from((0, 1)))
    return Decimal((sign, tuple(map(int, digits)), magnitude - len(digits) + 1))


@st.composite
def spellings(draw: st.DrawFn) -> tuple[Decimal, str]:
    """A number, and one of the ways in which a client may write it."""
    value = draw(decimals())
    shift = draw(st.integers(-20, 20))
    with localcontext(prec=400):
        mantissa = format(value.scaleb(-shift), "f")
    sign, digits = ("-", mantissa[1:]) if mantissa[0] == "-" else (draw(st.sampled_from(("", "+"))), mantissa)
    zeros = "0" * draw(st.integers(0, 3))
    digits = zeros + digits + (("" if "." in digits else ".") + zeros if draw(st.booleans()) else "")
    letter = draw(st.sampled_from("eE"))
    exponent = f"{shift:+d}" if draw(st.booleans()) else str(shift)
    return value, f"{sign}{digits}{letter}{exponent}"


@given(spellings())
def test_all_spellings_of_a_number_become_one(spelling: tuple[Decimal, str]) -> None:
    value, text = spelling
    normal = numbers.normal(text)
    assert Decimal(normal) == value
    assert normal == numbers.normal(format(value, "f"))
    assert numbers.normal(normal) == normal
    assert "E" not in normal
    assert normal == "0" or not normal.lstrip("-").startswith("00")
    assert "." not in normal or not normal.endswith("0")


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Decimal, Decimal]:
    """Two numbers, of which one often begins with the digits of the other."""
    one = draw(decimals())
    if not one or draw(st.booleans()):
        return one, draw(decimals())
    sign, digits, _ = one.as_tuple()
    more = (*digits, *draw(st.lists(st.integers(0, 9), max_size=38 - len(digits))))
    return one, Decimal((sign, more, one.adjusted() - len(more) + 1))


@given(neighbours().flatmap(st.permutations))
@example([Decimal(0), Decimal("-1e-130")])
@example([Decimal("1e-130"), Decimal("1.1e-130")])
@example([Decimal(-1), Decimal("-1.1")])
@example([Decimal(-1), Decimal("-1.01")])
@example([Decimal(99), Decimal(100)])
@example([Decimal("-9.9e125"), Decimal("9.9e125")])
def test_sort_keys_compare_as_the_numbers_do(pair: list[Decimal]) -> None:
    left, right = pair
    one, two = (numbers.sort_key(numbers.normal(format(value, "f"))) for value in (left, right))
    assert (one < two, one == two) == (left < right, left == right)


@given(decimals(), decimals())
@example(Decimal("1e-130"), Decimal("1.1e-130"))
def test_arithmetic_is_exact_or_an_error(left: Decimal, right: Decimal) -> None:
    texts = [numbers.normal(format(value, "f")) for value in (left, right)]
    with localcontext(prec=400):
        results = {numbers.add: left + right, numbers.subtract: left - right}
    for operate, exact in results.items():
        digits = len("".join(map(str, exact.as_tuple().digits)).strip("0"))
        if digits <= 38 and (not exact or -130 <= exact.adjusted() <= 125):
            assert Decimal(operate(*texts)) == exact
        else:
            with pytest.raises(DynamoError):
                operate(*texts)


@pytest.mark.parametrize(
    ("number", "size"),
    [
        ("0", 1),
        ("1", 2),
        ("-1", 3),
        ("10", 2),
        ("12", 2),
        ("100", 2),
        ("123", 3),
        ("1234", 3),
        ("-1234", 4),
        ("1.5", 3),
        ("12.34", 3),
        ("100.5", 4),
        ("1.005", 4),
        ("0.5", 2),
        ("0.05", 2),
        ("0.0012", 2),
        ("-0.5", 3),
        ("9" * 38, 20),
        ("1" + "0" * 125, 2),
    ],
)
def test_sizes(number: str, size: int) -> None:
    assert numbers.size(number) == size


def increment(client: "Client", table: str, start: str, expression: str, amount: str) -> str:
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, "n": {"N": start}})
    answer = client.update_item(
        TableName=table,
        Key={"pk": {"S": "a"}},
        UpdateExpression=expression,
        ExpressionAttributeValues={":v": {"N": amount}},
        ReturnValues="UPDATED_NEW",
    )
    return answer["Attributes"]["n"]["N"]


@pytest.mark.parametrize(
    ("start", "expression", "amount", "result"),
    [
        ("0.1", "SET n = n + :v", "0.2", "0.3"),
        ("9007199254740992", "SET n = n + :v", "1", "9007199254740993"),
        ("1", "SET n = n - :v", "0.9", "0.1"),
        ("5", "SET n = :v - n", "5", "0"),
        ("9" * 38, "ADD n :v", "1", "1" + "0" * 38),
        ("1e125", "ADD n :v", "1e125", "2" + "0" * 125),
        ("1e-130", "SET n = n - :v", "1e-130", "0"),
        ("1" + "0" * 37, "SET n = n + :v", "1", "1" + "0" * 36 + "1"),
    ],
)
def test_updates_are_exact(client: "Client", start: str, expression: str, amount: str, result: str) -> None:
    assert increment(client, make_table(client), start, expression, amount) == result


def test_a_sum_of_too_many_digits_is_refused_and_changes_nothing(client: "Client") -> None:
    table = make_table(client)
    # One of the reasons for which AWS cancels a transaction, and the only one about the size of a number:
    # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
    overflow = "Number overflow. Attempting to store a number with magnitude larger than supported range"
    for expression in ("SET n = n + :v", "SET n = n - :v", "ADD n :v"):
        with refused(overflow):
            increment(client, table, "1" + "0" * 38, expression, "0.1")
        assert client.get_item(TableName=table, Key={"pk": {"S": "a"}})["Item"]["n"] == {"N": "1" + "0" * 38}
    with refused(overflow):
        increment(client, table, "9e125", "SET n = n + :v", "1e125")
