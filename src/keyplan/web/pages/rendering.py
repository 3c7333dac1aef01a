"""Templates, URLs, static files, and the headers of every page."""

import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from keyplan.web.identity.sessions import Cookies
from keyplan.web.models.problems import Problem, answer
from keyplan.web.pages import zones
from keyplan.web.pages.isolation import Isolation
from keyplan.web.routes.routing import only
from keyplan.web.system.language import ENGLISH, Language
from keyplan.web.system.running import Running

KIT = "keyplan.web"
_IN_PATH = re.compile(r"{(\w+)(:path)?}")


@cache
def folder_of(package: str) -> Path:
    """The folder of a package, or the folder that a module is in."""
    if package == "__main__":  # a program that runs as a script has no spec
        return Path(str(sys.modules[package].__file__)).parent
    spec = importlib.util.find_spec(package)
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    if spec is None or not spec.has_location or spec.origin is None:
        raise ValueError(f"Package not found: {package}.")
    return Path(spec.origin).parent


def environment(package: str = KIT, language: Language = ENGLISH) -> Environment:
    """The templates of a package, and then the kit's, which are also at `kit/...` if the package has one of that name.

    The filter `said` translates English sentences to the language of the pages.
    """
    kit = FileSystemLoader(folder_of(KIT) / "templates")
    own: list[BaseLoader] = [FileSystemLoader(folder_of(package) / "templates")] if package != KIT else []
    made = Environment(
        loader=ChoiceLoader([*own, kit, PrefixLoader({"kit": kit})]),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=[Isolation],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(moment=zones.moment, hour=zones.hour, day=zones.day, local=zones.local_time)
    made.filters.update(is_time=lambda value: isinstance(value, datetime), is_day=lambda value: isinstance(value, date))
    made.filters["marked"] = marked
    made.filters["said"] = language.say
    made.globals.update(asset=asset, language=language)
    return made


def marked(text: str) -> Markup:
    """A text in which backticks mark code."""
    pieces = text.split("`")
    shown = (Markup("<code>{}</code>").format(each) if at % 2 else escape(each) for at, each in enumerate(pieces))
    return Markup().join(shown if len(pieces) % 2 else [escape(text)])


def filled(path: str, values: Mapping[str, object]) -> str:
    """A path with values for the names in braces, and the other values as a query. None is left out."""
    left = dict(values)

    def value_of(found: re.Match[str]) -> str:
        return quote(str(left.pop(found[1])), safe="/" if found[2] else "")

    made = _IN_PATH.sub(value_of, path)
    query = urlencode({name: value for name, value in left.items() if value is not None}, doseq=True)
    return f"{made}?{query}" if query else made


# Static files


@cache
def _digest(folder: Path, name: str) -> str:
    return hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16]


@cache
def _has(package: str, name: str) -> bool:
    return package != KIT and (folder_of(package) / "static" / name).is_file()


def asset(name: str, package: str = KIT, prefix: str = "") -> str:
    """The URL of a static file. It changes with the file's content, so that browsers can cache it forever."""
    return f"{prefix}/static/{name}?v={_digest(folder_of(package) / 'static', name)}"


class Static(StaticFiles):
    """The static files of a package."""

    def __init__(self, package: str = KIT) -> None:
        self._folder = folder_of(package) / "static"
        super().__init__(directory=self._folder, check_dir=False)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or a problem."""
        if scope["method"] not in ("GET", "HEAD"):
            raise only("GET", "HEAD")
        return await super().get_response(path, scope)

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """A file, to be cached forever if the URL has its current version."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        version = parse_qs(scope["query_string"].decode("latin-1")).get("v")
        name = str(Path(full_path).relative_to(self._folder.resolve()))
        lasting = version == [_digest(self._folder, name)]
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if lasting else "no-cache"
        return response


# Headers


def origin_of(address: str) -> str:
    """The origin of a URL, as in a content security policy."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def page_headers(
    *,
    forms: Sequence[str] = (),
    scripts: Sequence[str] = (),
    images: Sequence[str] = (),
    styles: Sequence[str] = (),
) -> dict[str, str]:
    """Security headers: only our own scripts, styles and frames, and no requests to other sites.

    `forms` and `scripts` are other origins that they may send to, `images` other sources of images, and `styles` the
    hashes of style sheets in the page.
    """
    policy = {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", *images],
        **({"style-src": ["'self'", *styles]} if styles else {}),
        "connect-src": ["'self'", *scripts],
        "form-action": ["'self'", *forms],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {' '.join(sources)}" for name, sources in policy.items()),
        "X-Frame-Options": "DENY",
        # Not no-referrer: browsers would send `Origin: null` with our own forms.
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


def kit_page(template: str, /, *, status: int = 200, **values: object) -> Response:
    """A page outside of all systems."""
    made = _kit().get_template(template).render(values)
    return HTMLResponse(made, status, {**page_headers(), "Cache-Control": "no-cache"})


PAGES = "keyplan.pages"
"""Where the scope of a request has the functions that make pages for problems, by the name of their system."""


def problem_response(scope: Scope, problem: Problem) -> Response:
    """A problem that no page or route answered: JSON for programs, and a page of its system for people."""
    request_id: str = scope["keyplan"].request_id
    area, _, rest = scope["path"].lstrip("/").partition("/")
    if area == "api":
        return answer(problem, request_id)
    systems: Mapping[str, Callable[[Scope, Problem], Response]] = scope.get(PAGES, {})
    if area in systems:
        return systems[area](scope, problem)
    if "text/html" not in Headers(scope=scope).get("accept", ""):
        return answer(problem, request_id, {"Vary": "Accept"})
    # A file belongs to a system, and is sent from a page of it: its page says what was wrong, in its language.
    came_from = urlsplit(Headers(scope=scope).get("referer", "")).path.lstrip("/")
    system = next((each for each in (_first(rest), _first(came_from)) if area == "media" and each in systems), None)
    if system is not None:
        page = systems[system](scope, problem)
    else:
        page = kit_page("problem.html", status=problem.status, problem=problem, request_id=request_id)
    page.headers.update({**problem.headers, "Vary": "Accept"})
    return page


def _first(path: str) -> str:
    return path.partition("/")[0]


@cache
def _kit() -> Environment:
    return environment()


class Site:
    """What the templates of a running system use: its URLs and files."""

    def __init__(
        self,
        running: Running[Any],
        package: str,
        *,
        title: str | None = None,
        sign_in: str | None = None,
        language: Language = ENGLISH,
        zone: str | None = None,
    ) -> None:
        self.running = running
        self.package = package
        self.title = title or running.system.title
        self.prefix = f"/{running.system.name}"
        self.sign_in = sign_in
        """The path of the sign-in page; None if nobody can sign in."""
        self.language = language
        self.zone = None if zone is None else ZoneInfo(zone)
        """The time zone of all its times; None if each viewer has their own."""
        self._forms: frozenset[str] = frozenset()
        self._templates = environment(package, language)
        self._templates.globals.update(
            site=self, system=running.system, url=self.url, asset=self.asset, dev=running.settings.dev
        )

    def url(self, path: str, /, **values: object) -> str:
        """The URL of a page by its path in the system: `url("/posts/{slug}", slug=post.slug)`."""
        return self.prefix + filled(path, values)

    def asset(self, name: str) -> str:
        """The URL of a static file of the system, or else of the kit."""
        return asset(name, self.package, self.prefix) if _has(self.package, name) else asset(name)

    def shows_image(self, address: str) -> bool:
        """Whether pages show a picture with this address; one of another host is shown as a link."""
        return self.running.media.hosts.shows(address)

    def render(self, template: str, values: Mapping[str, object]) -> str:
        """A rendered template of the system or the kit."""
        return self._templates.get_template(template).render(values)

    def headers(self, *, sends_files: bool = False) -> dict[str, str]:
        """The headers of its pages. With `sends_files`, they allow uploads."""
        address = self.running.media.takes_at if sends_files else ""
        others = [origin_of(address)] if urlsplit(address).netloc else []
        return page_headers(
            forms=sorted(self._forms.union(others)), scripts=others, images=self.running.media.hosts.sources
        )

    def let_forms_lead_to(self, address: str) -> None:
        """Let forms redirect to another site, for sign-in."""
        self._forms |= {origin_of(address)}

    def zone_for(self, cookies: Cookies) -> ZoneInfo:
        """The time zone of a page: the system's, or else the viewer's, as far as it is known."""
        told = (zones.zone_named(unquote(cookies.get(each) or "")) for each in (zones.CHOSEN, zones.TOLD))
        return self.zone or next(filter(None, told), zones.DEFAULT)

    def local(self, address: str | None) -> str:
        """The URL if it belongs to this system, otherwise the front page. For redirects to URLs from a request."""
        front = self.url("/")
        if address is None or not address.startswith(front) or "\\" in address or not address.isprintable():
            return front
        return address
