"""hacktracker compared with its OpenAPI document: no server errors, and only documented responses."""

from pathlib import Path

from tests.apps.hack_site import Team, league
from tests.web.contract import check_against_document


def test_what_the_document_says(tmp_path: Path) -> None:
    with league(tmp_path) as site:
        team = Team(site)
        team.game(play=True)
        # If the account were deleted, every later response would be 401.
        token = site.token("owner", "admin")
        held = check_against_document(site, token, examples=1, scenarios=2, methods=False, without=["/me"])
        assert held.findings == []
        assert not {status for status in held.statuses if status >= 500}
        assert {200, 404, 422} <= set(held.statuses)
        assert site.running.store.verify() == []
