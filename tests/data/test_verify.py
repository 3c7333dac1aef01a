"""Every kind of damage, caused by raw writes: found, repaired, and then nothing more is found."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from keyplan.data import Store, UniqueViolation, codec_of, create, delete, update
from keyplan.design import HOUSEKEEPING, Count, Design, Entity, Id, Ref, Table, counts, get, mirror, ref, scan
from keyplan.design import key as declared_key
from keyplan.engine import Engine
from tests.data.club import Alias, Article, Club, Member, Note, Team, User, club
from tests.data.market import Login, Market, Token
from tests.data.press import Times


@pytest.fixture
def filled(store: Store[Club]) -> Store[Club]:
    store.run(create(User(username="ann", email="ann", nickname="annie")))
    store.run(create(User(username="zoe", email="zoe")))
    tags = frozenset("ab")
    store.run(create(Article(slug="one", number=1, title="T", author="ann", tags=tags, images=["i"])))
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Member(team_id="t", username="ann", role="admin")))
    store.run(create(Note(note_id="n", folder="f", rank=1)))
    assert store.verify() == []
    return store


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"PK": {"S": pk}, "SK": {"S": sk}}


def remove(pk: str, sk: str) -> Callable[[Any], None]:
    return lambda raw: raw.delete_item(TableName="Club", Key=key(pk, sk))


def change(pk: str, sk: str, expression: str, **values: Any) -> Callable[[Any], None]:
    given = {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}} if values else {}
    return lambda raw: raw.update_item(TableName="Club", Key=key(pk, sk), UpdateExpression=expression, **given)


def add(pk: str, sk: str, **attributes: Any) -> Callable[[Any], None]:
    return lambda raw: raw.put_item(TableName="Club", Item=key(pk, sk) | attributes)


DAMAGE: list[tuple[str, Callable[[Any], Any], list[str]]] = [
    ("lost guard", remove("EMAIL#ann", "EMAIL#ann"), ["missing"]),
    ("lost guard elsewhere", lambda raw: raw.delete_item(TableName="Names", Key={"name": {"S": "annie"}}), ["missing"]),
    ("orphaned guard", add("EMAIL#joe", "EMAIL#joe", username={"S": "joe"}), ["orphan"]),
    (
        "orphaned guard elsewhere",
        lambda raw: raw.put_item(TableName="Names", Item={"name": {"S": "joe"}}),
        ["orphan"],
    ),
    ("guard of another", change("EMAIL#ann", "EMAIL#ann", "SET username = :u", u={"S": "joe"}), ["wrong"]),
    ("lost mirror", remove("NUMBER#000001", "SHORT"), ["missing"]),
    ("stale mirror", change("NUMBER#000001", "SHORT", "SET title = :t", t={"S": "old"}), ["wrong"]),
    ("lost derived item", remove("TAG#a", "ARTICLE#one"), ["missing"]),
    (
        "derived item too many",
        add("TAG#z", "ARTICLE#one", tag={"S": "z"}, slug={"S": "one"}, title={"S": "T"}),
        ["orphan"],
    ),
    ("lost reference", remove("IMAGE#i", "USE#one"), ["missing"]),
    ("reference too many", add("IMAGE#j", "USE#one", image={"S": "j"}, slug={"S": "one"}), ["orphan"]),
    ("stale index key", change("NOTE#n", "NOTE", "SET GSI1PK = :k", k={"S": "FOLDER#old"}), ["stale-index-key"]),
    ("lost index key", change("NOTE#n", "NOTE", "REMOVE GSI1SK"), ["stale-index-key"]),
    ("index key too many", change("TEAM#t", "TEAM", "SET GSI1PK = :k, GSI1SK = :k", k={"S": "x"}), ["stale-index-key"]),
    ("wrong count", change("USER#ann", "USER", "SET article_count = :n", n={"N": "7"}), ["wrong-count"]),
    ("lost count", change("TEAM#t", "TEAM", "REMOVE admin_count"), ["wrong-count"]),
    ("count that is NULL", change("TEAM#t", "TEAM", "SET member_count = :n", n={"NULL": True}), ["wrong-count"]),
    (
        "count of nothing that is NULL",
        change("USER#zoe", "USER", "SET team_count = :n", n={"NULL": True}),
        ["wrong-count"],
    ),
    ("field changed by hand", change("NOTE#n", "NOTE", "SET folder = :f", f={"S": "g"}), ["stale-index-key"]),
    (
        "unique field changed by hand",
        change("USER#ann", "USER", "SET email = :e", e={"S": "new"}),
        ["missing", "orphan"],
    ),
]


@pytest.mark.parametrize(("damage", "kinds"), [case[1:] for case in DAMAGE], ids=[case[0] for case in DAMAGE])
def test_damage_is_found_and_repaired(
    filled: Store[Club], raw: Any, damage: Callable[[Any], Any], kinds: list[str]
) -> None:
    damage(raw)
    findings = filled.verify()
    assert sorted(finding.kind for finding in findings) == kinds
    assert all(finding.repairable and str(finding) for finding in findings)
    assert filled.repair(findings) == len(findings)
    assert filled.verify() == []


def test_damage_that_cannot_be_repaired_is_reported(filled: Store[Club], raw: Any) -> None:
    add("MYSTERY", "x")(raw)
    add("EMAILISH", "x")(raw)
    remove("USER#ann", "USER")(raw)
    kinds = [finding.kind for finding in filled.verify()]
    assert kinds.count("unknown") == 2
    assert kinds.count("missing-parent") == 2
    assert all(not f.repairable for f in filled.verify() if f.kind in ("unknown", "missing-parent"))


def test_two_items_with_the_same_unique_value(filled: Store[Club], raw: Any) -> None:
    filled.run(create(Alias(alias_id="a", name="A")))
    add("ALIAS#b", "ALIAS", alias_id={"S": "b"}, name={"S": "A"})(raw)
    (finding,) = filled.verify()
    assert finding.kind == "duplicate"
    assert "name='A'" in finding.problem
    assert not finding.repairable


def test_a_value_of_two_items_is_given_to_neither(filled: Store[Club], raw: Any) -> None:
    """Whoever is read first must not take it from the other one."""
    filled.run(create(Alias(alias_id="a", name="A")))
    for alias_id in ("0", "b", "c"):
        add(f"ALIAS#{alias_id}", "ALIAS", alias_id={"S": alias_id}, name={"S": "A"})(raw)
    findings = filled.verify()
    assert [finding.kind for finding in findings] == ["duplicate"] * 3
    assert all("alias_id" not in finding.sets and "PK='ALIAS#" in finding.problem for finding in findings)
    assert filled.repair(findings) == 0
    raw.delete_item(TableName="Club", Key=key("ALIASNAME#A", "ALIASNAME#A"))
    assert filled.repair(filled.verify()) == 0


def test_nothing_is_deleted_because_of_an_unreadable_item(filled: Store[Club], raw: Any) -> None:
    raw.update_item(
        TableName="Club",
        Key=key("ARTICLE#one", "ARTICLE"),
        UpdateExpression="SET #n = :n",
        ExpressionAttributeNames={"#n": "number"},
        ExpressionAttributeValues={":n": {"S": "none"}},
    )
    findings = filled.verify()
    assert "unreadable" in {finding.kind for finding in findings}
    assert "ARTICLE#one" in next(str(finding) for finding in findings if finding.kind == "unreadable")
    assert filled.repair(findings) == 0


def test_a_repair_leaves_changed_items_alone(filled: Store[Club], raw: Any) -> None:
    change("USER#ann", "USER", "SET article_count = :n", n={"N": "7"})(raw)
    findings = filled.verify()
    filled.run(create(Article(slug="two", number=2, title="T", author="ann")))
    assert filled.repair(findings) == 0
    assert filled.repair(filled.verify()) == 1
    assert filled.verify() == []


class Seat(Entity, table=club):
    """Derived from an order, with a counter of its guests."""

    seat: Id
    sitting: Count = 0

    primary = declared_key("SEAT#{seat}", "SEAT")


class Order(Entity, table=club):
    seat: Id

    primary = declared_key("ORDER#{seat}", "ORDER")

    @mirror
    def seat_item(self) -> Seat:
        return Seat(seat=self.seat)


class Guest(Entity, table=club):
    seat: Id
    name: Id

    primary = declared_key("GUEST#{name}", "GUEST")

    @counts("sitting")
    def sits(self) -> Ref[Seat]:
        return ref(Seat, seat=self.seat)


class Evening(Design):
    tables = (club,)
    entities = (Seat, Order, Guest)


def test_a_counter_is_repaired_together_with_its_lost_item() -> None:
    with Engine() as engine:
        store = Store(Evening(), engine)
        store.create_tables()
        for entity in (Order(seat="a"), Guest(seat="a", name="ann"), Guest(seat="a", name="joe")):
            store.run(create(entity))
        remove("SEAT#a", "SEAT")(engine)
        (finding,) = store.verify()
        assert finding.kind == "missing"
        assert store.repair([finding]) == 1
        assert store.verify() == []
        assert store.run(get(Seat, seat="a")) == Seat(seat="a", sitting=2)


def test_a_repaired_guard_works(filled: Store[Club], raw: Any) -> None:
    remove("EMAIL#ann", "EMAIL#ann")(raw)
    filled.repair(filled.verify())
    with pytest.raises(UniqueViolation):
        filled.run(create(User(username="joe", email="ANN")))


def test_leftovers_of_an_expired_item_are_not_damage_after_their_own_expiry() -> None:
    times = Times()
    with Engine(clock=times.seconds) as engine:
        store = Store(Market({"env": "test"}), engine, clock=times)
        store.create_tables()
        table = "Market-test-keyplan"
        store.run(create(Login(login_id="l", expires_at=times.now + timedelta(seconds=5))))
        for token in ("a", "b"):
            store.run(create(Token(login_id="l", token=token, expires_at=times.now + timedelta(seconds=5))))
        # DynamoDB deletes expired items in any order: a login before its tokens, a guard and a token alone.
        for pk, sk in (("LOGIN#l", "LOGIN"), ("TOKEN#a", "TOKEN#a"), ("LOGIN#l", "TOKEN#b")):
            engine.delete_item(TableName=table, Key={"pk": {"S": pk}, "sk": {"S": sk}})
        findings = store.verify()
        assert sorted(finding.kind for finding in findings) == ["missing", "missing-parent", "orphan"]
        assert {finding.table for finding in findings} == {table} == {store.design.table_name(HOUSEKEEPING)}
        times.pass_(10)
        assert store.verify() == []


def test_a_finding_in_a_table_with_an_environment_name_can_be_repaired() -> None:
    times = Times()
    with Engine(clock=times.seconds) as engine:
        store = Store(Market({"env": "test"}), engine, clock=times)
        store.create_tables()
        store.run(create(Login(login_id="l", expires_at=times.now + timedelta(days=1))))
        store.run(create(Token(login_id="l", token="a", expires_at=times.now + timedelta(days=1))))
        engine.delete_item(TableName="Market-test-keyplan", Key={"pk": {"S": "TOKEN#a"}, "sk": {"S": "TOKEN#a"}})
        (finding,) = store.verify()
        assert str(finding).startswith("missing: Market-test-keyplan pk='TOKEN#a'")
        assert store.repair([finding]) == 1
        assert store.verify() == []


plots = Table("Plots", declared_key("PK", "SK"))


class Plot(Entity, table=plots):
    plot_id: Id
    email: str
    planted: int = 0

    primary = declared_key("PLOT#{shard(plot_id, 16)}", "{plot_id}#{email.lower}")


class Garden(Design):
    tables, entities = (plots,), (Plot,)


def test_a_primary_key_that_is_not_what_the_fields_give() -> None:
    with Engine() as engine:
        store = Store(Garden(), engine)
        store.create_tables()
        item = codec_of(Plot).encode(Plot(plot_id="a", email="Ada"))
        assert (item["PK"], item["SK"]) == ({"S": "PLOT#10/16"}, {"S": "a#ada"})
        for pk, sk in (("PLOT#11/16", "a#ada"), ("PLOT#10/16", "a#eve")):
            engine.put_item(TableName="Plots", Item=item | key(pk, sk))
        assert sorted(str(finding) for finding in store.verify()) == [
            f"wrong-key: Plots PK='{pk}', SK='{sk}': Plot: its fields give the key PK='PLOT#10/16', SK='a#ada', so no "
            "read by key finds it; delete it and create a copy in one transaction"
            for pk, sk in (("PLOT#10/16", "a#eve"), ("PLOT#11/16", "a#ada"))
        ]
        for plot in store.each(scan(Plot)):
            plot.planted += 1
            store.run(update(plot))  # where it is
        wrong, other = store.each(scan(Plot))
        assert (wrong.planted, other.planted) == (1, 1)
        store.run(delete(other))
        store.transact(delete(wrong), create(wrong.model_copy()))
        assert store.run(get(Plot, plot_id="a", email="ADA")) == wrong
        assert store.verify() == []
