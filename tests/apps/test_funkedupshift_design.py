"""What is stored for the items of funkedupshift, and what changes together with them."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import Comment, Group, Membership, Profile, Rating, SquashPlayer
from keyplan.data import InUse, NotFound, ParentMissing, Store, create, delete, touch, update
from keyplan.design import InvalidValue, ref
from keyplan.engine import Engine
from tests.apps.funkedupshift_data import match, site

NOW = datetime(2025, 10, 25, 12, 0, tzinfo=UTC)
STAMP = {"S": "2025-10-25T12:00:00.000Z"}


@pytest.fixture
def store() -> Iterator[Store[FunkedUpShiftDesign]]:
    with Engine() as engine:
        made = Store(FunkedUpShiftDesign(), engine, clock=lambda: NOW, secret=b"cursors of tests")
        made.create_tables()
        yield made


def items(store: Store[FunkedUpShiftDesign]) -> dict[tuple[str, str], dict[str, Any]]:
    """All that is stored, by key."""
    client: Any = store.client
    found = client.scan(TableName="fus-main")["Items"]
    return {(item["PK"]["S"], item["SK"]["S"]): item for item in found}


def test_a_site_is_stored_as_the_document_has_it(store: Store[FunkedUpShiftDesign]) -> None:
    store.run(create(site("1", title="One", scraped_content=None, tags=["C#", " Web "])))
    assert items(store) == {
        ("SITE#1", "METADATA"): {
            "PK": {"S": "SITE#1"},
            "SK": {"S": "METADATA"},
            "url": {"S": "https://1.example.org"},
            "title": {"S": "One"},
            "tags": {"L": [{"S": "c#"}, {"S": "web"}]},
            "searchText": {"S": "one\nhttps://1.example.org\n"},
            "ratingCount": {"N": "0"},
            "ratingSum": {"N": "0"},
            "createdAt": STAMP,
            "updatedAt": STAMP,
            "version": {"N": "1"},
            "entityType": {"S": "SITE"},
            "entitySk": {"S": "SITE#1"},
        },
        ("SITE#1", "TAG#c#"): _tag("c#"),
        ("SITE#1", "TAG#web"): _tag("web"),
    }


def _tag(tag: str) -> dict[str, Any]:
    return {"PK": {"S": "SITE#1"}, "SK": {"S": f"TAG#{tag}"}, "tag": {"S": tag}, "siteId": {"S": "SITE#1"}}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "mailto:ada@example.org"),
        ("url", f"https://example.org/{'x' * 2030}"),
        ("title", ""),
        ("title", "x" * 301),
        ("description", "x" * 5001),
        ("scraped_content", "ä" * 51_201),
        ("tags", ["x" * 51]),
        ("tags", [str(number) for number in range(21)]),
    ],
)
def test_a_site_over_its_limits_is_not_written(store: Store[FunkedUpShiftDesign], field: str, value: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        store.run(create(site("1", **{field: value})))
    assert refused.value.field == field
    assert items(store) == {}


def test_a_title_is_short_or_the_url(store: Store[FunkedUpShiftDesign]) -> None:
    url = f"https://example.org/{'X' * 2000}"
    store.run(create(site("1", url=url, title=url, description="Ä" * 5000, scraped_content=None)))
    stored = items(store)["SITE#1", "METADATA"]
    assert stored["title"] == {"S": url}
    assert stored["searchText"] == {"S": "\n".join((url.lower(), url.lower(), "ä" * 5000))}


def test_tag_items_follow_the_tags(store: Store[FunkedUpShiftDesign]) -> None:
    made = store.run(create(site("1", tags=["c#", "web"])))
    made.tags = ["web", "python"]
    made.title = "Other"
    store.run(update(made))
    assert [key[1] for key in sorted(items(store))] == ["METADATA", "TAG#python", "TAG#web"]
    assert [each.id for each in store.run(store.design.sites_by_text("other")).items] == ["1"]
    store.run(delete(made))
    assert items(store) == {}


def test_a_site_keeps_count_and_sum_of_its_ratings(store: Store[FunkedUpShiftDesign]) -> None:
    store.run(create(site("1")))

    def summary() -> tuple[int, int]:
        found = store.run(store.design.site("1"))
        assert found is not None
        return found.rating_count, found.rating_sum

    first = store.run(create(Rating(user_id="ann", site_id="1", stars=5)))
    store.run(create(Rating(user_id="ben", site_id="1", stars=2)))
    assert summary() == (2, 7)
    first.stars = 1
    store.run(update(first))
    assert summary() == (2, 3)
    stored = items(store)["USER#ann", "SITE#1"]
    assert (stored["stars"], stored["starRating"], stored["siteId"]) == ({"N": "1"}, {"N": "1"}, {"S": "SITE#1"})
    store.run(delete(first))
    assert summary() == (1, 2)
    with pytest.raises(ParentMissing):
        store.run(create(Rating(user_id="ann", site_id="2", stars=5)))


def test_a_comment_is_under_its_site_and_under_its_user(store: Store[FunkedUpShiftDesign]) -> None:
    store.run(create(site("1")))
    made = store.run(create(Comment(site_id="1", comment_id="c", user_id="ann", display_name="Ann", body="Hm.")))
    made.body = "Well."
    store.run(update(made))
    found = items(store)
    assert found["USER#ann", "SITE#1#COMMENT#c"]["body"] == {"S": "Well."}
    assert found["SITE#1", "COMMENT#c"]["body"] == {"S": "Well."}
    assert found["SITE#1", "COMMENT#c"]["displayName"] == {"S": "Ann"}
    store.run(delete(made))
    assert sorted(items(store)) == [("SITE#1", "METADATA")]


@pytest.mark.parametrize("name", ["admin", "Manager", "USER", "", "a b", "a#b", "x" * 65])
def test_names_that_no_custom_group_can_have(name: str, store: Store[FunkedUpShiftDesign]) -> None:
    with pytest.raises(InvalidValue):
        store.run(create(Group(name=name)))


def test_a_membership_needs_its_group(store: Store[FunkedUpShiftDesign]) -> None:
    with pytest.raises(ParentMissing):
        store.run(create(Membership(user_id="ann", group_name="Squash", added_by="root")))


def test_a_deleted_site_takes_all_that_belongs_to_it(store: Store[FunkedUpShiftDesign]) -> None:
    for id in ("1", "10", "2"):
        store.run(create(site(id, tags=["c#", "web"])))
        for number in range(30):
            user = f"user-{number:02}"
            store.run(create(Rating(user_id=user, site_id=id, stars=1 + number % 5)))
            comment = {"comment_id": f"c{number}", "user_id": user, "display_name": "Ann", "body": "Hm."}
            store.run(create(Comment.model_validate({"site_id": id, **comment})))
    before = items(store)
    gone = store.run(store.design.site("1"))
    assert gone is not None
    store.run(delete(gone))
    # The site, two tags, and of each user a rating and the comment's two items.
    lost = before.keys() - items(store).keys()
    assert len(lost) == 1 + 2 + 3 * 30
    assert all(hash == "SITE#1" or range.split("#COMMENT")[0] == "SITE#1" for hash, range in lost)
    assert items(store).items() <= before.items()
    assert store.verify() == []
    with pytest.raises(NotFound):
        store.run(delete(gone))


def test_a_deleted_group_takes_its_memberships(store: Store[FunkedUpShiftDesign]) -> None:
    for name in ("Squash", "Squash2"):
        store.run(create(Group(name=name)))
        for number in range(30):
            store.run(create(Membership(user_id=f"user-{number:02}", group_name=name, added_by="root")))
    squash = store.run(store.design.group("Squash"))
    assert squash is not None
    store.run(delete(squash))
    assert store.run(store.design.group_members("Squash")).items == []
    assert len(store.run(store.design.group_members("Squash2")).items) == 30
    assert [each.group_name for each in store.run(store.design.memberships("user-00")).items] == ["Squash2"]
    assert store.verify() == []


def test_a_login_is_no_change_of_the_profile(store: Store[FunkedUpShiftDesign]) -> None:
    profile = store.run(create(Profile(user_id="ann", display_name="Ann")))
    store.run(touch(ref(Profile, user_id="ann"), last_login_at=NOW, last_login_ip="192.0.2.1"))
    seen = store.run(store.design.profile("ann"))
    assert seen is not None
    assert (seen.last_login_at, seen.last_login_ip, seen.version) == (NOW, "192.0.2.1", 1)
    # A concurrent edit is neither refused nor does it undo this change.
    profile.description = "Hi."
    store.run(update(profile))
    seen = store.run(store.design.profile("ann"))
    assert seen is not None
    assert (seen.last_login_at, seen.description, seen.version) == (NOW, "Hi.", 2)
    with pytest.raises(NotFound):
        store.run(touch(ref(Profile, user_id="ben"), last_login_at=NOW))


def test_a_player_without_a_user_has_no_user_id(store: Store[FunkedUpShiftDesign]) -> None:
    player = store.run(create(SquashPlayer(id="p", name="Ann", user_id="ann")))
    player.user_id = None
    store.run(update(player))
    assert "userId" not in items(store)["SQUASH#PLAYER#p", "METADATA"]


def _players(store: Store[FunkedUpShiftDesign]) -> list[str]:
    for name in "abcde":
        store.run(create(SquashPlayer(id=name, name=name)))
    return list("abcd")


def test_a_match_brings_its_participations_and_counts(store: Store[FunkedUpShiftDesign]) -> None:
    made = store.run(create(match("m", _players(store), date=date(2025, 2, 3))))
    stored = items(store)["SQUASH#MATCH#m", "METADATA"]
    assert stored["date"] == stored["squashDate"] == {"S": "2025-02-03"}
    assert (stored["entityType"], stored["entitySk"]) == ({"S": "SQUASH_MATCH"}, {"S": "2025-02-03#m"})
    assert (stored["matchId"], stored["teamAPlayer1Id"]) == ({"S": "m"}, {"S": "a"})
    made.team_b_player2_id = "e"
    made.date = date(2025, 2, 4)
    store.run(update(made))
    assert _participations(store) == dict.fromkeys("abce", "2025-02-04")
    assert _match_counts(store) == {"a": 1, "b": 1, "c": 1, "d": 0, "e": 1}
    # Partners and opponents are swapped.
    made.team_a_player1_id, made.team_b_player1_id = "c", "a"
    store.run(update(made))
    assert _match_counts(store) == {"a": 1, "b": 1, "c": 1, "d": 0, "e": 1}
    store.run(delete(made))
    assert _participations(store) == {}
    assert set(_match_counts(store).values()) == {0}


def _participations(store: Store[FunkedUpShiftDesign]) -> dict[str, str]:
    return {key[0][-1]: item["squashDate"]["S"] for key, item in items(store).items() if key[1] == "MATCH#m"}


def _match_counts(store: Store[FunkedUpShiftDesign]) -> dict[str, int]:
    return {player.id: player.match_count for player in store.run(store.design.players()).items}


def test_a_player_who_is_named_by_a_match_stays(store: Store[FunkedUpShiftDesign]) -> None:
    players = _players(store)
    store.run(create(match("m", players)))
    for name in players:
        found = store.run(store.design.player(name))
        assert found is not None
        with pytest.raises(InUse):
            store.run(delete(found))
    unused = store.run(store.design.player("e"))
    assert unused is not None
    store.run(delete(unused))


def test_a_match_needs_its_players(store: Store[FunkedUpShiftDesign]) -> None:
    with pytest.raises(ParentMissing):
        store.run(create(match("m", [*_players(store)[:3], "nobody"])))
    assert store.run(store.design.match("m")) is None
