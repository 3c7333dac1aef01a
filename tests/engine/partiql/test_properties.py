"""Generated WHERE clauses against the same conditions as filters; arbitrary text against the parser.

How a SELECT finds its items depends on the shape of its WHERE clause: by keys, by ranges of several partitions, or by
reading everything. What it finds must not.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyplan.engine import Engine
from keyplan.engine.errors import DynamoError
from keyplan.engine.partiql.keywords import KEYWORDS
from tests.engine.item_support import Client, everything
from tests.engine.support import index, make_table


class Text(NamedTuple):
    """A condition in PartiQL, and as an expression whose values have the same placeholders as literals."""

    statement: str
    expression: str


VALUES: dict[str, Any] = {
    "pk": {f"'{text}'": {"S": text} for text in "abc"},
    "sk": {str(number): {"N": str(number)} for number in range(-1, 4)},
    "g1": {f"'{text}'": {"S": text} for text in "xy"},
    "n": {str(number): {"N": str(number)} for number in range(3)},
}
MARKS = {
    literal: (f":{name}{position}", value)
    for name, literals in VALUES.items()
    for position, (literal, value) in enumerate(literals.items())
}
# 0, 1 and 2 are values of two attributes; any of their placeholders will do.
OPERATORS = ["=", "=", "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN", "MISSING", "mirrored"]
ATTRIBUTES = st.sampled_from(sorted(VALUES))


@st.composite
def leaves(draw: st.DrawFn) -> Text:
    name = draw(ATTRIBUTES)
    literals = list(VALUES[name])
    one, two = sorted((draw(st.sampled_from(literals)), draw(st.sampled_from(literals))), key=literals.index)
    operator = draw(st.sampled_from(OPERATORS))
    first, second = MARKS[one][0], MARKS[two][0]
    match operator:
        case "BETWEEN":
            return Text(f"{name} BETWEEN {one} AND {two}", f"{name} BETWEEN {first} AND {second}")
        case "IN":
            return Text(f"{name} IN [{one}, {two}]", f"{name} IN ({first}, {second})")
        case "MISSING":
            return Text(f"{name} IS MISSING", f"attribute_not_exists({name})")
        case "mirrored":
            return Text(f"{one} <= {name}", f"{name} >= {first}")
    return Text(f"{name} {operator} {one}", f"{name} {operator} {first}")


def _joined(inner: st.SearchStrategy[Text]) -> st.SearchStrategy[Text]:
    negated = inner.map(lambda text: Text(f"NOT ({text.statement})", f"NOT {text.expression}"))
    groups = st.tuples(st.sampled_from(["AND", "AND", "OR"]), st.lists(inner, min_size=2, max_size=3))

    def join(group: tuple[str, list[Text]]) -> Text:
        word, members = group
        return Text(
            f" {word} ".join([f"({member.statement})" for member in members]),
            f"({f' {word} '.join([member.expression for member in members])})",
        )

    return groups.map(join) | negated


conditions = st.recursive(leaves(), _joined, max_leaves=8)


@pytest.fixture(scope="module")
def table() -> Iterator[tuple[Client, str]]:
    with Engine() as engine:
        name = make_table(engine, "pk", "sk:N", gsis=[index("global", "g1", "n:N")], lsis=[index("local", "pk", "n:N")])
        for number in range(15):
            item: dict[str, Any] = {"pk": {"S": "abc"[number % 3]}, "sk": {"N": str(number // 3 - 1)}}
            if number % 4:
                item["g1"] = {"S": "xy"[number % 2]}
            if number % 5:
                item["n"] = {"N": str(number % 3)}
            engine.put_item(TableName=name, Item=item)
        yield engine, name


def selected(client: Client, statement: str, limit: int) -> list[Any]:
    """The items of all pages."""
    found: list[Any] = []
    token: dict[str, Any] = {}
    for _ in range(100):
        page = client.execute_statement(Statement=statement, Limit=limit, **token)
        found += page["Items"]
        if "NextToken" not in page:
            return found
        token = {"NextToken": page["NextToken"]}
    raise AssertionError("too many pages")


@settings(max_examples=150)
@given(condition=conditions, source=st.sampled_from(["", "global", "local"]), limit=st.integers(1, 12))
def test_a_select_finds_what_a_filter_finds(
    table: tuple[Client, str], condition: Text, source: str, limit: int
) -> None:
    client, name = table
    quoted = f'"{name}"."{source}"' if source else f'"{name}"'
    found = selected(client, f"SELECT * FROM {quoted} WHERE {condition.statement}", limit)
    request: dict[str, Any] = {"TableName": name, "FilterExpression": condition.expression}
    if source:
        request["IndexName"] = source
    values = {mark: value for mark, value in MARKS.values() if mark in condition.expression}
    if values:
        request["ExpressionAttributeValues"] = values
    expected = everything(client, "scan", **request)
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


# UPDATE: each change as a clause of PartiQL, and as the action of an update expression that does the same.

PATHS = st.sampled_from(["n", "m.x", "m.y", "l[0]", "l[1].z", "l[7]", "t", "fresh", "fresh.x", "g1"])
LITERALS = {
    "2": ("two", {"N": "2"}),
    "1.5": ("half", {"N": "1.5"}),
    "'x'": ("text", {"S": "x"}),
    "[1, 'a']": ("list", {"L": [{"N": "1"}, {"S": "a"}]}),
    "{'x': 1}": ("map", {"M": {"x": {"N": "1"}}}),
    "TRUE": ("true", {"BOOL": True}),
    "<<'b', 'c'>>": ("set", {"SS": ["b", "c"]}),
}


class Change(NamedTuple):
    clause: str
    section: str
    action: str


@st.composite
def changes(draw: st.DrawFn) -> Change:
    path, other = draw(PATHS), draw(PATHS)
    literal = draw(st.sampled_from(sorted(LITERALS)))
    mark = f":{LITERALS[literal][0]}"
    match draw(
        st.sampled_from(["value", "value", "copy", "plus", "minus", "append", "prepend", "remove", "add", "delete"])
    ):
        case "remove":
            return Change(f"REMOVE {path}", "REMOVE", path)
        case "add":
            return Change("SET t = set_add(t, <<'b', 'c'>>)", "ADD", "t :set")
        case "delete":
            return Change("SET t = set_delete(t, <<'b', 'c'>>)", "DELETE", "t :set")
        case "copy":
            return Change(f"SET {path} = {other}", "SET", f"{path} = {other}")
        case "plus":
            return Change(f"SET {path} = {other} + {literal}", "SET", f"{path} = {other} + {mark}")
        case "minus":
            return Change(f"SET {path} = {literal} - {other}", "SET", f"{path} = {mark} - {other}")
        case "append":
            return Change(
                f"SET {path} = list_append({other}, {literal})", "SET", f"{path} = list_append({other}, {mark})"
            )
        case "prepend":
            return Change(
                f"SET {path} = list_append({literal}, {other})", "SET", f"{path} = list_append({mark}, {other})"
            )
    return Change(f"SET {path} = {literal}", "SET", f"{path} = {mark}")


BEFORE: dict[str, Any] = {
    "pk": {"S": "a"},
    "n": {"N": "5"},
    "g1": {"S": "g"},
    "m": {"M": {"x": {"N": "1"}}},
    "l": {"L": [{"S": "first"}, {"M": {"z": {"N": "3"}}}]},
    "t": {"SS": ["a", "b"]},
}


@pytest.fixture(scope="module")
def songs() -> Iterator[Engine]:
    with Engine() as engine:
        make_table(engine, "pk", name="songs", gsis=[index("global", "g1")])
        yield engine


@settings(max_examples=200)
@given(several=st.lists(changes(), min_size=1, max_size=3), written=st.booleans())
def test_an_update_does_what_update_item_does(songs: Engine, several: list[Change], written: bool) -> None:
    sections: dict[str, list[str]] = {}
    for change in several:
        sections.setdefault(change.section, []).append(change.action)
    expression = " ".join(f"{section} {', '.join(actions)}" for section, actions in sections.items())
    values = {f":{name}": value for name, value in LITERALS.values() if f":{name}" in expression}
    request: dict[str, Any] = {
        "TableName": "songs",
        "Key": {"pk": {"S": "a"}},
        "UpdateExpression": expression,
        "ConditionExpression": "attribute_exists(pk)",
    }
    if values:
        request["ExpressionAttributeValues"] = values
    clauses = " ".join(change.clause for change in several)
    statement = {"Statement": f"UPDATE songs {clauses} WHERE pk = 'a'"}
    results = [_after(songs, "UpdateItem", request, written), _after(songs, "ExecuteStatement", statement, written)]
    assert results[0] == results[1]


def _after(engine: Engine, operation: str, request: dict[str, Any], exists: bool) -> tuple[str, object]:
    """The error of a write to the item, and the item after it."""
    engine.delete_item(TableName="songs", Key={"pk": {"S": "a"}})
    if exists:
        engine.put_item(TableName="songs", Item=BEFORE)
    try:
        engine.database.execute(operation, request)
        error = ""
    except DynamoError as refused:
        error = f"{refused.code}: {refused.message}".replace("1 validation error detected: ", "")
    return error, engine.get_item(TableName="songs", Key={"pk": {"S": "a"}}).get("Item")


TOKENS = st.sampled_from(
    [
        *"()[]{}<>=+-*/%,.:;?'\"`@#!|",
        *("<<", ">>", "<=", ">=", "<>", "!=", "--", "/*", "*/", "''", '""', "1", "-1.5e3", "1e", "0", "x", "ab", '"x"'),
        *("'text'", "NULL", "MISSING", "TRUE", "ASC", "DESC", "BY", "AS", "pk", "sk", "music", '"music"."i"'),
        *("begins_with(", "list_append(", "set_add(", "EXISTS(SELECT", "SELECT * FROM music WHERE"),
        *("UPDATE music SET", "DELETE FROM music WHERE", "INSERT INTO music VALUE {", "RETURNING ALL OLD *"),
        *("AND", "OR", "NOT", "IN", "BETWEEN", "IS", "LIKE", "UNION"),
        *sorted(KEYWORDS),
    ]
)
GIVEN: list[Any] = [{"S": "a"}, {"N": "1"}, {"M": {"pk": {"S": "x"}}}, {"L": []}, {"NULL": True}]
PARAMETERS = st.lists(st.sampled_from(GIVEN), max_size=3)


@pytest.fixture(scope="module")
def music() -> Iterator[Engine]:
    with Engine() as engine:
        make_table(engine, "pk", name="music")
        engine.put_item(TableName="music", Item={"pk": {"S": "a"}, "x": {"N": "1"}})
        yield engine


@settings(max_examples=500)
@given(
    text=st.one_of(
        st.lists(TOKENS, min_size=1, max_size=25).map(" ".join),
        st.lists(TOKENS, min_size=1, max_size=25).map("".join),
        st.text(min_size=1, max_size=60),
    ),
    parameters=PARAMETERS,
    more=st.sampled_from([{}, {"Limit": 1}, {"NextToken": "x"}, {"ConsistentRead": True}]),
)
@example(text="SELECT * FROM music WHERE pk IN []", parameters=[], more={})
@example(text="SELECT * FROM music WHERE pk = 'a' AND pk BETWEEN ? AND ?", parameters=[{"L": []}, {"L": []}], more={})
@example(text="SELECT * FROM music WHERE sk BETWEEN NULL AND TRUE", parameters=[], more={})
@example(text="UPDATE music SET x = set_add(x, ?) WHERE pk = 'a'", parameters=[{"N": "1"}], more={})
@example(text='SELECT "" FROM music', parameters=[], more={})
@example(text="INSERT INTO music VALUE {'pk': 'a', 'x': [[[[?]]]]}", parameters=[{"L": []}], more={})
def test_any_text_has_an_answer(music: Engine, text: str, parameters: list[Any], more: dict[str, Any]) -> None:
    request: dict[str, Any] = {"Statement": text, **more}
    if parameters:
        request["Parameters"] = parameters
    assert outcome(music, "ExecuteStatement", request) in KNOWN
    one = {member: content for member, content in request.items() if member in ("Statement", "Parameters")}
    assert outcome(music, "BatchExecuteStatement", {"Statements": [one]}) in ("Responses", *KNOWN)
    several = {"TransactStatements": [one, {"Statement": "DELETE FROM music WHERE pk = 'z'"}]}
    assert outcome(music, "ExecuteTransaction", several) in ("Responses", "TransactionCanceledException", *KNOWN)


KNOWN = (
    *("Items", "ValidationException", "ResourceNotFoundException", "SerializationException"),
    *("ConditionalCheckFailedException", "DuplicateItemException"),
)


def outcome(engine: Engine, operation: str, request: dict[str, Any]) -> str:
    """The code of the error, or the member with the answer; any other exception is a failure of the engine."""
    try:
        answer = engine.database.execute(operation, request)
        return next(member for member in ("Items", "Responses") if member in answer)
    except DynamoError as error:
        return error.code
