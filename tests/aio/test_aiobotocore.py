"""aiobotocore on the engine: its sessions, and its clients inside `keyplan.mock()`.

These tests need aiobotocore, which accepts only a few releases of botocore; `make test-aio` installs both.
"""

import asyncio
from typing import Any

import pytest

pytest.importorskip("aiobotocore", reason="aiobotocore has an environment of its own: make test-aio")

from aiobotocore.config import AioConfig
from aiobotocore.httpsession import AIOHTTPSession
from aiobotocore.httpxsession import HttpxSession
from aiobotocore.session import AioSession, get_session
from botocore.exceptions import ClientError

import keyplan
from keyplan.data import AsyncStore, create
from keyplan.design import Design, Entity, Get, Id, Table, get, key, pattern
from keyplan.engine import Engine, RefusedRequest

TABLE = {
    "TableName": "Users",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
ADA = {"pk": {"S": "ada"}, "data": {"B": b"\x00"}}


async def use(session: AioSession, **options: object) -> None:
    """What a program does with a client: a table, an item, a page, a waiter, an error."""
    async with session.create_client("dynamodb", **options) as client:
        await client.create_table(**TABLE)
        await client.get_waiter("table_exists").wait(TableName="Users")
        await client.put_item(TableName="Users", Item=ADA)
        found = await client.get_item(TableName="Users", Key={"pk": ADA["pk"]})
        assert found["Item"] == ADA
        assert found["ResponseMetadata"]["RequestId"]
        pages = [page async for page in client.get_paginator("scan").paginate(TableName="Users")]
        assert [item for page in pages for item in page["Items"]] == [ADA]
        with pytest.raises(client.exceptions.ConditionalCheckFailedException):
            await client.put_item(TableName="Users", Item=ADA, ConditionExpression="attribute_not_exists(pk)")
        with pytest.raises(ClientError, match="Requested resource not found"):
            await client.describe_table(TableName="Nothing")


def test_a_session_of_an_engine() -> None:
    with Engine() as engine:
        asyncio.run(use(engine.aiobotocore_session("eu-central-1")))
        assert engine.list_tables()["TableNames"] == ["Users"]


def test_streams_of_a_session() -> None:
    async def streams(engine: Engine) -> list[object]:
        async with engine.aiobotocore_session().create_client("dynamodbstreams") as client:
            return list((await client.list_streams())["Streams"])

    with Engine() as engine:
        assert asyncio.run(streams(engine)) == []


@pytest.mark.parametrize("http_session", [AIOHTTPSession, HttpxSession])
def test_clients_inside_a_mock(http_session: type, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)

    async def used() -> None:
        async with keyplan.mock() as engine:
            await use(get_session(), config=AioConfig(http_session_cls=http_session))
            assert engine.list_tables()["TableNames"] == ["Users"]

    before = AIOHTTPSession.send, HttpxSession.send
    asyncio.run(used())
    assert before == (AIOHTTPSession.send, HttpxSession.send)


def test_a_client_made_before_is_answered_too() -> None:
    async def used() -> list[str]:
        async with get_session().create_client("dynamodb") as client:
            with keyplan.mock():
                await client.create_table(**TABLE)
                return list((await client.list_tables())["TableNames"])

    assert asyncio.run(used()) == ["Users"]


def test_tasks_in_parallel_are_apart() -> None:
    @keyplan.mock
    async def used(name: str) -> list[str]:
        async with get_session().create_client("dynamodb") as client:
            await client.create_table(**{**TABLE, "TableName": name})
            await asyncio.sleep(0.01)
            return list((await client.list_tables())["TableNames"])

    async def together() -> list[list[str]]:
        return await asyncio.gather(*(used(name) for name in ("One", "Two", "Three")))

    assert asyncio.run(together()) == [["One"], ["Two"], ["Three"]]


def test_another_service_is_refused() -> None:
    async def call() -> None:
        async with get_session().create_client("s3") as client:
            await client.list_buckets()

    with keyplan.mock(), pytest.raises(RefusedRequest, match="answers only DynamoDB"):
        asyncio.run(call())


def test_other_services_can_be_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    async def send(session: object, request: Any) -> object:
        raise InterruptedError(request.url)

    async def call() -> None:
        async with get_session().create_client("s3") as client:
            await client.list_buckets()

    monkeypatch.setattr(AIOHTTPSession, "send", send)
    with keyplan.mock(allow_other_services=True), pytest.raises(InterruptedError, match=r"https://s3\."):
        asyncio.run(call())


users = Table("Users", key("pk"))


class User(Entity, table=users):
    name: Id
    primary = key("USER#{name}")


class Users(Design):
    tables, entities = [users], [User]

    @pattern("Get user")
    def user(self, name: str) -> Get[User]:
        return get(User, name=name)


def test_the_data_layer_on_a_client() -> None:
    async def used() -> User | None:
        async with keyplan.mock(), get_session().create_client("dynamodb") as client:
            store = AsyncStore(Users(), client)
            await store.create_tables()
            await store.run(create(User(name="ada")))
            return await store.run(store.design.user("ada"))

    found = asyncio.run(used())
    assert found is not None
    assert found.name == "ada"
