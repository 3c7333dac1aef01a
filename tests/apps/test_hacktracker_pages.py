"""hacktracker's pages, as somebody without JavaScript uses them."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import httpx
import pytest

from keyplan.apps.hacktracker import demo
from keyplan.apps.hacktracker.api import SYSTEM
from keyplan.web.identity.sessions import Sessions
from tests.apps.hack_site import ANY, Team, league, made, settings
from tests.apps.support import Meanwhile
from tests.web.site import Site, site

FORM = re.compile(r"<form.*?</form>", re.DOTALL)
FIELD = re.compile(r'<input[^>]*?name="([^"]+)"[^>]*?value="([^"]*)"')


class Reader:
    """A browser without JavaScript."""

    def __init__(self, served: Site, sub: str, groups: str = "") -> None:
        client = httpx.Client(base_url=f"{served.url}/hacktracker", follow_redirects=True, timeout=30, verify=False)
        self.client = served._stack.enter_context(client)
        self.get("/sign-in")
        page = self.client.get("/sign-in")
        (form,) = [each for each in FORM.findall(page.text) if 'name="groups"' in each]
        token = dict(FIELD.findall(form))["csrf"]
        self.client.post("/sign-in", data={"sub": sub, "groups": groups, "to": "", "csrf": token})

    def get(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path)
        assert answer.status_code == status, f"{path}: {answer.status_code} {answer.text}"
        return answer.text

    def send(self, path: str, action: str, expected: int = 200, /, **typed: str | list[str]) -> str:
        """Fill in the form of a page with this action, and send it."""
        hidden = hidden_for(self.get(path), action)
        answer = self.client.post(action, data={"confirmed": "yes", **hidden, **typed})
        assert answer.status_code == expected, f"{action}: {answer.status_code} {answer.text}"
        return answer.text


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo."""
    with site(SYSTEM, settings(tmp_path_factory.mktemp("demo"))) as served:
        demo.fill(served.running, lambda done, total: None)
        yield served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Site]:
    with league(tmp_path) as started:
        yield started


def test_a_play_of_today_is_the_last_one_of_the_demo(full: Site) -> None:
    """The scoring page continues after it, and Undo removes it."""
    casey = full.as_("casey")
    at = f"/games/{demo.PLAYING}"
    play = {"player_id": casey.get(at).json()["lineup"][0], "result": "1B", "inning": 6, "outs": 0}
    made = casey.post(f"{at}/at-bats", json=play)
    assert made.status_code == 201, made.text
    assert casey.post(f"{at}/at-bats/undo").json()["at_bat_id"] == made.json()["at_bat_id"]


def test_every_page_of_the_demo(full: Site) -> None:
    """Every link on our pages leads to a page."""
    reader = Reader(full, "casey")
    seen: set[str] = set()
    ahead = ["/hacktracker/"]
    while ahead and len(seen) < 60:
        path = ahead.pop(0)
        if path in seen or path.startswith("/hacktracker/static"):
            continue
        seen.add(path)
        shown = reader.get(path.removeprefix("/hacktracker"))
        found = [unescape(each) for each in re.findall(r'href="(/hacktracker/[^"#]*)"', shown)]
        # One of each kind is enough, and a next page of every list.
        kinds = {re.sub(r"demo[-\w]*|cursor=.*", "X", each) for each in seen | set(ahead)}
        for each in found:
            kind = re.sub(r"demo[-\w]*|cursor=.*", "X", each)
            if kind not in kinds:
                kinds.add(kind)
                ahead.append(each)
    kinds = {re.sub(r"demo[-\w]*|cursor=.*|season_id=.*", "X", each) for each in seen}
    for page in ("/games/X", "/games/X/edit", "/games/X/score", "/games/X/lineup", "/teams/X/players/X", "/me"):
        assert f"/hacktracker{page}" in kinds, sorted(kinds)
    assert "/hacktracker/?X" not in kinds, "Casey has one team"


def test_every_list_of_the_demo_has_more_than_two_pages(full: Site) -> None:
    morgan, casey, jordan = full.as_("demo-004"), full.as_("casey"), full.as_("demo-002")
    root = full.as_("admin", "admin")
    herons = f"/teams/{demo.HERONS}"
    for client, path in (
        (morgan, "/teams"),
        (jordan, "/teams/deleted"),
        (casey, f"{herons}/members"),
        (casey, f"{herons}/games"),
        (casey, f"{herons}/games?when=past"),
        (casey, f"{herons}/games?when=coming"),
        (casey, "/games/demo-game-000/at-bats"),
        (root, "/users"),
        (root, "/all-teams"),
        (root, "/all-games"),
    ):
        at = httpx.URL(path)
        page = client.get(at).json()
        second = client.get(at.copy_merge_params({"cursor": page["next"]})).json()
        assert (len(page["items"]), len(second["items"])) == (50, 50), path
        assert second["next"] is not None, path
        assert client.get(at.copy_merge_params({"limit": 100})).json()["items"] == page["items"] + second["items"]
        assert [client.get(at.copy_merge_params({"limit": each})).status_code for each in (0, 101)] == [422, 422]
    assert len(casey.get(f"{herons}/players").json()["items"]) == 15
    demo.fill(full.running, lambda done, total: None)
    assert full.running.store.verify() == [], "filled again, it stays as it is"


def test_admins_see_everything(full: Site) -> None:
    root = Reader(full, "admin", "admin")
    for what in ("users", "teams", "games"):
        assert 'rel="next"' in root.get(f"/all/{what}")
    Reader(full, "casey").get("/all/users", 403)


def test_strangers_see_nothing(full: Site) -> None:
    stranger = Reader(full, "stranger")
    for path in (f"/teams/{demo.HERONS}", "/games/demo-game-001", "/games/demo-game-001/live"):
        stranger.get(path, 404)
    visitor = httpx.get(f"{full.url}/hacktracker/teams/{demo.HERONS}", verify=False)
    assert visitor.status_code == 303
    assert "/hacktracker/sign-in?to=" in visitor.headers["location"]
    assert "Sign in" in httpx.get(f"{full.url}/hacktracker/", verify=False).text


def test_a_season_begins(served: Site) -> None:
    """From a new account to a scored game, with forms only."""
    coach = Reader(served, "coach")
    assert "at least 3 characters" in coach.send("/new-team", "/new-team", 422, name="ab", team_type="MANAGED")
    shown = coach.send("/new-team", "/new-team", name="Night Owls", team_type="MANAGED")
    (team_id,) = set(re.findall(r"/hacktracker/teams/([\w-]+)/roster", shown))
    team = f"/teams/{team_id}"
    for number in (1, 2):
        coach.send(
            f"{team}/roster",
            f"{team}/roster",
            first_name="Kim",
            last_name=f"No {number}",
            player_number=str(number),
            positions="SS",
        )
    taken = coach.send(f"{team}/roster", f"{team}/roster", 409, first_name="A", last_name="B", player_number="1")
    assert "Another player on the team already has this number." in taken
    shown = coach.send(
        f"{team}/new-game",
        f"{team}/new-game",
        opponent_name="Larks",
        scheduled_start="2026-05-01T18:30",
        season_id="2026",
    )
    (game_id,) = set(re.findall(r"/hacktracker/games/([\w-]+)/lineup", shown))
    game = f"/games/{game_id}"
    assert "1 May 2026, 18:30 UTC" in shown
    assert "Set a line-up first." in coach.send(game, f"{game}/status", 422, status="IN_PROGRESS")
    players = dict(re.findall(r"<option value=\"1 ([\w-]+)\".*?</li>|(?!)()", coach.get(f"{game}/lineup"), re.DOTALL))
    first, second, third = players
    coach.send(f"{game}/lineup", f"{game}/lineup", places=[f"2 {first}", f"1 {second}", ""])
    assert "Play ball!" in coach.send(game, f"{game}/status", status="IN_PROGRESS")
    page = coach.get(f"{game}/score")
    assert re.search(rf'<option value="{second}" selected>', page), "the first of the line-up is at bat"
    play = {"player_id": second, "inning": "1", "outs": "0", "runs": "", "rbi": "", "x": "", "y": ""}
    coach.send(f"{game}/score", f"{game}/score", result="HR", place="Left field", **play)
    page = coach.get(f"{game}/score")
    assert re.search(rf'<option value="{first}" selected>', page), "and then the second"
    coach.send(f"{game}/score", f"{game}/score", **{**play, "player_id": first}, result="K", place="")
    assert "Inning 1, 1 out" in coach.get(f"{game}/live")
    out = coach.send(f"{game}/score", f"{game}/score", 422, **{**play, "player_id": third}, result="K", place="")
    assert "This player is not in the line-up." in out
    assert "K undone" in coach.send(f"{game}/score", f"{game}/undo")
    coach.send(f"{game}/score", f"{game}/opponent", by="1")
    shown = coach.send(game, f"{game}/status", status="FINAL")
    assert re.search(r"<strong>1</strong> <strong>1</strong>", shown), "the box score"
    assert shown.count("<circle") == 1, "the spray chart"
    assert "1.000" in coach.get(f"{team}/statistics?season_id=2026")
    assert served.running.store.verify() == []


def test_a_play_is_corrected(served: Site) -> None:
    team = Team(served)
    game = team.game(play=True, season_id="2026")
    team.bat(game, hit_location={"x": 0.5, "y": 0.5}, runs=1, rbi=1)
    wrong = team.bat(game, team.ghosts[1], result="K")["at_bat_id"]
    coach, reader = Reader(served, "scorekeeper"), Reader(served, "player")
    path = f"/games/{game}/plays"
    assert f"{path}/{wrong}" in coach.get(path)
    assert f"{path}/{wrong}" not in reader.get(path), "who can't score is not asked to"
    hit = {"player_id": team.ghosts[2], "result": "2B", "inning": "1", "outs": "0", "runs": "2", "rbi": "2"}
    shown = coach.send(f"{path}/{wrong}", f"{path}/{wrong}", place="Left field", **hit)
    assert "Play corrected" in shown
    assert "<strong>3</strong>" in shown, "the score"
    assert coach.get(f"/games/{game}").count("<circle") == 2
    coach.send(f"{path}/{wrong}", f"{path}/{wrong}", 422, **{**hit, "inning": "0"})
    coach.send(f"{path}/{wrong}", f"{path}/{wrong}", place="as it was", **{**hit, "runs": "0"})
    assert coach.get(f"/games/{game}").count("<circle") == 2, "where it went was not touched"
    coach.send(f"{path}/{wrong}", f"{path}/{wrong}/remove")
    assert f"{path}/{wrong}" not in coach.get(path)
    assert game in reader.get(f"{team.path}/games?season_id=2026")
    assert game not in reader.get(f"{team.path}/games?season_id=2025")
    assert served.running.store.verify() == []


def test_a_coach_is_spared_typing(served: Site) -> None:
    """The name is asked for once, and the line-up of the last game is filled in."""
    coach = Reader(served, "coach")
    team = {"name": "Night Owls", "team_type": "PERSONAL", "first_name": "Kim", "last_name": "Lee"}
    assert 'name="first_name"' in coach.get("/new-team")
    coach.send("/new-team", "/new-team", **team)
    assert 'name="first_name"' not in coach.get("/new-team")
    (found,) = served.as_("coach").get("/teams").json()["items"]
    assert "Kim Lee" in coach.get(f"/teams/{found['team_id']}/roster")
    managed = Team(served)
    managed.game(lineup=[managed.ghosts[1], managed.ghosts[0]], scheduled_start="2020-05-01T18:00:00Z")
    shown = Reader(served, "owner").get(f"/games/{managed.game()}/lineup")
    chosen = re.findall(r'<option value="(\d+) ([\w-]+)" selected>', shown)
    assert sorted(chosen) == [("1", managed.ghosts[1]), ("2", managed.ghosts[0])]


def test_two_scorers_who_count_the_same_run_count_it_once(served: Site) -> None:
    """Who presses on a page with an older score is told the new one, and presses again if there was another run."""
    team = Team(served)
    game = team.game(play=True)
    readers = [Reader(served, who) for who in ("owner", "manager", "scorekeeper")]

    def count(reader: Reader) -> int:
        answer = reader.client.post(f"/games/{game}/opponent", data={**hidden[reader], "by": "1"})
        assert (
            answer.status_code == 200 or "The opponent&#39;s score is 1 now. To change it, press again." in answer.text
        )
        return answer.status_code

    at = f"/games/{game}/opponent"
    hidden = {each: hidden_for(each.get(f"/games/{game}/score"), at) for each in readers}
    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(count, readers)) == [200, 409, 409]
    readers[1].send(f"/games/{game}/score", at, by="1")
    assert team.owner.get(f"/games/{game}").json()["opponent_score"] == 2


def hidden_for(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the form of a page with this action."""
    forms = [each for each in FORM.findall(page) if re.search(rf'action="/hacktracker{re.escape(action)}"', each)]
    assert forms, f"There is no form for {action}"
    return {name: unescape(value) for name, value in FIELD.findall(forms[0])}


def test_an_at_bat_that_somebody_else_scored_is_not_scored_twice(served: Site) -> None:
    team = Team(served)
    game = team.game(play=True)
    at = f"/games/{game}/score"
    casey, riley = Reader(served, "owner"), Reader(served, "scorekeeper")
    play = {"player_id": team.ghosts[0], "inning": "1", "outs": "0", "result": "1B"}
    stale = {**hidden_for(riley.get(at), at), **play}
    casey.send(at, at, **play)
    page = riley.client.post(at, data=stale)
    assert page.status_code == 409
    assert (
        "In the meantime, the last at-bat is 1B for Ghost No 7. To add yours, check the batter and press it again."
        in page.text
    )
    assert re.search(rf'<option value="{team.ghosts[1]}" selected>', page.text), "nobody had chosen the batter"
    assert "Changed by somebody else: this is the newer value." in page.text
    assert "replaces the newer version" not in page.text, "an at-bat is added"
    assert len(team.owner.get(f"/games/{game}/at-bats").json()["items"]) == 1
    again = {**hidden_for(page.text, at), **play}
    assert riley.client.post(at, data=again).status_code == 200
    assert len(team.owner.get(f"/games/{game}/at-bats").json()["items"]) == 2
    assert riley.client.post(at, data=again).status_code == 200, "sent twice, it has one effect"
    assert len(team.owner.get(f"/games/{game}/at-bats").json()["items"]) == 2


def test_a_run_of_the_opponent_counts_even_if_the_game_was_changed_just_before(served: Site) -> None:
    team = Team(served)
    game = team.game(play=True)
    scorer = Reader(served, "scorekeeper")

    def move() -> httpx.Response:
        return team.owner.patch(f"/games/{game}", json={"location": "Elsewhere"}, headers=ANY)

    served.running.store.client = Meanwhile(served.engine, move)
    scorer.send(f"/games/{game}/score", f"/games/{game}/opponent", by="1")
    found = team.owner.get(f"/games/{game}").json()
    assert (found["opponent_score"], found["location"]) == (1, "Elsewhere")


def test_live_is_answered_once(served: Site) -> None:
    team = Team(served)
    game = team.game(play=True)
    reader = Reader(served, "player")
    first = reader.client.get(f"/games/{game}/live")
    again = reader.client.get(f"/games/{game}/live", headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    team.bat(game, runs=1)
    changed = reader.client.get(f"/games/{game}/live", headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    assert "<strong>1 run</strong>" in changed.text


def test_people_come_and_go(served: Site) -> None:
    team = Team(served)
    owner, guest = Reader(served, "owner"), Reader(served, "guest")
    shown = owner.send(f"{team.path}/members", f"{team.path}/members/invite", role="scorekeeper")
    (link,) = re.findall(r'value="http://[^/]+/hacktracker(/join/[\w-]+)"', shown)
    assert "scorekeeper" in guest.get(link)
    assert "You joined Sluggers" in guest.send(link, link, first_name="Gus", last_name="Tan")
    assert "Gus Tan" in owner.get(f"{team.path}/members")
    guest.get(link, 404)
    owner.send(f"{team.path}/members", f"{team.path}/members/role", user_id="guest", role="manager")
    ghost = f"{team.path}/players/{team.ghosts[0]}"
    (link,) = re.findall(r'value="http://[^/]+/hacktracker(/join/[\w-]+)"', owner.send(ghost, f"{ghost}/invite"))
    guest.send(link, link)
    assert "this is you" in guest.get(ghost)
    guest.send(
        f"{ghost}/edit",
        f"{ghost}/edit",
        first_name="Gus",
        last_name="T",
        positions=["C", "P"],
        status="sub",
        player_number="7",
    )
    assert "C, P · sub" in guest.get(ghost)
    owner.send(ghost, f"{ghost}/unlink")
    owner.send(ghost, f"{ghost}/remove")
    guest.send(f"{team.path}/members", f"{team.path}/leave")
    guest.get(team.path, 404)
    assert "Kim" in owner.send("/me", "/me", first_name="Kim", last_name="", email="", phone_number="")
    owner.send(f"{team.path}/edit", f"{team.path}/edit", name="Renamed", description="")
    owner.send(f"{team.path}/members", f"{team.path}/transfer", user_id="player")
    player = Reader(served, "player")
    player.send(f"{team.path}/edit", f"{team.path}/delete")
    assert "Renamed restored" in player.send("/", f"{team.path}/restore")
    player.send(f"{team.path}/members", f"{team.path}/members/remove", user_id="owner")
    owner.get(team.path, 404)
    assert "Account deleted" in owner.send("/me", "/me/delete")
    assert served.running.store.verify() == []


def test_members_whose_ids_fit_no_address(served: Site) -> None:
    team, owner = Team(served), Reader(served, "owner")
    team.join("https://id.example.org/u/7", "player")
    told = owner.send(f"{team.path}/members", f"{team.path}/members/role", user_id="https://id.example.org/u/7")
    assert "Unnamed is now a manager" in told
    assert 'value="https://id.example.org/u/7"' in told
    told = owner.send(f"{team.path}/members", f"{team.path}/members/remove", user_id="https://id.example.org/u/7")
    assert "id.example.org" not in told


def test_undo_takes_back_what_was_seen(served: Site) -> None:
    team = Team(served)
    game = team.game(play=True)
    team.bat(game, result="HR", runs=1)
    scorer = Reader(served, "scorekeeper")
    page = scorer.get(f"/games/{game}/score")
    undo = dict(FIELD.findall(next(each for each in FORM.findall(page) if f"/games/{game}/undo" in each)))
    team.bat(game, team.ghosts[1], result="2B")
    late = scorer.client.post(f"/games/{game}/undo", data=undo)
    assert late.status_code == 409
    assert "Another at-bat was scored since" in late.text
    assert "2B undone" in scorer.send(f"/games/{game}/score", f"/games/{game}/undo")


def test_a_session_ends_with_its_account(served: Site) -> None:
    """In another browser, too, which shows a message and continues as a visitor."""
    here, there, typing = (Reader(served, "kim") for _ in range(3))
    form = dict(FIELD.findall(next(each for each in FORM.findall(typing.get("/me")) if "first_name" in each)))
    here.send("/me", "/me/delete")
    pages = [there.client.get("/me"), typing.client.post("/me", data={**form, "first_name": "Kim"})]
    for page, reader in zip(pages, (there, typing), strict=True):
        assert page.status_code == 401
        assert "<h1>Your session has expired</h1>" in page.text
        assert "This account was deleted." in page.text
        assert "Sign out" not in page.text
        assert '<a class="button" href="/hacktracker/sign-in">Sign in</a>' in page.text
        assert reader.client.get("/me", follow_redirects=False).status_code == 303, "it has no session by now"


def test_a_place_of_a_line_up_can_be_taken_once(served: Site) -> None:
    team = Team(served)
    game = team.game()
    at = f"/games/{game}/lineup"
    owner = Reader(served, "owner")
    first, second, third = team.ghosts
    page = owner.send(at, at, 422, places=[f"1 {first}", f"1 {second}", f"2 {third}"])
    assert "Several players have the same place: place 1 (Ghost No 7, Ghost No 8). Choose another place" in page
    assert f'value="1 {second}" selected' in page, "what was chosen is still there"
    assert not team.owner.get(f"/games/{game}").json()["lineup"]
    page = owner.send(at, at, places=[f"4 {second}", f"1 {first}"])
    assert "Line-up saved. Places without a player were skipped: the next players moved up." in page
    assert team.owner.get(f"/games/{game}").json()["lineup"] == [first, second]


def test_questions_and_copies_say_names(served: Site) -> None:
    """Nobody knows the IDs of players and users."""
    team = Team(served)
    owner = Reader(served, "owner")
    made(team.as_("player").patch("/me", json={"first_name": "Pat", "last_name": "Reyes"}, headers=ANY), 200)
    members = f"{team.path}/members"
    token = dict(FIELD.findall(owner.get(members)))["csrf"]
    for action, more, asks in (
        (f"{team.path}/transfer", {"version": "1"}, "Transfer the team to Pat Reyes?"),
        (f"{members}/role", {"role": "manager"}, "Make Pat Reyes a manager?"),
        (f"{members}/remove", {}, "Remove Pat Reyes from the team?"),
    ):
        page = owner.client.post(action, data={"csrf": token, "user_id": "player", **more})
        assert f"<h1>{asks}</h1>" in page.text
    game = team.game(play=True)
    at = f"/games/{game}/score"
    play = {**hidden_for(owner.get(at), at), "player_id": team.ghosts[1], "inning": "1", "outs": "0", "result": "1B"}
    Sessions(served.running.store).close_all("owner")
    page = owner.client.post(at, data=play)
    assert page.status_code == 401
    copied = page.text.partition("<h2>What you entered</h2>")[2]
    assert 'value="8 Ghost No 8"' in copied
    assert team.ghosts[1] not in copied


def test_a_stale_form_is_refused(served: Site) -> None:
    team = Team(served)
    owner = Reader(served, "owner")
    page = owner.get(f"{team.path}/edit")
    hidden = dict(FIELD.findall(next(each for each in FORM.findall(page) if f"{team.path}/edit" in each)))
    owner.send(f"{team.path}/edit", f"{team.path}/edit", name="First", description="")
    late = owner.client.post(f"{team.path}/edit", data={**hidden, "name": "Late"})
    assert late.status_code == 412
    assert 'value="Late"' in late.text, "what was typed is still there"
    assert owner.client.post(f"{team.path}/delete", data={"version": "1"}).status_code == 403, "no token of the form"
