"""The order in which a cascade deletes children."""

import pytest

from keyplan.data import InUse, Store, create, delete
from keyplan.data.relations import Relations
from keyplan.design import Count, Design, Entity, Id, Ref, Table, belongs_to, key, ref
from keyplan.engine import Engine

league = Table("League", key("PK", "SK"))


class Round(Entity, table=league):
    round_id: Id

    primary = key("ROUND#{round_id}", "ROUND")


class Player(Entity, table=league):
    round_id: Id
    player_id: Id
    battings: Count = 0

    primary = key("ROUND#{round_id}", "PLAYER#{player_id}")

    @belongs_to(on_delete="cascade")
    def round(self) -> Ref[Round]:
        return ref(Round, round_id=self.round_id)


class Match(Entity, table=league):
    round_id: Id
    match_id: Id

    primary = key("ROUND#{round_id}", "MATCH#{match_id}")

    @belongs_to(on_delete="cascade")
    def round(self) -> Ref[Round]:
        return ref(Round, round_id=self.round_id)


class Batting(Entity, table=league):
    """Keeps its player from being deleted, and is deleted with its match."""

    round_id: Id
    match_id: Id
    player_id: Id

    primary = key("MATCH#{round_id}#{match_id}", "BATTING#{player_id}")

    @belongs_to(on_delete="cascade")
    def match(self) -> Ref[Match]:
        return ref(Match, round_id=self.round_id, match_id=self.match_id)

    @belongs_to(on_delete="refuse", count="battings")
    def player(self) -> Ref[Player]:
        return ref(Player, round_id=self.round_id, player_id=self.player_id)


class Award(Entity, table=league):
    """Keeps its player from being deleted, and is deleted with the round."""

    round_id: Id
    award_id: Id
    player_id: Id

    primary = key("ROUND#{round_id}", "AWARD#{award_id}")

    @belongs_to(on_delete="cascade")
    def round(self) -> Ref[Round]:
        return ref(Round, round_id=self.round_id)

    @belongs_to(on_delete="refuse", count="battings")
    def player(self) -> Ref[Player]:
        return ref(Player, round_id=self.round_id, player_id=self.player_id)


class League(Design):
    """Listed in an order in which they could not be deleted."""

    tables = (league,)
    entities = (Round, Player, Match, Batting, Award)


def test_items_that_keep_others_from_being_deleted_go_first() -> None:
    assert [child.__name__ for child, _ in Relations(League()).deletion_order(Round)] == ["Match", "Award", "Player"]


class Fine(Entity, table=league):
    """Keeps its player from being deleted, and is deleted with nothing."""

    fine_id: Id
    round_id: Id
    player_id: Id

    primary = key("FINE#{fine_id}", "FINE")

    @belongs_to(on_delete="refuse", count="battings")
    def player(self) -> Ref[Player]:
        return ref(Player, round_id=self.round_id, player_id=self.player_id)


class Strict(Design):
    tables = (league,)
    entities = (Round, Player, Fine)


def test_a_cascade_that_was_blocked_continues_when_the_block_is_gone() -> None:
    with Engine() as engine:
        store = Store(Strict(), engine)
        store.create_tables()
        round_ = store.run(create(Round(round_id="r")))
        for player in ("p", "q"):
            store.run(create(Player(round_id="r", player_id=player)))
        fine = store.run(create(Fine(fine_id="f", round_id="r", player_id="q")))
        with pytest.raises(InUse) as caught:
            store.run(delete(round_))
        assert (caught.value.entity, caught.value.values["player_id"]) == ("Player", "q")
        with pytest.raises(InUse):
            store.resume()
        assert [finding.kind for finding in store.verify()] == ["unfinished"]
        store.run(delete(fine))
        assert store.resume() == 1
        assert engine.scan(TableName="League")["Items"] == []


def test_a_cascade_is_not_blocked_by_its_own_items() -> None:
    with Engine() as engine:
        store = Store(League(), engine)
        store.create_tables()
        round_ = store.run(create(Round(round_id="r")))
        store.run(create(Player(round_id="r", player_id="p")))
        store.run(create(Match(round_id="r", match_id="m")))
        store.run(create(Batting(round_id="r", match_id="m", player_id="p")))
        store.run(create(Award(round_id="r", award_id="a", player_id="p")))
        store.run(delete(round_))
        assert engine.scan(TableName="League")["Items"] == []
        assert store.resume() == 0
