"""Every form of every system, with other values in all its fields.

If somebody else changed the same meanwhile, each field shows its newer value. After a session has ended, each is back.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

import httpx
import pytest

from keyplan.web.identity.sessions import SESSION
from tests.apps.every_page import TOURS, Shown, Tour, Toured, toured


@pytest.fixture(scope="module", params=TOURS, ids=lambda tour: tour.system.name)
def tour(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toured]:
    given: Tour = request.param
    with toured(given, tmp_path_factory.mktemp("tour")) as started:
        yield started


@dataclass
class Control:
    """The elements of a form with one name."""

    kind: str
    values: list[str] = field(default_factory=list)
    """What the form shows."""
    others: list[str] = field(default_factory=list)
    """What else can be chosen."""
    names: dict[str, str] = field(default_factory=dict)
    """What people read for the values that can be chosen."""

    def changed(self) -> list[str]:
        """Other values than those that are shown."""
        if self.kind == "select" and len(self.values) > 1:  # several with one name
            return [*self.values[1:], self.values[0]]
        if self.kind in ("select", "radio"):
            return next(([each] for each in self.others if each not in self.values), self.values)
        if self.kind == "checkbox":
            return self.others
        return [f"{each}9" for each in self.values or [""]]


@dataclass
class FoundForm:
    """A form of a page."""

    action: str
    hidden: dict[str, str] = field(default_factory=dict)
    controls: dict[str, Control] = field(default_factory=dict)


class Forms(HTMLParser):
    """The forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[FoundForm] = []
        self._select: Control | None = None
        self._area: Control | None = None
        self._in_label = False
        self._choice: tuple[Control, str] | None = None
        """An option, or a button or a box in its label, whose text is being read."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        kind = given.get("type", "text") if tag == "input" else tag
        self._in_label = self._in_label or tag == "label"
        if tag == "form":
            self.found.append(FoundForm(given.get("action", "")))
        elif not self.found:
            return
        elif kind == "hidden" and "name" in given:
            self.found[-1].hidden[given["name"]] = given.get("value", "")
        elif tag in ("input", "select", "textarea") and "name" in given and "disabled" not in given:
            self._begin(kind, given)
        elif tag == "option" and self._select is not None:
            (self._select.values if "selected" in given else self._select.others).append(given.get("value", ""))
            self._choose(self._select, given.get("value", ""))

    def _begin(self, kind: str, given: dict[str, str]) -> None:
        control = self.found[-1].controls.setdefault(given["name"], Control(kind))
        if kind == "select":
            self._select = control
        elif kind == "textarea":
            self._area = control
            control.values.append("")
        elif kind in ("checkbox", "radio"):
            (control.values if "checked" in given else control.others).append(given.get("value", "on"))
            if self._in_label:
                self._choose(control, given.get("value", "on"))
        else:
            control.values.append(given.get("value", ""))

    def _choose(self, control: Control, value: str) -> None:
        self._choice, control.names[value] = (control, value), ""

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area.values[-1] += data
        if self._choice is not None:
            control, value = self._choice
            control.names[value] = " ".join((control.names[value] + data).split())

    def handle_endtag(self, tag: str) -> None:
        if tag in ("option", "label"):
            self._choice, self._in_label = None, False
        if tag == "textarea":
            self._area = None
        elif tag == "select" and self._select is not None:
            if not self._select.values:  # then a browser shows the first one
                self._select.values, self._select.others = self._select.others[:1], self._select.others[1:]
            self._select = None


def forms_in(html: str) -> list[FoundForm]:
    reader = Forms()
    reader.feed(html)
    return reader.found


def forms_of(tour: Toured, wanted: Callable[[FoundForm], bool]) -> Iterator[tuple[Shown, FoundForm]]:
    """Forms with fields, one for each route and form."""
    seen: set[tuple[str, str]] = set()
    for shown in tour.pages:
        for form in forms_in(shown.html):
            name = form.hidden.get("form", "").partition("-")[0]
            if shown.status == 200 and name and wanted(form) and (shown.route, name) not in seen:
                seen.add((shown.route, name))
                yield shown, form


def test_every_field_shows_its_newer_value(tour: Toured) -> None:
    """Sent for a version that is older than the first, with other values in all fields: each has its own beside it."""
    silent, tried = [], 0
    for shown, form in forms_of(tour, lambda form: "version" in form.hidden):
        cookies = {SESSION: tour.proofs[shown.who]}
        with httpx.Client(base_url=tour.served.url, cookies=cookies, timeout=30) as client:
            hidden = {name: value for name, value in form.hidden.items() if name != "shown"}
            values = {name: control.changed() for name, control in form.controls.items()}
            at = form.action or shown.address
            page = client.post(unescape(at), data={**hidden, "version": "0", **values})
        assert page.status_code in (412, 422), (shown.address, page.status_code, page.text)
        assert "This was changed in the meantime." in page.text or "inzwischen geändert" in page.text, shown.address
        known = {each.rpartition("-")[2] for each in re.findall(r'id="newer-([^"]+)"', page.text)}
        for name, control in form.controls.items():
            if sorted(values[name]) != sorted(control.values) and control.kind != "password":
                tried += 1
                silent += [f"{shown.address}: {name}"] if name not in known else []
    assert tried
    assert silent == []


def test_every_form_comes_back_after_the_session_has_ended(tour: Toured) -> None:
    """The page that says so leads to the page with the form, filled in: all fields but passwords and files.

    Until then it shows what was chosen as people read it, and nothing that they never saw.
    """
    lost, silent, unseen, tried = [], [], [], 0
    for shown, form in forms_of(tour, lambda form: "csrf" in form.hidden):
        controls = {name: each for name, each in form.controls.items() if each.kind not in ("password", "file")}
        if shown.who not in tour.proofs or not controls:
            continue
        values = {name: control.changed() for name, control in controls.items()}
        with httpx.Client(base_url=tour.served.url, timeout=30, follow_redirects=True) as client:
            at, referer = unescape(form.action or shown.address), f"{tour.served.url}{shown.address}"
            ended = client.post(at, data={**form.hidden, **values}, headers={"Referer": referer})
            assert ended.status_code == 401, shown.address
            leads = re.search(r'<a class="button" href="[^"]*to=([^"]*)"', ended.text)
            assert leads, ended.text
            copies = "\n".join(map(unescape, re.findall(_COPY, ended.text)))
            silent += [f"{shown.address}: {each}" for each in _chosen(controls, values) if each not in copies]
            unseen += [f"{shown.address}: {each}" for each in _unseen(form, shown) if f'"{each}"' in copies]
            client.cookies.set(SESSION, tour.proofs[shown.who])
            page = client.get(unquote(unescape(leads[1])))
        found = (each for each in forms_in(page.text) if each.hidden.get("form") == form.hidden["form"])
        back = next(found, FoundForm(""))
        shows = {name: _lines(each.values) for name, each in back.controls.items()}
        tried += len(values)
        lost += [f"{shown.address}: {name}" for name, each in values.items() if shows.get(name) != _lines(each)]
    assert tried
    assert (lost, silent, unseen) == ([], [], [])


_COPY = re.compile(r'<textarea id="typed-.*?</textarea>|<input id="typed-[^>]*>', re.DOTALL)


def _chosen(controls: dict[str, Control], values: dict[str, list[str]]) -> list[str]:
    """What people read for what was chosen."""
    chosen = [(each, value) for name, each in controls.items() for value in values[name]]
    return [each.names[value] for each, value in chosen if value and len(each.names.get(value, "")) > 2]


def _unseen(form: FoundForm, shown: Shown) -> list[str]:
    """What the page sends along, and doesn't show."""
    text = re.sub(r"<[^>]*>", " ", shown.html)
    return [each for name, each in form.hidden.items() if len(each) > 2 and "." not in name and each not in text]


def _lines(values: list[str]) -> list[str]:
    """Values without the line breaks that browsers add, in any order."""
    return sorted(each.replace("\r\n", "\n").strip("\n") for each in values)
