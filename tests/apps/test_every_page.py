"""What every page of every system has in common."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from starlette.routing import compile_path

from keyplan.cli.opening import system_names
from tests.apps.every_page import TOURS, Tour, Toured, toured


@pytest.fixture(scope="module", params=TOURS, ids=lambda tour: tour.system.name)
def tour(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toured]:
    given: Tour = request.param
    with toured(given, tmp_path_factory.mktemp("tour")) as started:
        yield started


def test_every_page_is_visited(tour: Toured) -> None:
    seen = {each.route for each in tour.pages if each.status == 200}
    assert [route for route in tour.routes if route not in seen] == []


def test_every_page_has_one_heading_of_the_first_level(tour: Toured) -> None:
    whole = [each for each in tour.pages if each.html and each.route not in tour.tour.parts]
    assert [each.address for each in whole if len(re.findall(r"<h1[\s>]", each.html)) != 1] == []


def test_every_system_is_toured() -> None:
    assert sorted(tour.system.name for tour in TOURS) == sorted(system_names())


def test_the_zone_is_named_beside_every_time_that_is_asked_for(tour: Toured) -> None:
    for shown in tour.pages:
        for element in re.findall(r'<input type="datetime-local"[^>]*>', shown.html):
            described = re.search(r'aria-describedby="([^"]*)"', element)
            assert described, f"{shown.address}: {element}"
            name = re.search(r'name="([^"]*)"', element)
            zones = [each for each in described[1].split() if each.startswith("zone-")]
            assert len(zones) == 1
            assert re.search(rf'id="{zones[0]}">[^<]*: [\w/]+<', shown.html)
            assert name
            assert f'name="{name[1]}.zone"' in shown.html


_LISTS = re.compile(r'<ul class="(?:rows|cards|posts|members|gallery|shelf|stories|logos)\b|<table class="standings"')
"""Numbered lists are in the order of their numbers, and other tables have the figures of one thing."""
_UNSORTED = {"/redaktion": "the menu of the editors", "/teams/{slug}": "a team's few coaches, as they were entered"}
"""Pages with lists without an order, and why."""


def test_every_list_says_how_it_is_sorted(tour: Toured) -> None:
    found = {each.route for each in tour.pages if each.status == 200 and _LISTS.search(each.html)}
    silent = {
        each.route
        for each in tour.pages
        if each.status == 200 and _LISTS.search(each.html) and 'class="small order"' not in each.html
    }
    assert found
    assert silent - _UNSORTED.keys() == set()


def test_every_form_says_which_form_it_is_and_has_a_key(tour: Toured) -> None:
    """A form with fields has a name in its page. What writes has a one-time key, unless it asks for a password."""
    assert tour.tour.system.pages is not None
    pages = [each for each in tour.tour.system.pages.routes if each.verb == "POST"]
    keyed = [(compile_path(tour.prefix + each.path)[0], each.takes_key) for each in pages]
    for shown in tour.pages:
        forms = re.findall(r"<form[^>]*method=\"post\".*?</form>", shown.html, re.DOTALL)
        names = [name for form in forms for name in re.findall(r'name="form" value="([^"]*)"', form)]
        assert len(names) == len(set(names)), f"{shown.address}: two forms with one name"
        for form in forms:
            if "data-upload" in form or "data-send" in form or 'name="csrf"' not in form:
                continue  # nothing is typed there, or it goes to the store of files
            head = form.partition(">")[0]
            has_fields = re.search(r'<(select|textarea|input (?!type="hidden"))', form) is not None
            assert not has_fields or 'name="form"' in form, f"{shown.address}: {head}"
            action = re.search(r'action="([^"?#]*)', head)
            path = unescape(action[1]) if action else shown.address.partition("?")[0]
            takes = next((takes for pattern, takes in keyed if pattern.match(path)), None)
            if takes is not None:
                assert form.count('name="idempotency_key"') == int(takes), f"{shown.address}: {head}"


def test_browsers_bring_back_what_was_entered(tour: Toured) -> None:
    """On Back, browsers fill in forms again, but no fields with `autocomplete="off"`."""
    for shown in tour.pages:
        forms = re.findall(r"<form[^>]*method=\"post\".*?</form>", shown.html, re.DOTALL)
        assert [form for form in forms if 'autocomplete="off"' in form] == [], shown.address


def test_no_two_elements_of_a_page_have_the_same_id(tour: Toured) -> None:
    for shown in tour.pages:
        ids = re.findall(r'\sid="([^"]*)"', shown.html)
        assert [each for each in set(ids) if ids.count(each) > 1] == [], shown.address


def test_every_page_leads_to_the_choice_of_a_time_zone(tour: Toured) -> None:
    """Without JavaScript, it is the only way to another zone; a club has one for everybody."""
    assert tour.tour.system.pages is not None
    links = {f'href="{tour.prefix}/time-zone' in each.html for each in tour.pages if "<footer" in each.html}
    assert links == {tour.tour.system.pages.zone is None}
