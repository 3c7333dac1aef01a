"""Permissions: the table made from the routes is true over HTTP, and roles that it doesn't list are refused."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import ClassVar

import httpx
import pytest

from keyplan.web import ANYONE, SIGNED_IN, Api, Service, allow
from keyplan.web.settings import Settings
from tests.web.answers import problem
from tests.web.library import SYSTEM, Library
from tests.web.site import Site, site

pytestmark = pytest.mark.usefixtures("both_ways")


class Reading(Service[Library]):
    """A library whose keepers may also read."""

    all_roles = (ANYONE, SIGNED_IN, "reader", "keeper", "admin")
    comes_with: ClassVar = {"keeper": ("reader",)}

    @allow("reader")
    def read(self) -> list[str]:
        """The caller's roles."""
        return sorted(self.my_roles)


def test_a_role_includes_the_roles_that_come_with_it(settings: Settings) -> None:
    api = Api(Reading)
    api.get("/read", Reading.read)
    [(_, _, may)] = api.who_may_do_what()
    assert may == {ANYONE: "no", SIGNED_IN: "no", "reader": "yes", "keeper": "yes", "admin": "no"}
    with site(replace(SYSTEM, api=api), settings) as served:
        assert served.as_("ada", "reader").get("/read").json() == ["anyone", "reader", "signed in"]
        assert served.as_("bob", "keeper").get("/read").json() == ["anyone", "keeper", "reader", "signed in"]
        problem(served.as_("eve", "admin").get("/read"), 403, "forbidden")
        problem(served.as_("eve").get("/read"), 403, "forbidden")
        problem(served.as_().get("/read"), 401, "no-token")


TABLE = {f"{verb} {path}": roles for verb, path, roles in SYSTEM.api.who_may_do_what()}
PEOPLE: dict[str, tuple[str, ...]] = {ANYONE: (), SIGNED_IN: ("ada",), "admin": ("root", "admin")}
"""A caller for each role."""
_numbers = count()


def shelf_of(site: Site, owner: str) -> str:
    made = site.as_(owner).post("/shelves", json={"name": f"Shelf {next(_numbers)}"})
    return f"/shelves/{made.json()['shelf_id']}"


ANY = {"If-Match": "*"}
GOOD: dict[str, Callable[[Site, httpx.Client, str], httpx.Response]] = {
    "GET /shelves": lambda site, client, owner: client.get("/shelves"),
    "POST /shelves": lambda site, client, owner: client.post("/shelves", json={"name": f"New {next(_numbers)}"}),
    "GET /shelves/{shelf_id}": lambda site, client, owner: client.get(shelf_of(site, owner)),
    "PATCH /shelves/{shelf_id}": lambda site, client, owner: client.patch(
        shelf_of(site, owner), json={"name": f"Other {next(_numbers)}"}, headers=ANY
    ),
    "DELETE /shelves/{shelf_id}": lambda site, client, owner: client.delete(shelf_of(site, owner), headers=ANY),
    "GET /shelves/{shelf_id}/books": lambda site, client, owner: client.get(f"{shelf_of(site, owner)}/books"),
    "POST /shelves/{shelf_id}/books": lambda site, client, owner: client.post(
        f"{shelf_of(site, owner)}/books", json={"isbn": f"{next(_numbers):010}", "title": "Emma"}
    ),
    "GET /gone": lambda site, client, owner: client.get("/gone"),
}
"""A valid request for each route; the third value is the owner of the item."""
FAULTY = {"POST /crash", "POST /forgetful"}
"""These fail even with permission."""


def test_the_table_lists_every_route() -> None:
    assert GOOD.keys() | FAULTY == TABLE.keys()
    assert all(roles.keys() == PEOPLE.keys() for roles in TABLE.values())


@pytest.mark.parametrize("role", PEOPLE)
@pytest.mark.parametrize("route", TABLE)
def test_each_role_may_do_what_the_table_says(library: Site, route: str, role: str) -> None:
    client = library.as_(*PEOPLE[role])
    verb, path = route.split()
    own = PEOPLE[role][0] if PEOPLE[role] else "bob"
    answer = client.request(verb, path) if route in FAULTY else GOOD[route](library, client, own)
    if TABLE[route][role] == "no":
        problem(answer, *((401, "no-token") if role == ANYONE else (403, "forbidden")))
    elif route in FAULTY:
        problem(answer, 500, "internal-error")
    else:
        assert answer.is_success, answer.text  # the caller's own item, so that the condition after `if` is met


@pytest.mark.parametrize("route", [route for route, roles in TABLE.items() if "your shelf" in roles[SIGNED_IN]])
def test_only_admins_may_change_other_peoples_items(library: Site, route: str) -> None:
    problem(GOOD[route](library, library.as_("ada"), "bob"), 403, "forbidden")
    assert GOOD[route](library, library.as_("root", "admin"), "bob").is_success
