"""The demo club: every list has more than two pages, all data fits the design, and it is always the same."""

from pathlib import Path

import pytest

from keyplan.apps.vcm.api import SYSTEM
from tests.apps.vcm_site import club, editor

LISTS = (
    "/news", "/news/all", "/events", "/events/past", "/events/all", "/teams", "/teams/all", "/members", "/media",
    "/sponsors", "/roles", "/locations", "/sams/clubs", "/sams/teams",
)  # fmt: skip


@pytest.mark.parametrize("times", [2])
def test_the_demo(tmp_path: Path, times: int) -> None:
    assert SYSTEM.demo is not None
    with club(tmp_path) as site:
        for _ in range(times):
            SYSTEM.demo(site.running, lambda done, total: None)
        assert site.running.store.verify() == []
        for path in LISTS:
            client, cursor, seen = editor(site), None, []
            for _ in range(3):
                page = client.get(path, params={"cursor": cursor} if cursor else {}).json()
                seen.append(len(page["items"]))
                cursor = page["next"]
            assert seen[:2] == [50, 50], path
            assert seen[2] > 0, path
