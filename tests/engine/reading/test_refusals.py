"""Query and Scan: what is refused, with which message, and what is checked first."""

from typing import Any

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client, Item, item, values
from tests.engine.support import DETECTED, index, make_table, refused

KEY = "Invalid KeyConditionExpression: "
NOT_THERE = "Requested resource not found"
EITHER = "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "{} value. Key: {}"
)


@pytest.fixture
def table(client: Client) -> str:
    return make_table(
        client,
        "pk",
        "sk",
        gsis=[index("keys", "gk", projection="KEYS_ONLY"), index("full", "gk", "gs")],
        lsis=[index("local", "pk", "ls", projection="KEYS_ONLY")],
    )


def request(condition: str = "pk = :p", **more: Any) -> dict[str, Any]:
    return {"KeyConditionExpression": condition, "ExpressionAttributeValues": values(p="a"), **more}


def test_unknown_table(client: Client) -> None:
    with refused(NOT_THERE, "ResourceNotFoundException"):
        client.query(TableName="nowhere", **request())
    with refused(NOT_THERE, "ResourceNotFoundException"):
        client.scan(TableName="nowhere")


def test_unknown_index(client: Client, table: str) -> None:
    with refused("The table does not have the specified index: none"):
        client.query(TableName=table, IndexName="none", **request())
    with refused("The table does not have the specified index: none"):
        client.scan(TableName=table, IndexName="none")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, EITHER),
        ({"FilterExpression": "v = :p", "ExpressionAttributeValues": values(p="a")}, EITHER),
        (
            {"ExpressionAttributeNames": {"#a": "b"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeValues": values(p="a")},
            (
                "ExpressionAttributeValues can only be specified when using expressions: "
                "FilterExpression and KeyConditionExpression are null"
            ),
        ),
        (
            request("pk = :q"),
            (
                "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; "
                "attribute value: :q"
            ),
        ),
        (
            request(FilterExpression="#v = :p"),
            (
                "Invalid FilterExpression: An expression attribute name used in the document path is not defined; "
                "attribute name: #v"
            ),
        ),
        (request("pk = :p OR pk = :p"), KEY + "Invalid operator used in KeyConditionExpression: OR"),
        (request("pk <> :p"), KEY + "Invalid operator used in KeyConditionExpression: <>"),
        (request("pk.a = :p"), KEY + "KeyConditionExpressions cannot have conditions on nested attributes"),
        (
            request("pk = :p AND pk = :p"),
            KEY + "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            request("pk = :p AND begins_with(sk, :n)", ExpressionAttributeValues=values(p="a", n=1)),
            (
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            ),
        ),
        # Other expressions are looked at before the meaning of the key condition, but after its text.
        (request("pk <> :p", FilterExpression=""), "Invalid FilterExpression: The expression can not be empty;"),
        (
            request("pk <> :p", ProjectionExpression=""),
            "Invalid ProjectionExpression: The expression can not be empty;",
        ),
        (
            request("begins_with(pk, :n)", FilterExpression="", ExpressionAttributeValues=values(n=1)),
            (
                KEY + "Incorrect operand type for operator or function; "
                "operator or function: begins_with, operand type: N"
            ),
        ),
        (
            request(ExpressionAttributeValues=values(p="a", q="b")),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:q}",
        ),
        (
            request(ExpressionAttributeNames={"#q": "b"}),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#q}",
        ),
        (
            request(ProjectionExpression="a, a"),
            (
                "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
                "of these paths; path one: [a], path two: [a]"
            ),
        ),
    ],
)
def test_expressions_are_looked_at_before_the_table(client: Client, given: dict[str, Any], message: str) -> None:
    with refused(message):
        client.query(TableName="nowhere", **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (request("sk = :p"), "Query condition missed key schema element: pk"),
        (request("v = :p"), "Query condition missed key schema element: pk"),
        (request("pk > :p"), "Query key condition not supported"),
        (request("begins_with(pk, :p)"), "Query key condition not supported"),
        (request("pk = :p AND v = :p"), "Query condition missed key schema element: sk"),
        (request("pk = :p AND sk = :p AND v = :p"), "Conditions can be of length 1 or 2 only"),
        (request("gk = :p", IndexName="local"), "Query condition missed key schema element: pk"),
        (request("pk = :p", IndexName="full"), "Query condition missed key schema element: gk"),
        (request("gk = :p AND pk = :p", IndexName="keys"), "Query key condition not supported"),
        (
            request(FilterExpression="sk = :p"),
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
        ),
        (
            request("gk = :p", IndexName="full", FilterExpression="gs = :p AND pk = :p"),
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: gs",
        ),
        (
            request(ExpressionAttributeValues=values(p=1)),
            "One or more parameter values were invalid: Condition parameter type does not match schema type",
        ),
        (
            request("pk = :p AND sk > :n", ExpressionAttributeValues=values(p="a", n=1)),
            "One or more parameter values were invalid: Condition parameter type does not match schema type",
        ),
        (request(ExpressionAttributeValues=values(p="")), EMPTY_KEY.format("string", "pk")),
        (
            request("pk = :p AND begins_with(sk, :e)", ExpressionAttributeValues=values(p="a", e="")),
            EMPTY_KEY.format("string", "sk"),
        ),
        (
            request(ExpressionAttributeValues=values(p="a" * 2049)),
            (
                "One or more parameter values were invalid: "
                "Size of hashkey has exceeded the maximum size limit of2048 bytes"
            ),
        ),
        (
            request("pk = :p AND sk < :l", ExpressionAttributeValues=values(p="a", l="ä" * 513)),
            (
                "One or more parameter values were invalid: "
                "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
            ),
        ),
    ],
)
def test_key_conditions_that_do_not_fit_the_key(
    client: Client, table: str, given: dict[str, Any], message: str
) -> None:
    with refused(message):
        client.query(TableName=table, **given)


IN_INDEX = "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "


@pytest.mark.parametrize(
    ("index_name", "condition", "attribute"),
    [
        ("full", "gk = :e", "gk"),
        ("full", "gk = :p AND gs > :e", "gs"),
        ("full", "gk = :p AND gs BETWEEN :e AND :p", "gs"),
        ("local", "pk = :p AND begins_with(ls, :e)", "ls"),
    ],
)
def test_empty_value_for_the_key_of_an_index(
    client: Client, table: str, index_name: str, condition: str, attribute: str
) -> None:
    given = {"e": "", "p": "a"} if ":p" in condition else {"e": ""}
    with refused(
        f"{IN_INDEX}The AttributeValue for a key attribute cannot contain an empty string value. "
        f"IndexName: {index_name}, IndexKey: {attribute}"
    ):
        client.query(
            TableName=table,
            IndexName=index_name,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values(**given),
        )


def test_value_that_is_too_long_for_the_key_of_an_index(client: Client, table: str) -> None:
    with refused(
        "One or more parameter values were invalid: Size limit exceeded for Index Key gk Actual Size: 2049 bytes "
        "Max Size: 2048 bytes IndexName: full"
    ):
        client.query(
            TableName=table,
            IndexName="full",
            KeyConditionExpression="gk = :l",
            ExpressionAttributeValues=values(l="x" * 2049),
        )


def test_filter_of_an_index_may_use_the_keys_of_the_table(client: Client, table: str) -> None:
    client.put_item(TableName=table, Item=item(pk="a", sk="b", gk="a", gs="c"))
    answer = client.query(TableName=table, **request("gk = :p", IndexName="full", FilterExpression="pk = :p"))
    assert answer["Count"] == 1


def test_longest_keys_are_legal(client: Client, table: str) -> None:
    longest: dict[str, Any] = {"p": "a" * 2048, "s": "b" * 1024}
    client.put_item(TableName=table, Item=item(pk=longest["p"], sk=longest["s"]))
    answer = client.query(
        TableName=table,
        KeyConditionExpression="pk = :p AND sk = :s",
        ExpressionAttributeValues=values(**longest),
    )
    assert answer["Count"] == 1


# https://github.com/nubo-db/dynoxide/issues/121 has the first of them as of June 2026, for both operations.
@pytest.mark.parametrize("operation", ["query", "scan"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "v"},
            "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "v"},
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES", "ProjectionExpression": "v", "IndexName": "full"},
            "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
    ],
)
def test_what_select_can_not_be(
    client: Client, table: str, operation: str, given: dict[str, Any], message: str
) -> None:
    with refused(DETECTED + message if operation == "query" else message):
        select(client, table, operation, given)


@pytest.mark.parametrize("operation", ["query", "scan"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"IndexName": "full", "ConsistentRead": True},
            "Consistent reads are not supported on global secondary indexes",
        ),
        (
            {"IndexName": "keys", "Select": "ALL_ATTRIBUTES"},
            (
                "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
                "secondary index keys because its projection type is not ALL"
            ),
        ),
        (
            {"IndexName": "keys", "ProjectionExpression": "pk, w.x[1], v"},
            "One or more parameter values were invalid: Global secondary index keys does not project [v, w]",
        ),
    ],
)
def test_what_can_not_be_selected(
    client: Client, table: str, operation: str, given: dict[str, Any], message: str
) -> None:
    with refused(message):
        select(client, table, operation, given)


def select(client: Client, table: str, operation: str, given: dict[str, Any]) -> None:
    condition = {}
    if operation == "query":
        condition = request("gk = :p" if "IndexName" in given else "pk = :p")
    getattr(client, operation)(TableName=table, **condition, **given)


def test_select_that_does_not_exist(client: Client, table: str) -> None:
    rule = (
        "failed to satisfy constraint: Member must satisfy enum value set: "
        "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
    )
    with refused(f"{DETECTED}Value at 'Select' {rule}"):
        select(client, table, "query", {"Select": "SOME"})
    with refused(f"{DETECTED}Value 'SOME' at 'select' {rule}"):
        select(client, table, "scan", {"Select": "SOME"})


SET: dict[str, Any] = {"SS": []}


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (item(pk="a"), "The provided key element does not match the schema"),
        (item(sk="a"), "The provided key element does not match the schema"),
        (item(pk="a", sk="b", ls="c"), "The provided key element does not match the schema"),
        (item(pk="a", v="b"), "The provided key element does not match the schema"),
        (item(pk="a", sk=1), "The provided key element does not match the schema"),
        (item(pk="a", sk=""), EMPTY_KEY.format("string", "sk")),
        (
            {"pk": {"S": "a"}, "sk": SET},
            "One or more parameter values were invalid: An string set  may not be empty",
        ),
    ],
)
def test_start_keys_that_are_no_keys(client: Client, table: str, start: Item, reason: str) -> None:
    with refused(f"The provided starting key is invalid: {reason}"):
        client.scan(TableName=table, ExclusiveStartKey=start)
    # A query doesn't return what doesn't match.
    only = "does not match" in reason
    with refused("The provided starting key is invalid" + ("" if only else f": {reason}")):
        client.query(TableName=table, ExclusiveStartKey=start, **request())


@pytest.mark.parametrize("index_name", ["full", "local"])
@pytest.mark.parametrize(
    "start",
    [
        item(pk="a", sk="b"),
        item(gk="a", gs="b"),
        item(pk="a", sk="b", gk="a"),
        item(pk="a", sk="b", gk="a", gs=1),
        item(pk="a", sk="b", ls=1),
        item(pk="a", sk="b", gk="a", gs="b", ls="c"),
    ],
    ids=lambda start: "-".join(start),
)
def test_start_keys_for_an_index_have_the_keys_of_table_and_index(
    client: Client, table: str, index_name: str, start: Item
) -> None:
    with refused("The provided starting key is invalid"):
        client.scan(TableName=table, IndexName=index_name, ExclusiveStartKey=start)
    condition = request("gk = :p" if index_name == "full" else "pk = :p")
    with refused("The provided starting key is invalid"):
        client.query(TableName=table, IndexName=index_name, ExclusiveStartKey=start, **condition)


OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"
NO_MATCH = "The provided starting key does not match the range key predicate"


@pytest.mark.parametrize(
    ("condition", "start", "message"),
    [
        ("pk = :p", item(pk="b", sk="c"), OUTSIDE),
        ("pk = :p AND sk > :p", item(pk="b", sk="c"), OUTSIDE),
        ("pk = :p AND sk > :p", item(pk="a", sk="a"), NO_MATCH),
        ("pk = :p AND sk >= :p", item(pk="a", sk="A"), NO_MATCH),
        ("pk = :p AND sk < :p", item(pk="a", sk="b"), NO_MATCH),
        ("pk = :p AND sk = :p", item(pk="a", sk="b"), NO_MATCH),
        ("pk = :p AND begins_with(sk, :p)", item(pk="a", sk="b"), NO_MATCH),
    ],
)
@pytest.mark.parametrize("forward", [True, False])
def test_start_keys_outside_the_query(
    client: Client, table: str, condition: str, start: Item, message: str, forward: bool
) -> None:
    with refused(message):
        client.query(TableName=table, ExclusiveStartKey=start, ScanIndexForward=forward, **request(condition))


def test_start_key_of_another_partition_of_an_index(client: Client, table: str) -> None:
    start = item(pk="a", sk="b", gk="b", gs="c")
    with refused(OUTSIDE):
        client.query(TableName=table, IndexName="full", ExclusiveStartKey=start, **request("gk = :p"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"Segment": 0},
            (
                "The TotalSegments parameter is required but was not present in the request "
                "when Segment parameter is present"
            ),
        ),
        (
            {"TotalSegments": 1},
            (
                "The Segment parameter is required but was not present in the request "
                "when parameter TotalSegments is present"
            ),
        ),
        (
            {"Segment": 3, "TotalSegments": 3},
            (
                "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
                "Segment: 3 is not less than TotalSegments: 3"
            ),
        ),
        (
            {"Segment": 0, "TotalSegments": 1_000_001},
            (
                "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: "
                "Member must have value less than or equal to 1000000"
            ),
        ),
        (
            {"ExpressionAttributeValues": values(p="a")},
            "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null",
        ),
        (
            {"FilterExpression": "v ="},
            'Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="',
        ),
    ],
)
def test_scans_that_are_refused_before_the_table_is_looked_at(
    client: Client, given: dict[str, Any], message: str
) -> None:
    with refused(message):
        client.scan(TableName="nowhere", **given)


def test_limit_is_at_least_one(database: Database) -> None:
    """The answer to a request that boto3 would not send."""
    with pytest.raises(DynamoError) as caught:
        database.execute("Scan", {"TableName": "nowhere", "Limit": 0})
    assert caught.value.message == (
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )


def test_only_the_filter_of_a_scan_has_its_size_in_the_message(client: Client, table: str) -> None:
    """https://github.com/floci-io/floci/pull/3447, as of September 2026."""
    long = "v = :p" + " " * 4096
    problem = "Expression size has exceeded the maximum allowed size;"
    values: Any = {":p": {"S": "a"}}
    with refused(f"Invalid FilterExpression: {problem} expression size: 4102"):
        client.scan(TableName=table, FilterExpression=long, ExpressionAttributeValues=values)
    with refused(f"Invalid ProjectionExpression: {problem}"):
        client.scan(TableName=table, ProjectionExpression=long)
    with refused(f"Invalid FilterExpression: {problem}"):
        client.query(**request(FilterExpression=long, TableName=table))
    with refused(f"Invalid KeyConditionExpression: {problem}"):
        client.query(**request(long, TableName=table))
