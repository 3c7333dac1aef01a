"""A catalog with data: sites with ratings, tags and comments, groups with members, and two squash matches a day."""

from datetime import date, timedelta

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import (
    Comment,
    Group,
    Membership,
    Profile,
    Rating,
    Site,
    SquashMatch,
    SquashPlayer,
)
from keyplan.data import Store, create

FIRST_DAY = date(2025, 1, 1)
SITES = MATCHES = 30
"""In a catalog of scale 1."""
RATERS = 10
"""Users who rated and commented the site site-000, at any scale."""


def site(id: str, **fields: object) -> Site:
    """A site with a page of content."""
    url = f"https://{id}.example.org"
    return Site.model_validate({"id": id, "url": url, "title": id.title(), "scraped_content": "x" * 1000, **fields})


def match(match_id: str, players: list[str], **fields: object) -> SquashMatch:
    """A match that team A won."""
    names = ["team_a_player1_id", "team_a_player2_id", "team_b_player1_id", "team_b_player2_id"]
    result = {"winning_team": "A", "team_a_games": 3, "team_b_games": 1, "date": FIRST_DAY}
    return SquashMatch.model_validate(
        {"match_id": match_id, **dict(zip(names, players, strict=True)), **result, **fields}
    )


def fill(store: Store[FunkedUpShiftDesign], scale: int = 1) -> None:
    """All kinds of items; twice as many with a scale of 2."""
    _sites(store, scale)
    _people(store, scale)
    _squash(store, scale)


def _sites(store: Store[FunkedUpShiftDesign], scale: int) -> None:
    for number in range(SITES * scale):
        tags = ["web", "C#"] if number % 2 == 0 else ["web"]
        word = "Even" if number % 2 == 0 else "Odd"
        store.run(create(site(f"site-{number:03}", tags=tags, description=f"{word} of them")))
    for number in range(RATERS):
        user = f"user-{number:03}"
        stars = 5 if number < 4 else 1 + number % 4
        store.run(create(Rating.model_validate({"user_id": user, "site_id": "site-000", "stars": stars})))
        store.run(create(_comment("site-000", f"comment-{number:03}", user)))
    for number in range(1, SITES * scale):
        # Between two ratings of user-000 there are two comments.
        rated = f"site-{number:03}"
        store.run(create(Rating(user_id="user-000", site_id=rated, stars=5, note="so good")))
        for copy in range(2):
            store.run(create(_comment(rated, f"comment-{number:03}-{copy}", "user-000")))


def _comment(site_id: str, comment_id: str, user_id: str) -> Comment:
    return Comment(site_id=site_id, comment_id=comment_id, user_id=user_id, display_name="Ann", body="Well, well.")


def _people(store: Store[FunkedUpShiftDesign], scale: int) -> None:
    store.run(create(Group(name="Squash", permissions=["squash:read"])))
    for number in range(5 * scale):
        store.run(create(Group(name=f"group-{number:03}")))
        store.run(create(Membership(user_id="user-000", group_name=f"group-{number:03}", added_by="root")))
        store.run(create(Membership(user_id=f"user-{number:03}", group_name="Squash", added_by="root")))
        store.run(create(Profile(user_id=f"user-{number:03}", display_name="Ann")))


def _squash(store: Store[FunkedUpShiftDesign], scale: int) -> None:
    for number in range(10 * scale):
        linked = f"user-{number:03}" if number % 2 else None
        store.run(create(SquashPlayer(id=f"player-{number:03}", name=f"Player {number}", user_id=linked)))
    for number in range(MATCHES * scale):
        players = [f"player-{(number + each) % 10:03}" for each in range(4)]
        day = FIRST_DAY + timedelta(days=number // 2)
        store.run(create(match(f"match-{number:03}", players, date=day)))
