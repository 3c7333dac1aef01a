"""E-mail addresses and user names of WavyBlog's accounts, and a file that was written with addresses in lower case."""

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.data import Store, VerifyFinding
from keyplan.engine import Engine
from keyplan.web.identity.reserved import RESERVED_NAMES
from tests.apps.blog_site import PASSWORD, add_user, blog
from tests.old_files import unpacked
from tests.web.answers import pointers, problem
from tests.web.command import keyplan
from tests.web.page_forms import send
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with blog(tmp_path) as served:
        yield served


def register(site: Site, name: str, email: str) -> httpx.Response:
    return site.as_().post("/register", json={"username": name, "email": email, "password": PASSWORD})


def test_one_address_however_it_is_written(site: Site) -> None:
    assert register(site, "grace", "Grace@BÜCHER.example").status_code == 201
    for number, same in enumerate(["grace@xn--bcher-kva.example", "ｇrace@bu\u0308cher.example"]):
        problem(register(site, f"other_{number}", same), 409, "email-taken")
        login = site.as_().post("/login", json={"user": same, "password": PASSWORD})
        assert login.status_code == 200
    account = site.as_("grace").get("/me").json()
    assert account["email"] == "Grace@BÜCHER.example", "it is shown as it was given"


@pytest.mark.parametrize("email", ["аda@example.org", "ada2@ехample.org", "ada2@example..org", "ada2@.example.org"])
def test_an_address_that_could_deceive_is_refused_when_it_is_given(site: Site, email: str) -> None:
    assert pointers(problem(register(site, "ada2", email), 422, "invalid")) == ["/email"]
    change = {"password": PASSWORD, "email": email}
    assert pointers(problem(site.as_("ada").post("/me/email", json=change), 422, "invalid")) == ["/email"]
    with httpx.Client(base_url=f"{site.url}/wavyblog") as visitor:
        page = send(visitor, "/register", "/register", username="ada2", email=email, password=PASSWORD, to="")
    assert page.status_code == 422
    assert "Enter an e-mail address " in unescape(page.text)


def test_attempts_count_for_all_spellings_of_an_address(site: Site) -> None:
    spellings = ["ada@example.org", "ADA@example.org", "ａda@example.org", "ada@ｅxample.org"] * 3
    statuses = [site.as_().post("/login", json={"user": each, "password": "wrong"}).status_code for each in spellings]
    assert statuses.count(429) >= 2 or statuses.count(401) == 12  # a minute may end in between
    assert 429 in statuses


# Names


@pytest.mark.parametrize("name", ["admin", "root", "support", "system", "ad_min", "web_master", "__admin__"])
def test_a_reserved_name_cant_be_registered(site: Site, name: str) -> None:
    assert pointers(problem(register(site, name, "x@example.org"), 422, "username-reserved")) == ["/username"]
    with httpx.Client(base_url=f"{site.url}/wavyblog") as visitor:
        page = send(visitor, "/register", "/register", username=name, email="x@example.org", password=PASSWORD, to="")
    assert page.status_code == 422
    assert "This username is reserved. Choose another one." in page.text
    assert 'value="x@example.org"' in page.text


def test_an_account_with_a_reserved_name_stays(site: Site) -> None:
    add_user(site, "moderator")
    assert site.as_().post("/login", json={"user": "moderator", "password": PASSWORD}).status_code == 200
    change = {"password": PASSWORD, "email": "new@example.org"}
    assert site.as_("moderator").post("/me/email", json=change).status_code == 200
    assert register(site, "administrate", "y@example.org").status_code == 201, "only whole names are reserved"


def test_reserved_names_are_compared_without_separators() -> None:
    assert {name for name in RESERVED_NAMES if not (name.isascii() and name.isalpha() and name.islower())} == set()


# A file in which the guards have addresses in lower case


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return unpacked("addresses.db", tmp_path)


def guards(file: Path) -> dict[str, str]:
    with Engine(str(file)) as engine:
        items = engine.scan(TableName="WavyBlog")["Items"]
    keys = {each["PK"]["S"]: each.get("Username", {}).get("S", "") for each in items}
    return {key.removeprefix("USEREMAIL#"): owner for key, owner in keys.items() if key.startswith("USEREMAIL#")}


BEFORE = {
    "ada@example.org": "ada",
    "grace@bücher.example": "grace",
    "zoe\u0308@example.org": "zoe",
    "zoë@example.org": "zoe2",
    "ken@example.org": "ken",
    "ｋen@example.org": "aken",
    "іvan@example.org": "ivan",
}


def test_repair_moves_guards_and_reports_accounts_with_the_same_address(file: Path, tmp_path: Path) -> None:
    assert guards(file) == BEFORE
    repaired = keyplan(tmp_path, "verify", "wavyblog", "--path", str(file), "--repair", "--json")
    assert repaired.returncode == 1, repaired.stderr
    report = json.loads(repaired.stdout)
    assert report["found"] == 7
    assert sorted(each["kind"] for each in report["left"]) == [*["duplicate"] * 2, *["orphan"] * 2, "over-limit"]
    # Grace's moved. The two pairs with one address keep what they had: nobody gets the other's.
    assert guards(file) == {
        **{address: owner for address, owner in BEFORE.items() if owner != "grace"},
        "grace@xn--bcher-kva.example": "grace",
    }
    left = keyplan(tmp_path, "verify", "wavyblog", "--path", str(file))
    assert left.returncode == 1
    assert "USER#aken" in left.stdout
    assert "USER#ken" in left.stdout
    with Engine(str(file)) as engine:
        store = Store(WavyBlog(), engine)
        grace, ken = (
            store.run(store.design.user_by_email(each)) for each in ("GRACE@bücher.example", "ken@EXAMPLE.org")
        )
        assert grace is not None
        assert ken is not None
        assert (grace.username, ken.username) == ("grace", "ken")
        assert {finding.kind for finding in _of(store, "ivan")} == {"over-limit"}, "it can still be read"


def _of(store: Store[WavyBlog], name: str) -> list[VerifyFinding]:
    return [finding for finding in store.verify() if finding.key["PK"] == {"S": f"USER#{name}"}]
