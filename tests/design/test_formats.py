"""Formats: text sorts like its values, has a fixed width, and is read back as the same value."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyplan.design import DesignError, InvalidValue
from keyplan.design.keys.formats import Fold, Format, TimePrecision, choices, format_of


def made(
    annotation: object, spec: str = "", precision: TimePrecision = "milliseconds", *, fold: Fold | None = None
) -> Format:
    return format_of(annotation, spec, "Thing.key.field", precision, fold=fold, bare=False)


@given(st.integers(0, 9999), st.integers(0, 9999))
@example(9, 10)
def test_integers_sort_as_numbers(first: int, second: int) -> None:
    padded = made(int, "04")
    assert (padded.write(first) < padded.write(second)) == (first < second)
    assert len(padded.write(first)) == 4
    assert padded.read(padded.write(first)) == first


@given(st.integers(-1000, 999), st.integers(-1000, 999))
@example(-5, -4)
@example(-1, 0)
@example(-1000, 999)
def test_negative_integers_sort_as_numbers(first: int, second: int) -> None:
    signed = made(int, "+03")
    assert (signed.write(first) < signed.write(second)) == (first < second)
    assert len(signed.write(first)) == 4
    assert signed.read(signed.write(first)) == first


cents = st.integers(-999_999, 999_999).map(lambda number: Decimal(number) / 100)


@given(cents, cents)
def test_decimals_sort_as_numbers(first: Decimal, second: Decimal) -> None:
    signed = made(Decimal, "+4.2")
    assert (signed.write(first) < signed.write(second)) == (first < second)
    assert len(signed.write(first)) == 7
    assert signed.read(signed.write(first)) == first


def test_choices_keep_their_type() -> None:
    thirds = choices({1: 1, 2: 2, 3: 3}, "Thing.key.third")
    assert [thirds.read(thirds.write(each)) for each in (1, 2, 3)] == [1, 2, 3]
    words = choices({"a": "a", "b": "b"}, "Thing.key.word")
    assert words.read(words.write("a")) == "a"


@pytest.mark.parametrize("values", [(9, 10), (-2, -1), ("1", 1)])
def test_choices_that_do_not_sort_or_differ_as_text_are_refused(values: tuple[object, ...]) -> None:
    with pytest.raises(DesignError, match="unpadded-number"):
        choices({value: value for value in values}, "Thing.key.number")


@pytest.mark.parametrize("precision", ["seconds", "milliseconds"])
@given(first=st.datetimes(timezones=st.timezones()), second=st.datetimes(timezones=st.timezones()))
def test_times_sort_by_moment_in_any_time_zone(precision: TimePrecision, first: datetime, second: datetime) -> None:
    width, unit = (20, timedelta(seconds=1)) if precision == "seconds" else (24, timedelta(milliseconds=1))
    stamp = made(datetime, precision=precision)
    for moment in (first, second):
        if not 1000 <= moment.year <= 9998:
            return
        text = stamp.write(moment)
        assert len(text) == width
        assert text.endswith("Z")
        back = stamp.read(text)
        assert isinstance(back, datetime)
        assert timedelta(0) <= moment.astimezone(UTC) - back < unit
    if first.astimezone(UTC) + unit <= second.astimezone(UTC):
        assert stamp.write(first) < stamp.write(second)


def test_a_year_has_four_digits() -> None:
    assert made(datetime).write(datetime(987, 6, 5, tzinfo=UTC)) == "0987-06-05T00:00:00.000Z"


def test_a_time_is_written_in_utc() -> None:
    berlin = timezone(timedelta(hours=2))
    moment = datetime(2026, 7, 1, 0, 30, 15, 123_999, tzinfo=berlin)
    assert made(datetime).write(moment) == "2026-06-30T22:30:15.123Z"
    assert made(datetime, precision="seconds").write(moment) == "2026-06-30T22:30:15Z"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidValue) as refused:
        made(datetime).write(datetime(2026, 7, 1))  # noqa: DTZ001 - what the test is about
    assert refused.value.code == "naive-time"


@given(st.dates(), st.dates())
def test_dates_sort_as_days(first: date, second: date) -> None:
    day = made(date)
    assert (day.write(first) < day.write(second)) == (first < second)
    assert len(day.write(first)) == 10
    assert day.read(day.write(first)) == first


@given(st.uuids())
def test_uuids_are_read_back(identifier: UUID) -> None:
    assert made(UUID).read(made(UUID).write(identifier)) == identifier


@given(st.text())
def test_lower_folds_case(text: str) -> None:
    folded, plain = made(str, fold="lower"), made(str)
    assert folded.write(text) == text.lower()
    assert folded.folds
    assert plain.write(text) == text
    assert not plain.folds


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


def test_an_enum_is_written_as_its_value() -> None:
    assert made(Color).write(Color.RED) == "red"
    assert made(Color).write("red") == "red"
    assert made(Color).read("red") is Color.RED


def test_an_enum_of_numbers_is_read_back() -> None:
    assert made(Level).read(made(Level).write(Level.HIGH)) is Level.HIGH


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("03", 1000),
        ("03", -1),
        ("+03", 1000),
        ("+03", -1001),
        ("2.2", Decimal(100)),
        ("2.2", Decimal("-0.01")),
        ("+2.2", Decimal("-100.01")),
    ],
)
def test_a_number_that_does_not_fit_is_refused(spec: str, value: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        made(type(value), spec).write(value)
    assert refused.value.code == "number-out-of-width"


@pytest.mark.parametrize("value", [Decimal("0.001"), Decimal("NaN"), Decimal("Infinity"), float("nan"), float("-inf")])
def test_a_number_that_would_be_rounded_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        made(type(value), "2.2").write(value)
    assert refused.value.code == "inexact-number"


def test_long_decimals_are_exact() -> None:
    long = made(Decimal, "20.10")
    values = [Decimal("12345678901234567890.1234567891"), Decimal("12345678901234567890.1234567892")]
    texts = [long.write(value) for value in values]
    assert texts[0] < texts[1]
    assert [long.read(text) for text in texts] == values


@pytest.mark.parametrize(
    ("annotation", "spec", "value"),
    [
        (int, "03", 5.5),
        (int, "03", "five"),
        (int, "03", True),
        (Decimal, "3.2", "five"),
        (datetime, "", "2026-07-01"),
        (date, "", datetime(2026, 7, 1, tzinfo=UTC)),
    ],
)
def test_a_value_of_another_type_is_refused(annotation: object, spec: str, value: object) -> None:
    with pytest.raises(InvalidValue):
        made(annotation, spec).write(value)


def test_ten_sorts_after_nine() -> None:
    padded = made(int, "02")
    texts = [padded.write(number) for number in range(100)]
    assert all(left < right for left, right in pairwise(texts))
