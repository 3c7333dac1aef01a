"""Date buckets, shards and values in reverse order: what is written, how it sorts, and what is read back."""

import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.design.keys.buckets import Bucket, parse_bucket
from keyplan.design.keys.shards import Shards, shard_of
from tests.design.support import refused, template

times = st.datetimes(timezones=st.just(UTC))
SPECS = ["%Y", "%Y-%m", "%Y-%m-%d", "%Y%m%d%H", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%G-W%V"]
specs = st.sampled_from(SPECS)


def bucket(spec: str) -> Bucket:
    return parse_bucket(spec, "Thing.key.at", of_dates=False)


# Date buckets


@given(specs, times)
def test_a_bucket_has_the_text_that_strftime_gives(spec: str, at: datetime) -> None:
    year, iso = f"{at.year:04}", at.isocalendar()
    wanted = at.strftime(spec.replace("%Y", year).replace("%G", f"{iso.year:04}"))
    assert template(f"{{at:{spec}}}", at=datetime).write({"at": at}) == wanted


@given(specs, times, times)
def test_buckets_sort_by_time(spec: str, first: datetime, second: datetime) -> None:
    made = template(f"{{at:{spec}}}", at=datetime)
    texts = [made.write({"at": at}) or "" for at in (first, second)]
    if first <= second:
        assert texts[0] <= texts[1]
    assert len(texts[0]) == len(texts[1])


@given(specs, times, st.timedeltas(timedelta(0), timedelta(days=400)))
def test_the_buckets_of_a_range_have_no_gap(spec: str, low: datetime, length: timedelta) -> None:
    made = bucket(spec)
    unit = {"%Y": 366, "%Y-%m": 31, "%Y-%m-%d": 1, "%G-W%V": 7}.get(spec, 1 / 1440)
    high = low + min(length, timedelta(days=50 * unit), datetime.max.replace(tzinfo=UTC) - low)
    starts = list(made.starts(low, high))
    assert starts == sorted(set(starts))
    assert made.text(starts[0]) == made.text(low)
    assert made.text(starts[-1]) == made.text(high)
    assert [made.start(start) for start in starts] == starts
    for before, after in pairwise(starts):
        assert isinstance(after, datetime)
        assert made.text(after - timedelta(microseconds=1)) == made.text(before)


def test_a_bucket_is_one_of_utc() -> None:
    made = template("{at:%Y-%m-%d}", at=datetime)
    assert made.write({"at": datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))}) == "2025-12-31"
    with refused("naive-time", "at"):
        made.write({"at": datetime(2026, 1, 1)})  # noqa: DTZ001 - without a zone
    with refused("wrong-type", "at"):
        made.write({"at": date(2026, 1, 1)})


def test_a_week_belongs_to_the_year_of_its_thursday() -> None:
    made = template("{day:%G-W%V}", day=date)
    assert [made.write({"day": day}) for day in (date(2027, 1, 3), date(2027, 1, 4))] == ["2026-W53", "2027-W01"]
    with refused("wrong-type", "day"):
        made.write({"day": datetime(2027, 1, 3, tzinfo=UTC)})


def test_a_bucket_is_not_read_back_but_compared() -> None:
    made = template("{at:%Y-%m}#{at}", at=datetime)
    at = datetime(2026, 1, 31, tzinfo=UTC)
    text = made.write({"at": at})
    assert text == "2026-01#2026-01-31T00:00:00.000Z"
    assert made.read(text) == {"at": at}
    assert made.read("2026-02#2026-01-31T00:00:00.000Z") is None
    assert template("{at:%Y-%m}", at=datetime).read("2026-01") == {}
    assert template("{at:%Y-%m}", at=datetime).read("2026-1") is None


def test_a_missing_value_has_no_bucket_or_a_text_of_its_own() -> None:
    assert template("{at:%Y-%m}", at=datetime).write({"at": None}) is None
    made = template("{at:%Y-%m|never}#{at|never}", at=datetime)
    assert made.write({"at": None}) == "never#never"
    assert made.read("never#never") == {"at": None}
    assert made.read("2026-01#never") is None


# Reverse order


@given(times, times)
def test_times_in_reverse_sort_newest_first(first: datetime, second: datetime) -> None:
    made = template("{at.desc}", at=datetime)
    one, other = (each.replace(microsecond=each.microsecond // 1000 * 1000) for each in (first, second))
    texts = [made.write({"at": at}) or "" for at in (one, other)]
    assert (texts[0] < texts[1]) == (one > other)
    assert made.read(texts[0]) == {"at": one}


@given(st.integers(-9999, 9999), st.integers(-9999, 9999))
def test_numbers_in_reverse_sort_from_the_greatest(first: int, second: int) -> None:
    for spec, kind in (("+04", int), ("+4.2", Decimal)):
        made = template(f"{{n.desc:{spec}}}", n=kind)
        texts = [made.write({"n": kind(number)}) or "" for number in (first, second)]
        assert (texts[0] < texts[1]) == (first > second)
        assert made.read(texts[0]) == {"n": first}


@given(st.dates(), st.dates())
def test_dates_in_reverse_sort_from_the_last(first: date, second: date) -> None:
    made = template("{day.desc}#{day.desc:%Y-%m}", day=date)
    texts = [made.write({"day": day}) or "" for day in (first, second)]
    assert (texts[0] < texts[1]) == (first > second)
    assert made.read(texts[0]) == {"day": first}


def test_each_digit_is_subtracted_from_nine() -> None:
    assert template("{n.desc:04}", n=int).write({"n": 17}) == "9982"
    at = {"at": datetime(2026, 1, 31, 12, tzinfo=UTC)}
    assert template("{at.desc}", at=datetime).write(at) == "7973-98-68T87:99:99.999Z"


# Shards

VECTORS = re.compile(r"^\| `(.+)` \| `([0-9a-f]{16})` \| `(\d+/10)` \| `(\d+/16)` \|$", re.MULTILINE)


def test_the_documented_vectors_hold() -> None:
    found = VECTORS.findall(Path("docs/data.md").read_text("utf-8"))
    assert len(found) == 6
    for text, digest, of_ten, of_sixteen in found:
        assert sha256(text.encode()).hexdigest().startswith(digest)
        assert Shards(10).text(text, 10) == of_ten
        assert Shards(16).text(text, 16) == of_sixteen


@given(st.text(), st.integers(2, 256))
def test_a_shard_is_computed_as_documented(text: str, count: int) -> None:
    number = int(sha256(text.encode("utf-8")).hexdigest()[:16], 16) % count
    assert shard_of(text, count) == number
    assert Shards(count).text(text, count) == f"{number:0{len(str(count - 1))}}/{count}"


class Size(Enum):
    LARGE = "L"


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (str, "user-1", "user-1"),
        (int, -17, "-17"),
        (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (date, date(2026, 1, 31), "2026-01-31"),
        (datetime, datetime(2026, 1, 31, tzinfo=UTC), "2026-01-31T00:00:00.000Z"),
        (Size, Size.LARGE, "L"),
        (Literal[1, 10], 10, "10"),
    ],
)
def test_a_shard_is_of_the_text_that_a_key_has(annotation: object, value: object, text: str) -> None:
    made = template("{shard(x, 16)}", x=annotation)
    assert made.write({"x": value}) == f"{shard_of(text, 16):02}/16"


def test_a_shard_of_what_is_not_text_is_refused() -> None:
    with refused("wrong-type", "x"):
        template("{shard(x, 16)}", x=int).write({"x": True})
    with refused("invalid", "x"):
        template("{shard(x, 16)}", x=str).write({"x": "\ud800"})


def test_all_shards_the_former_ones_first() -> None:
    assert list(Shards(4, was=2).texts()) == ["0/2", "1/2", "0/4", "1/4", "2/4", "3/4"]
    assert list(Shards(16).texts())[9:11] == ["09/16", "10/16"]


def test_a_key_may_have_the_former_shard() -> None:
    made = template("{shard(x, 16, was=2)}#{x}", x=str)
    text = made.write({"x": "a#b"})
    assert text == f"{shard_of('a#b', 16):02}/16#a#b"
    assert made.read(text) == {"x": "a#b"}
    assert made.read(f"{shard_of('a#b', 2)}/2#a#b") == {"x": "a#b"}
    assert made.read(f"{1 - shard_of('a#b', 2)}/2#a#b") is None
    assert made.read("0/3#a#b") is None


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True), times, times)
def test_a_key_with_computed_parts_is_never_the_same_for_different_values(
    words: list[str], first: datetime, second: datetime
) -> None:
    made = template("{at:%Y-%m}#{shard(word, 4)}#{at.desc}#{word}", at=datetime, word=str)
    texts = {made.write({"at": at, "word": word}) for at in (first, second) for word in words}
    precise = {(at.replace(microsecond=at.microsecond // 1000), word) for at in (first, second) for word in words}
    assert len(texts) == len(precise)
