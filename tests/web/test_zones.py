"""Times in time zones: how they are shown, and how what was typed is read."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import httpx
import pytest
from starlette.responses import Response

from keyplan.web import In, Pages, View
from keyplan.web.models.problems import Invalid
from keyplan.web.pages.forms import Form
from keyplan.web.pages.reading import read_form
from keyplan.web.pages.zones import (
    TOLD,
    NoSuchTime,
    at_clock,
    clock,
    day,
    hour,
    moment,
    read_time,
    zone_named,
    zone_names,
)
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM, Librarian
from tests.web.site import site

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"


class Asked(In):
    at: datetime
    until: datetime | None = None


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "30 June 2026, 23:30 UTC"),
        (BERLIN, "1 July 2026, 01:30 CEST"),
        ("Asia/Kathmandu", "1 July 2026, 05:15 UTC+05:45"),
        (NEW_YORK, "30 June 2026, 19:30 EDT"),
    ],
)
def test_times_are_shown_in_the_zone_of_the_page(zone: str, shown: str) -> None:
    late = datetime(2026, 6, 30, 23, 30, tzinfo=UTC)
    with at_clock(ZoneInfo(zone)):
        assert moment(late) == f'<time datetime="2026-06-30T23:30:00+00:00">{shown}</time>'
        assert shown.startswith(day(late).striptags())
        assert shown.endswith(hour(late).striptags())
        assert day(date(2026, 6, 30)).striptags() == "30 June 2026"  # the same everywhere


def test_a_time_is_read_in_the_zone_that_its_form_names() -> None:
    typed = {"at": ["2026-05-01T18:00"], "at.zone": [NEW_YORK], "at.before": [""], "until": [""]}
    with at_clock(ZoneInfo(BERLIN)):
        assert read_form(Asked, typed) == Asked(at=datetime(2026, 5, 1, 22, tzinfo=UTC), until=None)
        assert read_form(Asked, {"at": ["2026-05-01T18:00"]}).at == datetime(2026, 5, 1, 16, tzinfo=UTC)
        assert read_form(Asked, {"at": ["2026-05-01T18:00+05:00"]}).at == datetime(2026, 5, 1, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "typed", "says"),
    [
        (
            BERLIN,
            "2026-03-29T02:30",
            "There is no 02:30 on 29 March 2026 in Europe/Berlin: clocks go from 02:00 to 03:00.",
        ),
        (LORD_HOWE, "2026-10-04T02:10", "in Australia/Lord_Howe: clocks go from 02:00 to 02:30."),
        (
            "Pacific/Apia",
            "2011-12-30T12:00",
            "There is no 12:00 on 30 December 2011 in Pacific/Apia: clocks go from 00:00 to 00:00.",
        ),
    ],
)
def test_a_time_that_clocks_skip_is_refused_beside_its_field(zone: str, typed: str, says: str) -> None:
    with at_clock(ZoneInfo(zone)), pytest.raises(Invalid) as refused:
        read_form(Asked, {"at": [typed], "until": ["soon"]})
    first, second = refused.value.errors
    assert (first.pointer, first.code) == ("/at", "no-such-time")
    assert says in first.detail
    assert (second.pointer, second.detail) == ("/until", "Enter a date and a time.")


def test_of_a_time_that_clocks_show_twice_the_first_is_taken_and_it_is_said() -> None:
    with at_clock(ZoneInfo(BERLIN)):
        assert read_form(Asked, {"at": ["2026-10-25T02:30"]}).at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
        assert clock().remarks == [
            "Clocks show 02:30 twice on 25 October 2026 in Europe/Berlin. The first one (CEST, not CET) was saved."
        ]
    assert clock().remarks == []


@pytest.mark.parametrize(
    "stored", [datetime(2026, 10, 25, 1, 30, tzinfo=UTC), datetime(2026, 7, 1, 16, 0, 42, tzinfo=UTC)]
)
def test_a_time_that_is_not_typed_anew_stays_as_it_is(stored: datetime) -> None:
    """The second one of two equal times stays the second, and seconds stay, which browsers don't show."""
    with at_clock(ZoneInfo(BERLIN)):
        form = Form().asking(Asked).starting_from({"at": stored})
        sent = {"at": [form.value("at")], "at.zone": [form.zone("at")], "at.before": [form.time_before("at")]}
        assert read_form(Asked, sent).at == stored
        assert clock().remarks == []
        assert read_form(Asked, {**sent, "at": ["2026-07-01T18:01"]}).at == datetime(2026, 7, 1, 16, 1, tzinfo=UTC)


@pytest.mark.parametrize("before", ["", "nonsense", "2026-05-01T18:00"])
def test_what_a_form_says_about_before_can_be_anything(before: str) -> None:
    with at_clock(ZoneInfo("UTC")):
        assert datetime.fromisoformat(read_time("2026-05-01T18:00", "UTC", before)).tzinfo is not None
        assert read_time("soon", "UTC", before) == "soon"


@pytest.mark.parametrize(
    ("typed", "zone", "before"),
    [
        ("0001-01-01T00:00", BERLIN, ""),
        ("9999-12-31T23:59", "America/New_York", ""),
        ("2026-05-01T18:00", "Asia/Tokyo", "9999-12-31T23:59:00+00:00"),
    ],
)
def test_a_time_that_is_outside_of_the_calendar_elsewhere_is_refused_beside_its_field(
    typed: str, zone: str, before: str
) -> None:
    with pytest.raises(Invalid) as refused:
        read_form(Asked, {"at": [typed], "at.zone": [zone], "at.before": [before]})
    [error] = refused.value.errors
    assert (error.pointer, error.detail) == ("/at", "Enter a date between the years 2 and 9998.")


@pytest.mark.parametrize(
    "name", [None, "", "../../etc/passwd", "/etc/localtime", "Europe", "No/Where", "x" * 999, "\0"]
)
def test_a_name_that_is_no_zone(name: str | None) -> None:
    assert zone_named(name) is None


def test_every_zone_to_choose_exists() -> None:
    names = zone_names()
    assert {"UTC", BERLIN, NEW_YORK} <= set(names)
    assert "US/Eastern" not in names
    assert all(zone_named(each) is not None for each in names)


def test_a_gap_is_found_in_every_zone_that_has_one() -> None:
    with at_clock(ZoneInfo(NEW_YORK)), pytest.raises(NoSuchTime, match="from 02:00 to 03:00"):
        read_time("2026-03-08T02:00", None, None)


# The zone of what a page shows


CHICAGO = "America/Chicago"
START = datetime(2026, 5, 1, 18, tzinfo=UTC)


class Moved(In):
    starts: datetime


@pytest.fixture
def team(settings: Settings) -> Iterator[httpx.Client]:
    """A system in which the viewer's zone is shown, but a page of a team has the team's."""
    pages = Pages("tests.web")
    zones = {"heat": CHICAGO, "old": "Atlantis/Capital", "none": None}

    @pages.get("/teams/{name}")
    def show(view: View[Librarian], name: str) -> Response:
        view.show_times_in(zones[name])
        view.form.asking(Moved).starting_from({"starts": START})
        return view.render("team.html", starts=START)

    @pages.post("/teams/{name}", again=show)
    def move(view: View[Librarian], name: str, moved: Moved) -> Response:
        return view.redirect("/teams/{name}", name=name, notice=f"{moved.starts.astimezone(UTC):%H:%M}")

    with (
        site(replace(SYSTEM, pages=pages), settings) as started,
        httpx.Client(base_url=f"{started.url}/library", timeout=30) as viewer,
    ):
        viewer.cookies.set(TOLD, "Europe%2FBerlin", domain="127.0.0.1", path="/library/")
        yield viewer


def test_a_page_shows_and_takes_times_in_the_zone_of_what_it_shows(team: httpx.Client) -> None:
    page = team.get("/teams/heat").text
    assert "1 May 2026, 13:00 CDT" in page
    assert 'value="2026-05-01T13:00"' in page
    assert f"Time zone: {CHICAGO}" in page
    assert 'name="time-zone"' not in page, "the browser's zone doesn't matter here"
    assert "/time-zone" not in page
    form = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
    sent = team.post("/teams/heat", data={**form, "starts": "2026-05-01T19:30"})
    assert sent.status_code == 303
    assert ">00:30<" in team.get("/teams/heat").text
    gap = team.post("/teams/heat", data={**form, "starts": "2026-03-08T02:30"})
    assert gap.status_code == 422
    assert f"There is no 02:30 on 8 March 2026 in {CHICAGO}" in gap.text


@pytest.mark.parametrize("name", ["old", "none"])
def test_without_a_zone_of_its_own_a_page_has_the_viewers(team: httpx.Client, name: str) -> None:
    page = team.get(f"/teams/{name}").text
    assert "1 May 2026, 20:00 CEST" in page
    assert 'name="time-zone" content="Europe/Berlin"' in page
