"""The five systems' designs as their documents wrote them: a review finds each departure that can be known.

Each module beside this one has a design in its document's words. `departures` says which finding stands for which
departure of the system, or why none can.
"""

import importlib
from datetime import datetime
from functools import cache

import pytest

from keyplan.design import Design, Entity, Id, Query, key, pattern, query
from keyplan.review import Review, Reviewed, find_rule, review
from tests.review.documents import hacktracker, threefc, vcm
from tests.review.documents.departures import BESIDES, SYSTEMS

GROUPS = ("KP0", "KP1", "KP3", "KP4")
"""What is refused at import, what is wrong, and what is hot. The other groups are about how tables are run."""


@cache
def reviewed(system: str) -> Review:
    document = importlib.import_module(f"{__package__}.{system}")
    return review(Reviewed(document.DESIGN, errors=tuple(document.ERRORS)))


def found(system: str) -> set[str]:
    codes = [(each.rule.code, each.place.text) for each in reviewed(system).findings]
    return {f"{code} {place}" for code, place in codes if code.startswith(GROUPS)}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_review_of_the_document_finds_what_the_system_departs_from(system: str) -> None:
    expected = [each for known in SYSTEMS[system].values() if not isinstance(known, str) for each in known]
    assert found(system) == {*expected, *BESIDES[system]}


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_departure_has_its_findings_or_the_reason_why_no_rule_can_know_it(system: str) -> None:
    departures = importlib.import_module(f"keyplan.apps.{system}.departures").DEPARTURES
    known = SYSTEMS[system]
    for each in departures:
        beginnings = [begin for begin in known if each.document.startswith(begin)]
        assert len(beginnings) == 1, f"{each.document!r} has {beginnings}"
    assert len(known) == len(departures)


@pytest.mark.parametrize("system", SYSTEMS)
def test_findings_lead_to_the_lines_of_the_document(system: str) -> None:
    file = importlib.import_module(f"{__package__}.{system}").__file__
    for each in reviewed(system).findings:
        assert (each.place.file, bool(each.place.line)) == (file, True), each


def test_a_claim_that_the_document_does_not_make_would_be_found() -> None:
    class Roster(threefc.Record, table=threefc.app, type="ROSTER", claims=(("game_id", "player_id"),)):
        game_id: Id
        team_id: Id
        player_id: Id

        primary = key("GAME#{game_id}", "ROSTER#{team_id}#{player_id}")

    class Player(Entity, table=hacktracker.hacktracker, claims=(("team_id", "player_number"),)):
        player_id: Id
        team_id: Id
        player_number: int

        primary = key("TEAM#{team_id}", "PLAYER#{player_id}")

    class Claimed(Design):
        tables = (threefc.app, hacktracker.hacktracker)
        entities = (Roster, Player)

    assert places("KP301", Claimed) == ["Player.team_id", "Roster.game_id"]


def test_an_order_that_the_document_does_not_ask_for_would_be_found() -> None:
    class Schedule(Design):
        tables = (hacktracker.hacktracker,)
        entities = (hacktracker.Game,)

        @pattern("Team games, the latest first")
        def team_games(self, team_id: str) -> Query[hacktracker.Game]:
            return query(hacktracker.Game.by_team, team_id=team_id, newest_first=True)

    assert places("KP309", Schedule) == ["Schedule.team_games"]


def test_a_date_that_the_document_does_not_call_optional_would_be_found() -> None:
    class Dated(Entity, table=vcm.news):
        id: Id
        status: vcm.Status
        published_date: datetime | None = None

        primary = key("{id}", "{id}")
        by_published_date = vcm.news["GSI-PublishedDate"]("{status}", "{published_date}")

    class News(Design):
        tables = (vcm.news,)
        entities = (Dated,)

        @pattern("List published news")
        def published(self) -> Query[Dated]:
            return query(Dated.by_published_date, status="published", newest_first=True)

    assert places("KP312", News) == ["Dated.by_published_date"]


def places(code: str, design: type[Design]) -> list[str]:
    rule = find_rule(code)
    assert rule is not None
    return sorted(each.place.text for each in review(Reviewed(design), [rule]).findings if each.rule is rule)
