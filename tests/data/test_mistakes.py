"""Known mistakes of DynamoDB libraries, tried on a store."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from keyplan.data import Store, create, patch, update
from keyplan.design import Design, Entity, Id, InvalidValue, Table, count, get, key, query, ref, unique
from keyplan.engine import Engine
from tests.data.support import Recorder

scores = Table("Scores", key("id"), indexes={"ByTeam": key("teamKey", "scoreKey"), "ByPlace": key("placeKey")})
sides = Table("Sides", key("h", "r"))


class Score(Entity, table=scores):
    score_id: Id
    team: str | None = None
    points: int = 0
    extra: Decimal = Decimal(0)
    place: str | None = None
    room: str = "-"
    seen: bool = False

    primary = key("{score_id}")
    by_team = scores.ByTeam("{team}", "{points:+04}#{extra:+2.1}#{score_id}")
    by_place = scores.ByPlace("{place}#{room}")
    pair = unique("{place}", "{room}", table=sides)


class Game(Design):
    tables = (scores, sides)
    entities = (Score,)


@pytest.fixture
def game() -> Iterator[Store[Game]]:
    with Engine() as engine:
        store = Store(Game(), Recorder(engine))
        store.create_tables()
        yield store


def order(store: Store[Game]) -> list[int]:
    return [score.points for score in store.run(query(Score.by_team, team="t")).items]


def test_different_pairs_of_values_never_make_the_same_key(game: Store[Game]) -> None:
    game.run(create(Score(score_id="1", place="a", room="b#c")))
    with pytest.raises(InvalidValue) as caught:
        game.run(create(Score(score_id="2", place="a#b", room="c")))
    assert caught.value.field == "place"
    assert [score.score_id for score in game.run(query(Score.by_place, place="a", room="b#c")).items] == ["1"]
    game.run(create(Score(score_id="3", team="c#", place="c", room="#")))  # a separator that makes nothing ambiguous
    assert [score.score_id for score in game.run(query(Score.by_team, team="c#")).items] == ["3"]


def test_ids_that_differ_in_case_are_two_items(game: Store[Game]) -> None:
    for name in ("Ab", "aB"):
        game.run(create(Score(score_id=name, place=name)))
    assert {name for name in ("Ab", "aB") if game.run(get(Score, score_id=name))} == {"Ab", "aB"}


def test_numbers_are_returned_in_numeric_order(game: Store[Game]) -> None:
    for points in (10, 9, -5, 0, -10, 100, -4):
        game.run(create(Score(score_id=f"p{points}", team="t", points=points)))
    assert order(game) == [-10, -5, -4, 0, 9, 10, 100]
    (found,) = game.run(query(Score.by_team, team="t", points=-5)).items
    assert found.points == -5


def test_an_item_without_the_index_value_is_not_in_the_index_and_raises_nothing(game: Store[Game]) -> None:
    for n in range(3):
        game.run(create(Score(score_id=str(n))))
    client: Recorder = game.client  # type: ignore[assignment]
    assert client.__getattr__("scan")(TableName="Scores", IndexName="ByTeam")["Count"] == 0
    game.run(create(Score(score_id="in", team="t")))
    assert client.__getattr__("scan")(TableName="Scores", IndexName="ByTeam")["Count"] == 1


def test_a_partial_change_leaves_no_stale_index_key(game: Store[Game]) -> None:
    score = game.run(create(Score(score_id="1", team="t", points=1)))
    game.run(patch(ref(Score, score_id="1"), points=7))
    assert order(game) == [7]
    score = game.run(get(Score, score_id="1")) or score
    score.extra = Decimal("2.5")
    game.run(update(score))
    game.run(patch(ref(Score, score_id="1"), team=None))
    assert order(game) == []
    assert game.verify() == []


def test_a_count_stops_reading_at_its_limit(game: Store[Game]) -> None:
    for n in range(6):
        game.run(create(Score(score_id=str(n), team="t", points=n)))
    client: Recorder = game.client  # type: ignore[assignment]
    client.taken()
    assert game.run(count(query(Score.by_team, team="t").limit(2))) == 2
    ((_, request),) = client.taken()
    assert request["Limit"] == 2


def test_a_filter_does_not_cut_a_page_short(game: Store[Game]) -> None:
    for n in range(60):
        game.run(create(Score(score_id=f"{n:02}", team="t", points=n, seen=n % 20 == 19)))
    page = game.run(query(Score.by_team, team="t", filter=lambda s: s.seen).limit(2))
    assert [score.points for score in page.items] == [19, 39]
    rest = game.run(query(Score.by_team, team="t", filter=lambda s: s.seen).limit(2).after(page.next))
    assert [score.points for score in rest.items] == [59]
