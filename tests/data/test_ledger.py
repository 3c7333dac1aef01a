"""A table with numbers and dates in its keys, a local index, and a guard that refers to such a key."""

from collections.abc import Iterator
from datetime import date
from typing import Any
from uuid import UUID

import pytest

from keyplan.data import DataError, Store, StoredDataError, create, increment, patch, update
from keyplan.data.codec.sizes import MAXIMUM_ITEM, item_size
from keyplan.design import (
    Design,
    DesignError,
    Entity,
    InvalidValue,
    Table,
    batch_get,
    key,
    local,
    lookup,
    query,
    ref,
    unique,
)
from keyplan.engine import Engine
from tests.data.support import Recorder

ledger = Table("Ledger", key("book", "line"), indexes={"ByAmount": local("amount:N")})


class Entry(Entity, table=ledger):
    book_no: int
    day: date
    entry_id: UUID
    voucher: str
    amount: int | None = None
    text: str = ""

    primary = key("BOOK#{book_no:04}", "{day}#{entry_id}")
    by_amount = ledger.ByAmount("BOOK#{book_no:04}", "{amount}")
    by_voucher = unique("VOUCHER#{voucher}", carries=("book_no", "day", "entry_id"))


class Ledger(Design):
    tables = (ledger,)
    entities = (Entry,)


@pytest.fixture
def books() -> Iterator[Store[Ledger]]:
    with Engine() as engine:
        store = Store(Ledger(), Recorder(engine))
        store.create_tables()
        yield store


def entry(**values: Any) -> Entry:
    return Entry(book_no=7, day=date(2026, 1, 31), entry_id=UUID(int=1), voucher="v#1", **values)


def test_a_guard_refers_to_a_key_of_numbers_and_dates(books: Store[Ledger]) -> None:
    made = books.run(create(entry()))
    assert books.run(lookup(Entry.by_voucher, voucher="v#1")) == made
    client: Any = books.client
    client.put_item(TableName="Ledger", Item={"book": {"S": "VOUCHER#x"}, "line": {"S": "VOUCHER#x"}})
    with pytest.raises(StoredDataError, match=r"Entry\.book_no \(attribute book_no\)"):
        books.run(lookup(Entry.by_voucher, voucher="x"))


def test_entries_in_local_indexes_count_toward_the_item_size(books: Store[Ledger]) -> None:
    """DynamoDB limits the size of an item together with its entries in local indexes."""
    books.run(create(entry(text="x" * 400_000)))  # not in the index
    found = books.run(lookup(Entry.by_voucher, voucher="v#1"))
    assert found is not None
    client: Any = books.client
    client.taken()
    found.amount = 1
    with pytest.raises(InvalidValue, match=r"Entry\.text") as caught:
        books.run(update(found))
    assert (caught.value.field, client.taken()) == ("text", [])
    found.text = ""
    room = MAXIMUM_ITEM // 2 - item_size(dict(store_item(found)))
    found.text = "x" * room
    books.run(update(found))  # one byte more is too much
    found.text += "x"
    with pytest.raises(InvalidValue, match="409600"):
        books.run(update(found))
    assert len(books.run(query(Entry.by_amount, book_no=7, amount=1)).items) == 1


def store_item(made: Entry) -> dict[str, Any]:
    with Engine() as engine:
        store = Store(Ledger(), engine)
        ((_, request),) = store.requests(create(made.model_copy()))
        return next(each["Put"]["Item"] for each in request["TransactItems"] if "text" in each["Put"]["Item"])


def test_invalid_keys(books: Store[Ledger]) -> None:
    for keys in (["v"], [{"book_no": 7}], "v"):
        with pytest.raises(DesignError, match=r"Entry\.primary"):
            batch_get(Entry, keys)
    with pytest.raises(DesignError, match=r"Entry\.primary: no value for book_no"):
        patch(ref(Entry, book=7), text="")


def test_only_whole_numbers_can_be_added(books: Store[Ledger]) -> None:
    target = ref(Entry, **books.run(create(entry())).key_values)
    with pytest.raises(InvalidValue, match=r"Entry\.amount"):
        books.run(patch(target, amount=increment(float("nan"))))  # type: ignore[arg-type]  # what is refused here


def test_two_writes_of_one_item_are_reported(books: Store[Ledger]) -> None:
    with pytest.raises(DataError, match=r"Ledger book='BOOK#0007'.*make them one"):
        books.transact(create(entry()), create(entry()))
