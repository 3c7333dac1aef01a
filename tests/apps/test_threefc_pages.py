"""3FC's pages without JavaScript: what each role sees and can do, and the messages for what it can't."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import httpx
import pytest

from keyplan.web.identity.sessions import SESSION, Sessions
from tests.apps.threefc_site import START, TEAMS, Club, Reader, club, ok

PAGES = {
    "/leagues/north": {"viewer", "scorekeeper", "admin"},
    "/leagues/north/edit": {"admin"},
    "/leagues/north/people": {"admin"},
    "/leagues/north/players": {"viewer", "scorekeeper", "admin"},
    "/players/p1": {"admin"},
    "/seasons/spring": {"viewer", "scorekeeper", "admin"},
    "/seasons/spring/edit": {"admin"},
    "/seasons/spring/scorers": {"viewer", "scorekeeper", "admin"},
    "/seasons/spring/teams": {"viewer", "scorekeeper", "admin"},
    "/seasons/spring/teams/red": {"admin"},
    "/sessions/may-1": {"viewer", "scorekeeper", "admin"},
    "/games/g1": {"viewer", "scorekeeper", "admin"},
    "/games/g1/live": {"viewer", "scorekeeper", "admin"},
    "/games/g1/edit": {"admin"},
    "/games/g1/roster": {"viewer", "scorekeeper", "admin"},
    "/games/g1/goals/{event}": {"scorekeeper", "admin"},
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    with club(tmp_path_factory.mktemp("threefc")) as started:
        yield started


@pytest.fixture
def site(served: Club) -> Club:
    served.reset()
    return served


@pytest.fixture
def olga(site: Club) -> Reader:
    return site.browser("admin")


@pytest.fixture
def sam(site: Club) -> Reader:
    return site.browser("scorekeeper")


def text_of(page: httpx.Response) -> str:
    """What a page says, without its tags."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.text)))


def shows(page: httpx.Response, status: int, text: str) -> None:
    assert page.status_code == status, text_of(page)
    assert text in text_of(page), text_of(page)


def test_who_sees_which_page(site: Club) -> None:
    site.game()
    event_id = site.goal(scorer_id="p1")["event_id"]
    for role in ("admin", "scorekeeper", "viewer", "stranger"):
        reader = site.browser(role)
        for path, allowed in PAGES.items():
            page = reader.get(path.replace("{event}", event_id))
            expected = 200 if role in allowed else 404 if role == "stranger" else 403
            assert page.status_code == expected, (role, path, text_of(page))
            assert page.headers["content-type"].startswith("text/html")
    visitor = site.browser("visitor")
    for path in PAGES:
        page = visitor.get(path.replace("{event}", event_id))
        assert page.status_code == 303
        assert page.headers["location"].startswith("/threefc/sign-in?to=")


def test_the_front_page(site: Club, olga: Reader) -> None:
    shows(site.browser("visitor").get("/"), 200, "the team that concedes the fewest goals wins")
    shows(olga.get("/"), 200, "Northern League admin")
    assert "Southern" not in olga.get("/").text
    nobody = site.browser("stranger")
    site.eve.delete("/leagues/south", headers={"If-Match": "*"})
    shows(nobody.get("/"), 200, "You aren’t in a league yet")


def test_only_those_who_may_see_the_buttons(site: Club) -> None:
    site.game()
    site.goal()
    pages = {role: site.browser(role).get("/games/g1").text for role in ("admin", "scorekeeper", "viewer")}
    for role in ("admin", "scorekeeper"):
        assert 'class="pad"' in pages[role]
        assert "Undo 5′ Blue against Red" in pages[role]
        assert "End game" in pages[role]
    assert not [word for word in ('class="pad"', "Undo", "End game", ">Edit<") if word in pages["viewer"]]
    assert "Edit game" in pages["admin"]
    assert "Edit game" not in pages["scorekeeper"]


def test_founding_a_league_and_all_in_it(site: Club, olga: Reader) -> None:
    """From an empty league to a goal, with forms only."""
    page = olga.follow(olga.send("/new-league", name="Evening", slug=""))
    shows(page, 200, "Evening created")
    league = str(page.url.path)
    season = olga.follow(olga.send(f"{league}/seasons".removeprefix("/threefc"), name="One", starts_on="", ends_on=""))
    shows(season, 200, "One created")
    at = season.url.path.removeprefix("/threefc")
    for name, colour in (("Ants", "#ff0000"), ("Bees", "#00ff00"), ("Cats", "#0000ff")):
        shows(olga.follow(olga.send(f"{at}/teams", name=name, colour=colour)), 200, f"{name} added")
    session = olga.follow(olga.send(f"{at}/sessions", session_date="2026-06-01"))
    shows(session, 200, "1 June 2026")
    teams = re.findall(r'<option value="([^"]+)" selected', session.text)
    assert len(teams) == 3
    where = f"{session.url.path.removeprefix('/threefc')}/games"
    game = olga.follow(olga.send(where, game_start_ts="2026-06-01T18:00", team_ids=teams))
    shows(game, 200, "Game scheduled")
    path = game.url.path.removeprefix("/threefc")
    shows(olga.follow(olga.send(f"{path}/status", status="live")), 200, "live Level.")
    goal = {"third": "1", "minute": "3", "conceding_team_id": teams[0], "scored_by": teams[1]}
    page = olga.follow(olga.send(f"{path}/goals", **goal))
    shows(page, 200, "leads.")
    shows(olga.follow(olga.send(f"{path}/status", status="finished")), 200, "won.")
    shows(olga.get(at), 200, "After 1 finished game.")
    assert site.clean()


def test_a_goal_with_the_same_team_twice_is_an_own_goal(site: Club, sam: Reader) -> None:
    site.game()
    goal = {"third": "2", "minute": "31", "conceding_team_id": "red", "scored_by": "red", "scorer_id": "p0"}
    page = sam.follow(sam.send("/games/g1/goals", **goal))
    shows(page, 200, "31′ Red own goal Player 0")
    (logged,) = ok(site.vera.get("/games/g1/goals"))["items"]
    assert (logged["own_goal"], logged["conceding_team_id"], logged["scoring_team_id"]) == (True, "red", None)
    assert 'name="third" value="2" checked' in page.text, "the next goal is likely to be of the same third"


def test_undo_is_of_the_goal_that_was_seen(site: Club, sam: Reader) -> None:
    site.game()
    first = site.goal()
    second = site.goal(minute=8)
    shows(sam.send("/games/g1/undo", event_id=first["event_id"]), 409, "This isn't the last goal anymore")
    shows(sam.follow(sam.send("/games/g1/undo", event_id=second["event_id"])), 200, "Undo 5′ Blue against Red")
    assert [each["event_id"] for each in ok(site.vera.get("/games/g1/goals"))["items"]] == [first["event_id"]]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"minute": "1000"}, "Minute:"),
        ({"minute": ""}, "Required."),
        ({"conceding_team_id": ""}, "Conceding team:"),
        ({"third": "4"}, "Third:"),
        ({"scorer_id": "p0"}, "This player isn't on the team that scored."),
        ({"scored_by": "green"}, "This team doesn't play in this game."),
    ],
)
def test_errors_in_a_goal_are_shown_on_the_pad(site: Club, sam: Reader, change: dict[str, str], text: str) -> None:
    site.game()
    goal = {"third": "2", "minute": "31", "conceding_team_id": "red", "scored_by": "blue", **change}
    page = sam.send("/games/g1/goals", **goal)
    shows(page, 422, text)
    assert 'class="pad"' in page.text
    assert ok(site.vera.get("/games/g1/goals"))["items"] == []


def test_a_goal_comes_back_after_the_session_ended(site: Club, sam: Reader) -> None:
    site.game()
    goal = {"third": "2", "minute": "31", "conceding_team_id": "red", "scored_by": "blue"}
    kept = _kept(site, sam, "/games/g1/goals", "/games/g1", **goal)
    assert re.search(r'name="conceding_team_id" value="red"[^>]* checked>', kept.text)


def test_the_form_for_a_new_game_is_open_when_it_comes_back(site: Club, olga: Reader) -> None:
    site.game()
    new = {"game_start_ts": "2026-05-01T20:00", "team_ids": TEAMS}
    kept = _kept(site, olga, "/sessions/may-1/games", "/sessions/may-1", **new)
    assert re.search(r'<details class="more" open>\s*<summary>New game', kept.text)


def _kept(site: Club, reader: Reader, to: str, at: str, **values: object) -> httpx.Response:
    """The page with the form that was sent after the session had ended, when its user has signed in again."""
    proof = reader.client.cookies[SESSION]
    session = Sessions(site.site.running.store)
    [token] = re.findall(r'name="csrf" value="([^"]*)"', reader.get(at).text)[:1]
    caller = session.find(proof)
    assert caller
    session.close(proof)
    refused = reader.client.post(to, data={"csrf": token, "form": "main", **values})
    shows(refused, 401, "the form comes back")
    reader.client.cookies.set(SESSION, session.open(caller), domain="127.0.0.1", path="/threefc/")
    return reader.get(f"{at}?kept={re.findall('kept%3D([0-9a-f]+)', refused.text)[0]}")


def test_a_goal_that_comes_too_late(site: Club, sam: Reader) -> None:
    site.game(status="finished")
    goal = {"third": "2", "minute": "31", "conceding_team_id": "red", "scored_by": "blue"}
    shows(sam.send("/games/g1/goals", **goal), 409, "Goals can only be entered and changed while the game is live.")
    shows(site.browser("viewer").send("/games/g1/goals", **goal), 403, "You don't have permission to do this.")


def test_editing_a_goal(site: Club, sam: Reader) -> None:
    site.game()
    made = site.goal()
    path = f"/games/g1/goals/{made['event_id']}"
    edited: dict[str, Any] = {
        "third": "3",
        "minute": "44",
        "conceding_team_id": "gold",
        "scoring_team_id": "blue",
        "scorer_id": "p1",
        "assist_ids": ["p4"],
        "version": "1",
    }
    page = sam.follow(sam.send(path, **edited))
    shows(page, 200, "44′ Blue against Gold Player 1, assisted by Player 4")
    shows(sam.send(path, **edited), 412, "This was changed in the meantime.")
    own = {**edited, "scoring_team_id": "", "scorer_id": "", "assist_ids": [], "version": "2"}
    shows(sam.follow(sam.send(path, **own)), 200, "44′ Gold own goal")
    shows(sam.send(path, **{**edited, "version": "3", "assist_ids": ["p0"]}), 422, "isn't on the team that scored")
    shows(sam.get("/games/g1/goals/01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404, "Goal not found.")


def test_the_clock_of_a_game_starts_with_it(site: Club, sam: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suggested minute doesn't depend on the scheduled time, and is never before the last goal."""
    site.game(status="scheduled")
    ok(site.sam.put("/games/g1/status", json={"status": "live"}))

    def minute() -> str:
        found = re.search(r'name="minute"[^>]* value="(\d+)"', sam.get("/games/g1").text)
        assert found
        return found[1]

    assert minute() == "0"
    site.goal(minute=12)
    assert minute() == "12"
    later = datetime.now(UTC) + timedelta(minutes=17, seconds=30)
    monkeypatch.setattr("keyplan.web.system.service.Service.now", property(lambda service: later))
    assert minute() == "17"
    tomorrow = later + timedelta(days=1)
    monkeypatch.setattr("keyplan.web.system.service.Service.now", property(lambda service: tomorrow))
    assert minute() == "12", "nobody plays that long"


def test_nothing_moves_with_the_first_goal(site: Club, sam: Reader) -> None:
    site.game()
    assert '<button class="danger" id="undo" disabled>' in sam.get("/games/g1").text
    site.goal(scoring="blue", assist_ids=["p1"])
    page = sam.get("/games/g1")
    assert "disabled" not in page.text
    shows(page, 200, "5′ Blue against Red assisted by Player 1")


def test_the_part_that_follows(site: Club, sam: Reader) -> None:
    """The page remembers the entity tag of what it shows, and asks whether it has changed."""
    site.game()
    page = sam.get("/games/g1")
    found = re.search(r'data-live="([^"]+)" data-tag="([^"]+)"', page.text)
    assert found
    address, tag = found[1], unescape(found[2])
    same = sam.get(address, **{"If-None-Match": tag})
    assert (same.status_code, same.content) == (304, b"")
    site.goal()
    new = sam.get(address, **{"If-None-Match": tag})
    assert new.status_code == 200
    assert new.headers["etag"] != tag
    assert "<html" not in new.text
    shows(new, 200, "Undo 5′ Blue against Red")
    assert sam.get(address, **{"If-None-Match": new.headers["etag"]}).status_code == 304
    vera = site.browser("viewer").get(address, **{"If-None-Match": new.headers["etag"]})
    assert vera.status_code == 200, "what one role sees is not what another does"
    assert "Undo" not in vera.text
    assert new.headers["cache-control"] == "private, no-cache"


def test_people(site: Club, olga: Reader) -> None:
    assert re.search(r'aria-label="Role of vera">\s*<option selected>viewer<', olga.get("/leagues/north/people").text)
    page = olga.follow(olga.send("/leagues/north/people", user_id="auth0|7", role="scorekeeper"))
    shows(page, 200, "auth0|7 is now a scorekeeper")
    page = olga.follow(olga.send("/leagues/north/people/revoke", user_id="vera", version="1"))
    shows(page, 200, "vera removed")
    last = "A league needs an admin. Make somebody else an admin first."
    shows(olga.send("/leagues/north/people/revoke", user_id="olga", version="1"), 409, last)
    shows(olga.send("/leagues/north/people", user_id="olga", role="viewer", version="1"), 409, last)
    page = olga.follow(olga.send("/leagues/north/people", user_id="sam", role="viewer", version="1"))
    shows(page, 200, "sam is now a viewer")
    stale = olga.send("/leagues/north/people", user_id="sam", role="scorekeeper", version="1")
    shows(stale, 412, "This was changed in the meantime.")
    shows(olga.send("/leagues/north/people", user_id="a#b", role="viewer"), 422, "User ID:")
    ok(site.olga.put("/leagues/north/acl/sam", json={"role": "admin"}))
    page = olga.follow(olga.send("/leagues/north/people/revoke", user_id="olga", version="1"))
    shows(page, 200, "You left the league")
    assert site.clean()


def test_players_and_their_accounts(site: Club, olga: Reader) -> None:
    page = olga.follow(olga.send("/leagues/north/players", display_name="Pat", user_id=""))
    shows(page, 200, "Pat added")
    page = olga.follow(olga.send("/players/p1", display_name="Pia", user_id="", version="1"))
    shows(page, 200, "Pia")
    shows(
        olga.send("/players/p1", display_name="Pia", user_id="", version="1"), 412, "This was changed in the meantime."
    )
    shows(olga.send("/players/p2", display_name="", user_id="", version="1"), 422, "Required.")
    assert "user-3" in olga.get("/leagues/north/players").text
    assert "user-3" not in site.browser("viewer").get("/leagues/north/players").text


def test_all_errors_of_a_form_are_shown_at_once(site: Club, olga: Reader) -> None:
    """What isn't valid, what is refused only when it is written, and what doesn't go together."""
    at = "/seasons/spring/edit"
    shown = re.search(r'name="shown" value="([^"]*)"', olga.get(at).text)
    assert shown
    days = {"starts_on": "2026-09-02", "ends_on": "2026-09-01", "version": "1", "shown": shown[1]}
    for name, says in (("Sp\u202ering", "U+202E"), ("", "Name: Required.")):
        page = olga.send(at, name=name, **days)
        shows(page, 422, says)
        shows(page, 422, "Last day: The last day can't be before the first day.")


def test_renaming_and_deleting(site: Club, olga: Reader) -> None:
    shows(olga.follow(olga.send("/leagues/north/edit", name="N", slug="n", version="1")), 200, "League saved")
    shows(olga.send("/leagues/north/edit", name="M", slug="m", version="1"), 412, "This was changed in the meantime.")
    refused = olga.send("/leagues/north/delete", form="", version="2")
    shows(refused, 409, "This league has seasons.")
    assert 'name="name" value="N"' in refused.text, "the form beside the button is as it was"
    shows(olga.send("/seasons/spring/delete", version="1"), 409, "This season has sessions.")
    shows(
        olga.send("/seasons/spring/edit", name="S", starts_on="2026-02-01", ends_on="2026-01-01", version="1"), 422, ""
    )
    page = olga.follow(olga.send("/seasons/spring/edit", name="S", starts_on="2026-02-01", ends_on="", version="1"))
    shows(page, 200, "Season saved")
    page = olga.follow(olga.send("/seasons/spring/teams/green", name="Lime", colour="lime", version="1"))
    shows(page, 200, "Lime")
    shows(olga.send("/seasons/spring/teams/green", name="Lime", colour="no colour", version="2"), 422, "Color:")
    shows(olga.follow(olga.send("/seasons/spring/teams/green/delete", version="2")), 200, "Team deleted")
    site.game()
    shows(olga.send("/seasons/spring/teams/red/delete", version="1"), 409, "This team has games.")
    shows(olga.send("/sessions/may-1/delete", version="1"), 409, "This session has games.")
    page = olga.follow(olga.send("/games/g1/edit", game_start_ts="2026-05-01T19:30", version="1"))
    shows(page, 200, "19:30 UTC")
    shows(olga.follow(olga.send("/games/g1/delete", version="2")), 200, "Game deleted")
    shows(olga.follow(olga.send("/sessions/may-1/delete", version="1")), 200, "Session deleted")
    shows(olga.follow(olga.send("/seasons/spring/delete", version="2")), 200, "Season deleted")
    shows(olga.follow(olga.send("/leagues/north/delete", version="2")), 200, "League deleted")
    assert site.clean()


def test_the_roster(site: Club, olga: Reader) -> None:
    site.game()
    shows(olga.follow(olga.send("/games/g1/roster", player_id="p6", team_id="red")), 200, "Player added")
    shows(olga.send("/games/g1/roster", player_id="p6", team_id="red"), 409, "already on a team in this game")
    page = olga.follow(olga.send("/games/g1/roster/p6/move", team_id="gold", version="1"))
    shows(page, 200, "Player moved")
    shows(
        olga.send("/games/g1/roster/p6/move", team_id="red", version="1"), 412, "This was changed since you loaded it."
    )
    shows(olga.follow(olga.send("/games/g1/roster/p6/remove", version="2")), 200, "Player removed")
    site.goal(scorer_id="p1")
    shows(olga.send("/games/g1/roster/p1/remove", version="1"), 409, "A goal names this player")
    assert "Add player to Red" in olga.get("/games/g1/roster").text
    assert "Add player to" not in site.browser("viewer").get("/games/g1/roster").text


def test_names_stand_in_their_order(site: Club, olga: Reader) -> None:
    for player_id, name in (("p0", "Zoe"), ("p3", "anna"), ("p6", "Yves"), ("p7", "Bea")):
        ok(site.olga.patch(f"/players/{player_id}", json={"display_name": name}, headers={"If-Match": "*"}))
    site.game()
    page = olga.get("/games/g1/roster").text
    assert re.findall(r'<option value="p\d">(\w+)<', page)[:2] == ["Bea", "Yves"]
    assert page.index(">anna<") < page.index(">Zoe<")
    assert re.findall(r'<option value="p[03]">(\w+)<', olga.get("/games/g1").text) == ["anna", "Zoe"]


def test_games_of_a_session(site: Club, olga: Reader) -> None:
    shows(olga.get("/sessions/may-1"), 200, "No games yet.")
    same: dict[str, Any] = {"game_start_ts": "2026-05-01T18:00", "team_ids": ["red", "red", "blue"]}
    shows(olga.send("/sessions/may-1/games", **same), 422, "Choose three different teams")
    ok(site.olga.post("/sessions/may-1/games", json={"game_start_ts": START, "team_ids": TEAMS}))
    shows(olga.get("/sessions/may-1"), 200, "18:00 UTC Red Blue Gold scheduled")
    site.game("g1", game_start_ts="2026-05-01T19:00:00Z")
    site.goal("red", "blue")
    site.goal("gold", None)
    site.goal("gold", "blue")
    shows(olga.get("/sessions/may-1"), 200, "19:00 UTC Red conceded 1 Blue conceded 0 Gold conceded 2 live")
    assert "side won" not in olga.get("/sessions/may-1").text
    ok(site.sam.put("/games/g1/status", json={"status": "finished"}))
    assert re.findall(r'class="side won"><svg.*?</svg> (\w+)', olga.get("/sessions/may-1").text) == ["Blue"]


def test_the_next_session_is_one_click_away(site: Club, olga: Reader) -> None:
    today = datetime.now(UTC).date()
    assert "Next session" not in olga.get("/seasons/spring").text
    for days in (30, 7, -2):
        day = (today + timedelta(days=days)).isoformat()
        ok(site.olga.post("/seasons/spring/sessions", json={"session_id": f"in-{days}", "session_date": day}))
    page = olga.get("/seasons/spring")
    found = re.search(r'Next session: <a href="([^"]+)">', page.text)
    assert found
    assert found[1].endswith("/sessions/in-7")


def test_long_lists_have_pages(site: Club, olga: Reader) -> None:
    for number in range(60):
        ok(site.olga.post("/leagues/north/players", json={"display_name": f"Extra {number}"}))
    page = olga.get("/leagues/north/players")
    following = re.search(r'rel="next" href="([^"]+)"', page.text)
    assert following
    rest = olga.get(unescape(following[1]))
    assert 'rel="prev"' in rest.text
    names = re.findall(r"(?:Extra|Player) \d+", page.text) + re.findall(r"(?:Extra|Player) \d+", rest.text)
    assert len(names) == len(set(names)) == 68


def test_what_people_type_is_shown_as_text(site: Club, olga: Reader) -> None:
    olga.send("/leagues/north/players", display_name="<script>alert(1)</script>", user_id="")
    page = olga.get("/leagues/north/players")
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_a_form_from_elsewhere_is_refused(site: Club, sam: Reader) -> None:
    site.game()
    goal = {"csrf": "x", "third": "2", "minute": "31", "conceding_team_id": "red", "scored_by": "blue"}
    answer = sam.client.post("/games/g1/goals", data=goal)
    assert answer.status_code in (400, 403)
    assert ok(site.vera.get("/games/g1/goals"))["items"] == []
