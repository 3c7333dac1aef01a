"""The same random requests to the engine and to two other servers: what differs has a reason in `differences.py`.

`KEYPLAN_TEST_LONG=1` (`make test-long`) sends 20,000 requests to each of them. A server that isn't installed is
skipped; `make test` installs both from npm where it can, and says so where it can't.
"""

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.engines.comparing import Difference, compared_with
from tests.engines.differences import NOT_FOUND, RULES, rule_for
from tests.engines.random_requests import Requests
from tests.engines.servers import FOLDER, SERVERS, Server

LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))
SEEDS = range(20) if LONG else range(1)
COUNT = 1000 if LONG else 400


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_differences_have_a_reason(server: Server, tmp_path: Path) -> None:
    if not (FOLDER / "node_modules" / server.package).exists():
        pytest.skip(f"NOT TESTED: {server.name} isn't installed: run `cd tests/engines && npm ci`")
    found: list[Difference] = []
    with compared_with(server, tmp_path) as comparison:
        for seed in SEEDS:
            comparison.run(Requests(seed), COUNT)
        found = comparison.differences
    by_rule = Counter(rule.what for one in found if (rule := rule_for(one.operation, one.ours, one.theirs)))
    print(f"\n{server.name} {server.version}: {len(found)} differences in {COUNT * len(SEEDS)} requests")
    for what, count in by_rule.most_common():
        print(f"{count:6} {what}")
    unexplained = [one for one in found if rule_for(one.operation, one.ours, one.theirs) is None]
    assert not unexplained, report(unexplained)


def report(differences: list[Difference]) -> str:
    """The groups of differences without a rule, the largest first, each with an example."""
    counts = Counter(one.group for one in differences)
    examples = {one.group: one for one in reversed(differences)}
    texts = [
        f"{count} x {examples[group].operation} {examples[group].request}\n"
        f"  ours:   {examples[group].ours}\n  theirs: {examples[group].theirs}"
        for group, count in counts.most_common(20)
    ]
    return f"{len(counts)} kinds of differences have no rule in differences.py:\n" + "\n".join(texts)


def test_the_same_seed_gives_the_same_requests() -> None:
    first, second, other = Requests(5), Requests(5), Requests(6)
    calls = [first.next() for _ in range(50)]
    assert calls == [second.next() for _ in range(50)]
    assert calls != [other.next() for _ in range(50)]


def test_every_rule_says_where_it_is_from() -> None:
    assert len({rule.what for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.source.startswith("https://") or (rule.aws == "unknown" and rule.source == NOT_FOUND)
