"""Ten designs that are well known: what a review finds in each, and nothing else.

Seven are from public descriptions, in the modules beside this one; three are those that the data layer is tested with.
Every finding that isn't listed here would be a false one.
"""

import pytest

from keyplan.design import Design
from keyplan.review import Reviewed, Severity, review
from tests.designs.forge import Forge
from tests.designs.saas import Saas
from tests.designs.shop import Shop
from tests.review.wellknown.devices import DeviceLog
from tests.review.wellknown.directory import Company
from tests.review.wellknown.forum import Forums
from tests.review.wellknown.hotel import Hotels
from tests.review.wellknown.leaderboard import GameScores
from tests.review.wellknown.music import Music
from tests.review.wellknown.social import SocialNetwork

GROUPS = ("KP0", "KP1", "KP2", "KP3", "KP4")
"""What is refused, what is wrong, and what is hot. The other groups are about how tables are run."""

EXPECTED: dict[type[Design], dict[str, str]] = {
    # The genre and the album are texts as people write them, and an album has many songs.
    Music: {"KP305 Song.by_genre": "info", "KP310 Song.by_genre": "info"},
    # The index of replies sorts by their text. Two threads can have their last posts at the same time.
    Forums: {
        "KP305 Reply.by_author": "info",
        "KP310 Reply.by_author": "info",
        "KP310 Thread.by_last_post": "info",
        "KP409 Thread.tags": "info",
    },
    # Players with the same score.
    GameScores: {"KP310 Score.ranking": "info"},
    # Three statuses, and one partition for each year.
    Company: {"KP403 Order.by_status": "info", "KP405 Hired.primary": "info"},
    Hotels: {},
    # Two devices can be escalated to one supervisor at the same time.
    DeviceLog: {"KP310 Reading.escalated": "info"},
    SocialNetwork: {},
    # An issue can have any number of labels, with an item for each.
    Forge: {"KP409 Issue.labels": "warning"},
    # Lists over all tenants: for the operator's own use. One of them is an index of keys.
    Saas: {"KP215 Saas.tenants_on": "info", "KP402 Tenant.trials": "info", "KP404 Tenant.by_plan": "info"},
    # The work queue of the warehouse.
    Shop: {"KP402 Order.shipping": "info"},
}


@pytest.mark.parametrize("design", EXPECTED, ids=lambda design: design.__name__)
def test_a_review_finds_what_there_is_and_nothing_else(design: type[Design]) -> None:
    findings = review(Reviewed(design)).findings
    found: dict[str, Severity] = {
        f"{each.rule.code} {each.place.text}": each.severity for each in findings if each.rule.code.startswith(GROUPS)
    }
    assert found == EXPECTED[design]
