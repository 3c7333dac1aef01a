"""Fields that are index keys without a template: a number is stored once, for the entity and for the index."""

from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import Store, create, delete, move, patch, update, upsert
from keyplan.design import (
    ALL,
    Design,
    Entity,
    Get,
    Id,
    InvalidValue,
    Query,
    Table,
    get,
    include,
    index,
    key,
    pattern,
    query,
    ref,
)
from keyplan.engine import Engine
from tests.data.support import Recorder

players = Table("Players", key("PK", "SK"), indexes={"Board": key("board", "score:N")})
INDEXES = {"ByBox": index(key("box_pk", "box_sk"), include("data")), "ByNumber": index(key("box", "number:N"), ALL)}
files = Table("Files", key("id"), indexes={"ByDigest": key("folder", "digest:B")})


class File(Entity, table=files):
    id: Id
    folder: Id
    digest: bytes | None = None

    primary = key("{id}")
    by_digest = files.ByDigest("{folder}", "{digest}")


class Folders(Design):
    tables, entities = (files,), (File,)


class Player(Entity, table=players):
    player_id: Id
    name: str
    score: int
    ranked: bool = True
    primary = key("PLAYER#{player_id}", "PLAYER")
    by_score = players.Board("BOARD", "{score}", when="ranked")


class League(Design):
    tables, entities = (players,), (Player,)

    @pattern("Get a player")
    def player(self, player_id: str) -> Get[Player]:
        return get(Player, player_id=player_id)

    @pattern("The board")
    def board(self) -> Query[Player]:
        return query(Player.by_score, newest_first=True)


def rename(store: Store[League], player: Player) -> None:
    player.name = "Anne"
    store.run(update(player))


def leave_the_board(store: Store[League], player: Player) -> None:
    player.ranked = False
    store.run(update(player))


def change_both(store: Store[League], player: Player) -> None:
    player.name, player.ranked = "Anne", not player.ranked
    store.run(update(player))


def go_elsewhere(store: Store[League], player: Player) -> None:
    store.run(move(player, player_id="b"))


def leave_unread(store: Store[League], player: Player) -> None:
    store.run(patch(ref(Player, player_id="a"), ranked=False))


@pytest.mark.parametrize("ranked", [True, False])
@pytest.mark.parametrize("change", [rename, leave_the_board, change_both, go_elsewhere, leave_unread])
def test_the_field_stays_whether_or_not_the_item_is_in_the_index(
    ranked: bool, change: Callable[[Store[League], Player], None]
) -> None:
    with Engine() as engine:
        store = Store(League(), engine)
        store.create_tables()
        player = Player(player_id="a", name="Ann", score=7, ranked=ranked)
        store.run(create(player))
        change(store, player)
        found = store.run(store.design.player("b" if change is go_elsewhere else "a"))
        assert found is not None
        assert found.score == 7
        assert [each.score for each in store.run(store.design.board().limit(9)).items] == ([7] if found.ranked else [])
        assert store.verify() == []


def test_an_update_names_attributes_in_the_order_of_the_fields() -> None:
    with Engine() as engine:
        recorder: Any = Recorder(engine)
        store = Store(League(), recorder)
        store.create_tables()
        player = Player(player_id="a", name="Ann", score=7)
        store.run(create(player))
        recorder.taken()
        player.score, player.name = 8, "Anne"
        store.run(update(player))
        ((_, request),) = recorder.taken()
        names = request["ExpressionAttributeNames"]
        assert request["UpdateExpression"] == "SET #0 = :0, #1 = :1"
        assert (names["#0"], names["#1"]) == ("name", "score")


@pytest.mark.parametrize("digest", [b"", b"x" * 1025])
def test_bytes_that_cannot_be_an_index_key_are_refused_before_sending(digest: bytes) -> None:
    with Engine() as engine:
        recorder = Recorder(engine)
        store = Store(Folders(), recorder)
        store.create_tables()
        recorder.taken()
        for write in (
            create(File(id="1", folder="a", digest=digest)),
            patch(ref(File, id="1"), digest=digest),
            upsert(ref(File, id="1"), folder="a", digest=digest),
        ):
            with pytest.raises(InvalidValue) as refused:
                store.run(write)
            assert refused.value.field == "digest"
        assert recorder.taken() == []


parts = Table("Parts", key("PK", "SK"), envelope="data", indexes=INDEXES)
plain = Table("Plain", key("PK", "SK"), indexes=INDEXES)


class InEnvelope(Entity, table=parts):
    id: Id
    box: Id = "a"
    number: int = 0

    primary = key("PART#{id}", "PART")
    by_box = parts.ByBox("BOX#{box}", "{number:03}#{id}")
    by_number = parts.ByNumber("{box}", "{number}")


class InAttributes(Entity, table=plain):
    id: Id
    box: Id = "a"
    number: int = 0

    primary = key("PART#{id}", "PART")
    by_box = plain.ByBox("BOX#{box}", "{number:03}#{id}")
    by_number = plain.ByNumber("{box}", "{number}")


class Parts(Design):
    tables, entities = (parts, plain), (InEnvelope, InAttributes)


@pytest.mark.parametrize("entity", [InEnvelope, InAttributes])
def test_items_from_an_index_with_some_attributes_can_be_written(entity: Any) -> None:
    with Engine() as engine:
        client: Any = engine
        store = Store(Parts(), engine)
        store.create_tables()
        store.run(create(entity(id="1", number=4)))
        name, old = entity.spec.table.name, {"PK": {"S": "PART#1"}, "SK": {"S": "PART"}}
        by_somebody_else = {"UpdateExpression": "SET note = :n", "ExpressionAttributeValues": {":n": {"S": "kept"}}}
        client.update_item(TableName=name, Key=old, **by_somebody_else)

        def listed() -> Any:
            (found,) = store.run(query(entity.by_box, box="a")).items
            return found

        part = listed()
        part.number = 9
        store.run(update(part))
        store.run(move(listed(), id="2"))
        assert store.verify() == []
        (item,) = client.scan(TableName=name)["Items"]
        assert (item["PK"], item["note"]) == ({"S": "PART#2"}, {"S": "kept"})
        store.run(delete(listed()))
        assert client.scan(TableName=name)["Items"] == []
