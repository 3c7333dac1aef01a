"""Known mistakes of DynamoDB libraries in declarations."""

from decimal import Decimal

import pytest

from keyplan.data.codec.entities import codec_of
from keyplan.design import Entity, Id, InvalidValue, Table, key, local
from tests.design.support import refused, template

table = Table(
    "Things",
    key("PK", "SK"),
    indexes={"GSI1": key("GSI1PK", "GSI1SK"), "ByTeam": key("team", "name"), "LSI1": local("LSI1SK")},
)


class Player(Entity, table=table):
    id: Id
    name: str
    team: str | None = None
    number: int | None = None
    ranked: bool = False

    primary = key("PLAYER#{id}", "PLAYER")
    by_number = table.GSI1("TEAM#{team}", "{number:02}#{id}")
    by_team = table.ByTeam("{team}", "{name}")
    ranking = table.LSI1("PLAYER#{id}", "{name}", when="ranked")


def test_a_separator_in_a_value_never_makes_two_keys_equal() -> None:
    made = template("{first}#{second}", first=str, second=str)
    assert made.write({"first": "a", "second": "b#c"}) == "a#b#c"
    with refused("ambiguous-key", "first"):
        made.write({"first": "a#b", "second": "c"})


def test_ids_that_differ_in_case_are_two_ids() -> None:
    made = template("USER#{id}", id=Id)
    assert {made.write({"id": "Ab"}), made.write({"id": "aB"})} == {"USER#Ab", "USER#aB"}


def test_a_negative_number_is_not_padded_in_front_of_its_sign() -> None:
    unsigned, signed = template("{n:05}", n=int), template("{n:+05}", n=int)
    with refused("number-out-of-width", "n"):
        unsigned.write({"n": -5})
    texts = [signed.write({"n": number}) for number in (-10, -9, -5, -1, 0, 1, 9, 10)]
    assert texts == sorted(map(str, texts))
    assert signed.read(str(signed.write({"n": -5}))) == {"n": -5}
    decimal = template("{n:+2.1}", n=Decimal)
    amounts = [decimal.write({"n": Decimal(amount)}) for amount in ("-10.5", "-9.5", "-0.1", "0", "9.5", "10.5")]
    assert amounts == sorted(map(str, amounts))


def test_ten_sorts_after_nine() -> None:
    made = template("ROUND#{n:02}", n=int)
    assert str(made.write({"n": 9})) < str(made.write({"n": 10}))


def test_an_item_without_the_index_attribute_is_not_in_the_index() -> None:
    item = codec_of(Player).encode(Player(id="1", name="A"))
    assert not {"GSI1PK", "GSI1SK", "team"} & item.keys()
    item = codec_of(Player).encode(Player(id="1", name="A", team="x"))
    assert not {"GSI1PK", "GSI1SK"} & item.keys()
    item = codec_of(Player).encode(Player(id="1", name="A", team="x", number=7))
    assert (item["GSI1PK"], item["GSI1SK"]) == ({"S": "TEAM#x"}, {"S": "07#1"})


def test_a_field_that_is_an_index_key_is_kept_when_the_item_is_not_in_the_index() -> None:
    """`name` is the sort key of ByTeam, but a player without a team has a name too."""
    player = Player(id="1", name="A")
    item = codec_of(Player).encode(player)
    assert item["name"] == {"S": "A"}
    assert codec_of(Player).decode(item) == player


def test_an_item_is_in_an_index_only_while_its_condition_holds() -> None:
    assert "LSI1SK" not in codec_of(Player).encode(Player(id="1", name="A"))
    assert codec_of(Player).encode(Player(id="1", name="A", ranked=True))["LSI1SK"] == {"S": "A"}


@pytest.mark.parametrize("team", ["", "t" * 2049])
def test_an_index_key_that_dynamodb_rejects_is_refused_with_its_name(team: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        codec_of(Player).encode(Player(id="1", name="A", team=team, number=7))
    assert caught.value.field == "team"


def test_the_hash_key_may_have_any_name() -> None:
    """The condition of a create uses the key attribute of the table, whatever its name."""
    assert [part.attribute.name for part in Player.spec.primary.parts] == ["PK", "SK"]
    plain = Table("Plain", key("samsClubId"))

    class Club(Entity, table=plain):
        sams_club_id: Id
        primary = key("{sams_club_id}")

    assert codec_of(Club).key({"sams_club_id": "1"}) == {"samsClubId": {"S": "1"}}
