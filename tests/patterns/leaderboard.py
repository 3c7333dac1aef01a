# pyright: strict
"""# Leaderboard

The best players of a game, a player's own rank, and points that are added without reading first.

Use it for scores, bestsellers, trending lists, queues by priority.

**Not for** the exact rank of everybody among millions: counting those above a player reads all of them. Show the rank
of the first thousand, and "top 10 %" from a sample for the rest. If one game has more than 1000 changes of scores a
second, [shard](write_sharding.md) the index.
"""

from keyplan.data import Store, at, upsert
from keyplan.design import (
    Design,
    Entity,
    Get,
    Id,
    ItemCount,
    Query,
    Table,
    count,
    get,
    key,
    more_than,
    pattern,
    query,
    ref,
)

games = Table("Games", key("PK", "SK"), indexes={"ByPoints": key("board", "points:N")})


class Player(Entity, table=games):
    game_id: Id
    player_id: Id
    points: int = 0

    primary = key("GAME#{game_id}", "PLAYER#{player_id}")
    by_points = games.ByPoints("GAME#{game_id}", "{points}")


class Games(Design):
    tables = (games,)
    entities = (Player,)

    @pattern("Get player")
    def player(self, game_id: str, player_id: str) -> Get[Player]:
        return get(Player, game_id=game_id, player_id=player_id)

    @pattern("List the best players of a game")
    def best(self, game_id: str) -> Query[Player]:
        return query(Player.by_points, game_id=game_id, newest_first=True)

    @pattern("Count the players with more points")
    def above(self, game_id: str, points: int) -> ItemCount:
        return count(query(Player.by_points, game_id=game_id, points=more_than(points)))


def score(store: Store[Games], game_id: str, player_id: str, points: int) -> Player:
    """The player with the points added, also if it is the first time that he plays."""
    player = ref(Player, game_id=game_id, player_id=player_id)
    return store.run(upsert(player, lambda player: at(player.points).add(points), returning="new"))


def use(store: Store[Games]) -> None:
    """The sort key of the index is the number itself (`points:N`), so the index follows when points are added. `upsert`
    creates a player who isn't there yet; all of it is one request."""
    for name, points in (("ann", 30), ("joe", 50), ("sue", 20)):
        score(store, "go", name, points)
    ann = score(store, "go", "ann", 15)
    assert ann.points == 45

    best = store.run(store.design.best("go").limit(2)).items
    assert [(player.player_id, player.points) for player in best] == [("joe", 50), ("ann", 45)]
    assert 1 + store.run(store.design.above("go", ann.points)) == 2
