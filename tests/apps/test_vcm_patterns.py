"""Every access pattern of the club: its result, its requests, and its cost."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from keyplan.apps.vcm.design import VcmDesign
from keyplan.data import Store
from keyplan.design import Entity, Page
from keyplan.design.operations.queries import Merge, Query
from tests.apps.support import WAYS, Case, Way, World, run_case, scanning, units, without_case, world
from tests.apps.vcm_data import NOW, fill

E = TypeVar("E", bound=Entity)


class InAnyOrder(list[str]):
    """A scan has no order."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and sorted(self) == sorted(other)


def ids(entity: Entity | None) -> object:
    """The key of an item, or of the one that was found."""
    return None if entity is None else next(iter(entity.key_values.values()))


def each_id(entities: list[Entity | None]) -> object:
    return [ids(entity) for entity in entities]


def field(name: str) -> Callable[[Any], object]:
    return lambda entity: getattr(entity, name)


def numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}-{number:03}" for number in range(count)]


CASES = [
    # 1. News
    Case("news", ("news-003",), "news-003", ["get_item"], ids),
    Case("news", ("nobody",), None, ["get_item"], ids),
    Case("news_by_slug", ("slug-of-news-003",), ["news-003"], ["query GSI-Slug"], ids),
    Case("news_by_slug", ("no-such-slug",), [], ["query GSI-Slug"], ids),
    Case("published_news", (NOW,), numbered("news", 5), ["query GSI-PublishedDate"], ids, limit=5),
    Case("published_news", (NOW + timedelta(days=1),), ["ahead"], ["query GSI-PublishedDate"], ids, limit=1),
    Case("news_by_status", ("published",), ["ahead", "news-000"], ["query GSI-PublishedDate"], ids, limit=2),
    Case("news_by_status", ("draft",), numbered("draft", 5), ["query GSI-PublishedDate"], ids, limit=5),
    Case(
        "all_news",
        (),
        ["ahead", "news-000", "draft-000", "news-001", "draft-001"],
        ["query GSI-PublishedDate", "query GSI-PublishedDate"],
        ids,
        limit=5,
    ),
    # 2. Events
    Case("event", ("camp",), "camp", ["get_item"], ids),
    Case("event_by_slug", ("slug-of-camp",), "camp", ["get_item", "get_item"], ids),
    Case("event_by_slug", ("slug-of-news-003",), None, ["get_item"], ids),
    Case(
        "upcoming_events",
        (NOW,),
        ["camp", "cup", "kick-off", "coming-000", "coming-001"],
        ["query GSI-StartDate", "query GSI-StartDate"],
        ids,
        limit=5,
    ),
    Case("past_events", (NOW,), ["match", "party", *numbered("past", 3)], ["query GSI-StartDate"], ids, limit=5),
    Case(
        "all_events",
        (),
        ["coming-029", "draft-029", "coming-028"],
        ["query GSI-StartDate", "query GSI-StartDate"],
        ids,
        limit=3,
    ),
    # 3. Teams
    Case("team", ("team",), "team", ["get_item"], ids),
    Case("team_by_slug", ("slug-of-team",), ["team"], ["query GSI-Slug"], ids),
    Case("published_teams", (), ["team", *numbered("team", 4)], ["query GSI-Status"], ids, limit=5),
    Case("teams_by_sams_id", ("sams-1",), ["team"], ["query GSI-SamsTeam"], ids),
    Case("published_teams_by_sams_id", ("sams-1",), ["team"], ["query GSI-SamsTeam"], ids),
    Case("teams_by_sams_id", ("sams-of-a-draft",), ["hidden"], ["query GSI-SamsTeam"], ids),
    Case("published_teams_by_sams_id", ("sams-of-a-draft",), [], ["query GSI-SamsTeam"], ids),
    Case("instagram_handle", ("team",), "vcm.damen1", ["get_item"], field("instagram")),
    Case("all_teams", (), ["team", *numbered("draft", 2)], ["query GSI-Status", "query GSI-Status"], ids, limit=3),
    # 4. Members
    Case("member", ("member-003",), "member-003", ["get_item"], ids),
    Case("all_members", (), InAnyOrder(numbered("member", 7)), ["scan"], ids),
    Case(
        "members",
        (["member-001", "nobody", "member-000", "member-001"],),
        ["member-001", None, "member-000", "member-001"],
        ["batch_get_item"],
        each_id,
    ),
    # 5. Media
    Case("media", ("logo",), "logo", ["get_item"], ids),
    Case(
        "all_media",
        (),
        InAnyOrder(["avatar", *numbered("image", 20)[5:], "image-0", "image-1", "image-2", "logo"]),
        ["scan"],
        ids,
    ),
    Case("media_by_ids", (["image-1", "image-0"],), ["image-1", "image-0"], ["batch_get_item"], each_id),
    Case(
        "media_references",
        ("image-0",),
        ["events#camp", "news#news-000", "news#news-001"],
        ["query"],
        lambda each: f"{each.content}#{each.content_id}",
    ),
    # 6. Sponsors
    Case("sponsor", ("for ever",), "for ever", ["get_item"], ids),
    Case(
        "current_sponsors",
        (),
        InAnyOrder([*(f"current-{number}" for number in range(15)), "for ever"]),
        ["scan"],
        ids,
    ),
    # 8. and 9. SAMS
    Case("sams_club", ("club-1",), "club-1", ["get_item"], ids),
    Case("all_sams_clubs", (), InAnyOrder([f"club-{number}" for number in range(7)]), ["scan"], ids),
    Case("sams_team", ("sams-1",), "sams-1", ["get_item"], ids),
    Case("all_sams_teams", (), InAnyOrder([f"sams-{number}" for number in range(7)]), ["scan"], ids),
    # 10. Roles
    Case("role", ("role-003",), "role-003", ["get_item"], ids),
    Case("all_roles", (), InAnyOrder(numbered("role", 7)), ["scan"], ids),
    # Ours
    Case("location", ("hall-0",), "hall-0", ["get_item"], ids),
    Case("all_locations", (), InAnyOrder([f"hall-{number}" for number in range(7)]), ["scan"], ids),
    Case("locations", (["hall-1", "hall-0"],), ["hall-1", "hall-0"], ["batch_get_item"], each_id),
    Case("imports", ("export",), [("media", 20), ("news", 7)], ["query"], lambda each: (each.collection, each.done)),
]

SCANS = {"all_members", "all_media", "current_sponsors", "all_roles"}
"""Where the document says Scan."""
OUR_SCANS = {"all_sams_clubs", "all_sams_teams", "all_locations"}
"""Where the document has no access pattern; recorded as a departure."""

PAGE = 5


@pytest.fixture(scope="module")
def club() -> Iterator[World[VcmDesign]]:
    with world(VcmDesign(), fill) as made:
        yield made


@pytest.fixture(scope="module")
def larger_club() -> Iterator[World[VcmDesign]]:
    with world(VcmDesign(), lambda store: fill(store, 2)) as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_pattern(club: World[VcmDesign], way: Way, case: Case) -> None:
    run_case(club, way, case)


def a_page(case: Case) -> Case:
    return replace(case, limit=PAGE) if case.limit or case.sends == ["scan"] else case


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cost_does_not_grow(club: World[VcmDesign], larger_club: World[VcmDesign], way: Way, case: Case) -> None:
    smaller, larger = units(club, way, a_page(case)), units(larger_club, way, a_page(case))
    if case.pattern == "current_sponsors":
        # A scan has no order, so the number of expired ones before the first current one is random.
        assert 0 < max(smaller, larger) <= 2.0
    else:
        assert 0 < smaller == larger


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("news", 0.5),
        ("news_by_slug", 0.5),
        ("event_by_slug", 1.0),
        ("published_news", 0.5),
        # Two queries: what began within 31 days, and what is to come.
        ("upcoming_events", 1.0),
        # Half a unit for each item, also for one that doesn't exist; an item that is requested twice is read once.
        ("members", 1.5),
        # Consistent, because it decides whether a media item is deleted.
        ("media_references", 1.0),
    ],
)
def test_cost(club: World[VcmDesign], way: Way, pattern: str, expected: float) -> None:
    assert units(club, way, next(case for case in CASES if case.pattern == pattern)) == expected


def test_every_pattern_is_tried() -> None:
    assert without_case(VcmDesign, CASES) == []


def test_nothing_scans_but_where_the_document_says_so() -> None:
    assert scanning(CASES) == SCANS | OUR_SCANS


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_every_published_event_is_upcoming_or_past(club: World[VcmDesign], way: Way, size: int) -> None:
    store, design = club.stores[way], club.stores[way].design
    upcoming = all_pages(store, design.upcoming_events(NOW).limit(size))
    past = all_pages(store, design.past_events(NOW).limit(size))
    assert upcoming == ["camp", "cup", "kick-off", *numbered("coming", 30)]
    assert past == ["match", "party", *numbered("past", 30)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_the_pages_of_all_news_are_one_list(club: World[VcmDesign], way: Way, size: int) -> None:
    store = club.stores[way]
    found = all_pages(store, store.design.all_news().limit(size))
    expected = [id for pair in zip(numbered("news", 15), numbered("draft", 15), strict=True) for id in pair]
    assert found == ["ahead", *expected]


@pytest.mark.parametrize("way", WAYS)
def test_the_pages_of_a_list_are_of_one_moment(club: World[VcmDesign], way: Way) -> None:
    store, design = club.stores[way], club.stores[way].design
    first = store.run(design.published_news(NOW).limit(2))
    second = store.run(design.published_news(NOW + timedelta(days=30)).limit(2).after(first.next))
    assert [each.id for each in second.items] == ["news-002", "news-003"]


def test_the_pages_of_a_merged_list_are_of_one_moment(club: World[VcmDesign]) -> None:
    store, design = club.stores["in-process"], club.stores["in-process"].design
    first = store.run(design.upcoming_events(NOW).limit(4))
    second = store.run(design.upcoming_events(NOW + timedelta(days=10)).limit(2).after(first.next))
    assert [each.id for each in second.items] == ["coming-001", "coming-002"]


def test_all_that_belongs_together_is_there(club: World[VcmDesign]) -> None:
    assert club.stores["in-process"].verify() == []


def all_pages(store: Store[VcmDesign], op: Merge[E] | Query[E]) -> list[object]:
    """The ids of all pages of a list."""
    found: list[object] = []
    while True:
        page: Page[E] = store.run(op)
        found += map(ids, page.items)
        if page.next is None:
            return found
        op = op.after(page.next)
