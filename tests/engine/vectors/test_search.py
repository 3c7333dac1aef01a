"""SearchVectors: the nearest items, their scores, conditions, projections, and what is refused.

The texts of errors that AWS's documentation quotes are those of its developer guide ("Troubleshooting vector indexes",
"Creating and searching vector indexes") and of its agent toolkit (amazon-dynamodb, vector-search.md), September 2026.
"""

import math
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.errors import DynamoError
from tests.engine.support import refused
from tests.engine.vectors.support import INVALID, create, found, numbers, put, scored, search, vector, vector_index

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client
else:
    Client = object

CONDITION = "Invalid SearchConditionExpression: "


def test_cosine_compares_directions(client: Client) -> None:
    create(client, vector_index(distance="COSINE"))
    put(client, "opposite", -2, 0, 0)
    put(client, "longer", 10, 0, 0)
    put(client, "across", 0, 5, 0)
    put(client, "same", 1, 0, 0)
    put(client, "between", 1, 1, 0)
    assert scored(client, 1, 0, 0) == [
        ("longer", 0.0),
        ("same", 0.0),
        ("between", 0.292893218813),
        ("across", 1.0),
        ("opposite", 2.0),
    ]


def test_euclidean_compares_points(client: Client) -> None:
    create(client, vector_index(distance="EUCLIDEAN"))
    put(client, "far", 10, 0, 0)
    put(client, "same", 1, 0, 0)
    put(client, "near", 1, 1, 0)
    assert scored(client, 1, 0, 0) == [("same", 0.0), ("near", 1.0), ("far", 9.0)]


def test_dot_products_are_largest_first_and_may_be_negative(client: Client) -> None:
    create(client, vector_index(distance="DOT_PRODUCT"))
    put(client, "negative", -2, 0, 0)
    put(client, "small", 1, 9, 0)
    put(client, "zero", 0, 1, 0)
    put(client, "large", 10, 0, 0)
    assert scored(client, 1, 0, 0) == [("large", 10.0), ("small", 1.0), ("zero", 0.0), ("negative", -2.0)]
    assert math.copysign(1, scored(client, 1, 0, 0)[2][1]) == 1


@pytest.mark.parametrize("distance", ["COSINE", "EUCLIDEAN", "DOT_PRODUCT"])
def test_of_equal_scores_the_item_that_was_created_first_comes_first(client: Client, distance: str) -> None:
    create(client, vector_index(distance=distance))
    for pk in ("c", "a", "d", "b"):
        put(client, pk, 1, 2, 3)
    put(client, "c", 1, 2, 3)
    assert found(client, 3, 2, 1) == ["c", "a", "d", "b"]
    assert found(client, 3, 2, 1, TopK=2) == ["c", "a"]
    client.delete_item(TableName="Things", Key={"pk": {"S": "c"}})
    put(client, "c", 1, 2, 3)
    assert found(client, 3, 2, 1) == ["a", "d", "b", "c"]


def test_a_vector_of_zeros_has_no_direction(client: Client) -> None:
    create(client, vector_index(distance="COSINE"), vector_index("Dot", distance="DOT_PRODUCT"))
    put(client, "zero", 0, 0, 0)
    put(client, "back", -1, -1, 0)
    put(client, "same", 1, 1, 0)
    assert scored(client, 1, 1, 0) == [("same", 0.0), ("zero", 1.0), ("back", 2.0)]
    assert scored(client, 0, 0, 0) == [("zero", 1.0), ("back", 1.0), ("same", 1.0)]
    assert scored(client, 0, 0, 0, IndexName="Dot") == [("zero", 0.0), ("back", 0.0), ("same", 0.0)]


HUGE, TINY = "3e38", "1e-44"


@pytest.mark.parametrize(
    ("distance", "size", "scores"),
    [
        ("COSINE", HUGE, [0.0, 0.292893218813, 1.0]),
        ("COSINE", TINY, [0.0, 0.292893218813, 1.0]),
        ("EUCLIDEAN", HUGE, [0.0, 1.0, math.sqrt(2)]),
        ("EUCLIDEAN", TINY, [0.0, 1.0, math.sqrt(2)]),
        ("DOT_PRODUCT", HUGE, [1.0, 1.0, 0.0]),
        ("DOT_PRODUCT", TINY, [1.0, 1.0, 0.0]),
    ],
)
def test_products_that_dont_fit_into_32_bits_are_compared_rightly(
    engine: Engine, distance: str, size: str, scores: list[float]
) -> None:
    create(engine, vector_index(distance=distance))
    put(engine, "across", 0, size, 0)
    put(engine, "same", size, 0, 0)
    put(engine, "between", size, size, 0)
    results = scored(engine, size, 0, 0)
    unit = float(search(engine, size, 0, 0, ProjectionExpression="v")["SearchResults"][0]["Item"]["v"]["L"][0]["N"])
    scale = {"COSINE": 1.0, "EUCLIDEAN": unit, "DOT_PRODUCT": unit * unit}[distance]
    assert [score for _, score in results] == pytest.approx([score * scale for score in scores], rel=0.2)
    assert [pk for pk, _ in results] == ["same", "between", "across"]


def test_a_condition_limits_the_search_to_values(client: Client) -> None:
    create(client, vector_index(partition="tenant", filters=["kind", "phase"]))
    put(client, "a", 1, 0, 0, tenant="t", kind="k", phase="s")
    put(client, "b", 2, 0, 0, tenant="t", kind="k")
    put(client, "c", 3, 0, 0, tenant="t")
    put(client, "d", 4, 0, 0, tenant="u", kind="k", phase="s")
    assert found(client, 0, 0, 0, equal={"tenant": "t"}) == ["a", "b", "c"]
    assert found(client, 0, 0, 0, equal={"kind": "k", "tenant": "t"}) == ["a", "b"]
    assert found(client, 0, 0, 0, equal={"tenant": "u", "kind": "k", "phase": "s"}) == ["d"]
    assert found(client, 0, 0, 0, equal={"tenant": "t", "kind": "never"}) == []
    backwards = search(
        client,
        *(0, 0, 0),
        SearchConditionExpression="(:t = #t) AND (kind = :k)",
        ExpressionAttributeNames={"#t": "tenant"},
        ExpressionAttributeValues={":t": {"S": "t"}, ":k": {"S": "k"}},
    )
    assert [each["Item"]["pk"]["S"] for each in backwards["SearchResults"]] == ["a", "b"]


def test_numbers_and_bytes_are_compared_by_value(client: Client) -> None:
    wanted = vector_index(partition="size", filters=["digest"])
    definitions = [
        {"AttributeName": name, "AttributeType": kind} for name, kind in (("pk", "S"), ("size", "N"), ("digest", "B"))
    ]
    create(client, wanted, AttributeDefinitions=definitions)
    client.put_item(
        TableName="Things",
        Item={"pk": {"S": "a"}, "v": vector(1, 2, 3), "size": {"N": "1.50"}, "digest": {"B": b"\x00\xff"}},
    )
    answer = search(
        client,
        *(1, 2, 3),
        SearchConditionExpression="#s = :s AND digest = :d",
        ExpressionAttributeNames={"#s": "size"},
        ExpressionAttributeValues={":s": {"N": "15e-1"}, ":d": {"B": b"\x00\xff"}},
    )
    assert [each["Item"]["digest"]["B"] for each in answer["SearchResults"]] == [b"\x00\xff"]


FLOAT = "Expected: a 32-bit floating point number of at most 3.4028235E+38"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"TopK": 101}, "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive"),
    ({"IndexName": "Absent"}, "The table does not have the specified index: Absent"),
    ({"IndexName": "Global"}, "SearchVectors operation not supported on this index type."),
    ({"SearchVector": numbers(1, 2)}, "Input search vector dimension 2 does not match vector index dimension 3"),
    (
        {"SearchVector": [{"N": "1"}, {"S": "2"}, {"N": "3"}]},
        INVALID + "Invalid type for parameter SearchVector[1], Expected: N, Actual: S. IndexName: ByVector",
    ),
    (
        {"SearchVector": numbers(1, "1e39", 3)},
        INVALID + f"Invalid value for parameter SearchVector[1], {FLOAT}, Actual: 1{'0' * 39}. IndexName: ByVector",
    ),
    ({"equal": {"kind": "k"}}, "SearchConditionExpression must be provided when SearchSchema has a HASH key"),
    ({"equal": None}, "SearchConditionExpression must be provided when SearchSchema has a HASH key"),
    ({"equal": {"tenant": "t", "title": "x"}}, CONDITION + "Attribute title is not in the SearchSchema of the index"),
]
OPERATORS = {
    "tenant <> :t": "Invalid comparator used in SearchConditionExpression",
    "tenant < :t": "Invalid comparator used in SearchConditionExpression",
    "tenant >= :t": "Invalid comparator used in SearchConditionExpression",
    "tenant IN (:t)": "Invalid comparator used in SearchConditionExpression",
    "tenant BETWEEN :t AND :t": "Invalid comparator used in SearchConditionExpression",
    "tenant = :t OR kind = :t": "Invalid operator used in SearchConditionExpression: OR",
    "NOT tenant = :t": "Invalid operator used in SearchConditionExpression: NOT",
    "begins_with(tenant, :t)": "Invalid operator used in SearchConditionExpression: begins_with",
    "tenant = :t AND tenant = :t": "SearchConditionExpressions must only contain one condition per attribute",
    "tenant.part = :t": "SearchConditionExpressions cannot have conditions on nested attributes",
    "tenant = kind": "Invalid condition in SearchConditionExpression: Multiple attribute names used in one condition",
    "size(tenant) = :t": "Invalid condition in SearchConditionExpression: Nested operations are not supported",
    "": "The expression can not be empty;",
    "tenant = :t AND": 'Syntax error; token: "<EOF>", near: "AND"',
}


@pytest.fixture
def searched(client: Client) -> Client:
    wanted = vector_index(partition="tenant", filters=["kind"])
    named = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "tenant", "kind", "global")]
    create(
        client,
        wanted,
        AttributeDefinitions=named,
        GlobalSecondaryIndexes=[
            {
                "IndexName": "Global",
                "KeySchema": [{"AttributeName": "global", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    put(client, "a", 1, 2, 3, tenant="t", kind="k", title="x")
    return client


@pytest.mark.parametrize(("request_", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(searched: Client, request_: dict[str, Any], message: str) -> None:
    with refused(message):
        search(searched, 1, 2, 3, **{"equal": {"tenant": "t"}, **request_})


@pytest.mark.parametrize(("text", "problem"), OPERATORS.items())
def test_a_condition_only_asks_for_equal_values(searched: Client, text: str, problem: str) -> None:
    values = {"ExpressionAttributeValues": {":t": {"S": "t"}}} if ":t" in text else {}
    with refused(CONDITION + problem):
        search(searched, 1, 2, 3, SearchConditionExpression=text, **values)


def test_other_requests_are_refused(searched: Client) -> None:
    with refused("Requested resource not found", "ResourceNotFoundException"):
        search(searched, 1, 2, 3, TableName="Absent")
    with refused(INVALID + "Condition parameter type does not match schema type"):
        search(searched, 1, 2, 3, SearchConditionExpression="tenant = :t", ExpressionAttributeValues={":t": {"N": "1"}})
    with refused(
        "ExpressionAttributeValues can only be specified when using expressions: SearchConditionExpression is null"
    ):
        search(searched, 1, 2, 3, ExpressionAttributeValues={":t": {"S": "t"}})
    with refused("Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}"):
        search(
            searched,
            *(1, 2, 3),
            SearchConditionExpression="tenant = :t",
            ExpressionAttributeValues={":t": {"S": "t"}, ":u": {"S": "t"}},
        )


def test_topk_is_at_least_one(engine: Engine) -> None:
    create(engine, vector_index())
    request: Any = {"TableName": "Things", "IndexName": "ByVector", "SearchVector": numbers(1, 2, 3), "TopK": 0}
    with pytest.raises(DynamoError) as caught:
        engine.database.execute("SearchVectors", request)
    assert caught.value.message == (
        "1 validation error detected: Value '0' at 'topK' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )


def test_the_index_can_be_named_by_the_arn_of_its_table(client: Client) -> None:
    create(client, vector_index())
    put(client, "a", 1, 2, 3)
    assert found(client, 1, 2, 3, TableName=client.describe_table(TableName="Things")["Table"]["TableArn"]) == ["a"]


def test_at_most_topk_items_are_found(client: Client) -> None:
    create(client, vector_index())
    assert found(client, 1, 2, 3) == []
    for number in range(120):
        put(client, f"{number:03}", number, 0, 0)
    assert found(client, 0, 0, 0, TopK=1) == ["000"]
    assert found(client, 0, 0, 0, TopK=100) == [f"{number:03}" for number in range(100)]


ITEM = {
    "pk": {"S": "a"},
    "v": vector(1, 2, 3),
    "tenant": {"S": "t"},
    "kind": {"S": "k"},
    "title": {"S": "x"},
    "more": {"S": "y"},
}


@pytest.mark.parametrize(
    ("projection", "names"),
    [
        ("ALL", {"pk", "tenant", "kind", "title", "more"}),
        ("KEYS_ONLY", {"pk", "tenant", "kind"}),
        (["title"], {"pk", "tenant", "kind", "title"}),
    ],
)
def test_results_have_what_the_index_projects_without_the_vector(
    client: Client, projection: Any, names: set[str]
) -> None:
    create(client, vector_index(partition="tenant", filters=["kind"], projection=projection))
    client.put_item(TableName="Things", Item=ITEM)
    (result,) = search(client, 1, 2, 3, equal={"tenant": "t"})["SearchResults"]
    assert result == {"Item": {name: ITEM[name] for name in names}, "Score": 0.0}
    (result,) = search(client, 1, 2, 3, equal={"tenant": "t"}, ProjectionExpression="title, more, v, tenant")[
        "SearchResults"
    ]
    # What isn't projected is left out without an error; the vector always can be asked for.
    asked = {"title", "more", "v", "tenant"} & (names | {"v"})
    assert result == {"Item": {name: ITEM[name] for name in asked}, "Score": 0.0}
    nested = search(
        client,
        *(1, 2, 3),
        equal={"tenant": "t"},
        ProjectionExpression="#v[1]",
        ExpressionAttributeNames={"#v": "v"},
    )
    assert nested["SearchResults"][0]["Item"] == {"v": {"L": [{"N": "2"}]}}


def test_a_search_is_metered_in_bytes(client: Client) -> None:
    create(client, vector_index(dimensions=300), vector_index("Small", "w", dimensions=2))
    item: dict[str, Any] = {"pk": {"S": "a"}, "v": {"L": numbers(*range(300))}, "w": vector(1, 2)}
    client.put_item(TableName="Things", Item=item)
    assert "ConsumedCapacity" not in search(client, *range(300))
    assert "ConsumedCapacity" not in search(client, *range(300), ReturnConsumedCapacity="NONE")
    for wanted in ("TOTAL", "INDEXES"):
        consumed = search(client, *range(300), ReturnConsumedCapacity=wanted)["ConsumedCapacity"]
        assert consumed.keys() == {"VectorSearchRequestBytes"}
        assert consumed["VectorSearchRequestBytes"] > 1200
        small = search(client, 1, 2, IndexName="Small", ReturnConsumedCapacity=wanted, ProjectionExpression="pk")
        assert small["ConsumedCapacity"] == {"VectorSearchRequestBytes": 1024.0}


def test_an_answer_has_at_most_16_mb(engine: Engine) -> None:
    create(engine, vector_index())
    for number in range(45):
        put(engine, str(number), number, 0, 0, text="x" * 390_000)
    assert len(search(engine, 0, 0, 0, TopK=43)["SearchResults"]) == 43
    with refused("The results of SearchVectors exceed the limit of 16 MB. Use a smaller TopK or a narrower projection"):
        search(engine, 0, 0, 0, TopK=45)
    assert len(search(engine, 0, 0, 0, TopK=45, ProjectionExpression="pk")["SearchResults"]) == 45


def test_the_largest_vectors(client: Client) -> None:
    create(client, vector_index(dimensions=4096, distance="COSINE"))
    client.put_item(TableName="Things", Item={"pk": {"S": "a"}, "v": {"L": numbers(*range(4096))}})
    assert scored(client, *range(4096)) == [("a", 0.0)]


def test_the_boto3_session_of_an_engine_searches_too(engine: Engine) -> None:
    client = engine.boto3_client()
    create(client, vector_index())
    put(client, "a", 1, 2, 3)
    assert scored(client, 1, 2, 3) == [("a", 0.0)]
