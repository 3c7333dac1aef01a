"""Statements that aren't well-formed, and PartiQL that DynamoDB doesn't have.

The words after "can't be processed: " are those of AWS's PartiQL parser (partiql/partiql-lang-kotlin, SqlParser.kt and
TokenListExtensions.kt). That the service shows them is known from reports of its users, which are named where there is
one.
"""

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from keyplan.engine.partiql.expression_parser import DEEPEST
from tests.engine.item_support import Client
from tests.engine.partiql.support import MALFORMED, execute, items, orders
from tests.engine.support import make_table, refused

COUNT = "Incorrect number of operands for operator or function; operator or function: "


@pytest.mark.parametrize(
    ("statement", "detail"),
    [
        # https://github.com/awsdocs/aws-sdk-for-javascript-v3/issues/98
        ("UPDATE Payment-dev SET active=? WHERE subscriptionId=?", "Expected data manipulation"),
        ("UPDATE Music WHERE Artist = 'a'", "Expected data manipulation"),
        ("FROM Music WHERE Artist = 'a'", "Expected data manipulation"),
        ("Music", "Expected data manipulation"),
        ("1 + 1", "Expected data manipulation"),
        ("EXISTS(1)", "Expected data manipulation"),
        ("DELETE Music WHERE Artist = 'a'", "Expected FROM after DELETE"),
        ("DELETE FROM 'Music' WHERE Artist = 'a'", "Expected identifier for simple path"),
        ("INSERT INTO 'Music' VALUE {}", "Expected identifier for simple path"),
        ("UPDATE Music SET 'a' = 1", "Expected identifier for simple path"),
        ("UPDATE Music SET a", "Expected '='"),
        ("UPDATE Music REMOVE a, b WHERE Artist = 'a'", "Unexpected token after expression"),
        ("SELECT *", "Expected FROM after SELECT list"),
        ("SELECT * Music", "Expected FROM after SELECT list"),
        ("SELECT FROM Music", "Expected data manipulation"),
        ("SELECT , FROM Music", "Unexpected term"),
        ("SELECT a, FROM Music", "Expected data manipulation"),
        (
            "SELECT a, * FROM Music",
            "Other expressions may not be present in the select list when '*' is used without dot notation.",
        ),
        ("SELECT * FROM Music WHERE", "Unexpected term"),
        ("SELECT * FROM Music WHERE a =", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM Music WHERE a = = 1", "Unexpected operator"),
        ("SELECT * FROM Music WHERE (a = 1", "Expected RIGHT_PAREN"),
        ("SELECT * FROM Music WHERE a = 1)", "Unexpected token after expression"),
        ("SELECT * FROM Music WHERE a = [1", "Expected RIGHT_BRACKET"),
        ("SELECT * FROM Music WHERE a = <<1", "Expected RIGHT_DOUBLE_ANGLE_BRACKET"),
        ("SELECT * FROM Music WHERE a = {'b': 1", "Expected RIGHT_CURLY"),
        ("SELECT * FROM Music WHERE a = {'b' 1}", "Expected COLON"),
        ("SELECT * FROM Music WHERE a BETWEEN 1", "Expected AND keyword"),
        ("SELECT * FROM Music WHERE a BETWEEN 1 AND", "Expected expression after AND"),
        ("SELECT * FROM Music WHERE a IS ?", "Expected type name"),
        ("SELECT * FROM Music WHERE a IS 'string'", "Expected type name"),
        ("SELECT * FROM Music WHERE begins_with(a, 'b'", "Expected RIGHT_PAREN"),
        ("SELECT * FROM Music WHERE size(*) = 1", "size(*) is not allowed"),
        ("SELECT * FROM Music ORDER a", "Expected BY"),
        ("SELECT * FROM Music garbage garbage", None),
        ("SELECT * FROM Music WHERE a = 1 garbage", "Unexpected token after expression"),
        ("SELECT * FROM Music; SELECT * FROM Music", "Unexpected token after semicolon. (Only one query is allowed.)"),
        ("SELECT a.1 FROM Music", "Expected FROM after SELECT list"),
        ("SELECT a. FROM Music", "Invalid path dot component"),
        ("SELECT key FROM Music", "Unexpected keyword"),
        ("SELECT * FROM table", "Unexpected keyword"),
        ("CREATE TABLE Music", "Unexpected keyword"),
        ("SELECT * FROM Music WHERE a = CASE WHEN 1 THEN 2 END", "Unexpected keyword"),
        ("SELECT * FROM Music WHERE a = 'open", ""),
        ('SELECT * FROM "Music', ""),
        ("SELECT * FROM Music /* open", ""),
        ("SELECT * FROM Music WHERE a = `ion`", ""),
        ("SELECT * FROM Music WHERE a # b", ""),
        ("SELECT * FROM Müsic", ""),
        ("SELECT * FROM Music WHERE a = 1e", ""),
        (" ", "Unexpected term"),
        ("-- nothing", "Unexpected term"),
        (";", "Unexpected term"),
    ],
)
def test_what_is_not_well_formed(client: Client, statement: str, detail: str | None) -> None:
    message = "Unsupported clause: AS at 1:21:7" if detail is None else MALFORMED + detail
    with refused(message):
        execute(client, statement)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        # "LIMIT in the statement" is recorded so in user code; https://repost.aws/questions/QU_LbKBG2pSgCnBmpSnRXXFg:
        # "PartiQL does not support a LIMIT clause".
        ("SELECT id FROM dbimp_page LIMIT 5", "Unsupported clause: LIMIT at 1:33:1"),
        ("SELECT id FROM Music\n  LIMIT\n    25", "Unsupported clause: LIMIT at 3:5:2"),
        ("SELECT id FROM Music GROUP BY id", "Unsupported clause: GROUP BY at 1:31:2"),
        ("SELECT id FROM Music HAVING id = 1", "Unsupported clause: HAVING at 1:32:1"),
        ("SELECT DISTINCT id FROM Music", "Unsupported clause: DISTINCT at 1:1:6"),
        ("SELECT id AS x FROM Music", "Unsupported clause: AS at 1:11:2"),
        ("SELECT id FROM Music m WHERE m.id = 1", "Unsupported clause: AS at 1:22:1"),
        ("SELECT * FROM Music, Films", "Only select from a single table or index is supported."),
        ("SELECT * FROM Music INNER JOIN Films ON a = b", "Only select from a single table or index is supported."),
        ("SELECT * FROM my-music", "Unsupported expression in FROM clause: - at 1:17:1"),
        ("SELECT * FROM a.b.c", "Unexpected path component at 1:15:1"),
        ("SELECT a.* FROM Music", "Unexpected path component at 1:10:1"),
        ("SELECT a[*] FROM Music", "Unexpected path component at 1:10:1"),
        ("SELECT a['b'] FROM Music", "Unexpected path component at 1:10:3"),
        ("SELECT a[?] FROM Music", "Unexpected path component at 1:10:1"),
        ("SELECT a[-1] FROM Music", "Unexpected path component at 1:10:1"),
        ("SELECT COUNT(*) FROM Music", "Unsupported function: count at 1:8:5"),
        ("SELECT size(a) FROM Music", "Unsupported function: size at 1:8:4"),
        ("SELECT a + 1 FROM Music", "Unsupported operator: + at 1:10:1"),
        ("SELECT 1 FROM Music", "Unsupported column: an attribute is needed at 1:8:1"),
        ("SELECT * FROM Music WHERE a LIKE 'b%'", "Unsupported operator: LIKE at 1:29:4"),
        ("SELECT * FROM Music WHERE a || 'b' = 'ab'", "Unsupported operator: || at 1:29:2"),
        ("SELECT * FROM Music WHERE a * 2 = 4", "Unsupported operator: * at 1:29:1"),
        ("SELECT * FROM Music WHERE -a = 4", "Unsupported operator: - at 1:27:1"),
        ("SELECT * FROM Music WHERE lower(a) = 'b'", "Unsupported function: lower at 1:27:5"),
        ("SELECT * FROM Music WHERE attribute_exists(a)", "Unsupported function: attribute_exists at 1:27:16"),
        ("SELECT * FROM Music WHERE a", "Unsupported condition: a comparison or function is needed at 1:27:1"),
        ("SELECT * FROM Music WHERE true", "Unsupported condition: a comparison or function is needed at 1:27:4"),
        ("SELECT * FROM Music WHERE a IN b", "Unsupported operand of IN: a list is needed at 1:32:1"),
        (
            "SELECT * FROM Music WHERE a = (SELECT * FROM Films)",
            "Unsupported operand: an attribute or a value is needed at 1:32:6",
        ),
        ("SELECT * FROM Music UNION SELECT * FROM Films", MALFORMED + "Expected data manipulation"),
        ("INSERT INTO Music VALUE {'a': b}", "Unsupported expression: a value is needed at 1:31:1"),
        ("INSERT INTO Music VALUE {'a': MISSING}", "Unsupported expression: a value is needed at 1:31:7"),
        ("INSERT INTO Music VALUE 'a'", "Unsupported item: a map is needed at 1:25:3"),
        (
            "INSERT INTO Music VALUE {a: 1}",
            "Unsupported name of an attribute: only strings in single quotes are names at 1:26:1",
        ),
        ("INSERT INTO Music VALUE {'a': 1, 'a': 2}", "Duplicate attribute name in a map: a"),
        ("INSERT INTO Music VALUE {'a': 1} RETURNING ALL OLD *", "Unsupported clause: RETURNING at 1:34:9"),
        (
            "UPDATE Music SET a = 1 WHERE b = 1 RETURNING ALL OLD *, ALL NEW *",
            "Only one element is supported in the RETURNING clause.",
        ),
        (
            "SELECT * FROM Music WHERE begins_with(a)",
            f"{COUNT}begins_with, number of operands: 1",
        ),
        (
            f"SELECT {'.'.join(['a'] * 33)} FROM Music",
            "The document path has too many nesting elements; nesting levels: 33",
        ),
        ("SELECT a[4294967295] FROM Music", "List index is not within the allowable range; index: [4294967295]"),
    ],
)
def test_what_dynamodb_does_not_have(client: Client, statement: str, message: str) -> None:
    make_table(client, "Artist", name="Music")
    with refused(message):
        execute(client, statement)


def test_exists_is_for_transactions(client: Client) -> None:
    # "This function can only be used in transaction operations": ql-functions.exists. The wording is ours.
    with refused("EXISTS is only supported in ExecuteTransaction"):
        execute(client, "EXISTS(SELECT * FROM Music WHERE Artist = 'a')")


def test_the_number_of_parameters(client: Client) -> None:
    table = orders(client)
    wrong = "Number of parameters in request and statement don't match."
    with refused(wrong):
        execute(client, f'SELECT * FROM "{table}" WHERE customer = ?')
    with refused(wrong):
        execute(client, f'SELECT * FROM "{table}" WHERE customer = ?', "ada", "bob")
    with refused(wrong):
        execute(client, f"SELECT * FROM \"{table}\" WHERE customer = '?'", "ada")
    assert items(client, f"SELECT * FROM \"{table}\" WHERE customer = '?' -- ?") == []


def test_the_length_of_a_statement(database: Database) -> None:
    database.execute(
        "CreateTable",
        {
            "TableName": "Music",
            "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    longest = "SELECT * FROM Music".ljust(8192)
    assert database.execute("ExecuteStatement", {"Statement": longest})
    limit = "Member must have length {} than or equal to {}"
    for member, text, rule in (
        ("Statement", "", limit.format("greater", 1)),
        ("Statement", longest + " ", limit.format("less", 8192)),
        ("NextToken", "x" * 32_769, limit.format("less", 32_768)),
    ):
        with pytest.raises(DynamoError) as caught:
            database.execute("ExecuteStatement", {"Statement": longest, member: text})
        assert caught.value.message.endswith(f"failed to satisfy constraint: {rule}")
    with pytest.raises(DynamoError, match="length greater than or equal to 1"):
        database.execute("ExecuteStatement", {"Statement": longest, "Parameters": []})


@pytest.mark.parametrize("nested", ["(", "NOT ", "[", "<<", "{'a': ", "- + ", "size(", "a[", "(SELECT * FROM a WHERE "])
def test_deep_nesting_is_refused(client: Client, nested: str) -> None:
    deep = nested * (8100 // len(nested))
    with refused(f"{MALFORMED}Expressions are nested in more than {DEEPEST} levels"):
        execute(client, f"SELECT * FROM Music WHERE {deep}")


def test_conditions_may_be_long(client: Client) -> None:
    table = orders(client)
    alternatives = " OR ".join([f"total={number}" for number in range(600)])
    assert len(items(client, f'SELECT * FROM "{table}" WHERE {alternatives}')) == 5
    conjunction = " AND ".join([f"total<>{number}" for number in range(100, 600)])
    assert len(items(client, f'SELECT * FROM "{table}" WHERE {conjunction}')) == 5
    parentheses = "(" * 90 + "total > 0" + ")" * 90
    assert len(items(client, f'SELECT * FROM "{table}" WHERE {parentheses}')) == 5
