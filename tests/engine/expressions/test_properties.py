"""Generated expressions against a plain evaluator that walks the same tree; arbitrary text against the parser."""

from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias, cast

from hypothesis import example, given
from hypothesis import strategies as st

from keyplan.engine.errors import DynamoError
from keyplan.engine.expressions import Placeholders, condition, key_condition, projection, update
from keyplan.engine.expressions.reserved import is_reserved
from keyplan.engine.values.attribute_values import AttributeValue, Item, type_of
from keyplan.engine.values.normal_form import normalize, normalize_item
from tests.engine.expressions.support import placeholders

PathParts: TypeAlias = tuple[str | int, ...]

NAMES = ["a", "b", "c"]

SCALARS: st.SearchStrategy[AttributeValue] = st.one_of(
    st.sampled_from(["", "x", "xy", "y", "é"]).map(lambda text: cast(AttributeValue, {"S": text})),
    st.integers(-3, 12).map(lambda number: cast(AttributeValue, {"N": str(number)})),
    st.sampled_from(["", "AQ==", "AQI=", "Ag==", "/w=="]).map(lambda text: cast(AttributeValue, {"B": text})),
    st.sampled_from(cast(list[AttributeValue], [{"BOOL": True}, {"BOOL": False}, {"NULL": True}])),
    st.sets(st.sampled_from(["x", "y", "z"]), min_size=1).map(
        lambda members: cast(AttributeValue, {"SS": sorted(members)})
    ),
    st.sets(st.integers(-2, 11), min_size=1).map(
        lambda members: cast(AttributeValue, {"NS": [str(m) for m in members]})
    ),
)


def _containers(inner: st.SearchStrategy[AttributeValue]) -> st.SearchStrategy[AttributeValue]:
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda elements: cast(AttributeValue, {"L": elements})),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3).map(
            lambda members: cast(AttributeValue, {"M": members})
        ),
    )


VALUES = st.recursive(SCALARS, _containers, max_leaves=6).map(normalize)
ITEMS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3).map(normalize_item)
PATHS: st.SearchStrategy[PathParts] = st.builds(
    lambda first, rest: (first, *rest),
    st.sampled_from(NAMES),
    st.lists(st.one_of(st.sampled_from(NAMES), st.integers(0, 3)), max_size=2),
)


def written(path: PathParts) -> str:
    text = str(path[0])
    for part in path[1:]:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text


def at(item: Item, path: PathParts) -> AttributeValue | None:
    value: AttributeValue | None = {"M": item}
    for part in path:
        if isinstance(part, int):
            elements = (value or {}).get("L", [])
            value = elements[part] if part < len(elements) else None
        else:
            value = (value or {}).get("M", {}).get(part)
    return value


def outcome(call: Callable[[], object]) -> str:
    """The message of a refusal, or None. Any other exception fails the test."""
    try:
        call()
    except DynamoError as error:
        return error.message
    return ""


Evaluate: TypeAlias = Callable[[Item], bool]
Generated: TypeAlias = tuple[str, Evaluate]


def in_order(left: AttributeValue | None, right: AttributeValue | None, compare: Callable[[int], bool]) -> bool:
    if left is None or right is None or type_of(left) != type_of(right):
        return False
    if "S" in left:
        one, two = left["S"].encode(), right["S"].encode()
        return compare((one > two) - (one < two))
    if "N" in left:
        number, other = Decimal(left["N"]), Decimal(right["N"])
        return compare((number > other) - (number < other))
    return False


COMPARE: dict[str, Callable[[AttributeValue | None, AttributeValue | None], bool]] = {
    "=": lambda left, right: left is not None and left == right,
    "<>": lambda left, right: left is None or left != right,
    "<": lambda left, right: in_order(left, right, lambda sign: sign < 0),
    "<=": lambda left, right: in_order(left, right, lambda sign: sign <= 0),
    ">": lambda left, right: in_order(left, right, lambda sign: sign > 0),
    ">=": lambda left, right: in_order(left, right, lambda sign: sign >= 0),
}
LITERALS: Item = {":x": {"S": "x"}, ":y": {"S": "xy"}, ":one": {"N": "1"}, ":ten": {"N": "10"}}


@st.composite
def leaves(draw: st.DrawFn) -> Generated:
    path = draw(PATHS)
    name = draw(st.sampled_from(sorted(LITERALS)))
    literal = LITERALS[name]
    shape = draw(st.sampled_from(["literal", "mirrored", "paths", "exists", "absent", "in", "contains"]))
    if shape == "exists":
        return f"attribute_exists({written(path)})", lambda item: at(item, path) is not None
    if shape == "absent":
        return f"attribute_not_exists( {written(path)} )", lambda item: at(item, path) is None
    if shape == "in":
        return f"{written(path)} IN (:x,{name})", lambda item: at(item, path) in (LITERALS[":x"], literal)
    if shape == "contains":
        return f"contains({written(path)}, {name})", lambda item: holds(at(item, path), literal)
    operator = draw(st.sampled_from(sorted(COMPARE)))
    compare = COMPARE[operator]
    if shape == "literal":
        return f"{written(path)} {operator} {name}", lambda item: compare(at(item, path), literal)
    if shape == "mirrored":
        return f"{name}{operator}{written(path)}", lambda item: compare(literal, at(item, path))
    other = draw(PATHS.filter(lambda candidate: candidate != path))
    return f"{written(path)} {operator} {written(other)}", lambda item: compare(at(item, path), at(item, other))


def holds(value: AttributeValue | None, part: AttributeValue) -> bool:
    if value is None:
        return False
    if "S" in value:
        return "S" in part and part["S"] in value["S"]
    if "SS" in value:
        return "S" in part and part["S"] in value["SS"]
    if "NS" in value:
        return "N" in part and part["N"] in value["NS"]
    return part in value.get("L", [])


def _joined(inner: st.SearchStrategy[Generated]) -> st.SearchStrategy[Generated]:
    def both(one: Generated, two: Generated, word: str) -> Generated:
        text = f"({one[0]}) {word} ({two[0]})"
        if word == "AND":
            return text, lambda item: one[1](item) and two[1](item)
        return text, lambda item: one[1](item) or two[1](item)

    return st.one_of(
        st.builds(both, inner, inner, st.sampled_from(["AND", "OR"])),
        inner.map(lambda one: (f"NOT ({one[0]})", lambda item: not one[1](item))),
    )


def _used(text: str, literals: Item) -> Placeholders:
    """A request whose placeholders are just those that the text uses."""
    return Placeholders(None, {name: value for name, value in literals.items() if name in text} or None)


@given(st.recursive(leaves(), _joined, max_leaves=6), st.lists(ITEMS, min_size=1, max_size=4))
def test_conditions_hold_as_the_plain_evaluator_says(generated: Generated, items: list[Item]) -> None:
    text, expected = generated
    bound = condition("FilterExpression", text, _used(text, LITERALS))
    for item in items:
        assert bound.matches(item) == expected(item), (text, item)


@given(st.lists(leaves(), min_size=1, max_size=6), st.data(), ITEMS)
def test_not_binds_before_and_before_or(parts: list[Generated], data: st.DataObject, item: Item) -> None:
    negated = [data.draw(st.booleans()) for _ in parts]
    words = [data.draw(st.sampled_from(["AND", "OR"])) for _ in parts[1:]]
    text = ""
    groups: list[bool] = []
    for position, ((part, evaluate), negative) in enumerate(zip(parts, negated, strict=True)):
        holds_here = evaluate(item) != negative
        text += ("NOT " if negative else "") + part
        if position and words[position - 1] == "AND":
            groups[-1] = groups[-1] and holds_here
        else:
            groups.append(holds_here)
        if position < len(words):
            text += f" {words[position]} "
    assert condition("ConditionExpression", text, _used(text, LITERALS)).matches(item) == any(groups)


def overlapping(paths: list[PathParts]) -> bool:
    for position, one in enumerate(paths):
        for two in paths[position + 1 :]:
            shared = next((i for i, (p, q) in enumerate(zip(one, two, strict=False)) if p != q), None)
            if shared is None or type(one[shared]) is not type(two[shared]):
                return True
    return False


@given(st.lists(PATHS, min_size=1, max_size=4), ITEMS)
def test_projections_keep_what_the_paths_name(paths: list[PathParts], item: Item) -> None:
    text = ", ".join(map(written, paths))
    if overlapping(paths):
        assert "with each other" in outcome(lambda: projection(text, Placeholders(None, None)))
        return
    result = projection(text, Placeholders(None, None)).apply(item)
    expected = sorted(repr(value) for path in paths if (value := at(item, path)) is not None)
    assert sorted(repr(value) for value in _ends(result, item, paths)) == expected


def _ends(result: Item, item: Item, paths: list[PathParts]) -> list[AttributeValue]:
    """The values at the paths in a result whose list elements have moved up."""
    found: list[AttributeValue] = []
    present = sorted((path for path in paths if at(item, path) is not None), key=repr)
    for path in present:
        moved: list[str | int] = []
        for depth, part in enumerate(path):
            if isinstance(part, int):
                before = {p[depth] for p in present if p[:depth] == path[:depth] and cast(int, p[depth]) < part}
                part = len(before)
            moved.append(part)
        value = at(result, tuple(moved))
        assert value is not None
        found.append(value)
    return found


@given(st.dictionaries(PATHS, VALUES, min_size=1, max_size=4), ITEMS)
def test_what_is_set_is_there_afterwards(assignments: dict[PathParts, AttributeValue], item: Item) -> None:
    paths = list(assignments)
    values: Item = {f":v{position}": assignments[path] for position, path in enumerate(paths)}
    text = "SET " + ", ".join(f"{written(path)} = :v{position}" for position, path in enumerate(paths))
    before = repr(item)
    refusal = outcome(lambda: update(text, Placeholders(None, values)).apply(item))
    assert repr(item) == before
    assert ("with each other" in refusal) == overlapping(paths)
    if not refusal:
        assert all(_parent_fits(item, path) for path in paths)
        check_assigned(update(text, Placeholders(None, values)).apply(item), item, assignments)
    elif not overlapping(paths):
        assert "invalid for update" in refusal
        assert not all(_parent_fits(item, path) for path in paths)


def check_assigned(after: Item, item: Item, assignments: dict[PathParts, AttributeValue]) -> None:
    for path in assignments:
        parent = at(item, path[:-1]) if path[:-1] else None
        if not isinstance(path[-1], int) or path[-1] < len((parent or {}).get("L", [])):
            assert at(after, path) == assignments[path]
        else:
            assert assignments[path] in (at(after, path[:-1]) or {}).get("L", [])


def _parent_fits(item: Item, path: PathParts) -> bool:
    if len(path) == 1:
        return True
    return ("L" if isinstance(path[-1], int) else "M") in (at(item, path[:-1]) or {})


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8, unique=True), st.integers(0, 6))
def test_list_elements_are_removed_by_their_old_positions(indexes: list[int], length: int) -> None:
    elements: list[AttributeValue] = [{"N": str(number)} for number in range(length)]
    text = "REMOVE " + ", ".join(f"a[{index}]" for index in indexes)
    after = update(text, Placeholders(None, None)).apply({"a": {"L": elements}})
    assert after == {"a": {"L": [element for index, element in enumerate(elements) if index not in indexes]}}


PIECES = st.sampled_from(
    "a b pk sk #a #zz :n :s :l :zz ( ) ( ) , . [ ] 0 7 = <> < <= > >= + - AND OR NOT BETWEEN IN SET REMOVE ADD DELETE "
    "size attribute_exists attribute_type begins_with contains if_not_exists list_append foo status _ ! é".split()
)


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=40).map(" ".join), st.lists(PIECES).map("".join)))
@example("\x00")
@example("a = :n AND a[0")
def test_any_text_is_an_expression_or_a_dynamo_error(text: str) -> None:
    item: Item = {"a": {"L": [{"N": "5"}]}, "b": {"S": "x"}, "pk": {"M": {"sk": {"N": "1"}}}}
    calls: list[Callable[[], object]] = [
        lambda: condition("ConditionExpression", text, placeholders()).matches(item),
        lambda: projection(text, placeholders()).apply(item),
        lambda: update(text, placeholders()).apply(item),
        lambda: key_condition(text, placeholders(), ["pk"], ["sk"]),
    ]
    for call in calls:
        outcome(call)


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,12}", fullmatch=True))
def test_any_plain_name_is_a_path_unless_it_is_reserved(name: str) -> None:
    try:
        assert projection(name, Placeholders(None, None)).paths == ((name,),)
    except DynamoError:
        assert is_reserved(name)
