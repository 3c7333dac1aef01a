"""The systems that come with Keyplan have no findings, or accept them with a reason; and a review takes no time."""

import subprocess
import sys
from importlib import import_module

import pytest

from keyplan.cli.opening import system_names
from keyplan.design import Design
from keyplan.review import Reviewed, TargetName, review


def design_of(system: str) -> type[Design]:
    found: type[Design] = import_module(f"keyplan.apps.{system}.design").DESIGN
    return found


@pytest.mark.parametrize("system", system_names())
def test_a_system_is_clean_or_says_why_it_is_not(system: str) -> None:
    result = review(Reviewed(design_of(system)))
    assert [f"{each.rule.code} {each.place.text}" for each in result.findings] == []
    assert all(len((each.accepted or "").split()) > 5 for each in result.accepted), "give a reason that can be checked"


@pytest.mark.parametrize("target", ["aws", "embedded", "extenddb"])
@pytest.mark.parametrize("system", system_names())
def test_a_system_runs_where_it_is_tested(system: str, target: TargetName) -> None:
    result = review(Reviewed(design_of(system), target))
    assert [f"{each.rule.code} {each.place.text}" for each in result.findings if each.rule.code >= "KP6"] == []


MEASURED = """
import sys, time
from importlib import import_module
from keyplan.review import Reviewed, all_rules, review

design = import_module(sys.argv[1]).DESIGN
all_rules()
begun = time.process_time()
review(Reviewed(design))
print(time.process_time() - begun)
"""


def test_a_review_of_the_largest_design_takes_less_than_a_second() -> None:
    """In a process of its own, since a second review is faster."""
    largest = max(map(design_of, system_names()), key=lambda design: len(design.entities) + len(design.patterns))
    command = [sys.executable, "-c", MEASURED, largest.__module__]
    took = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(f"{largest.__name__}: {len(largest.entities)} entities, {len(largest.patterns)} patterns, {took:.2f} s")
    assert took < 1
