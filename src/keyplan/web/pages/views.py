"""What a function that makes a page gets."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, unquote, urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from keyplan.data import BadCursor
from keyplan.web.identity.sessions import LASTS, NOTICE, Visitor
from keyplan.web.models.paging import BACK, MAX_CURSOR, Listing, Paging, ShownPage, all_of, page_of, turn
from keyplan.web.models.signatures import names_in_path
from keyplan.web.pages.forms import FORM, KEY, TOKEN, Form, Forms, Sent
from keyplan.web.pages.rendering import Site
from keyplan.web.pages.zones import CHOSEN, TOLD, clock, zone_named
from keyplan.web.system.access import Caller
from keyplan.web.system.observe import Trace
from keyplan.web.system.page_routes import Everywhere
from keyplan.web.system.service import Service

S = TypeVar("S", bound=Service[Any])
T = TypeVar("T")


class _FormToken:
    """The hidden fields of a button, made when a template shows them, so that pages without forms set no cookie."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor

    def __html__(self) -> str:
        return self()

    def __call__(self, *, once: bool = True, key: str = "") -> Markup:
        """The token that proves that the form is ours, and with `once` a key, with which it takes effect once."""
        field = _hidden_field(KEY, key or secrets.token_urlsafe(16)) if once else Markup()
        return _hidden_field(TOKEN, self._visitor.form_token()) + field

    def of_form(self, name: str, once: bool, key: str) -> Markup:
        """The hidden fields of a form with a name, and with this key unless it is empty."""
        return self(once=once, key=key) + _hidden_field(FORM, name)


def _hidden_field(name: str, value: str) -> Markup:
    return Markup('<input type="hidden" name="{}" value="{}">').format(name, value)


def _sentences(said: list[str]) -> str:
    """What is said, one after the other. A notice on its own has no period."""
    if len(said) < 2:
        return "".join(said)
    return " ".join(each if each.endswith((".", "!", "?")) else f"{each}." for each in said)


class ShownZone:
    """The time zone of a page, as templates show it."""

    def __init__(self, view: View[Any]) -> None:
        self.name = clock().zone.key
        self.is_viewers = view.site.zone is None and not clock().is_of_page
        """Whether each viewer has their own."""
        cookies = view.visitor.cookies
        self.cookie = cookies.name(TOLD) if self.is_viewers and cookies.get(CHOSEN) is None else None
        """Where a script keeps the browser's zone; None if it was chosen by hand."""
        self.is_read = view.request.method == "GET"
        """Whether the page can be loaded again."""


class View(Generic[S]):
    """A request for a page: the caller, their service, the form, and the ways to respond."""

    def __init__(
        self,
        site: Site,
        request: Request,
        visitor: Visitor,
        sent: Sent | None = None,
        everywhere: Everywhere | None = None,
        path: str = "",
    ) -> None:
        self.site = site
        self.request = request
        self.visitor = visitor
        self._token = _FormToken(visitor)
        self.forms = Forms(sent, self._token.of_form, request.url.path)
        """The forms of the page, each with what was entered in it and its errors."""
        self._everywhere = everywhere
        self._path = path

    @property
    def form(self) -> Form:
        """The main form of the page, which is the only one of most pages."""
        return self.forms()

    @property
    def caller(self) -> Caller | None:
        """The signed-in user; None if there is none."""
        return self.visitor.caller

    @cached_property
    def service(self) -> S:
        """The system's service, made for the caller."""
        trace: Trace = self.request.scope["keyplan"]
        return cast("S", self.site.running.service(self.caller, trace.address))

    def act_with(self, service: S) -> None:
        """Use this service, which was made for the request."""
        self.__dict__["service"] = service

    def render(self, template: str, /, *, status: int = 200, sends_files: bool = False, **values: object) -> Response:
        """A page from a template. Besides `values`, templates know `system`, `site`, `caller`, `form`, `forms`,
        `notice`, `csrf`, `here`, `url` and `asset` for URLs, and the values of `Pages.on_every_page`. Every form begins
        with its hidden fields, `{{ form.hidden() }}`, and one that is only a button with `{{ csrf }}`.

        With `sends_files`, its forms and scripts may upload files.
        """
        known: dict[str, object] = {
            "caller": self.caller,
            "form": self.form,
            "forms": self.forms,
            "csrf": self._token,
            "notice": self._notice(),
            "here": self.here,
            "zone": ShownZone(self),
            **(self._everywhere(self) if self._everywhere is not None else {}),
        }
        return HTMLResponse(
            self.site.render(template, {**known, **values}), status, self.site.headers(sends_files=sends_files)
        )

    def show_times_in(self, zone: str | None) -> None:
        """Show times, and ask for them, in the time zone of what the page is about, such as a team or a league.

        None, or a zone that isn't known, leaves the zone of the system or the viewer. Forms send their zone along.
        """
        if (found := zone_named(zone)) is not None:
            clock().zone, clock().is_of_page = found, True

    def page(
        self,
        listing: Callable[[Paging], Listing[T]],
        order: str,
        limit: int = 50,
        *,
        by: Callable[[T], str] | None = None,
        newest_first: bool = False,
    ) -> ShownPage[T]:
        """The page of a list that the URL asks for with `cursor`, and the links to the pages around it.

        `order` says how the list is sorted. If the listing has no order, or another one, `by` is what the items are
        sorted by, different for each of them: the list is read whole then, so it has to be small by nature.
        """
        asked = self.request.query_params
        cursor, back = asked.get("cursor"), asked.get(BACK)
        if any(each is not None and len(each) > MAX_CURSOR for each in (cursor, back)):
            raise BadCursor("this is longer than any cursor")
        page = Paging(limit=limit, cursor=cursor)
        if by is None:
            found = listing(page)
        else:
            every = all_of(listing, most=10_000)
            found = page_of(self.site.running.store, self._path, every, page, by, newest_first=newest_first)
        return ShownPage(
            found.items, turn(self._first_page(), cursor, back, found.next, order if found.items else None)
        )

    def _first_page(self) -> str:
        """The URL of the page that is shown, without a cursor. A refused form is shown again by another page."""
        named = {name: self.request.path_params[name] for name in names_in_path(self._path)}
        asked = [
            (name, value)
            for name, value in self.request.query_params.multi_items()
            if value and name not in ("cursor", BACK)
        ]
        return self.site.url(self._path, **named) + (f"?{urlencode(asked)}" if asked else "")

    def redirect(self, path: str, /, *, notice: str | None = None, **values: object) -> Response:
        """Redirect to another page of the system: `redirect("/posts/{slug}", slug=post.slug, notice="Post saved")`.

        The notice is shown there once.
        """
        return self.redirect_to(self.site.url(path, **values), notice=notice)

    def redirect_to(self, address: str, /, *, notice: str | None = None) -> Response:
        """Redirect to a URL, such as one that `site.local` returned."""
        said = [self.site.language.say(each) for each in ([] if notice is None else [notice]) + clock().remarks]
        return self.redirect_again(address, quote(_sentences(said)))

    def redirect_again(self, address: str, notice: str) -> Response:
        """Redirect with the notice of an earlier response, as its cookie has it; empty for none."""
        if notice:
            self.visitor.cookies.set(NOTICE, notice, timedelta(minutes=1))
        return RedirectResponse(address, 303)

    def sign_in(self, caller: Caller, lasts: timedelta = LASTS) -> None:
        """Open a session in this browser, replacing the current one."""
        self.visitor.sign_in(caller, lasts)
        self.__dict__.pop("service", None)  # it was made for the previous caller

    def sign_out(self) -> None:
        """Close this browser's session."""
        self.visitor.sign_out()
        self.__dict__.pop("service", None)

    @property
    def here(self) -> str:
        """The URL of this page, without the host."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    def _notice(self) -> str | None:
        notice = self.visitor.cookies.get(NOTICE)
        if notice is None:
            return None
        self.visitor.cookies.drop(NOTICE)
        return unquote(notice)
