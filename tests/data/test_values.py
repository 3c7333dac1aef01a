"""How Python values are stored and read back; items of an older shape; envelopes; secrets."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from keyplan.data import ItemChanged, Store, StoredDataError, create, patch, update
from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.sizes import item_size
from keyplan.data.codec.values import encode_untyped, value_codec
from keyplan.design import (
    Count,
    Design,
    DesignError,
    Entity,
    Id,
    InvalidValue,
    Secret,
    Table,
    Ttl,
    Version,
    counts,
    get,
    key,
    on_top,
    query,
    ref,
    scan,
    stored,
)
from keyplan.engine import Engine
from keyplan.engine.values.attribute_values import item_size as size_in_the_engine
from tests.data.support import Recorder


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Ratio(Enum):
    HALF = 0.5


class Open(BaseModel):
    """It takes more fields than it declares."""

    model_config = ConfigDict(extra="allow")

    width: int = 0


class Inner(BaseModel):
    at: datetime
    note: str | None = None
    parts: list[Decimal] = []


AT = datetime(2026, 1, 31, 12, 30, 15, 250_999, tzinfo=timezone(timedelta(hours=2)))
READ = datetime(2026, 1, 31, 10, 30, 15, 250_000, tzinfo=UTC)

VALUES: list[tuple[Any, object, dict[str, Any] | None, object]] = [
    (str, "a", {"S": "a"}, "a"),
    (str, "", {"S": ""}, ""),
    (UUID, UUID(int=1), {"S": "00000000-0000-0000-0000-000000000001"}, UUID(int=1)),
    (int, -5, {"N": "-5"}, -5),
    (int, 10**38, {"N": "1" + "0" * 38}, 10**38),
    (Decimal, Decimal("1.500"), {"N": "1.5"}, Decimal("1.5")),
    (Decimal, Decimal("-1E+3"), {"N": "-1000"}, Decimal(-1000)),
    (Decimal, Decimal("0.00"), {"N": "0"}, Decimal(0)),
    (Decimal, Decimal("9" * 38), {"N": "9" * 38}, Decimal("9" * 38)),
    (float, 0.1, {"N": "0.1"}, 0.1),
    (float, 1.0, {"N": "1"}, 1.0),
    (float, 1e100, {"N": "1" + "0" * 100}, 1e100),
    (float, 1e-7, {"N": "0.0000001"}, 1e-7),
    (bool, True, {"BOOL": True}, True),
    (bytes, b"\x00\xff", {"B": b"\x00\xff"}, b"\x00\xff"),
    (datetime, AT, {"S": "2026-01-31T10:30:15.250Z"}, READ),
    (Ttl, AT, {"N": "1769855416"}, datetime(2026, 1, 31, 10, 30, 16, tzinfo=UTC)),
    (
        *(Ttl, datetime.max.replace(tzinfo=UTC), {"N": "253402300799"}),
        datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    ),
    (Decimal, Decimal("0E+9999999"), {"N": "0"}, Decimal(0)),
    (date, date(2026, 1, 31), {"S": "2026-01-31"}, date(2026, 1, 31)),
    (Color, Color.RED, {"S": "red"}, Color.RED),
    (Level, Level.LOW, {"N": "1"}, Level.LOW),
    (Ratio, Ratio.HALF, {"N": "0.5"}, Ratio.HALF),
    (Literal["a", "b"], "b", {"S": "b"}, "b"),
    (Literal[1, 2], 2, {"N": "2"}, 2),
    (Literal["a", 1], 1, {"N": "1"}, 1),
    (list[int], [2, 1], {"L": [{"N": "2"}, {"N": "1"}]}, [2, 1]),
    (list[str | None], ["a", None], {"L": [{"S": "a"}, {"NULL": True}]}, ["a", None]),
    (list[set[str]], [set(), {"a"}], {"L": [{"NULL": True}, {"SS": ["a"]}]}, [set(), {"a"}]),
    (tuple[int, str], (1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}, (1, "a")),
    (tuple[int, ...], (1, 2, 3), {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}]}, (1, 2, 3)),
    (set[str], {"b", "a"}, {"SS": ["a", "b"]}, {"a", "b"}),
    (set[int], {10, 9}, {"NS": ["10", "9"]}, {9, 10}),
    (frozenset[bytes], frozenset([b"a"]), {"BS": [b"a"]}, frozenset([b"a"])),
    (set[Color], {Color.RED}, {"SS": ["red"]}, {Color.RED}),
    (set[UUID], {UUID(int=1)}, {"SS": ["00000000-0000-0000-0000-000000000001"]}, {UUID(int=1)}),
    (set[str], set(), None, set()),
    (dict[str, int], {"a": 1}, {"M": {"a": {"N": "1"}}}, {"a": 1}),
    (dict[str, Any], {"a": [1, None]}, {"M": {"a": {"L": [{"N": "1"}, {"NULL": True}]}}}, {"a": [1, None]}),
    (
        Inner,
        Inner(at=AT, parts=[Decimal("0.50")]),
        {"M": {"at": {"S": "2026-01-31T10:30:15.250Z"}, "parts": {"L": [{"N": "0.5"}]}}},
        Inner(at=READ, parts=[Decimal("0.5")]),
    ),
    (dict[int, str], {7: "a"}, {"M": {"7": {"S": "a"}}}, {7: "a"}),
    (dict[date, int], {date(2026, 1, 31): 1}, {"M": {"2026-01-31": {"N": "1"}}}, {date(2026, 1, 31): 1}),
    (dict[Color, int], {Color.RED: 1}, {"M": {"red": {"N": "1"}}}, {Color.RED: 1}),
    (dict[Level, int], {Level.LOW: 1}, {"M": {"1": {"N": "1"}}}, {Level.LOW: 1}),
    (
        list[Open],
        [Open.model_validate({"width": 1, "more": ["a"]})],
        {"L": [{"M": {"width": {"N": "1"}, "more": {"L": [{"S": "a"}]}}}]},
        [Open.model_validate({"width": 1, "more": ["a"]})],
    ),
    (int | str, 7, {"N": "7"}, 7),
    (str | None, None, None, None),
    (Secret[str], Secret("s"), {"S": "s"}, Secret("s")),
    (SecretStr, SecretStr("s"), {"S": "s"}, SecretStr("s")),
]

table = Table("Values", key("id"))
expiring = Table("Values", key("id"), ttl="value")


def holder(annotation: Any) -> type[Entity]:
    default: Any = set() if "set" in str(annotation) and "list" not in str(annotation) else None
    namespace = {
        "__module__": __name__,
        "__annotations__": {"id": Id, "value": annotation if default is not None else annotation | None},
        "value": default,
        "primary": key("{id}"),
    }
    return type(Entity)("Holder", (Entity,), namespace, table=expiring if annotation is Ttl else table)  # type: ignore[no-any-return,misc]  # made here


@pytest.mark.parametrize(
    ("annotation", "value", "form", "read"), VALUES, ids=[f"{v[0]}-{n}" for n, v in enumerate(VALUES)]
)
def test_a_value_is_stored_and_read_back(
    annotation: Any, value: object, form: dict[str, Any] | None, read: object
) -> None:
    entity = holder(annotation)
    codec = codec_of(entity)
    with Engine() as engine:
        client: Any = engine
        made = entity.model_validate({"id": "1", "value": value})
        item = codec.encode(made)
        assert item.get("value") == form
        client.create_table(
            TableName="Values",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        client.put_item(TableName="Values", Item=item)
        back = client.get_item(TableName="Values", Key={"id": {"S": "1"}})["Item"]
        decoded: Any = codec.decode(back)
        assert decoded.value == read
        assert type(decoded.value) is type(read)
        assert codec.encode(decoded).get("value") == form


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (float, float("nan")),
        (float, float("inf")),
        (Decimal, Decimal("NaN")),
        (Decimal, Decimal("-Infinity")),
        (Decimal, Decimal("1." + "1" * 38)),
        (Decimal, Decimal("1E+126")),
        (Decimal, Decimal("1E-131")),
        (int, 10**38 + 1),
        (datetime, datetime(2026, 1, 1)),  # noqa: DTZ001 - what is refused here
        (Ttl, datetime(2026, 1, 1)),  # noqa: DTZ001
        (Decimal, Decimal("1E+9999999")),
        (datetime, datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
        (Ttl, datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
        (list[float], [float("nan")]),
        (dict[str, Any], {"a": object()}),
        (dict[str, Any], {"a": ["\ud800"]}),
        (dict[str, Any], {"\ud800": 1}),
        (set[Any], {True}),
        (dict[str, int], {"": 1}),
        (dict[str, Any], {"a": [{"": 1}]}),
    ],
)
def test_a_value_that_cannot_be_stored_is_refused(annotation: Any, value: object) -> None:
    entity = holder(annotation)
    with pytest.raises(InvalidValue) as caught:
        codec_of(entity).encode(entity.model_construct(id="1", value=value))
    assert caught.value.field == "value"


def members(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=4), values, max_size=4)


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9)
PLAIN = st.none() | st.booleans() | st.text(max_size=6) | st.integers() | NUMBERS
SETS = st.sets(st.text(max_size=4), min_size=1) | st.sets(st.integers(-999, 999), min_size=1)


@given(st.recursive(PLAIN | SETS, members, max_leaves=20))
def test_the_size_of_an_item_is_the_size_dynamodb_counts(value: object) -> None:
    try:
        item: dict[str, Any] = {"value": encode_untyped(value)}
    except InvalidValue:  # a number with too many digits
        return
    assert item_size(item) == size_in_the_engine(item)
    # Items well within the limit are not measured, so the JSON of an item must never be shorter than its size.
    assert len(orjson.dumps(item)) >= item_size(item)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=9))
def test_numbers_are_exact(number: Decimal) -> None:
    codec = value_codec(Decimal, "milliseconds")
    encoded = codec.encode(number)
    assert encoded is not None
    assert Decimal(encoded["N"]) == number
    assert "E" not in encoded["N"]


shop = Table("Shop", key("pk"), case="camel", indexes={"byRank": key("kind", "rank:N"), "bySite": key("siteId")})


class Card(Entity, table=shop):
    """A number as an index key, and a field that is stored as a key."""

    card_id: Id
    kind: Id = "card"
    rank: Decimal | None = None
    site: Annotated[Id | None, stored("siteId")] = None
    title: str = "none"
    password: Secret[str] | None = None
    votes: Count = 0

    primary = key("CARD#{card_id}")
    by_rank = shop.byRank("{kind}", "{rank}")
    by_site = shop.bySite("SITE#{site}")

    @classmethod
    def evolve(cls, item: dict[str, Any]) -> dict[str, Any]:
        if "caption" in item:
            item["title"] = item.pop("caption")
        return item


class Stray(Entity, table=shop):
    """Not in the index whose key stores one of its fields."""

    stray_id: Id
    site_id: str | None = None

    primary = key("STRAY#{stray_id}")


class Vote(Entity, table=shop):
    card_id: Id
    voter: Id

    primary = key("VOTE#{card_id}#{voter}")

    @counts("votes")
    def counted(self) -> Any:
        return ref(Card, card_id=self.card_id)


envelopes = Table("Envelopes", key("pk"), envelope="data", case="camel", indexes={"byOwner": key("ownerKey")})


class Enclosed(BaseModel):
    scan: bytes
    note: str | None
    pages: dict[str, set[int]]


class Letter(Entity, table=envelopes):
    letter_id: Id
    status: Annotated[str, on_top()] = "draft"
    owner: Id | None = None
    body: str = ""
    tags: set[str] = Field(default_factory=set)
    price: Decimal = Decimal(0)
    secret: Secret[str] | None = None
    seal: bytes | None = None
    seals: list[bytes] = Field(default_factory=list)
    enclosed: Enclosed | None = None
    version: Version = 0
    replies: Count = 0

    primary = key("LETTER#{letter_id}")
    by_owner = envelopes.byOwner("OWNER#{owner}")


class Reply(Entity, table=envelopes):
    reply_id: Id
    letter_id: Id

    primary = key("REPLY#{reply_id}")

    @counts("replies")
    def to(self) -> Any:
        return ref(Letter, letter_id=self.letter_id)


class Sheet(Entity, table=envelopes):
    """In an envelope, without a version."""

    sheet_id: Id
    first: str = ""
    second: str = ""

    primary = key("SHEET#{sheet_id}")


class Post(Design):
    tables = (shop, envelopes)
    entities = (Card, Stray, Vote, Letter, Reply, Sheet)


@pytest.fixture
def post() -> Any:
    with Engine() as engine:
        made = Store(Post(), Recorder(engine))
        made.create_tables()
        yield made


def raw_item(post: Store[Post], table_name: str, pk: str) -> Any:
    client: Any = post.client
    return client.get_item(TableName=table_name, Key={"pk": {"S": pk}})["Item"]


def test_a_field_can_be_stored_as_a_key(post: Store[Post]) -> None:
    card = post.run(create(Card(card_id="1", rank=Decimal("1.50"), site="s")))
    item = raw_item(post, "Shop", "CARD#1")
    assert item["siteId"] == {"S": "SITE#s"}
    assert item["rank"] == {"N": "1.5"}
    assert post.run(get(Card, card_id="1")) == card
    assert [c.card_id for c in post.run(query(Card.by_rank, kind="card", rank=Decimal("1.5"))).items] == ["1"]
    assert [c.card_id for c in post.run(query(Card.by_site, site="s")).items] == ["1"]
    card.rank = None
    post.run(update(card))
    found = post.run(get(Card, card_id="1"))
    assert found == card
    assert found is not None
    assert (found.kind, found.site) == ("card", "s")  # no longer in one index, but their fields are unchanged
    assert post.run(query(Card.by_rank, kind="card")).items == []
    assert post.verify() == []
    with pytest.raises(InvalidValue) as caught:
        post.run(create(Card(card_id="2", rank=Decimal("1E+200"))))
    assert caught.value.field == "rank"


@pytest.mark.parametrize("value", ["", "x" * 2049])
def test_values_that_become_keys_are_checked_as_keys(post: Store[Post], value: str) -> None:
    post.run(create(Stray(stray_id="1")))
    client: Any = post.client
    client.taken()
    for op in (create(Stray(stray_id="2", site_id=value)), patch(ref(Stray, stray_id="1"), site_id=value)):
        with pytest.raises(InvalidValue) as caught:
            post.run(op)
        assert caught.value.field == "site_id"
    assert client.taken() == []
    post.run(patch(ref(Stray, stray_id="1"), site_id="x" * 2048))


def test_an_unchanged_entity_stays_unchanged_however_it_is_stored(post: Store[Post]) -> None:
    client: Any = post.client
    item = {"pk": {"S": "CARD#1"}, "cardId": {"S": "1"}, "kind": {"S": "card"}, "other": {"SS": ["b", "a"]}}
    client.put_item(TableName="Shop", Item=item)
    card = post.run(get(Card, card_id="1"))
    assert card is not None
    client.taken()
    post.run(update(card))
    assert client.taken() == []
    card.title = "new"
    post.run(update(card))
    ((_, request),) = client.taken()
    assert request["UpdateExpression"] == "SET #0 = :0"
    assert raw_item(post, "Shop", "CARD#1")["other"] == {"SS": ["a", "b"]}


def test_evolve_upgrades_items_on_read_and_on_write(post: Store[Post]) -> None:
    client: Any = post.client
    item = {"pk": {"S": "CARD#1"}, "cardId": {"S": "1"}, "kind": {"S": "card"}, "caption": {"S": "old"}}
    client.put_item(TableName="Shop", Item=item)
    card = post.run(get(Card, card_id="1"))
    assert card is not None
    assert card.title == "old"
    card.site = "s"
    post.run(update(card))
    stored_item = raw_item(post, "Shop", "CARD#1")
    assert "caption" not in stored_item
    assert stored_item["title"] == {"S": "old"}
    card.title = "new"
    post.run(update(card))
    again = post.run(get(Card, card_id="1"))
    assert again is not None
    assert again.title == "new"


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("title", {"N": "1"}),
        ("rank", {"S": "high"}),
        ("siteId", {"S": "elsewhere"}),
        ("siteId", {"N": "1"}),
        ("kind", {"S": ""}),
        ("password", {"L": []}),
    ],
)
def test_an_invalid_item_is_reported_with_its_key(post: Store[Post], attribute: str, value: dict[str, Any]) -> None:
    client: Any = post.client
    item = {"pk": {"S": "CARD#1"}, "cardId": {"S": "1"}, "kind": {"S": "card"}, attribute: value}
    if attribute in ("siteId", "rank", "kind"):
        # DynamoDB itself would refuse the type of an index key, so this calls the codec.
        with pytest.raises(StoredDataError) as caught:
            codec_of(Card).decode(dict(item))
    else:
        client.put_item(TableName="Shop", Item=item)
        with pytest.raises(StoredDataError) as caught:
            post.run(get(Card, card_id="1"))
    assert caught.value.attribute == attribute
    assert caught.value.entity == "Card"
    assert caught.value.key == {"pk": {"S": "CARD#1"}}
    assert "CARD#1" in str(caught.value)
    assert "evolve" in str(caught.value)


def test_a_secret_is_never_shown(post: Store[Post]) -> None:
    card = post.run(create(Card(card_id="1", password=Secret("hunter2"))))
    found = post.run(get(Card, card_id="1"))
    assert found is not None
    assert found.password is not None
    assert found.password.get_secret_value() == "hunter2"
    client: Any = post.client
    client.update_item(
        TableName="Shop",
        Key={"pk": {"S": "CARD#1"}},
        UpdateExpression="SET title = :t",
        ExpressionAttributeValues={":t": {"N": "1"}},
    )
    with pytest.raises(StoredDataError) as broken:
        post.run(get(Card, card_id="1"))
    with pytest.raises(Exception, match="Card") as twice:
        post.run(create(Card(card_id="1", password=Secret("hunter2"))))
    shown = [repr(card), str(found), str(broken.value), repr(twice.value), str([str(f) for f in post.verify()])]
    assert not any("hunter2" in text for text in shown)


def test_an_envelope_holds_the_fields_as_json(post: Store[Post]) -> None:
    letter = Letter(letter_id="1", owner="o", tags={"b", "a"}, price=Decimal("0.10"), secret=Secret("s"), seal=b"\xff")
    post.run(create(letter))
    item = raw_item(post, "Envelopes", "LETTER#1")
    assert json.loads(item["data"]["S"]) == {
        "letterId": "1",
        "status": "draft",
        "owner": "o",
        "body": "",
        "tags": ["a", "b"],
        "price": 0.1,
        "secret": "s",
        "seal": "/w==",
        "seals": [],
    }
    assert {name: item[name] for name in item if name != "data"} == {
        "pk": {"S": "LETTER#1"},
        "ownerKey": {"S": "OWNER#o"},
        "status": {"S": "draft"},
        "version": {"N": "1"},
        "replies": {"N": "0"},
    }
    found = post.run(get(Letter, letter_id="1"))
    assert found == letter
    assert found is not None
    assert found.seal == b"\xff"
    assert [each.letter_id for each in post.run(query(Letter.by_owner, owner="o")).items] == ["1"]


def test_an_envelope_returns_values_that_json_cannot_represent(post: Store[Post]) -> None:
    enclosed = Enclosed(scan=b"\xfe", note=None, pages={"a": {1, 2}, "b": set()})
    letter = post.run(create(Letter(letter_id="1", seals=[b"\xff", b""], enclosed=enclosed)))
    assert post.run(get(Letter, letter_id="1")) == letter
    client: Any = post.client
    data = json.dumps({"letterId": "1", "seals": ["no base64"]})
    client.put_item(TableName="Envelopes", Item={"pk": {"S": "LETTER#1"}, "data": {"S": data}})
    with pytest.raises(StoredDataError, match=r"Letter\.seals \(attribute seals\)"):
        post.run(get(Letter, letter_id="1"))


def test_a_version_stored_as_null_counts_as_0(post: Store[Post]) -> None:
    client: Any = post.client
    item = {"pk": {"S": "LETTER#1"}, "data": {"S": '{"letterId": "1"}'}, "version": {"NULL": True}}
    client.put_item(TableName="Envelopes", Item=item)
    letter = post.run(get(Letter, letter_id="1"))
    assert letter is not None
    letter.body = "new"
    post.run(update(letter))
    assert raw_item(post, "Envelopes", "LETTER#1")["version"] == {"N": "1"}


def test_a_time_out_of_range_is_reported() -> None:
    kind = holder(Ttl)
    with pytest.raises(StoredDataError, match="value"):
        codec_of(kind).decode({"id": {"S": "1"}, "value": {"N": "1" + "0" * 30}})


def test_an_envelope_is_rewritten_under_its_version(post: Store[Post]) -> None:
    post.run(create(Letter(letter_id="1")))
    first, second = post.run(get(Letter, letter_id="1")), post.run(get(Letter, letter_id="1"))
    assert first is not None
    assert second is not None
    post.run(create(Reply(reply_id="r", letter_id="1")))
    first.body = "first"
    post.run(update(first))
    second.status = "sent"
    with pytest.raises(ItemChanged):
        post.run(update(second))
    post.run(patch(ref(Letter, letter_id="1"), status="sent"))
    found = post.run(get(Letter, letter_id="1"))
    assert found is not None
    assert (found.body, found.status, found.version, found.replies) == ("first", "sent", 3, 1)
    assert post.verify() == []


def test_an_envelope_without_a_version_is_safe_too(post: Store[Post]) -> None:
    post.run(create(Sheet(sheet_id="1")))
    first, second = post.run(get(Sheet, sheet_id="1")), post.run(get(Sheet, sheet_id="1"))
    assert first is not None
    assert second is not None
    first.first, second.second = "a", "b"
    post.run(update(first))
    with pytest.raises(ItemChanged):
        post.run(update(second))
    for n in range(3):
        post.run(patch(ref(Sheet, sheet_id="1"), second=str(n)))
    assert post.run(get(Sheet, sheet_id="1")) == Sheet(sheet_id="1", first="a", second="2")


def test_unknown_values_in_an_envelope_are_kept(post: Store[Post]) -> None:
    client: Any = post.client
    data = {"sheetId": "1", "first": "a", "later": {"x": [1, 0.5]}}
    client.put_item(TableName="Envelopes", Item={"pk": {"S": "SHEET#1"}, "data": {"S": json.dumps(data, indent=1)}})
    sheet = post.run(get(Sheet, sheet_id="1"))
    assert sheet is not None
    client.taken()
    post.run(update(sheet))
    assert client.taken() == []
    sheet.second = "b"
    post.run(update(sheet))
    stored_data = json.loads(raw_item(post, "Envelopes", "SHEET#1")["data"]["S"])
    assert stored_data == {**data, "second": "b"}


def test_conditions_can_use_only_fields_outside_of_the_envelope(post: Store[Post]) -> None:
    post.run(create(Letter(letter_id="1")))
    assert len(post.run(scan(Letter, filter=lambda letter: letter.status == "draft")).items) == 1
    with pytest.raises(DesignError, match="on_top"):
        scan(Letter, filter=lambda letter: letter.body == "")


@pytest.mark.parametrize("data", ["no json", "[]", None])
def test_a_broken_envelope_is_reported(post: Store[Post], data: str | None) -> None:
    client: Any = post.client
    item = {"pk": {"S": "SHEET#1"}} | ({"data": {"S": data}} if data else {})
    client.put_item(TableName="Envelopes", Item=item)
    with pytest.raises(StoredDataError, match="data"):
        post.run(get(Sheet, sheet_id="1"))
    assert [finding.kind for finding in post.verify()] == ["unreadable"]


def test_an_envelope_that_disagrees_with_its_attributes(post: Store[Post]) -> None:
    post.run(create(Letter(letter_id="1", body="b")))
    client: Any = post.client
    client.update_item(
        TableName="Envelopes",
        Key={"pk": {"S": "LETTER#1"}},
        UpdateExpression="SET #s = :s",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":s": {"S": "sent"}},
    )
    (finding,) = post.verify()
    assert finding.kind == "wrong"
    post.repair([finding])
    assert post.verify() == []
    assert json.loads(raw_item(post, "Envelopes", "LETTER#1")["data"]["S"])["status"] == "sent"
