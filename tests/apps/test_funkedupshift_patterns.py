"""Every access pattern of funkedupshift: its result, its requests, and its cost."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from tests.apps.funkedupshift_data import FIRST_DAY, fill
from tests.apps.support import WAYS, Case, Way, World, run_case, scanning, units, without_case, world


def field(name: str) -> Callable[[Any], object]:
    """A field of an item; None if there is no item."""
    return lambda entity: getattr(entity, name, None)


def numbered(prefix: str, *numbers: int) -> list[str]:
    return [f"{prefix}-{number:03}" for number in numbers]


def day(number: int) -> date:
    return FIRST_DAY + timedelta(days=number)


def rating(entity: Any) -> object:
    return (entity.user_id, entity.site_id, entity.stars) if entity else None


id_, match_id, name = field("id"), field("match_id"), field("name")

CASES = [
    # 1. Site
    Case("site", ("site-007",), "site-007", ["get_item"], id_),
    Case("site", ("nowhere",), None, ["get_item"], id_),
    Case("sites", (), numbered("site", 29, 28, 27), ["query byEntity"], id_, limit=3),
    Case("sites_by_text", ("even of",), numbered("site", 28, 26, 24), ["query byEntity"], id_, limit=3),
    Case("sites_by_tag_and_text", ("c#", "even of"), numbered("site", 28, 26), ["query byEntity"], id_, limit=2),
    Case(
        "sites_by_ids",
        (["site-003", "nowhere", "site-001"],),
        ["site-003", None, "site-001"],
        ["batch_get_item"],
        lambda sites: [id_(site) for site in sites],
    ),
    # 2. Site-tag
    Case("sites_by_tag", ("c#",), numbered("site", 28, 26, 24), ["query byTag", "batch_get_item"], id_, limit=3),
    Case("sites_by_tag", ("c",), [], ["query byTag"], id_, limit=3),
    # 3. User rating
    Case("my_rating", ("user-000", "site-000"), ("user-000", "site-000", 5), ["get_item"], rating),
    Case("my_rating", ("user-009", "site-001"), None, ["get_item"], rating),
    # There is a comment between two ratings, so another read fills the page.
    Case("my_ratings", ("user-000",), numbered("site", 0, 1), ["query", "query"], field("site_id"), limit=2),
    # Ratings of one site with as many stars have one key in the index, and no order.
    Case("ratings_by_stars", (5,), ["site-000"] * 4 + ["site-001"], ["query byStars"], field("site_id"), limit=5),
    Case("ratings_of_site", ("site-000",), [5, 5, 5, 5, 4, 3], ["query byStars"] * 5, field("stars"), limit=6),
    Case("rating_count", ("site-000", 5), 4, ["query byStars"]),
    Case("rating_count", ("site-000", 2), 2, ["query byStars"]),
    # 4. Comment
    Case("comments_for_site", ("site-000",), numbered("comment", 9, 8, 7), ["query"], field("comment_id"), limit=3),
    Case("comment", ("site-000", "comment-001"), "user-001", ["get_item"], field("user_id")),
    Case("my_comments", ("user-000", "site-001"), ["comment-001-0", "comment-001-1"], ["query"], field("comment_id")),
    # 5. Custom RBAC group
    Case("groups", (), ["Squash", "group-000"], ["query byEntity"], name, limit=2),
    Case("group", ("Squash",), ["squash:read"], ["get_item"], field("permissions")),
    Case("group", ("squash",), None, ["get_item"]),
    Case(
        "groups_by_names",
        (["Squash", "nothing", "group-001"],),
        ["Squash", None, "group-001"],
        ["batch_get_item"],
        lambda groups: [name(group) for group in groups],
    ),
    # 6. User membership in custom group
    Case("memberships", ("user-000",), ["Squash", "group-000"], ["query"], field("group_name"), limit=2),
    Case(
        "memberships_but", ("user-000", "Squash"), ["group-000", "group-001"], ["query"], field("group_name"), limit=2
    ),
    Case("group_members", ("Squash",), numbered("user", 0, 1), ["query byGroup"], field("user_id"), limit=2),
    Case("membership", ("user-001", "Squash"), "root", ["get_item"], field("added_by")),
    Case("membership", ("user-001", "group-000"), None, ["get_item"]),
    # 7. User profile
    Case("profile", ("user-001",), "Ann", ["get_item"], field("display_name")),
    Case(
        "profiles",
        (["user-001", "nobody"],),
        ["Ann", None],
        ["batch_get_item"],
        lambda profiles: [field("display_name")(profile) for profile in profiles],
    ),
    Case("leftover_files", (), [], ["query"]),
    # 8. Squash player
    Case("players", (), numbered("player", 0, 1), ["query byEntity"], id_, limit=2),
    Case("player", ("player-001",), "user-001", ["get_item"], field("user_id")),
    Case("player", ("player-000",), None, ["get_item"], field("user_id")),
    Case(
        "players_by_ids",
        (["player-003", "nobody", "player-001"],),
        ["player-003", None, "player-001"],
        ["batch_get_item"],
        lambda players: [id_(player) for player in players],
    ),
    # 9. Squash match
    Case("match", ("match-003",), day(1), ["get_item"], field("date")),
    # The index holds four participations for each match.
    Case("matches_by_date", (day(3),), numbered("match", 6, 7), ["query bySquashDate"], match_id),
    Case(
        "matches_by_date_range", (day(1), day(2)), numbered("match", 2, 3, 4, 5), ["query byEntity"], match_id, limit=50
    ),
    Case("matches", (), numbered("match", 29, 28), ["query byEntity"], match_id, limit=2),
    # 10. Squash match participation
    Case("participations", ("player-003",), numbered("match", 0, 1, 2, 3, 10), ["query"], match_id, limit=5),
    Case(
        "matches_by_ids",
        (["match-003", "no match", "match-001"],),
        ["match-003", None, "match-001"],
        ["batch_get_item"],
        lambda matches: [match_id(match) for match in matches],
    ),
]


@pytest.fixture(scope="module")
def catalog() -> Iterator[World[FunkedUpShiftDesign]]:
    with world(FunkedUpShiftDesign(), fill) as made:
        yield made


@pytest.fixture(scope="module")
def larger_catalog() -> Iterator[World[FunkedUpShiftDesign]]:
    with world(FunkedUpShiftDesign(), lambda store: fill(store, scale=2)) as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_pattern(catalog: World[FunkedUpShiftDesign], way: Way, case: Case) -> None:
    run_case(catalog, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cost_does_not_grow(
    catalog: World[FunkedUpShiftDesign], larger_catalog: World[FunkedUpShiftDesign], way: Way, case: Case
) -> None:
    assert 0 < units(catalog, way, case) == units(larger_catalog, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pattern", "arguments", "limit", "expected"),
    [
        ("site", ("site-007",), None, 0.5),
        # Three sites of 1.2 KB.
        ("sites", (), 3, 0.5),
        # One query, and three sites by their keys.
        ("sites_by_tag", ("web",), 3, 2.0),
        # A filter is applied to what was read, and paid for: six sites.
        ("sites_by_text", ("even of",), 3, 1.0),
        ("ratings_of_site", ("site-000",), 6, 2.5),
        # Decisions are made on strong reads.
        ("membership", ("user-001", "Squash"), None, 1.0),
        ("memberships", ("user-000",), 2, 1.0),
        ("matches_by_date", (day(3),), None, 0.5),
    ],
)
def test_cost(
    catalog: World[FunkedUpShiftDesign],
    way: Way,
    pattern: str,
    arguments: tuple[object, ...],
    limit: int | None,
    expected: float,
) -> None:
    assert units(catalog, way, Case(pattern, arguments, None, [], limit=limit)) == expected


def test_every_pattern_is_tried() -> None:
    assert without_case(FunkedUpShiftDesign, CASES) == []


def test_nothing_scans() -> None:
    assert scanning(CASES) == set()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pattern", "arguments", "total"),
    [
        ("sites", (), 30),
        ("sites_by_text", ("odd of",), 15),
        ("sites_by_tag", ("c#",), 15),
        ("my_ratings", ("user-000",), 30),
        ("ratings_by_stars", (5,), 33),
        ("ratings_of_site", ("site-000",), 10),
        ("comments_for_site", ("site-000",), 10),
        ("matches_by_date", (day(3),), 2),
        ("matches_by_date_range", (day(0), day(9)), 20),
        ("participations", ("player-003",), 12),
    ],
)
def test_pages_go_on_where_they_stopped(
    catalog: World[FunkedUpShiftDesign], way: Way, pattern: str, arguments: tuple[object, ...], total: int
) -> None:
    store = catalog.stores[way]
    whole = Case(pattern, arguments, None, [], limit=100).op(store.design)
    op: Any = Case(pattern, arguments, None, [], limit=4).op(store.design)
    found, page = [], store.run(op)
    while True:
        assert len(page.items) == 4 or page.next is None
        found += page.items
        if page.next is None:
            break
        page = store.run(op.after(page.next))
    assert len(found) == total
    assert found == store.run(whole).items


def test_the_table_is_named_by_the_environment() -> None:
    (table,) = FunkedUpShiftDesign.tables
    assert FunkedUpShiftDesign().table_name(table) == "fus-main"
    assert FunkedUpShiftDesign({"dynamo_table_name": "fus-test"}).table_name(table) == "fus-test"
