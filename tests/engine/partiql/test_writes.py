"""INSERT, UPDATE and DELETE."""

from typing import Any, cast

import pytest

from tests.engine.item_support import Client, Item
from tests.engine.partiql.support import MALFORMED, execute, items, orders, plain
from tests.engine.support import index, make_table, nested, refused

KEY = "pk = 'a'"
NO_KEY = "Where clause does not contain a mandatory equality on all key attributes"
FAILED = ("The conditional request failed", "ConditionalCheckFailedException")


@pytest.fixture
def table(client: Client) -> str:
    return make_table(client, "pk")


def stored(client: Client, table: str) -> Item:
    return cast(Item, client.get_item(TableName=table, Key={"pk": {"S": "a"}}).get("Item", {}))


def put(client: Client, table: str, **attributes: Any) -> None:
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, **attributes})


def update(client: Client, table: str, changes: str, *parameters: Any, **request: Any) -> list[Item]:
    return items(client, f'UPDATE "{table}" {changes}', *parameters, **request)


# INSERT


def test_literals_of_all_types(client: Client, table: str) -> None:
    # The example of ql-reference.data-types in the developer guide, and the types that it lacks.
    statement = f"""INSERT INTO "{table}" value {{'pk':'a',
        'NumberType':1, 'Negative': -1.50, 'Exponent': 1e3, 'Fraction': .5,
        'MapType' : {{'entryname1': 'value', 'entryname2': 4, 'inner': {{}}}},
        'ListType': [1,'stringval', [], true, NULL],
        'NumberSetType':<<1,34,32,4.5>>,
        'StringSetType':<<'stringval','stringval2'>>,
        'Yes': TRUE, 'No': false, 'Nothing': null, 'Empty': '', 'Quote': 'it''s', 'Line': 'one
two'}}"""
    assert execute(client, statement)["Items"] == []
    assert stored(client, table) == {
        "pk": {"S": "a"},
        "NumberType": {"N": "1"},
        "Negative": {"N": "-1.5"},
        "Exponent": {"N": "1000"},
        "Fraction": {"N": "0.5"},
        "MapType": {"M": {"entryname1": {"S": "value"}, "entryname2": {"N": "4"}, "inner": {"M": {}}}},
        "ListType": {"L": [{"N": "1"}, {"S": "stringval"}, {"L": []}, {"BOOL": True}, {"NULL": True}]},
        "NumberSetType": {"NS": ["1", "4.5", "32", "34"]},
        "StringSetType": {"SS": ["stringval", "stringval2"]},
        "Yes": {"BOOL": True},
        "No": {"BOOL": False},
        "Nothing": {"NULL": True},
        "Empty": {"S": ""},
        "Quote": {"S": "it's"},
        "Line": {"S": "one\ntwo"},
    }


def test_parameters_of_all_types_and_in_all_places(client: Client, table: str) -> None:
    values: list[Item | dict[str, Any]] = [
        {"S": "a"},
        {"N": "1.0"},
        {"B": b"\x00\xff"},
        {"SS": ["b", "a"]},
        {"M": {"x": {"L": [{"NULL": True}]}}},
        {"BOOL": False},
        {"S": "in a list"},
        {"B": b"x"},
        {"B": b"y"},
    ]
    execute(
        client,
        f"INSERT INTO \"{table}\" VALUE {{'pk': ?, 'n': ?, 'b': ?, 's': ?, 'm': ?, 'l': [?, ?], 'bs': <<?, ?>>}}",
        *values,
    )
    assert stored(client, table) == {
        "pk": {"S": "a"},
        "n": {"N": "1"},
        "b": {"B": b"\x00\xff"},
        "s": {"SS": ["a", "b"]},
        "m": {"M": {"x": {"L": [{"NULL": True}]}}},
        "l": {"L": [{"BOOL": False}, {"S": "in a list"}]},
        "bs": {"BS": [b"x", b"y"]},
    }
    assert (
        len(items(client, f'SELECT * FROM "{table}" WHERE pk = ? AND l[1] = ? AND n IN [?, ?]', "a", "in a list", 0, 1))
        == 1
    )


def test_an_item_as_a_parameter(client: Client, table: str) -> None:
    execute(client, f'INSERT INTO "{table}" VALUE ?', {"M": {"pk": {"S": "a"}, "n": {"N": "1"}}})
    assert stored(client, table) == {"pk": {"S": "a"}, "n": {"N": "1"}}
    with refused("Unsupported item: a map is needed at 1:23:1"):
        execute(client, "INSERT INTO tab VALUE ?", "a")


def test_an_existing_item_is_not_replaced(client: Client, table: str) -> None:
    put(client, table, n={"N": "1"})
    with refused("Duplicate primary key exists in table", "DuplicateItemException"):
        execute(client, f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'n': 2}}")
    assert stored(client, table)["n"] == {"N": "1"}


def test_items_that_are_not_legal(client: Client, table: str) -> None:
    def insert(fields: str, *parameters: Any) -> None:
        execute(client, f'INSERT INTO "{table}" VALUE {{{fields}}}', *parameters)

    invalid = "One or more parameter values were invalid: "
    with refused(invalid + "Missing the key pk in the item"):
        insert("'n': 1")
    with refused(invalid + "Type mismatch for key pk expected: S actual: N"):
        insert("'pk': 1")
    with refused(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: pk"
    ):
        insert("'pk': ''")
    with refused(invalid + "Empty attribute name"):
        insert("'pk': 'a', '': 1")
    with refused("Attempting to store more than 38 significant digits in a Number"):
        insert(f"'pk': 'a', 'n': {'1' * 39}")
    with refused("Number overflow. Attempting to store a number with magnitude larger than supported range"):
        insert("'pk': 'a', 'n': 1e126")
    with refused(invalid + "Input collection [x, x] contains duplicates."):
        insert("'pk': 'a', 's': <<'x', 'x'>>")
    with refused(invalid + "An string set  may not be empty"):
        insert("'pk': 'a', 's': <<>>")
    with refused(invalid + "Null attribute value types must have the value of true"):
        insert("'pk': 'a', 'n': ?", {"NULL": False})
    with refused(
        "Nesting Levels have exceeded supported limits: "
        "Attributes in the item have nested levels beyond supported limit"
    ):
        insert(f"'pk': 'a', 'deep': {'[' * 32}{']' * 32}")
    with refused("Item size has exceeded the maximum allowed size"):
        insert("'pk': 'a', 'long': ?", "x" * 409_600)
    insert(f"'pk': 'a', 'deep': {'[' * 31}1{']' * 31}, 'given': ?", nested(31, "L"))


def test_sets_have_one_type(client: Client) -> None:
    for members in ("1, 'a'", "true", "[1]"):
        with pytest.raises(Exception, match=r"Unsupported set: its members must all be strings, numbers or binary"):
            execute(client, f"INSERT INTO t VALUE {{'s': <<{members}>>}}")


def test_only_one_item_at_a_time(client: Client) -> None:
    many = (
        "Unsupported operation: Inserting multiple items in a single statement is not supported, "
        'use "INSERT INTO tableName VALUE item" instead'
    )
    for rest in ("<<{'pk': 'a'}, {'pk': 'b'}>>", "VALUES ('a')"):
        with refused(many):
            execute(client, f"INSERT INTO Music {rest}")
    # https://github.com/passren/PyDynamoDB/issues/26
    with refused(MALFORMED + "Unexpected keyword"):
        execute(client, "INSERT INTO urls (key, secret_key) VALUES (?, ?)", "a", "b")


# UPDATE


def test_the_examples_of_the_guide(client: Client) -> None:
    # ql-reference.update in the developer guide.
    table = make_table(client, "Artist", "SongTitle")
    execute(client, f"INSERT INTO \"{table}\" value {{'Artist' : 'Acme Band','SongTitle' : 'PartiQL Rocks'}}")
    key = {"Artist": {"S": "Acme Band"}, "SongTitle": {"S": "PartiQL Rocks"}}
    where = "WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
    detail = {"M": {"Grammys": {"L": [{"N": "2020"}, {"N": "2018"}]}}}

    def changed(changes: str, returning: str = "RETURNING ALL NEW *") -> list[Item]:
        return items(client, f'UPDATE "{table}" {changes} {where} {returning}')

    assert changed("SET AwardsWon=1 SET AwardDetail={'Grammys':[2020, 2018]}", "RETURNING ALL OLD *") == [key]
    assert changed("SET AwardsWon=1, AwardDetail={'Grammys':[2020, 2018]}") == [
        {**key, "AwardsWon": {"N": "1"}, "AwardDetail": detail}
    ]
    (found,) = changed("SET AwardDetail.Grammys =list_append(AwardDetail.Grammys,[2016])")
    assert found["AwardDetail"]["M"]["Grammys"]["L"][2] == {"N": "2016"}
    (found,) = changed("REMOVE AwardDetail.Grammys[2]")
    assert found["AwardDetail"] == detail
    (found,) = changed("SET AwardDetail.BillBoard=[2020]")
    assert found["AwardDetail"]["M"]["BillBoard"] == {"L": [{"N": "2020"}]}
    (found,) = changed("SET BandMembers =<<'member1', 'member2'>>")
    assert found["BandMembers"] == {"SS": ["member1", "member2"]}
    (found,) = changed("SET BandMembers =set_add(BandMembers, <<'newbandmember'>>)")
    assert found["BandMembers"] == {"SS": ["member1", "member2", "newbandmember"]}
    (found,) = changed("SET BandMembers = SET_DELETE(BandMembers, <<'member1', 'nobody'>>)")
    assert found["BandMembers"] == {"SS": ["member2", "newbandmember"]}


def test_arithmetic_copies_and_parameters(client: Client, table: str) -> None:
    put(client, table, n={"N": "5"}, m={"M": {"x": {"N": "1"}}}, l={"L": [{"S": "a"}, {"S": "b"}]})
    changes = "SET n = n + 1 SET m.x = m.x - ? SET copy = m SET l[1] = ? SET l[9] = 'c' SET big = 2 - n REMOVE l[0]"
    update(client, table, f"{changes} WHERE {KEY}", 2, {"BOOL": True})
    assert stored(client, table) == {
        "pk": {"S": "a"},
        "n": {"N": "6"},
        "m": {"M": {"x": {"N": "-1"}}},
        "copy": {"M": {"x": {"N": "1"}}},
        "l": {"L": [{"BOOL": True}, {"S": "c"}]},
        "big": {"N": "-3"},
    }


@pytest.mark.parametrize(
    ("returning", "expected"),
    [
        ("ALL OLD", {"pk": {"S": "a"}, "n": {"N": "1"}, "keep": {"N": "7"}}),
        ("ALL NEW", {"pk": {"S": "a"}, "n": {"N": "2"}, "fresh": {"N": "3"}, "keep": {"N": "7"}}),
        ("MODIFIED OLD", {"n": {"N": "1"}}),
        ("MODIFIED NEW", {"n": {"N": "2"}, "fresh": {"N": "3"}}),
    ],
)
def test_the_four_forms_of_returning(client: Client, table: str, returning: str, expected: Item) -> None:
    put(client, table, n={"N": "1"}, keep={"N": "7"})
    assert update(client, table, f"SET n = 2 SET fresh = 3 WHERE {KEY} RETURNING {returning} *") == [expected]


def test_returning_nothing(client: Client, table: str) -> None:
    put(client, table)
    assert update(client, table, f"SET n = 1 WHERE {KEY}") == []
    assert update(client, table, f"SET other = 1 WHERE {KEY} RETURNING MODIFIED OLD *") == []
    expected = "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element."
    with refused(MALFORMED + expected):
        update(client, table, f"SET n = 1 WHERE {KEY} RETURNING *")


def test_an_update_needs_an_item(client: Client, table: str) -> None:
    # "If the WHERE clause of the UPDATE statement does not evaluate to true for any item in the DynamoDB table,
    # ConditionalCheckFailedException is returned": ql-reference.update.
    with refused(*FAILED) as answer:
        update(client, table, f"SET n = 1 WHERE {KEY}", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert "Item" not in answer
    assert stored(client, table) == {}
    put(client, table, n={"N": "1"})
    for failing in ("n > 1", "absent = 1", "NOT n = 1", "absent IS NOT MISSING"):
        with refused(*FAILED) as answer:
            update(client, table, f"SET n = 9 WHERE {KEY} AND {failing}", ReturnValuesOnConditionCheckFailure="ALL_OLD")
        assert answer["Item"] == {"pk": {"S": "a"}, "n": {"N": "1"}}
    with refused(*FAILED) as answer:
        update(client, table, f"SET n = 9 WHERE {KEY} AND n = 2")
    assert "Item" not in answer
    update(client, table, f"SET n = 9 WHERE n = 1 AND ({KEY} AND (absent IS MISSING OR n = 7))")
    assert stored(client, table)["n"] == {"N": "9"}


@pytest.mark.parametrize("statement", ["UPDATE {} SET x = 1", "DELETE FROM {}"])
def test_the_whole_key_is_needed(client: Client, statement: str) -> None:
    table = orders(client)
    quoted = statement.format(f'"{table}"')
    for where in (
        "",
        " WHERE customer = 'ada'",
        " WHERE number = 1",
        " WHERE customer = 'ada' AND number > 1",
        " WHERE customer = 'ada' AND number IN [1]",
        " WHERE customer = 'ada' OR number = 1",
        " WHERE customer = 'ada' AND NOT number = 1",
        " WHERE customer = 'ada' AND number = total",
    ):
        with refused(NO_KEY):
            execute(client, quoted + where)
    with refused("The provided key element does not match the schema"):
        execute(client, f"{quoted} WHERE customer = 'ada' AND number = '1'")


def test_updates_that_are_not_legal(client: Client) -> None:
    table = make_table(client, "pk", name="songs", gsis=[index("by-n", "n:N")])
    put(client, table, n={"N": "1"}, s={"S": "x"}, l={"L": []})

    def wrong(message: str, changes: str, *parameters: Any) -> None:
        with refused(message):
            update(client, table, f"{changes} WHERE {KEY}", *parameters)

    wrong(
        "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key",
        "SET pk = 'b'",
    )
    wrong(
        "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these "
        "paths; path one: [a], path two: [a]",
        "SET a = 1 SET a = 2",
    )
    wrong("The provided expression refers to an attribute that does not exist in the item", "SET n = absent + 1")
    wrong("An operand in the update expression has an incorrect data type", "SET n = s + 1")
    wrong(
        "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: +, "
        "operand type: S",
        "SET n = n + 'x'",
    )
    wrong("The document path provided in the update expression is invalid for update", "SET s.x = 1")
    wrong(
        "Incorrect number of operands for operator or function; operator or function: list_append, "
        "number of operands: 1",
        "SET l = list_append(l)",
    )
    wrong("Unsupported function: if_not_exists at 1:24:13", "SET n = if_not_exists(n, 0)")
    wrong("Unsupported operator: + at 1:26:1", "SET n = n + 1 + 1")
    wrong(
        "Unsupported operand: the first operand of set_add must be the attribute that is set at 1:32:1",
        "SET n = set_add(s, <<1>>)",
    )


# DELETE


def test_delete(client: Client, table: str) -> None:
    put(client, table, n={"N": "1"})
    with refused(*FAILED) as answer:
        execute(client, f'DELETE FROM "{table}" WHERE {KEY} AND n = 2', ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert answer["Item"]["n"] == {"N": "1"}
    assert items(client, f'DELETE FROM "{table}" WHERE {KEY} AND n = 1 RETURNING ALL OLD *') == [
        {"pk": {"S": "a"}, "n": {"N": "1"}}
    ]
    assert stored(client, table) == {}
    # "If the DynamoDB table does not have any item with the same primary key [...], SUCCESS is returned with 0 items
    # deleted": ql-reference.delete.
    assert items(client, f'DELETE FROM "{table}" WHERE {KEY} AND n = 1 RETURNING ALL OLD *') == []


def test_a_delete_returns_only_the_old_item(client: Client, table: str) -> None:
    with refused("Unsupported clause: RETURNING ALL NEW at 1:1:6"):
        execute(client, f'DELETE FROM "{table}" WHERE {KEY} RETURNING ALL NEW *')
    with refused("Unsupported column in RETURNING clause: n at 1:52:1"):
        execute(client, f"DELETE FROM songs WHERE {KEY} RETURNING ALL OLD n")


# All of them


def test_writes_of_an_index(client: Client) -> None:
    for statement in (
        'INSERT INTO "t"."i" VALUE {\'pk\': 1}',
        'UPDATE "t"."i" SET a = 1 WHERE pk = 1',
        'DELETE FROM "t"."i" WHERE pk = 1',
    ):
        with refused("Only a SELECT can use an index."):
            execute(client, statement)


def test_writes_of_a_table_that_does_not_exist(client: Client) -> None:
    for statement in (
        "INSERT INTO nowhere VALUE {'pk': 1}",
        "UPDATE nowhere SET a = 1 WHERE pk = 1",
        "DELETE FROM nowhere WHERE pk = 1",
    ):
        with refused("Requested resource not found", "ResourceNotFoundException"):
            execute(client, statement)


def test_what_writes_cost(client: Client) -> None:
    table = orders(client)

    def units(statement: str) -> dict[str, Any]:
        answer = execute(client, statement, ReturnConsumedCapacity="INDEXES")
        capacity: dict[str, Any] = answer["ConsumedCapacity"]
        return capacity

    inserted = units(f"INSERT INTO \"{table}\" VALUE {{'customer': 'x', 'number': 1, 'state': 'open'}}")
    assert inserted == {
        "TableName": table,
        "CapacityUnits": 2.0,
        "Table": {"CapacityUnits": 1.0},
        "GlobalSecondaryIndexes": {"keys-only": {"CapacityUnits": 1.0}},
    }
    assert units(f"UPDATE \"{table}\" SET z = 1 WHERE customer = 'x' AND number = 1")["CapacityUnits"] == 1.0
    assert units(f"DELETE FROM \"{table}\" WHERE customer = 'x' AND number = 1")["CapacityUnits"] == 2.0


def test_writes_are_in_the_stream_and_in_the_indexes(client: Client) -> None:
    table = orders(client)
    where = "customer = 'bob' AND number = 1"
    execute(client, f"UPDATE \"{table}\" SET state = 'paid' SET total = 1 WHERE {where}")
    paid = f'SELECT customer, total FROM "{table}"."by-state" WHERE state = \'paid\''
    assert plain(items(client, paid), "customer", "total") == [("bob", "1"), ("ada", "20"), ("cleo", "50")]
    execute(client, f'DELETE FROM "{table}" WHERE {where}')
    assert plain(items(client, paid), "customer") == ["ada", "cleo"]
