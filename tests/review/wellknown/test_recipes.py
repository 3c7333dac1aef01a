"""What a review finds in the recipes of `docs/patterns`, and nothing else: they are examples of how to do it right."""

import pytest

from keyplan.review import Reviewed, Severity, review
from tests.all_designs import design
from tools.write_patterns import recipes

GROUPS = ("KP0", "KP1", "KP2", "KP3", "KP4")

EXPECTED: dict[str, dict[str, Severity]] = {
    # Documents are listed by their titles, of which some may be the same.
    "large_values": {"KP305 Document.by_owner": "info", "KP310 Document.by_owner": "info"},
    # Players with the same points.
    "leaderboard": {"KP310 Player.by_points": "info"},
    # All messages wait in one partition until they are sent.
    "outbox": {"KP404 Message.primary": "info"},
    # The sparse index has keys only, and whole orders are read through it.
    "sparse_index": {"KP215 Shop.to_wrap": "info"},
}


@pytest.mark.parametrize("recipe", recipes())
def test_a_review_of_a_recipe_finds_what_there_is_and_nothing_else(recipe: str) -> None:
    findings = review(Reviewed(design(f"recipes/{recipe}"))).findings
    found: dict[str, Severity] = {
        f"{each.rule.code} {each.place.text}": each.severity for each in findings if each.rule.code.startswith(GROUPS)
    }
    assert found == EXPECTED.get(recipe, {})
