"""Roles that come with roles, in the table of who may do what and over HTTP."""

from dataclasses import replace
from typing import ClassVar

from keyplan.web import ANYONE, SIGNED_IN, Api, Service, allow
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM, Library
from tests.web.site import site
from tests.web.test_api import problem


class Reading(Service[Library]):
    """A library where who keeps it may also read."""

    all_roles = (ANYONE, SIGNED_IN, "reader", "keeper", "admin")
    comes_with: ClassVar = {"keeper": ("reader",)}

    @allow("reader")
    def read(self) -> list[str]:
        """What one is."""
        return sorted(self.my_roles)


def test_who_has_a_role_has_those_that_come_with_it(settings: Settings) -> None:
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
