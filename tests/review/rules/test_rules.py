"""Each rule finds what it is about, and nothing in a design that does it right."""

import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from keyplan.review import GROUPS, Reviewed, Rule, all_rules, find_rule, review
from tests.review.rules.cases import Declaration, reviewed

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("*_designs.py"))
ALL = [importlib.import_module(f"{__package__}.{name}").CASES for name in MODULES]
FOUND = [each for cases in ALL for each in cases.found]
CLEAN = [each for cases in ALL for each in cases.clean]
UNJUDGED = [each for cases in ALL for each in cases.unjudged]
CHECKED = [rule for rule in all_rules() if rule.check is not None]


def names(cases: Sequence[tuple[Any, ...]]) -> list[str]:
    return [f"{case[0]}-{case[-1].__name__}" for case in cases]


def places_found(code: str, design: Reviewed) -> list[str]:
    rule = find_rule(code)
    assert rule is not None
    return [finding.place.text for finding in review(design, [rule]).findings if finding.rule is rule]


@pytest.mark.parametrize(("code", "places", "declaration"), FOUND, ids=names(FOUND))
def test_a_rule_finds_what_it_is_about(code: str, places: tuple[str, ...], declaration: Declaration) -> None:
    assert sorted(places_found(code, reviewed(declaration))) == sorted(places)
    rule = find_rule(code)
    assert rule is not None
    for finding in review(reviewed(declaration), [rule]).findings:
        assert finding.place.file == importlib.import_module(declaration.__module__).__file__
        assert finding.place.line
        assert finding.happens[-1] != "."
        assert finding.remedy[-1] == "."


@pytest.mark.parametrize(("code", "declaration"), CLEAN, ids=names(CLEAN))
def test_a_rule_finds_nothing_in_a_design_that_does_it_right(code: str, declaration: Declaration) -> None:
    assert places_found(code, reviewed(declaration)) == []


@pytest.mark.parametrize(("code", "place", "declaration"), UNJUDGED, ids=names(UNJUDGED))
def test_a_rule_says_what_it_needs(code: str, place: str, declaration: Declaration) -> None:
    rule = find_rule(code)
    assert rule is not None
    silences = review(reviewed(declaration), [rule]).silences
    assert place in [each.place.text for each in silences]
    assert {each.word for each in silences} <= set(rule.needs)


def test_each_rule_has_a_design_that_triggers_it_and_one_that_does_not() -> None:
    codes = {rule.code for rule in CHECKED}
    assert {code for code, *_ in FOUND} == codes
    assert {code for code, *_ in CLEAN} == codes
    assert {code for code, *_ in UNJUDGED} == {rule.code for rule in CHECKED if rule.needs}


def test_codes_and_names_are_used_once() -> None:
    rules = all_rules()
    assert len({rule.code for rule in rules}) == len({rule.name for rule in rules}) == len(rules)
    assert all(
        re.fullmatch(r"KP\d{3}", rule.code) and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name) for rule in rules
    )


HUNDREDS = {"2": "rejected", "3": "wrong", "4": "hot", "5": "operations", "6": "portability"}


@pytest.mark.parametrize("rule", CHECKED, ids=lambda rule: rule.code)
def test_a_rule_is_where_its_code_says_and_explains_itself(rule: Rule) -> None:
    assert rule.check is not None
    assert HUNDREDS[rule.code[2]] == rule.group
    assert f".rules.{rule.group}." in rule.check.__module__
    assert rule.group in GROUPS
    assert len(rule.explanation.split()) > 40, "say what it is about, why it matters, and what to do"
    assert rule.title[-1] != "."
    assert rule.explanation[-1] == "."
