"""Scores of games, with the best of each game first (Developer Guide: "Using Global Secondary Indexes", GameScores)."""

from datetime import datetime

from keyplan.design import Design, Entity, Get, Id, ListOp, Query, Table, get, include, index, key, pattern, query

scores = Table(
    "GameScores",
    key("UserId", "GameTitle"),
    indexes={"GameTitleIndex": index(key("GameTitle", "TopScore:N"), include("Wins"))},
    case="pascal",
)


class Score(Entity, table=scores):
    user_id: Id
    game_title: Id
    top_score: int
    top_score_date_time: datetime
    wins: int
    losses: int

    primary = key("{user_id}", "{game_title}")
    ranking = scores.GameTitleIndex("{game_title}", "{top_score}")


class GameScores(Design):
    tables = (scores,)
    entities = (Score,)

    @pattern("Score of a user in a game")
    def score(self, user_id: str, game_title: str) -> Get[Score]:
        return get(Score, user_id=user_id, game_title=game_title)

    @pattern("Games of a user")
    def games(self, user_id: str) -> Query[Score]:
        return query(Score.primary, user_id=user_id)

    @pattern("Best scores in a game")
    def best(self, game_title: str) -> ListOp[tuple[str, int, int]]:
        best = query(Score.ranking, game_title=game_title, newest_first=True).limit(10)
        return best.only(lambda score: (score.user_id, score.top_score, score.wins))
