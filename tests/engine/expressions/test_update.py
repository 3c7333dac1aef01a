"""Updates: what is refused before an item is read, what is refused for an item, and the results."""

import copy
from functools import partial

import pytest

from keyplan.engine.errors import DynamoError
from keyplan.engine.values.attribute_values import Item
from tests.engine.expressions.support import an_update, lst, mp, n, refused, s

TYPE = "Incorrect operand type for operator or function; "
CLASH = "Two document paths {} with each other; must remove or rewrite one of these paths; path one: {}, path two: {}"

REFUSED = {
    "SET a = b + :s": f"{TYPE}operator or function: +, operand type: S",
    "SET a = :l - b": f"{TYPE}operator or function: -, operand type: L",
    "SET a = :n + :ss": f"{TYPE}operator or function: +, operand type: SS",
    "SET a = list_append(a, :map)": f"{TYPE}operator or function: list_append, operand type: M",
    "SET a = list_append(:s, a)": f"{TYPE}operator or function: list_append, operand type: S",
    "SET a = if_not_exists(a, list_append(:ss, :l))": f"{TYPE}operator or function: list_append, operand type: SS",
    "ADD a :s": f"{TYPE}operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
    "ADD a :l": f"{TYPE}operator: ADD, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND",
    "ADD a :map": f"{TYPE}operator: ADD, operand type: MAP, typeSet: ALLOWED_FOR_ADD_OPERAND",
    "ADD a :t": f"{TYPE}operator: ADD, operand type: BOOLEAN, typeSet: ALLOWED_FOR_ADD_OPERAND",
    "ADD a :null": f"{TYPE}operator: ADD, operand type: NULL, typeSet: ALLOWED_FOR_ADD_OPERAND",
    "ADD a :b": f"{TYPE}operator: ADD, operand type: BINARY, typeSet: ALLOWED_FOR_ADD_OPERAND",
    "DELETE a :n": f"{TYPE}operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
    "DELETE a :s": f"{TYPE}operator: DELETE, operand type: STRING, typeSet: ALLOWED_FOR_DELETE_OPERAND",
    "SET a = :n, a = :m": CLASH.format("overlap", "[a]", "[a]"),
    "SET a = :n REMOVE #a": CLASH.format("overlap", "[a]", "[a]"),
    "SET a = :n REMOVE a.b.c": CLASH.format("overlap", "[a]", "[a, b, c]"),
    "REMOVE a[1].b SET a[1] = :n": CLASH.format("overlap", "[a, [1], b]", "[a, [1]]"),
    "SET a.b = :n ADD a[0] :n": CLASH.format("conflict", "[a, b]", "[a, [0]]"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    refused(f"Invalid UpdateExpression: {REFUSED[text]}", lambda: an_update(text))


ITEM: Item = {
    "num": n(1),
    "str": s("x"),
    "tags": {"SS": ["a", "c"]},
    "nums": {"NS": ["2", "10"]},
    "bins": {"BS": ["AQ==", "/w=="]},
    "steps": lst(s("0"), s("1"), s("2"), s("3")),
    "map1": mp(x=n(1), y=lst(s("p"), mp(q=n(2)))),
}
NO_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
NO_PATH = "The document path provided in the update expression is invalid for update"

REFUSED_BY_THE_ITEM = {
    "SET a = absent": NO_ATTRIBUTE,
    "SET a = absent + :n": NO_ATTRIBUTE,
    "SET a = map1.absent": NO_ATTRIBUTE,
    "SET a = steps[4]": NO_ATTRIBUTE,
    "SET a = list_append(absent, :l)": NO_ATTRIBUTE,
    "SET a = str + :n": WRONG_TYPE,
    "SET a = :n - str": WRONG_TYPE,
    "SET a = if_not_exists(absent, :s) + :n": WRONG_TYPE,
    "SET a = list_append(str, :l)": WRONG_TYPE,
    "ADD str :n": WRONG_TYPE,
    "ADD num :ss": WRONG_TYPE,
    "ADD tags :ns": WRONG_TYPE,
    "ADD tags :n": WRONG_TYPE,
    "DELETE nums :ss": WRONG_TYPE,
    "DELETE str :ss": WRONG_TYPE,
    "SET absent.x = :n": NO_PATH,
    "SET str.x = :n": NO_PATH,
    "SET absent[0] = :n": NO_PATH,
    "SET map1[0] = :n": NO_PATH,
    "SET steps.x = :n": NO_PATH,
    "SET steps[9].x = :n": NO_PATH,
    "SET map1.absent.x = :n": NO_PATH,
    "REMOVE absent.x": NO_PATH,
    "REMOVE str[0]": NO_PATH,
    "ADD absent.x :n": NO_PATH,
}


@pytest.mark.parametrize("text", REFUSED_BY_THE_ITEM)
def test_refused_by_the_item(text: str) -> None:
    bound = an_update(text)
    refused(REFUSED_BY_THE_ITEM[text], lambda: bound.apply(ITEM))


def steps(*texts: str) -> Item:
    return {"steps": lst(*[s(text) for text in texts])}


CHANGES: list[tuple[str, Item]] = [
    ("SET a = :n", {"a": n(5)}),
    ("set #status = :s", {"status": s("text")}),
    ("SET num = num + :n", {"num": n(6)}),
    ("SET num = num - :n", {"num": n(-4)}),
    ("SET num = (num + :n)", {"num": n(6)}),
    ("SET num = (num) + (:n)", {"num": n(6)}),
    ("SET a = :n + :m", {"a": n(12)}),
    ("SET num = str, str = num", {"num": s("x"), "str": n(1)}),
    ("SET num = num + :n, a = num", {"num": n(6), "a": n(1)}),
    ("SET a = num REMOVE num", {"a": n(1), "num": {}}),
    ("SET a = if_not_exists(a, :n), num = if_not_exists(num, :n)", {"a": n(5)}),
    ("SET a = if_not_exists(a, :n) + :m", {"a": n(12)}),
    ("SET a = if_not_exists(map1.absent, str)", {"a": s("x")}),
    ("SET a = list_append(:l, :l)", {"a": lst(n(1), s("x"), n(1), s("x"))}),
    ("SET steps = list_append(steps, :l)", {"steps": lst(s("0"), s("1"), s("2"), s("3"), n(1), s("x"))}),
    ("SET steps[4294967294] = :n", {"steps": lst(s("0"), s("1"), s("2"), s("3"), n(5))}),
    ("SET a = list_append(if_not_exists(a, :l), :l)", {"a": lst(n(1), s("x"), n(1), s("x"))}),
    ("REMOVE absent", {}),
    ("REMOVE num, str", {"num": {}, "str": {}}),
    ("REMOVE map1.x", {"map1": mp(y=lst(s("p"), mp(q=n(2))))}),
    ("REMOVE map1.absent", {}),
    ("REMOVE map1.y[1].q", {"map1": mp(x=n(1), y=lst(s("p"), mp()))}),
    ("SET map1.z = :n", {"map1": mp(x=n(1), y=lst(s("p"), mp(q=n(2))), z=n(5))}),
    ("SET map1.y[1].q = map1.x", {"map1": mp(x=n(1), y=lst(s("p"), mp(q=n(1))))}),
    ("SET steps[1] = :s", steps("0", "text", "2", "3")),
    ("SET steps[9] = :s", steps("0", "1", "2", "3", "text")),
    ("SET steps[9] = str, steps[7] = :s", steps("0", "1", "2", "3", "text", "x")),
    ("REMOVE steps[1], steps[2]", steps("0", "3")),
    ("REMOVE steps[2], steps[0]", steps("1", "3")),
    ("REMOVE steps[9]", {}),
    ("REMOVE steps[0], steps[1], steps[2], steps[3]", steps()),
    ("SET steps[8] = :s, steps[0] = str REMOVE steps[1], steps[5]", steps("x", "2", "3", "text")),
    ("ADD num :n", {"num": n(6)}),
    ("ADD a :n", {"a": n(5)}),
    ("ADD map1.x :n, map1.z :m", {"map1": mp(x=n(6), y=lst(s("p"), mp(q=n(2))), z=n(7))}),
    ("ADD tags :ss", {"tags": {"SS": ["a", "b", "c"]}}),
    ("ADD nums :ns", {"nums": {"NS": ["1", "2", "10"]}}),
    ("ADD bins :bs", {"bins": {"BS": ["AQ==", "Ag==", "/w=="]}}),
    ("ADD a :ss", {"a": {"SS": ["a", "b"]}}),
    ("DELETE tags :ss", {"tags": {"SS": ["c"]}}),
    ("DELETE nums :ns", {"nums": {"NS": ["10"]}}),
    ("DELETE bins :bs", {"bins": {"BS": ["/w=="]}}),
    ("DELETE absent :ss", {}),
    ("ADD num :n DELETE tags :ss SET a = :n REMOVE str", {"num": n(6), "tags": {"SS": ["c"]}, "a": n(5), "str": {}}),
]


@pytest.mark.parametrize(("text", "changes"), CHANGES, ids=[text for text, _ in CHANGES])
def test_applied(text: str, changes: Item) -> None:
    """`changes` are the attributes that differ; an empty value stands for none."""
    before = copy.deepcopy(ITEM)
    after = {name: value for name, value in {**ITEM, **changes}.items() if value}
    assert an_update(text).apply(ITEM) == after
    assert before == ITEM


def test_a_set_goes_with_its_last_member() -> None:
    assert an_update("DELETE tags :ss").apply({"tags": {"SS": ["a", "b"]}}) == {}
    assert an_update("DELETE m.tags :ss").apply({"m": mp(tags={"SS": ["b"]})}) == {"m": mp()}


def test_removing_from_what_does_not_exist() -> None:
    key = {"pk": s("a")}
    invalid_path = "The document path provided in the update expression is invalid for update"
    for text in ("REMOVE a.b", "REMOVE a[0]", "REMOVE a.b[1].c, a.d, e"):
        assert an_update(text).create(key) == key
        refused(invalid_path, partial(an_update(text).apply, key))
    assert an_update("REMOVE a.b SET c = :n").create(key) == {**key, "c": n(5)}
    for text in ("SET a.b = :n", "ADD a.b :n REMOVE a.c", "DELETE a.b :ss"):
        refused(invalid_path, partial(an_update(text).create, key))


def test_sums_are_exact() -> None:
    bound = an_update("SET a = a + :tiny", {":tiny": n("0.00000000000000000001")})
    assert bound.apply({"a": n("1" + "0" * 17)}) == {"a": n("1" + "0" * 17 + ".00000000000000000001")}
    with pytest.raises(DynamoError, match="Number overflow"):
        bound.apply({"a": n("1" + "0" * 18)})


def test_what_is_not_on_the_path_is_shared() -> None:
    after = an_update("SET map1.x = :n").apply(ITEM)
    assert after["steps"] is ITEM["steps"]
    assert after["map1"]["M"]["y"] is ITEM["map1"]["M"]["y"]
    assert after["map1"] is not ITEM["map1"]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("SET a = :n, num = :m", {"num": n(1)}, {"a": n(5), "num": n(7)}),
        ("REMOVE str", {"str": s("x")}, {}),
        ("SET map1.x = :n", {"map1": mp(x=n(1))}, {"map1": mp(x=n(5))}),
        ("SET map1.z = :n", {}, {"map1": mp(z=n(5))}),
        ("SET steps[2] = :s, steps[0] = :s", steps("0", "2"), steps("text", "text")),
        ("ADD map1.y[1].q :n", {"map1": mp(y=lst(mp(q=n(2))))}, {"map1": mp(y=lst(mp(q=n(7))))}),
        ("DELETE tags :ss", {"tags": {"SS": ["a", "c"]}}, {"tags": {"SS": ["c"]}}),
    ],
)
def test_updated_old_and_new(text: str, old: Item, new: Item) -> None:
    bound = an_update(text)
    assert bound.updated(ITEM) == old
    assert bound.updated(bound.apply(ITEM)) == new


def test_attributes_are_the_written_ones() -> None:
    bound = an_update("SET #dotted = b, c[0].d = :n REMOVE e ADD f.g :n DELETE h :ss")
    assert bound.attributes == {"a.b", "c", "e", "f", "h"}
    assert bound.paths == (("a.b",), ("c", 0, "d"), ("e",), ("f", "g"), ("h",))
