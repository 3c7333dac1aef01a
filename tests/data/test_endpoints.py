"""Endpoints that lack an operation: one sentence at the start, with what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import RequestFailed, Store, Unsupported, create
from keyplan.data import operations as operations_module
from keyplan.data import store as store_module
from keyplan.engine import Engine
from tests.data.club import Club, User
from tests.data.support import failure


class Lacking:
    """A client of an endpoint that lacks some operations."""

    def __init__(self, client: object, *operations: str) -> None:
        self.client = client
        self.operations = operations
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.calls.append(name)
            if name in self.operations:
                raise failure("UnknownOperationException")
            return getattr(self.client, name)(**request)

        return call


@pytest.fixture
def engine() -> Any:
    with Engine() as engine:
        yield engine


def test_no_transactions_are_found_out_before_anything_is_created(engine: Engine) -> None:
    client = Lacking(engine, "transact_write_items")
    store = Store(Club(), client)
    for attempt in (store.create_tables, store.tables_exist, lambda: store.run(create(User(username="a", email="a")))):
        with pytest.raises(Unsupported) as lacking:
            attempt()
        assert lacking.value.code == "unsupported"
        assert str(lacking.value) == (
            "transact_write_items: UnknownOperationException: this endpoint lacks transactions, with which a store "
            "keeps guards, counters and derived items in step (TransactWriteItems). Use DynamoDB on AWS, "
            "`keyplan dynamodb` or another endpoint that has them"
        )
    assert client.calls == ["transact_write_items"] * 3
    assert engine.list_tables()["TableNames"] == []


@pytest.mark.parametrize("operation", ["describe_time_to_live", "update_time_to_live"])
def test_without_time_to_live_the_tables_can_be_used(engine: Engine, operation: str) -> None:
    store = Store(Club(), Lacking(engine, operation))
    with pytest.raises(Unsupported, match=r"lacks time to live.*expired items stay stored.*The tables exist"):
        store.create_tables()
    assert all(store.tables_exist().values())
    store.run(create(User(username="ann", email="ann@x.org")))


def test_any_other_operation_is_named(engine: Engine) -> None:
    with pytest.raises(Unsupported, match=r"lacks the operation DescribeTable \(DescribeTable\)"):
        Store(Club(), Lacking(engine, "describe_table")).tables_exist()


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_a_refused_probe_is_not_taken_for_a_missing_operation(engine: Engine, code: str) -> None:
    class Refusing(Lacking):
        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name == "transact_write_items":

                def refuse(**request: Any) -> Any:
                    raise failure(code)

                return refuse
            return super().__getattr__(name)

    store = Store(Club(), Refusing(engine))
    store.create_tables()
    assert all(store.tables_exist().values())


def test_a_table_that_never_becomes_active_is_given_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Creating(Lacking):
        def describe_table(self, **request: Any) -> Any:
            return {"Table": {"TableStatus": "CREATING"}}

    class Asleep:
        @staticmethod
        def sleep(seconds: float) -> None:
            pass

        @staticmethod
        def monotonic() -> float:
            return 0.0

    monkeypatch.setattr(store_module, "time", Asleep)
    monkeypatch.setattr(operations_module, "time", Asleep)
    with pytest.raises(RequestFailed, match="isn't active after 600 s"):
        Store(Club(), Creating(engine)).create_tables()
