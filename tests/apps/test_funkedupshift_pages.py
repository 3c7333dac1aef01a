"""funkedupshift's pages over real HTTP: who may open each page, and what its forms do and refuse."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from keyplan.apps.funkedupshift.pages import pages
from tests.apps.fus_pages import Reader, hidden, notice_of, text_of
from tests.apps.fus_site import ANY, FusSite, fus, match, png, reset, send_avatar, somebody
from tests.web.site import Site

KINDS = ("anyone", "signed in", "sites:write", "manager", "member", "manager in Squash", "admin")
ALL, KNOWN = (200,) * 7, (303, *(200,) * 6)
SITES = (303, 403, 200, 403, 403, 403, 200)
ADMINS = (303, 403, 403, 403, 403, 403, 200)
GROUPS = (303, 403, 403, 200, 403, 200, 200)
SQUASH = (404, 404, 404, 404, 200, 200, 200)
KEEPERS = (404, 404, 404, 404, 403, 200, 200)
SHOWN = {
    "/": ALL,
    "/sites/{site_id}": ALL,
    "/my-ratings": KNOWN,
    "/ratings": ADMINS,
    "/sites/{site_id}/ratings": ADMINS,
    "/sites/{site_id}/comments/{comment_id}/edit": (303, 200, 403, 403, 403, 403, 403),
    "/new-site": SITES,
    "/sites/{site_id}/edit": SITES,
    "/profile": KNOWN,
    "/groups": GROUPS,
    "/new-group": GROUPS,
    "/groups/{name}": GROUPS,
    "/memberships": GROUPS,
    "/squash": SQUASH,
    "/squash/matches": SQUASH,
    "/squash/players": SQUASH,
    "/squash/new-player": KEEPERS,
    "/squash/players/{player_id}": KEEPERS,
    "/squash/new-match": KEEPERS,
    "/squash/matches/{match_id}": KEEPERS,
}


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, dict[str, str]]]:
    """A site that no test changes, and the values for its paths."""
    with fus(tmp_path_factory.mktemp("steady")) as site:
        comment = site.as_("ada").post("/sites/one/comments", json={"body": "Ada's <b>words</b>"}).json()["comment_id"]
        played = match(somebody(site, "admin"))["match_id"]
        known = {"site_id": "one", "comment_id": comment, "name": "walkers", "player_id": "p1", "match_id": played}
        yield site, known


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FusSite]:
    with fus(tmp_path_factory.mktemp("fus")) as started:
        yield started


@pytest.fixture
def site(served: FusSite) -> Site:
    return reset(served)


def test_the_table_has_every_page() -> None:
    assert {page.path for page in pages.routes if page.verb == "GET"} == SHOWN.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_for_somebody(steady: tuple[Site, dict[str, str]], kind: str) -> None:
    site, values = steady
    reader = Reader(site, kind)
    answers = {path: reader.get(path.format(**values)) for path in SHOWN}
    at = KINDS.index(kind)
    assert {path: answer.status_code for path, answer in answers.items()} == {path: SHOWN[path][at] for path in SHOWN}
    for path, answer in answers.items():
        assert "content-security-policy" in answer.headers
        assert "<b>words" not in answer.text
        if answer.status_code == 404:
            assert "Squash" not in answer.text, path
        if kind in ("anyone", "signed in") and answer.status_code == 200:
            assert "p1@example.org" not in answer.text


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_is_refused_without_permission(steady: tuple[Site, dict[str, str]], kind: str) -> None:
    """Users who can't open a form's page can't send the form either. This test changes nothing."""
    site, values = steady
    reader = Reader(site, kind)
    forms = [page.path for page in pages.routes if page.verb == "POST"]
    for path in forms:
        answer = reader.send(path.format(**values), version="999", user_id="nobody")
        assert answer.status_code in (303, 400, 401, 403, 404, 409, 412, 422), path
        if answer.status_code == 303:
            assert path == "/profile/avatar/delete"
    assert site.running.store.verify() == []


def test_the_catalog(site: Site) -> None:
    root = somebody(site, "admin")
    for number in range(30):
        root.post("/sites", json={"url": f"https://n{number}.example.org", "title": f"Title {number}", "tags": ["c#"]})
    site.as_("ada").put("/sites/one/rating", json={"stars": 4})
    reader = Reader(site, "anyone")
    first = reader.get("/")
    assert first.text.count("<h2>") == 25
    second = reader.get(re.search(r'rel="next" href="([^"]*)"', first.text)[1].replace("&amp;", "&"))  # type: ignore[index]
    assert second.text.count("<h2>") == 6
    assert "4 of 5 stars" in second.text or "4 of 5 stars" in first.text
    assert f'href="/funkedupshift/?tag={quote("c#")}"' in first.text
    tagged = reader.get("/?tag=C%23&text=title+1")
    assert tagged.text.count("<h2>") == 11
    assert "No sites match your search." in reader.get("/?text=nowhere").text
    assert reader.get("/?cursor=x").status_code == 400


def test_rating_on_the_page(site: Site) -> None:
    ada = Reader(site, "signed in")
    assert notice_of(ada.follow(ada.send("/sites/one/rating", stars="4", note="Fine"))) == "Rating saved"
    page = ada.get("/sites/one")
    assert 'value="4" required checked' in page.text
    assert "4.0 (1)" in text_of(page)
    refused = ada.send("/sites/one/rating", form="rating", note="No stars")
    assert refused.status_code == 422
    assert "No stars" in refused.text
    assert ada.send("/sites/one/rating/delete", version="9").status_code == 412
    assert notice_of(ada.follow(ada.send("/sites/one/rating/delete", version="1"))) == "Rating deleted"
    assert "Not rated yet" in ada.get("/sites/one").text
    assert "You haven't rated" in ada.get("/my-ratings").text


def test_admins_see_who_rated_a_site(site: Site) -> None:
    site.as_("ada").put("/sites/one/rating", json={"stars": 2, "note": "A note"})
    root, ada = Reader(site, "admin"), Reader(site, "signed in")
    assert "/sites/one/ratings" in root.get("/sites/one").text
    assert "/sites/one/ratings" not in ada.get("/sites/one").text
    shown = text_of(root.get("/sites/one/ratings"))
    assert "A note" in shown
    assert "Somebody · ada" in shown
    assert ada.get("/sites/one/ratings").status_code == 403


def test_comments_on_the_page(site: Site) -> None:
    ada, root = Reader(site, "signed in"), Reader(site, "admin")
    page = ada.follow(ada.send("/sites/one/comments", body="Line one\nLine two <script>"))
    assert "Line two &lt;script&gt;" in page.text
    edit = re.search(r'href="(/funkedupshift/sites/one/comments/[^"]*/edit)"', page.text)
    assert edit
    path = edit[1].removeprefix("/funkedupshift")
    changed = ada.send(path, body="Other words", version=hidden(ada.get(path), "version"))
    assert notice_of(ada.follow(changed)) == "Comment saved"
    stale = ada.send(path, body="Late", version="1")
    assert stale.status_code == 412
    assert "This was changed in the meantime." in stale.text
    assert "Late" in stale.text
    assert ada.send("/sites/one/comments", body="").status_code == 422
    gone = root.send(path.replace("/edit", "/delete"), version="2")
    assert notice_of(root.follow(gone)) == "Comment deleted"
    assert Reader(site, "anyone").send("/sites/one/comments", body="x").status_code == 401


def test_keeping_sites(site: Site) -> None:
    sue = Reader(site, "sites:write")
    made = sue.send("/new-site", url="https://new.example.org", title="", description="", tags="C#\n\n web ")
    page = sue.follow(made)
    assert notice_of(page) == "Site added"
    path = made.headers["location"].removeprefix("/funkedupshift")
    assert site.as_().get(path).json()["tags"] == ["c#", "web"]
    refused = sue.send("/new-site", url="javascript:x", title="Kept", tags="x" * 51)
    assert refused.status_code == 422
    assert "URL: Enter a URL that starts with https:// or http://" in text_of(refused)
    assert "Tags: Use at most 50 characters." in text_of(refused)
    assert 'value="Kept"' in refused.text
    edit = sue.get(f"{path}/edit")
    assert "c#\nweb" in edit.text
    form = {"url": "https://new.example.org", "title": "New", "description": "", "tags": "web"}
    assert sue.send(f"{path}/edit", version="1", **form).status_code == 303
    assert site.as_().get(path).json()["tags"] == ["web"]
    assert sue.send(f"{path}/edit", version="1", **form).status_code == 412
    assert sue.send(f"{path}/edit", version="2", **{**form, "tags": "\n".join(map(str, range(21)))}).status_code == 422
    assert notice_of(sue.follow(sue.send(f"{path}/delete", version="2"))) == "Site deleted"
    assert sue.get(path).status_code == 404


def test_a_title_that_equals_the_address_changes_with_it(site: Site) -> None:
    sue = Reader(site, "sites:write")
    long = f"https://new.example.org/{'x' * 400}"
    made = sue.send("/new-site", url=long, title="", description="", tags="")
    path = made.headers["location"].removeprefix("/funkedupshift")
    assert re.search(r'<input[^>]*name="title"[^>]*value=""', sue.get(f"{path}/edit").text)
    changed = {"url": "https://moved.example.org", "title": "", "description": "", "tags": ""}
    assert sue.send(f"{path}/edit", version="1", **changed).status_code == 303
    assert site.as_().get(path).json()["title"] == "https://moved.example.org"


def test_the_profile_page(site: Site) -> None:
    ada = Reader(site, "signed in")
    page = ada.get("/profile")
    assert "127.0.0.1" in page.text
    saved = ada.send("/profile", display_name="Ada L.", description="Counts", version=hidden(page, "version"))
    assert notice_of(ada.follow(saved)) == "Profile saved"
    assert ada.send("/profile", display_name="x" * 101, description="", version="2").status_code == 422
    assert ada.send("/profile", display_name="Late", description="", version="1").status_code == 412
    ticket = ada.send("/profile/avatar/new", content_type="image/png")
    fields = {name: hidden(ticket, name) for name in re.findall(r'type="hidden" name="([^"]+)"', ticket.text)}
    upload = fields.pop("upload_id")
    fields = {name: value for name, value in fields.items() if name not in ("csrf", "idempotency_key", "to")}
    httpx.post(f"{site.url}/media/upload", data=fields, files={"file": ("a.png", png(), "image/png")})
    shown = ada.follow(ada.send("/profile/avatar", upload_id=upload))
    assert notice_of(shown) == "Picture saved"
    assert re.search(r'<img class="avatar" src="/media/funkedupshift/profile/avatars/ada/[^"]+.png"', shown.text)
    assert ada.send("/profile/avatar/new", content_type="image/svg+xml").status_code == 422
    removed = ada.follow(ada.send("/profile/avatar/delete"))
    assert "<img" not in removed.text
    other = send_avatar(site.as_("bob"), png())
    assert ada.send("/profile/avatar", upload_id=other).status_code == 404


def test_groups_on_the_page(site: Site) -> None:
    manager, root = Reader(site, "manager"), Reader(site, "admin")
    made = manager.send("/new-group", name="readers", description="They read.", permissions=["groups:write"])
    assert notice_of(manager.follow(made)) == "Group created"
    assert "is reserved" in manager.send("/new-group", name="Admin", description="").text
    assert manager.send("/new-group", name="readers", description="").status_code == 409
    assert manager.send("/new-group", name="x", description="", permissions=["squash:read"]).status_code == 403
    added = manager.follow(manager.send("/groups/readers/members", user_id="auth0|7"))
    assert notice_of(added) == "auth0|7 added"
    assert manager.send("/groups/readers/members", user_id="auth0|7").status_code == 409
    assert "readers" in text_of(manager.get("/memberships?user_id=auth0%7C7"))
    assert manager.send("/groups/readers", description="New", permissions=[], version="1").status_code == 303
    assert site.as_("root", "admin").get("/groups/readers").json()["permissions"] == []
    assert manager.send("/groups/readers", description="Late", version="1").status_code == 412
    out = manager.follow(manager.send("/groups/readers/members/remove", user_id="auth0|7"))
    assert notice_of(out) == "auth0|7 removed"
    assert notice_of(manager.follow(manager.send("/groups/readers/delete", version="2"))) == "Group readers deleted"
    editors = manager.get("/groups/with-sites-write")
    assert "permissions that you can't grant" in text_of(editors)
    assert "/members/remove" in editors.text, "what they may take away is there"
    assert re.findall(r'value="([^"]+)" id="may-[0-9]"[^>]* disabled', editors.text) == ["squash:read", "squash:write"]
    squash = manager.get("/groups/Squash")
    assert "<form" not in squash.text.partition("<main")[2], "nothing there is for managers to do"
    assert "Only admins can see and change the members of Squash." in squash.text
    assert "moe" not in squash.text
    assert "moe" in root.get("/groups/Squash").text
    assert manager.send("/groups/Squash/members", user_id="max").status_code == 403
    assert "Squash" not in text_of(manager.get("/memberships?user_id=moe"))


def test_a_form_that_is_refused_leaves_the_other_form_of_its_page_as_it_was(site: Site) -> None:
    root = Reader(site, "admin")
    assert root.send("/groups/walkers", version="1", description="On foot", permissions="sites:write").is_redirect
    refused = root.send("/groups/walkers/members", form="member", user_id="a#b")
    assert refused.status_code == 422
    assert 'value="a#b"' in refused.text
    assert 'value="On foot"' in refused.text
    assert re.search(r'value="sites:write"[^>]* checked', refused.text)
    refused = root.send("/groups/walkers", version="2", description="x" * 501)
    assert refused.status_code == 422
    assert not re.search(r'value="sites:write"[^>]* checked', refused.text)
    match(site.as_("root", "admin"))
    player = root.send("/squash/players/p1/delete", form="", version="1")
    assert player.status_code == 409
    assert 'value="P1"' in player.text


def test_squash_on_the_page(site: Site) -> None:
    mia, moe = Reader(site, "manager in Squash"), Reader(site, "member")
    form = {"date": "2026-03-01", "team_a_games": "3", "team_b_games": "1"}
    four = {
        f"team_{team}_player{n}_id": f"p{at}"
        for at, (team, n) in enumerate((("a", 1), ("a", 2), ("b", 1), ("b", 2)), 1)
    }
    assert notice_of(mia.follow(mia.send("/squash/new-match", **form, **four))) == "Match added"
    refused = mia.send("/squash/new-match", **{**form, "team_b_games": "3"}, **four)
    assert refused.status_code == 422
    assert "The winning team must have 3 games" in refused.text
    assert '<option value="p2" selected>' in refused.text
    page = mia.get("/squash/matches")
    assert "P1 & P2 3:1 P3 & P4" in text_of(page)
    path = re.search(r'href="/funkedupshift(/squash/matches/[^"?]+)"', page.text)[1]  # type: ignore[index]
    moved = mia.send(path, **{**form, "date": "2026-05-01"}, **four, version="1")
    assert notice_of(mia.follow(moved)) == "Match saved"
    table = text_of(moe.get("/squash"))
    assert "1 match, all time" in table
    assert "P1 1 1 3:1" in table
    assert "P1" in text_of(moe.get("/squash?date_from=2026-05-01&date_to=2026-05-31"))
    assert "No matches in this range" in moe.get("/squash?date_from=2026-01-01&date_to=2026-04-30").text
    for at in ("/squash", "/squash/matches"):
        for query, why in {
            "date_from=x": "Enter a date as YYYY-MM-DD.",
            "date_from=2026-02-01&date_to=2026-01-01": "The range ends before it starts.",
        }.items():
            answer = moe.get(f"{at}?{query}")
            assert answer.status_code == 422
            assert why in text_of(answer)
            assert 'name="date_to"' in answer.text, "other days can be chosen there"
            assert Reader(site, "manager").get(f"{at}?{query}").status_code == 404, "not even a refusal is there"
    assert "P1 & P2" in text_of(moe.get("/squash/matches?player=p1&date_from=&date_to="))
    assert "P1 & P2" in text_of(moe.get("/squash/matches?player=p1&how=all&player=p3"))
    assert "No matches fit these filters" in moe.get("/squash/matches?player=p1&how=all&player=p5").text
    assert "P1 & P2" in text_of(moe.get("/squash/matches?player=p1&how=any&player=p5"))
    assert "No matches fit these filters" in moe.get("/squash/matches?player=p5").text
    assert "Edit" not in text_of(moe.get("/squash/matches"))
    assert "example.org" not in moe.get("/squash/players").text
    assert "p1@example.org" in mia.get("/squash/players").text
    assert mia.send("/squash/players/p1/delete", version="1").status_code == 409
    assert mia.send("/squash/players/p5", name="Five", email="", user_id="", version="1").status_code == 303
    assert notice_of(mia.follow(mia.send("/squash/players/p5/delete", version="2"))) == "Player deleted"
    assert notice_of(mia.follow(mia.send("/squash/new-player", name="Six", email="", user_id=""))) == "Six added"
    assert notice_of(mia.follow(mia.send(f"{path}/delete", version="2"))) == "Match deleted"
    assert site.running.store.verify() == []


def test_somebody_who_leaves_squash_no_longer_sees_it(site: Site) -> None:
    moe = Reader(site, "member")
    assert ">Squash</a>" in moe.get("/").text
    somebody(site, "admin").delete("/groups/Squash", headers=ANY)
    assert moe.get("/squash").status_code == 404
    assert "Squash" not in moe.get("/").text
