"""The pages of a system, made on the server. They work without JavaScript.

    pages = Pages("keyplan.apps.wavyblog")

    @pages.get("/posts/{slug}")
    def post(view: View[Blog], slug: str) -> Response:
        return view.render("post.html", post=view.service.post(slug))

    @pages.get("/write")
    def write(view: View[Blog]) -> Response:
        return view.render("write.html")

    @pages.post("/write")
    def save(view: View[Blog], new: NewPost) -> Response:
        return view.redirect("/posts/{slug}", slug=view.service.create_post(new).slug, notice="Post saved")

    pages.form("/posts/{slug}/delete", Blog.delete_post, to="/", notice="Post deleted", again=post)

A form that calls one method of the service and leads to another page is one line (`form`, `delete`; see `page_forms`),
and so is a page that only shows what the service reads (`show`; see `page_views`).

Names in the path are path parameters, an `In` is the form, a `Paging` is `limit` and `cursor`, anything else is a query
parameter. If a rule refuses something, the form is shown again with the errors (by the page of the same path, or
`again`), or a page with the problem. People who have to sign in first are redirected there and back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, get_type_hints

from starlette.responses import Response

from keyplan.web.models.bodies import In
from keyplan.web.models.signatures import REQUIRED, check_path, signature_of
from keyplan.web.system.access import Caller, permission_of
from keyplan.web.system.confirm import Confirm
from keyplan.web.system.language import ENGLISH, Language
from keyplan.web.system.page_forms import Notice, calling, check_names, names_in
from keyplan.web.system.page_views import Asked, Reads, showing

PageFunction: TypeAlias = Callable[..., Response]
"""Makes a page: its first parameter is a `View`, the others come from the path, the query and the form."""

Everywhere: TypeAlias = Callable[[Any], Mapping[str, object]]
"""Makes the values that every page of a system gets, from a `View`."""


@dataclass(frozen=True)
class PageRoute:
    """An HTTP method and path, and the function that makes the page."""

    verb: str
    path: str
    function: PageFunction
    again: PageFunction | None = None
    """Shows the form again if what was sent is refused."""
    again_at: str = ""
    """The path of the page that does."""
    rate: int | None = None
    """The maximum requests per minute from an address, if lower than the general limit."""
    hashes: bool = False
    """Whether it hashes a password, and so waits in the queue for that."""
    once: bool = True
    """Whether a form that is sent again with its key takes effect once."""
    confirm: Confirm | None = None
    """What is asked first, if it can't be undone."""

    @property
    def takes_key(self) -> bool:
        """Whether its form carries a one-time key: not if it asks for a password."""
        return self.once and not self.hashes


@dataclass(frozen=True)
class Person:
    """A user whom developers can sign in as with one click."""

    sub: str
    name: str
    groups: Sequence[str] = ()
    about: str = ""
    claims: Mapping[str, object] = field(default_factory=dict)

    def caller(self) -> Caller:
        """The person as a caller."""
        return Caller(self.sub, frozenset(self.groups), {"name": self.name, **self.claims})


F = TypeVar("F", bound=PageFunction)


class Pages:
    """The pages of a system; its templates and static files are in the folders `templates` and `static` of a package,
    or beside a module: `Pages(__name__)`.

    `sign_in` is the path of the system's own sign-in page, if it has its own accounts. `people` are the users that
    developers can sign in as. `language` translates the English sentences of the kit and the rules. `zone` is the time
    zone of all times; without it, each viewer has their own.
    """

    def __init__(
        self,
        package: str,
        *,
        title: str | None = None,
        sign_in: str | None = None,
        people: Sequence[Person] = (),
        language: Language = ENGLISH,
        zone: str | None = None,
    ) -> None:
        self.package = package
        self.title = title
        self.sign_in = sign_in
        self.people = people
        self.language = language
        self.zone = zone
        self.routes: list[PageRoute] = []
        self.everywhere: Everywhere | None = None

    def on_every_page(self, known: Everywhere) -> Everywhere:
        """Register a function of the view that makes the values that every page gets, such as menus."""
        self.everywhere = known
        return known

    def get(self, path: str, *, rate: int | None = None) -> Callable[[F], F]:
        """Register a page."""

        def declare(function: F) -> F:
            check_path(f"GET {path}", function)
            self.routes.append(PageRoute("GET", path, function, rate=rate))
            return function

        return declare

    def show(
        self,
        path: str,
        template: str,
        /,
        *,
        asks: Reads | type[In] | None = None,
        starts_from: str | Mapping[str, object] | None = None,
        requires: Reads | None = None,
        **values: object,
    ) -> PageFunction:
        """Register a page that is a template with values, which are read from the service; see `page_views`.

        `asks` is what its form is for, a method or a model, and `starts_from` what it shows first: one
        of the values, by its name, or others.
        Only those get the page who may call `requires`; if that isn't a method of the service, it raises the problem.
        """
        asked = None if asks is None else Asked(asks, starts_from)
        return self.get(path)(showing(path, template, asked, requires, values))

    def delete(
        self,
        path: str,
        method: Callable[..., object],
        noun: str,
        then: str = "This can't be undone.",
        /,
        *,
        one: Callable[..., object],
        to: str,
        name: str = "{name}",
        shows: str | None = None,
        again: PageFunction | None = None,
    ) -> None:
        """Register a form that deletes a thing, which `one` reads, after asking by its name.

        `then` says what will happen, beside that it is gone; `shows` is as for `Confirm`, the rest as for `form`.
        """
        confirm = Confirm(f"Delete the {noun} {name}?", f"Delete {noun}", then, about=one, shows=shows)
        said = f"{noun.capitalize()} deleted"
        self.form(path, method, to=to, notice=said, again=again, before=one, confirm=confirm)

    def post(
        self,
        path: str,
        *,
        again: PageFunction | None = None,
        rate: int | None = None,
        hashes: bool = False,
        once: bool = True,
        confirm: Confirm | None = None,
    ) -> Callable[[F], F]:
        """Register what a form does. `again` shows the form again; by default, the page with the same path does.

        With `hashes`, it hashes a password: it waits in the queue for that, and is refused if the queue is full.

        With its one-time key, a form takes effect once; sent again, it gets the first redirect. What hashes a password
        takes no key, nor with `once=False` what signs people in, or writes nothing, such as a preview.

        `confirm` is what is asked before something that can't be undone.
        """

        def declare(function: F) -> F:
            check_path(f"POST {path}", function)
            if confirm is not None:
                _check_confirm(path, function, confirm)
            shown = [page for page in self.routes if page.verb == "GET"]
            shows = again or next((page.function for page in shown if page.path == path), None)
            if shows is not None:
                _check_again(path, function, shows)
            shown_at = next((page.path for page in shown if page.function is shows), path)
            self.routes.append(PageRoute("POST", path, function, shows, shown_at, rate, hashes, once, confirm))
            return function

        return declare

    def form(
        self,
        path: str,
        method: Callable[..., object],
        *,
        to: str,
        notice: Notice | None = None,
        again: PageFunction | None = None,
        before: Callable[..., object] | None = None,
        hashes: bool = False,
        confirm: Confirm | None = None,
    ) -> None:
        """Register a form that calls a method of the service, and then leads to the page `to`, with a notice there.

        Names in braces, in `to` and in the notice, are those of values that the method returned, or of the form or the
        path. `before` is a method that is called first, for values of something that is deleted. `hashes` and `confirm`
        are as for `post`.
        """
        permission = permission_of(method)
        if permission is not None and permission.one_way and confirm is None:
            raise TypeError(f"POST {path}: {method.__qualname__} can't be undone. Ask first, with confirm=.")
        declare = self.post(path, again=again, hashes=hashes, confirm=confirm)
        declare(calling(method, path, to, notice, before))


def _check_confirm(path: str, function: PageFunction, confirm: Confirm) -> None:
    body = signature_of(function).body
    names = [name for text in (confirm.question, confirm.button) if isinstance(text, str) for name in names_in(text)]
    returned = get_type_hints(confirm.about).get("return") if confirm.about is not None else None
    check_names(path, names, None if body is None else body[1], returned)


def _check_again(path: str, function: PageFunction, shows: PageFunction) -> None:
    given = {each.name for each in signature_of(function).parameters}
    taken = signature_of(shows).parameters
    needed = {each.name for each in taken if each.default is REQUIRED and not each.is_paging}
    if needed - given:
        raise TypeError(
            f"POST {path}: {function.__name__} can't be shown again by {shows.__name__}, "
            f"which needs {', '.join(sorted(needed - given))}. Take it too, or name another page with again=."
        )
