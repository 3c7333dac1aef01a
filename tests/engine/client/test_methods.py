"""The methods of boto3's clients over anything that executes requests."""

import io
from collections.abc import Callable
from typing import Any

import boto3
import orjson
import pytest
from botocore.exceptions import ClientError, OperationNotPageableError, ParamValidationError, WaiterError

from keyplan.engine import Engine
from keyplan.engine.client.methods import Methods
from keyplan.engine.client.sessions import boto3_session
from keyplan.engine.errors import DynamoError, not_found
from keyplan.engine.executor import Answer, Request


class Scripted:
    """Answers each request with the result of a function, and records the requests."""

    def __init__(self, answer: Callable[[str, Request], Answer]) -> None:
        self._answer = answer
        self.calls: list[tuple[str, Request]] = []

    def execute(self, operation: str, request: Request, *, checked: bool = False) -> Answer:
        self.calls.append((operation, request))
        return self._answer(operation, request)


def client(answer: Callable[[str, Request], Answer]) -> tuple[Any, Scripted]:
    database = Scripted(answer)
    made = Methods()
    made._database = database
    return made, database


def failing(error: DynamoError) -> Any:
    def answer(operation: str, request: Request) -> Answer:
        raise error

    return client(answer)[0]


def test_all_methods_of_both_boto3_clients_are_there() -> None:
    for real in (
        boto3.client("dynamodb", region_name="us-east-1"),
        boto3.client("dynamodbstreams", region_name="us-east-1"),
    ):
        for name in real.meta.method_to_api_mapping:
            assert callable(getattr(Methods, name)), name


def test_a_call_is_a_request_and_an_answer() -> None:
    engine, database = client(lambda operation, request: {"Item": orjson.Fragment(b'{"a":{"B":"eA=="}}')})
    result = engine.get_item(TableName="tab", Key={"a": {"B": b"x"}})
    assert database.calls == [("GetItem", {"TableName": "tab", "Key": {"a": {"B": "eA=="}}})]
    assert result["Item"] == {"a": {"B": b"x"}}
    metadata = result["ResponseMetadata"]
    assert metadata["HTTPStatusCode"] == 200
    assert metadata["RetryAttempts"] == 0
    assert metadata["HTTPHeaders"]["x-amzn-requestid"] == metadata["RequestId"]
    assert len(metadata["RequestId"]) == 52


def test_positional_and_wrong_arguments() -> None:
    engine, database = client(lambda operation, request: {})
    with pytest.raises(TypeError, match=r"get_item\(\) only accepts keyword arguments."):
        engine.get_item("tab")
    with pytest.raises(ParamValidationError, match='Missing required parameter in input: "Key"'):
        engine.get_item(TableName="tab")
    assert not database.calls


def test_a_modelled_error_is_its_class() -> None:
    engine = failing(not_found("Requested resource not found"))
    with pytest.raises(engine.exceptions.ResourceNotFoundException) as caught:
        engine.describe_table(TableName="tab")
    assert isinstance(caught.value, ClientError)
    assert caught.value.operation_name == "DescribeTable"
    assert str(caught.value) == (
        "An error occurred (ResourceNotFoundException) when calling the DescribeTable operation: "
        "Requested resource not found"
    )
    response: Any = caught.value.response
    assert response["Error"] == {"Code": "ResourceNotFoundException", "Message": "Requested resource not found"}
    assert response["message"] == "Requested resource not found"
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_an_error_carries_its_members_as_boto3_has_them() -> None:
    item = {"a": {"B": "eA=="}}
    engine = failing(DynamoError("ConditionalCheckFailedException", "no", extra={"Item": item}))
    with pytest.raises(engine.exceptions.ConditionalCheckFailedException) as caught:
        engine.put_item(TableName="tab", Item={})
    assert caught.value.response["Item"] == {"a": {"B": b"x"}}

    reasons = [{"Code": "ConditionalCheckFailed", "Message": "no", "Item": item}, {"Code": "None"}]
    engine = failing(DynamoError("TransactionCanceledException", "cancelled", extra={"CancellationReasons": reasons}))
    with pytest.raises(engine.exceptions.TransactionCanceledException) as caught:
        engine.transact_write_items(TransactItems=[{}])
    assert caught.value.response["CancellationReasons"][0]["Item"] == {"a": {"B": b"x"}}
    assert caught.value.response["CancellationReasons"][1] == {"Code": "None"}
    assert caught.value.response["Message"] == "cancelled"


@pytest.mark.parametrize(
    "code", ["ConditionalCheckFailedException", "TransactionCanceledException", "ValidationException"]
)
def test_errors_look_as_boto3_makes_them_of_the_wire(code: str) -> None:
    error = DynamoError(code, "why", extra={"Item": {"a": {"S": "x"}}} if code.startswith("Cond") else {})

    def answer(operation: str, request: Request) -> Answer:
        raise error

    engine, database = client(answer)
    real = boto3_session(database, "us-east-1").client("dynamodb")
    responses: list[Any] = []
    for each in (engine, real):
        with pytest.raises(ClientError) as caught:
            each.put_item(TableName="tab", Item={})
        assert type(caught.value).__name__ == (code if code != "ValidationException" else "ClientError")
        responses.append(dict(caught.value.response))
        responses[-1].pop("ResponseMetadata")
    assert responses[0] == responses[1]


def test_codes_without_a_class_are_client_errors() -> None:
    engine = failing(DynamoError("ValidationException", "wrong"))
    with pytest.raises(ClientError, match="wrong") as caught:
        engine.put_item(TableName="tab", Item={})
    assert type(caught.value) is ClientError
    assert engine.exceptions.from_code("ValidationException") is ClientError
    assert engine.exceptions.from_code("ResourceInUseException") is engine.exceptions.ResourceInUseException
    assert issubclass(engine.exceptions.TrimmedDataAccessException, engine.exceptions.ClientError)
    with pytest.raises(AttributeError, match="Valid exceptions are"):
        _ = engine.exceptions.NoSuchException


def test_what_botocore_can_not_write_is_its_own_error() -> None:
    """A file passes boto3's check of arguments and fails in its serializer."""
    item: Any = {"pk": {"B": io.BytesIO(b"bytes")}}
    with Engine() as engine:
        for made in (engine, engine.boto3_session().client("dynamodb")):
            with pytest.raises(TypeError, match=r"a bytes-like object is required, not '_io\.BytesIO'"):
                made.put_item(TableName="abc", Item=item)


def test_half_a_surrogate_pair_is_refused() -> None:
    engine, _ = client(lambda operation, request: {"Item": orjson.loads(orjson.dumps(request["Key"]))})
    with pytest.raises(ClientError, match="SerializationException"):
        engine.get_item(TableName="tab", Key={"a": {"S": "\ud800"}})
    with pytest.raises(ParamValidationError, match="Unknown parameter"):
        engine.put_item(TableName="tab", Item={"a": {"SS": ["\ud800"]}}, Unknown=1)


def test_paginators_are_botocores() -> None:
    def answer(operation: str, request: Any) -> Answer:
        start = int(request.get("ExclusiveStartKey", {"n": {"N": "0"}})["n"]["N"])
        size = request.get("Limit", 2)
        items: list[object] = [{"n": {"N": str(number)}} for number in range(start + 1, start + size + 1)]
        page: Answer = {"Items": items, "Count": len(items), "ScannedCount": len(items)}
        if start + size < 6:
            page["LastEvaluatedKey"] = items[-1]
        return page

    engine, database = client(answer)
    assert engine.can_paginate("scan")
    assert not engine.can_paginate("get_item")
    pages = engine.get_paginator("scan").paginate(TableName="tab", PaginationConfig={"PageSize": 3})
    assert [item["n"]["N"] for page in pages for item in page["Items"]] == ["1", "2", "3", "4", "5", "6"]
    assert [request.get("ExclusiveStartKey") for _, request in database.calls] == [None, {"n": {"N": "3"}}]
    assert engine.get_paginator("query").paginate(TableName="tab").build_full_result()["Count"] == 6
    with pytest.raises(OperationNotPageableError):
        engine.get_paginator("get_item")


def test_waiters_are_botocores() -> None:
    engine, _ = client(lambda operation, request: {"Table": {"TableStatus": "ACTIVE"}})
    engine.get_waiter("table_exists").wait(TableName="tab")
    with pytest.raises(WaiterError):
        engine.get_waiter("table_not_exists").wait(TableName="tab", WaiterConfig={"Delay": 0, "MaxAttempts": 2})
    failing(not_found("gone")).get_waiter("table_not_exists").wait(TableName="tab")
    assert "table_exists" in engine.waiter_names
    with pytest.raises(ValueError, match="Waiter does not exist: nothing"):
        engine.get_waiter("nothing")


def test_meta_tells_what_a_client_tells() -> None:
    engine, _ = client(lambda operation, request: {})
    assert engine.meta.region_name == "us-east-1"
    assert engine.meta.service_model.service_name == "dynamodb"
    assert engine.meta.method_to_api_mapping["get_item"] == "GetItem"
    assert engine.meta.partition == "aws"


def test_a_real_session_is_answered_without_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("a request went to the network")

    monkeypatch.setattr("botocore.httpsession.URLLib3Session.send", no_network)
    answers: dict[str, Answer] = {
        "GetItem": {"Item": orjson.Fragment(b'{"a":{"B":"eA=="},"n":{"N":"1.5"}}')},
        "ListStreams": {"Streams": []},
    }
    _, database = client(lambda operation, request: answers[operation])
    real = boto3_session(database, "eu-west-1")
    found = real.client("dynamodb").get_item(TableName="tab", Key={"a": {"B": b"x"}})
    assert found["Item"] == {"a": {"B": b"x"}, "n": {"N": "1.5"}}
    item = real.resource("dynamodb").Table("tab").get_item(Key={"a": b"x"})["Item"]
    assert str(item["n"]) == "1.5"
    assert real.client("dynamodbstreams").list_streams()["Streams"] == []
    assert [operation for operation, _ in database.calls] == ["GetItem", "GetItem", "ListStreams"]
