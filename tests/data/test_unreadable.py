"""One item that doesn't fit its entity doesn't have to end a list."""

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.data import StoredDataError, create
from keyplan.design import DesignError, Unreadable, batch_get, follow, merge, query, ref, scan
from tests.data.shop import NOW, Older, Product, Shop
from tests.data.support import Recorder
from tests.data.ways import WAYS, store_in


@pytest.fixture(params=WAYS)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Recorder]]:
    with store_in(request.param, Shop(), lambda: NOW) as both:
        for n in range(5):
            both[0].run(create(Product(sku=f"p{n}", title="T")))
        client: Any = both[1].client
        client.update_item(
            TableName="Shop",
            Key={"PK": {"S": "PRODUCT#p2"}, "SK": {"S": "PRODUCT"}},
            UpdateExpression="SET price = :p",
            ExpressionAttributeValues={":p": {"S": "cheap"}},
        )
        yield both


@pytest.fixture
def store(opened: tuple[Any, Recorder]) -> Any:
    return opened[0]


LIST = query(Product.by_brand, brand="b")


def shown(items: Any) -> list[str]:
    return ["?" if isinstance(each, Unreadable) else each.sku for each in items]


@pytest.mark.parametrize("op", [LIST, scan(Product)])
def test_a_list_raises_skips_or_returns_it(store: Any, op: Any) -> None:
    with pytest.raises(StoredDataError, match="price"):
        store.run(op)
    page = store.run(op.on_unreadable("skip"))
    assert sorted(shown(page.items)) == ["p0", "p1", "p3", "p4"]
    (left_out,) = page.unreadable
    assert left_out.item["PK"] == {"S": "PRODUCT#p2"}
    assert isinstance(left_out.error, StoredDataError)
    page = store.run(op.on_unreadable("raw"))
    assert sorted(shown(page.items)) == ["?", "p0", "p1", "p3", "p4"]
    assert page.unreadable == []


def test_pages_are_filled_up_and_have_cursors(store: Any) -> None:
    page = store.run(LIST.on_unreadable("skip").limit(3).with_cursors())
    assert (shown(page.items), len(page.unreadable), len(page.cursors)) == (["p0", "p1", "p3"], 1, 3)
    assert shown(store.run(LIST.on_unreadable("skip").after(page.cursors[1])).items) == ["p3", "p4"]
    raw = store.run(LIST.on_unreadable("raw").limit(3).with_cursors())
    assert shown(raw.items) == ["p0", "p1", "?"]
    assert shown(store.run(LIST.on_unreadable("raw").after(raw.cursors[2])).items) == ["p3", "p4"]
    assert shown(store.each(LIST.on_unreadable("skip").limit(2))) == ["p0", "p1", "p3", "p4"]


def test_batches_followed_lists_and_merges(store: Any) -> None:
    keys = ["p2", "none", "p1"]
    with pytest.raises(StoredDataError):
        store.run(batch_get(Product, keys))
    broken, none, fine = store.run(batch_get(Product, keys).on_unreadable("raw"))
    assert (isinstance(broken, Unreadable), none, fine.sku) == (True, None, "p1")
    followed = follow(query(Older.by_shelf, shelf="s"), lambda old: ref(Product, sku=old.older_id), Product)
    for sku in ("p1", "p2"):
        store.run(create(Older(older_id=sku, name="n")))
    with pytest.raises(StoredDataError):
        store.run(followed)
    assert shown(store.run(followed.on_unreadable("raw")).items) == ["p1", "?"]
    page = store.run(followed.on_unreadable("skip"))
    assert (shown(page.items), len(page.unreadable)) == (["p1"], 1)
    merged = merge([LIST, query(Product.by_brand, brand="c")], lambda product: product.sku)
    page = store.run(merged.on_unreadable("skip"))
    assert (shown(page.items), len(page.unreadable)) == (["p0", "p1", "p3", "p4"], 1)
    with pytest.raises(DesignError, match="unreadable-order"):
        merged.on_unreadable("raw")


def test_chosen_fields_that_fit_are_read(store: Any) -> None:
    assert len(store.run(scan(Product).only(lambda p: p.sku)).items) == 5
    page = store.run(scan(Product).only(lambda p: (p.sku, p.price)).on_unreadable("skip"))
    assert (len(page.items), len(page.unreadable)) == (4, 1)


def test_verify_names_it_also_where_evolve_fails(store: Any, opened: tuple[Any, Recorder]) -> None:
    client: Any = opened[1].client
    client.put_item(
        TableName="Shop",
        Item={"PK": {"S": "OLDER#x"}, "SK": {"S": "OLDER"}, "kind": {"S": "OLDER"}, "label": {"N": "1"}},
    )
    assert [finding.kind for finding in store.verify()].count("unreadable") == 2
    page = store.run(scan(Older).on_unreadable("skip"))
    assert "evolve" in str(page.unreadable[0].error)
