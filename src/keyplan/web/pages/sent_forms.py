"""The form that came with a request: which form it is, its key, and what is left of it if it can't be shown again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path

from keyplan.web.identity.sessions import OTHER_USER, Visitor, owner_of
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import BadRequest, Problem, TimedOut, TooManyRequests
from keyplan.web.models.signatures import names_in_path, signature_of
from keyplan.web.pages.bodies import EditorForm
from keyplan.web.pages.forms import FORM, KEY, TOKEN, Form, Sent, Typed, beside, values_of
from keyplan.web.pages.kept import KEPT, Entered, Keeping, Unsent
from keyplan.web.pages.rendering import Site
from keyplan.web.pages.views import View
from keyplan.web.system.confirm import Confirm
from keyplan.web.system.directions import isolated
from keyplan.web.system.language import Language
from keyplan.web.system.page_routes import PageRoute
from keyplan.web.system.running import WouldWriteError

SEND_AGAIN = (TooManyRequests, TimedOut)
"""After these, people can send the same again with a button."""
_LONGEST_KEY = 255
_NAME_LENGTH = 40
_SECRETS = ("password", "secret")
_SHOWN_NOWHERE = ("version",)
_MADE_ID = re.compile(
    "(?<![0-9a-z])([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9]{14}-[0-9a-f]{32})$",
    re.IGNORECASE,
)
"""An ID that was made by a system, or that of an upload."""


def sent_with(page: PageRoute, request: Request, problem: Problem | None = None) -> Sent | None:
    """The form that was sent with a request."""
    typed: Typed | None = request.scope.get("keyplan.typed")
    if typed is None:
        return None
    return Sent(_first(typed, FORM) or None, typed, _model_of(page), problem)


def key_of(request: Request, typed: Typed) -> str | None:
    """The key with which a form takes effect once: its hidden field, or the header that API clients send."""
    key = _first(typed, KEY) or request.headers.get("idempotency-key", "")
    if len(key) > _LONGEST_KEY:
        raise BadRequest("bad-idempotency-key", f"An idempotency key has at most {_LONGEST_KEY} characters.")
    return key or None


def texts_to_copy(request: Request, problem: Problem, language: Language) -> list[tuple[str, str]]:
    """What was entered in a form that can't be shown again, for copying: labels and texts, as people read them.

    Not of a form that somebody else opened, nor what is sent again with a button.
    """
    sent: Sent | None = request.scope.get("keyplan.sent")
    if sent is None and (typed := request.scope.get("keyplan.typed")):  # of no page, so that the labels aren't known
        sent = Sent(_first(typed, FORM) or None, typed)
    if sent is None or sent.name is None or problem.code == OTHER_USER or isinstance(problem, SEND_AGAIN):
        return []
    return _texts_of(sent, language)


def _texts_of(sent: Sent, language: Language) -> list[tuple[str, str]]:
    form = Form(sent)
    entered: Mapping[str, Sequence[str]] = _without_secrets(sent.typed)
    if sent.model is not None and issubclass(sent.model, EditorForm):
        entered = sent.model.texts(entered)
    texts = {name: "\n".join(_read_by_people(form, name, each, language)) for name, each in entered.items()}
    return [(form.label(name), text) for name, text in texts.items() if text and form.is_seen(name) and _is_shown(name)]


def _read_by_people(form: Form, name: str, values: Sequence[str], language: Language) -> Iterator[str]:
    """The values of a field, by their names where they were chosen. IDs without a name say nothing to people."""
    names = form.named(name)
    for each in values:
        if each in names:
            yield names[each]
        elif each and not _MADE_ID.search(each):
            yield _said(form, name, each, language)


def _said(form: Form, name: str, text: str, language: Language) -> str:
    """What an input has as its value, in words."""
    kinds = form.kinds(name)
    if bool in kinds:
        return language.say("No" if text == "false" else "Yes")
    with suppress(ValueError):  # it was refused for that, or is about to be
        if datetime in kinds:
            time = datetime.fromisoformat(text)
            return f"{language.day(time)}, {time:%H:%M} ({form.zone(name)})"
        if date in kinds:
            return language.day(date.fromisoformat(text))
    return text


def _called(sent: Sent, language: Language) -> str:
    """The first text that was entered in a form, by which people know it again."""
    first = next((text for _, text in _texts_of(sent, language) if " " in text or len(text) > 3), "").strip()
    return first if len(first) <= _NAME_LENGTH else f"{first[:_NAME_LENGTH].rstrip()}…"


def fields_to_send_again(request: Request, problem: Problem) -> list[tuple[str, str]]:
    """The fields of a form that a limit refused, or that took too long; none if it has a password."""
    typed: Typed = request.scope.get("keyplan.typed", {})
    if not isinstance(problem, SEND_AGAIN) or len(_without_secrets(typed)) < len(values_of(typed)):
        return []
    return [(name, value) for name, values in typed.items() if name != TOKEN for value in values]


def _first(typed: Typed, name: str) -> str:
    return next(iter(typed.get(name, ())), "")


def _model_of(page: PageRoute) -> Any:  # noqa: ANN401 - a class of bodies, or None
    body = signature_of(page.function).body
    return None if body is None else body[1]


def _without_secrets(typed: Typed) -> dict[str, list[str]]:
    return {
        name: values for name, values in values_of(typed).items() if not any(each in name.lower() for each in _SECRETS)
    }


def _is_shown(name: str) -> bool:
    return name not in _SHOWN_NOWHERE and "." not in name  # a time has its zone beside it, with a dot


class KeptFormChoice(In):
    """A kept form, and the page to continue with."""

    kept: Annotated[str, StringConstraints(max_length=64)]
    to: Annotated[str, StringConstraints(max_length=4096)] = ""


def kept_form_pages(site: Site) -> list[PageRoute]:
    """What the button takes that discards a kept form."""
    keeping = Keeping(site.running.store)

    def discard(view: View[Any], which: KeptFormChoice) -> Response:
        if view.service.visit.rehearses:
            raise WouldWriteError
        keeping.discard(view.visitor, which.kept)
        return view.redirect_to(view.site.local(which.to), notice="Form discarded")

    def question(view: View[Any], thing: object) -> str:
        entered = keeping.find(view.visitor, _first(view.request.scope["keyplan.typed"], "kept"))
        if entered is None or not entered.called:
            return view.site.language.say("Discard the form?")
        return view.site.language.say(f"Discard the form “{isolated(entered.called)}”?")

    confirm = Confirm(question, "Discard form", "What you entered in it is deleted.")
    return [PageRoute("POST", "/unsent-form", discard, once=False, confirm=confirm)]


class KeptForms:
    """Keeps the forms of a system's pages whose session has ended, and shows them again."""

    def __init__(self, site: Site, pages: Sequence[PageRoute]) -> None:
        self._site = site
        self._keeping = Keeping(site.running.store)
        self._takes = {page.path: page for page in pages if page.verb == "POST"}
        self._shows = [(compile_path(site.prefix + page.path)[0], page) for page in pages if page.verb == "GET"]
        self._sent_to = [(compile_path(site.prefix + page.path)[0], page) for page in pages if page.verb == "POST"]

    def keep(self, page: PageRoute, request: Request, visitor: Visitor, values: dict[str, Any]) -> tuple[str, bool]:
        """Keep the form of a request. Returns where to go on after signing in, and whether the form is kept."""
        at = self.page_with(page, request, values)
        sent = sent_with(page, request)
        owner = "" if sent is None else owner_of(_first(sent.typed, TOKEN))
        if at is None or sent is None or sent.name is None or not owner:
            return at or self._site.url("/"), False
        key = {KEY: sent.typed[KEY]} if KEY in sent.typed else {}
        typed = {**_without_secrets(sent.typed), **beside(sent.typed), **key}
        entered = Entered(at, page.path, sent.name, typed, _called(sent, self._site.language))
        form = self._keeping.keep(visitor, owner, request.scope["keyplan"].address, entered)
        return (at, False) if form is None else (entered.address(form), True)

    def kept_for(self, request: Request, visitor: Visitor) -> Sent | None:
        """The form that was kept for a page, if it belongs to who is signed in."""
        form = request.query_params.get(KEPT)
        entered = self._keeping.find(visitor, form) if form else None
        if form is None or entered is None or urlsplit(entered.at).path != request.url.path:
            return None
        self._keeping.has_shown(visitor, form)
        takes = self._takes.get(entered.route)
        return Sent(entered.name, entered.typed, None if takes is None else _model_of(takes), restored=True)

    def unsent(self, visitor: Visitor) -> Unsent | None:
        """A kept form of who is signed in that wasn't shown again yet."""
        return self._keeping.unsent(visitor)

    def was_saved(self, visitor: Visitor, key: str) -> None:
        """A form with this key was saved: if it was kept, it isn't needed any longer."""
        self._keeping.was_saved(visitor, key)

    def page_instead_of(self, path: str) -> str | None:
        """The URL of the page with the form that is sent to an address; None if no form is."""
        for pattern, takes in self._sent_to:
            if (found := pattern.fullmatch(path)) is not None:
                at = self._site.url(takes.again_at, **{name: found[name] for name in names_in_path(takes.again_at)})
                steps = at.split("/")
                pages = ("/".join(steps[:end]) for end in range(len(steps), 2, -1))
                shown = (at for at in pages if any(shows.fullmatch(at) for shows, _ in self._shows))
                return next(shown, self._site.url("/"))
        return None

    def page_with(self, page: PageRoute, request: Request, values: dict[str, Any]) -> str | None:
        """The address of the page that has the form: where it was sent from, or the page that would show it again."""
        sent_from = urlsplit(request.headers.get("referer", ""))
        shows = next((each for pattern, each in self._shows if pattern.match(sent_from.path)), None)
        if shows is not None and (page.again is None or shows.function is page.again):
            query = "&".join(each for each in sent_from.query.split("&") if each and not each.startswith(f"{KEPT}="))
            return self._site.local(f"{sent_from.path}?{query}" if query else sent_from.path)
        if all(each.path != page.again_at for _, each in self._shows):
            return None
        names = names_in_path(page.again_at)
        return self._site.url(page.again_at, **{name: values[name] for name in names if name in values})
