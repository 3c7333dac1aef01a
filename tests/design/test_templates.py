"""Templates: different values give different keys, keys can be read back, and ambiguous keys are refused."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from itertools import product
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from keyplan.design import Id
from keyplan.design.keys.templates import Template
from tests.design.support import refused, template, written

MILLISECOND = timedelta(milliseconds=1)


class Color(Enum):
    RED = "red"
    REDDISH = "red-dish"


Kind = Literal["a", "ab", "a#b"]


def shown(value: object) -> str:
    """A parameter in the name of a test."""
    return value.text if isinstance(value, Template) else str(value)


# For each format: the slot, the field's type, and values with similar keys.
texts = st.text(st.sampled_from("ab#-_Ä0"), min_size=1, max_size=4)
ids = st.text(st.sampled_from("ab-_Ä0"), min_size=1, max_size=4)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
times = st.integers(-30_000_000_000_000, 250_000_000_000_000).map(lambda number: EPOCH + number * MILLISECOND)
cents = st.integers(-99_999, 99_999).map(lambda number: Decimal(number) / 100)
FORMATS: dict[str, tuple[str, object, st.SearchStrategy[Any]]] = {
    "text": ("{%s}", str, texts),
    "id": ("{%s}", Id, ids),
    "integer": ("{%s:03}", int, st.integers(0, 999)),
    "signed": ("{%s:+03}", int, st.integers(-1000, 999)),
    "decimal": ("{%s:3.2}", Decimal, cents.map(abs)),
    "signed decimal": ("{%s:+3.2}", Decimal, cents),
    "time": ("{%s}", datetime, times),
    "date": ("{%s}", date, st.dates()),
    "uuid": ("{%s}", UUID, st.uuids()),
    "enum": ("{%s}", Color, st.sampled_from(Color)),
    "choice": ("{%s}", Literal["a", "ab", "b"], st.sampled_from(["a", "ab", "b"])),
}


@st.composite
def templates(draw: st.DrawFn, separators: list[str]) -> tuple[Template, dict[str, st.SearchStrategy[Any]]]:
    """A template of up to three slots of any format between literals, and the values of its fields."""
    names = ["x", "y", "z"][: draw(st.integers(1, 3))]
    text = draw(st.sampled_from(["", "A#", "POST"]))
    fields, values = {}, {}
    for name in names:
        slot, fields[name], values[name] = FORMATS[draw(st.sampled_from(sorted(FORMATS)))]
        text += slot % name + draw(st.sampled_from(separators))
    return template(text, **fields), values


SEPARATORS = [
    ["#", "#B#"],
    ["#", "-", "a", ""],
]


@pytest.mark.parametrize("separators", SEPARATORS)
@given(data=st.data())
def test_a_key_is_read_back_into_its_values(separators: list[str], data: st.DataObject) -> None:
    made, strategies = data.draw(templates(separators))
    values = {name: data.draw(strategy, name) for name, strategy in strategies.items()}
    key = written(made, values)
    assume(key is not None)
    assert made.read(key or "") == values


@pytest.mark.parametrize("separators", SEPARATORS)
@given(data=st.data())
def test_different_values_never_make_the_same_key(separators: list[str], data: st.DataObject) -> None:
    made, strategies = data.draw(templates(separators))
    first = {name: data.draw(strategy, name) for name, strategy in strategies.items()}
    second = {name: data.draw(strategy, name) for name, strategy in strategies.items()}
    assume(first != second)
    keys = written(made, first), written(made, second)
    assert keys[0] != keys[1] or keys == (None, None)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{x}#{y}", {"x": str, "y": str}),
        ("{x}#B#{y}", {"x": str, "y": str}),
        ("{x}{y}", {"x": str, "y": str}),
        ("{x}#{y}", {"x": str, "y": Id}),
        ("{x}#{y}", {"x": Id, "y": str}),
        ("{x}a{y}", {"x": str, "y": str}),
        ("{x}-{y}", {"x": Id, "y": Id}),
        ("{x}{y}", {"x": Id, "y": Id}),
        ("{x}{y}", {"x": Kind, "y": str}),
        ("{x}#{y}", {"x": Kind, "y": str}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value)),
)
def test_no_two_short_values_make_the_same_key(text: str, fields: dict[str, object]) -> None:
    made = template(text, **fields)
    short = ["".join(letters) for size in (1, 2, 3) for letters in product("ab#-", repeat=size)]
    choices = {name: ["a", "ab", "a#b"] if kind is Kind else short for name, kind in fields.items()}
    keys: dict[str, dict[str, str]] = {}
    for pair in product(*choices.values()):
        values = dict(zip(fields, pair, strict=True))
        key = written(made, values)
        if key is not None:
            assert keys.setdefault(key, values) == values


@given(texts)
@example("c#")
@example("user#name@example.org")
def test_the_last_value_may_contain_the_separator(tag: str) -> None:
    made = template("TAG#{tag}", tag=str)
    assert made.read(f"TAG#{tag}") == {"tag": tag}
    assert made.write({"tag": tag}) == f"TAG#{tag}"


def test_a_separator_is_refused_only_where_it_would_be_ambiguous() -> None:
    made = template("{site}#{tag}#{n:02}", site=str, tag=str, n=int)
    assert made.write({"site": "s", "tag": "c#", "n": 1}) == "s#c##01"
    with refused("ambiguous-key", "site"):
        made.write({"site": "s#t", "tag": "c", "n": 1})


def test_an_id_never_contains_the_separator() -> None:
    with refused("separator-in-id", "id"):
        template("POST#{id}", id=Id).write({"id": "a#b"})


def test_an_empty_value_is_refused() -> None:
    with refused("empty-key-value", "id"):
        template("POST#{id}", id=str).write({"id": ""})


def test_an_absent_value_makes_no_key() -> None:
    made = template("{x}#{y}", x=str, y=str)
    assert made.write({"x": "a", "y": None}) is None
    assert made.write({"x": "a"}) is None


def test_a_prefix_ends_before_the_first_absent_value() -> None:
    made = template("A#{x}#B#{y}", x=str, y=str)
    assert made.prefix({}) == "A#"
    assert made.prefix({"x": "1"}) == "A#1#B#"
    assert made.prefix({"x": "1", "y": "2"}) == "A#1#B#2"


@pytest.mark.parametrize("text", ["OTHER#1", "POST#", "POST", "POST#1#2", "post#1", "XPOST#1"])
def test_a_key_of_another_template_is_not_read(text: str) -> None:
    assert template("POST#{id}", id=Id).read(text) is None


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (template("{day}", day=date), "2026-02-30"),
        (template("{at}", at=datetime), "2026-02-01T25:00:00.000Z"),
        (template("{id}", id=UUID), "not-a-uuid"),
        (template("{n:03}", n=int), "12"),
        (template("{n:03}", n=int), "١٢٣"),
        (template("{colour}", colour=Color), "blue"),
        (template("{x}#{x}", x=str), "a#b"),
    ],
    ids=shown,
)
def test_text_that_no_value_makes_is_not_read(made: Template, text: str) -> None:
    assert made.read(text) is None


def test_line_breaks_and_other_scripts_are_valid_values() -> None:
    made = template("{x}#{y}", x=str, y=str)
    values = {"x": "Zeile 1\nZeile 2", "y": "東京\u2028\U0001f3d0"}
    key = made.write(values)
    assert key is not None
    assert made.read(key) == values


def test_case_is_folded_only_if_declared() -> None:
    folded = template("{email.lower}", email=str)
    assert folded.write({"email": "A@B.org"}) == folded.write({"email": "a@b.ORG"}) == "a@b.org"
    plain = template("{email}", email=str)
    assert len({plain.write({"email": email}) for email in ("A@b.org", "a@b.org", "a@B.org")}) == 3


def test_an_address_is_written_as_addresses_are_compared() -> None:
    made = template("EMAIL#{email.address}", email=str)
    assert made.write({"email": "Ada@BÜCHER.example"}) == "EMAIL#ada@xn--bcher-kva.example"
    assert made.write({"email": "A@B.org"}) == template("EMAIL#{email.lower}", email=str).write({"email": "a@b.ORG"})


def test_a_field_may_be_used_twice_with_different_formats() -> None:
    made = template("{name.lower}#{name}", name=str)
    assert made.write({"name": "Ab"}) == "ab#Ab"
    assert made.read("ab#Ab") == {"name": "Ab"}


# Templates that can't be mistaken for each other

ALPHABET = "a0#"
PIECES: list[tuple[str, object]] = [
    ("{%s}", str),
    ("{%s}", Id),
    ("{%s:01}", int),
    ("{%s:02}", int),
    ("{%s}", Literal["a", "0a", "#"]),
]


@st.composite
def small_templates(draw: st.DrawFn) -> Template:
    text, fields = "", {}
    for name in ["x", "y"][: draw(st.integers(1, 2))]:
        literal = draw(st.sampled_from(["", "a", "#", "0"]))
        slot, kind = draw(st.sampled_from([("", None), *PIECES]))
        text += literal + (slot % name if slot else "")
        if slot:
            fields[name] = kind
    return template(text or "a", **fields)


ALL_TEXTS = ["".join(letters) for size in range(1, 9) for letters in product(ALPHABET, repeat=size)]


@given(small_templates(), small_templates())
def test_templates_share_a_key_if_a_search_through_all_texts_finds_one(first: Template, second: Template) -> None:
    shared = next((text for text in ALL_TEXTS if first.read(text) is not None and second.read(text) is not None), None)
    assert first.may_equal(second) == second.may_equal(first)
    assert first.may_equal(second) == (shared is not None)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (template("POST#{id}", id=Id), template("POST#{id}#TAG", id=Id), False),
        (template("POST#{id}", id=str), template("POST#{id}#TAG", id=Id), True),
        (template("POST#{at}", at=datetime), template("POST#{id}", id=Id), True),
        (template("POST#{at}", at=datetime), template("POST#{day}", day=date), False),
        (template("{kind}", kind=Literal["any", "none"]), template("other"), False),
        (template("any"), template("other"), False),
        (template("no separator"), template("other"), False),
    ],
    ids=shown,
)
def test_templates_that_share_keys(first: Template, second: Template, expected: bool) -> None:
    assert first.may_equal(second) is expected


def test_a_choice_reads_only_its_choices() -> None:
    made = template("{scope}", scope=Literal["any", "no separator"])
    assert made.read("any") == {"scope": "any"}
    assert made.read("other") is None


def test_too_many_shapes_are_merged_into_one() -> None:
    choice = Literal["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    many = template("{x}#{y}", x=choice, y=choice)
    assert not many.may_equal(template("POST"))
    assert many.may_equal(template("a#b"))
