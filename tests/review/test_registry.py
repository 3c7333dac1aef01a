"""The list of rules: complete, with a page for each, and codes that are never used again."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.review import Rule, all_rules, find_rule

ROOT = Path(__file__).parents[2]
CODES = Path(__file__).with_name("codes.txt")
IMPORTED = [rule for rule in all_rules() if rule.is_imported]


def raised_codes() -> Iterator[tuple[str, str]]:
    """The code of each `DesignError` in the source, and where it is raised."""
    for file in sorted((ROOT / "src" / "keyplan").rglob("*.py")):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "DesignError(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DesignError":
                where = f"{file.relative_to(ROOT)}:{node.lineno}"
                yield from ((code, where) for code in texts_of(node.args[0], where))


def texts_of(code: ast.expr, where: str) -> list[str]:
    """The codes that an expression can be: a text, or one of two."""
    if isinstance(code, ast.IfExp):
        return texts_of(code.body, where) + texts_of(code.orelse, where)
    assert isinstance(code, ast.Constant), f"{where}: write the code as text, so that it can be looked up"
    return [str(code.value)]


def test_each_error_in_a_declaration_is_a_rule() -> None:
    raised = dict(raised_codes())
    assert len(raised) > 100
    names = {rule.name for rule in IMPORTED}
    assert {code: where for code, where in raised.items() if code not in names} == {}, "add a page in rules/imported"
    assert names - raised.keys() == set(), "nothing raises these any more: remove them, and retire their codes"


def test_what_is_refused_at_import_is_checked_nowhere_else() -> None:
    assert [rule.code for rule in IMPORTED if rule.check is not None or not rule.code < "KP200"] == []
    assert {rule.severity for rule in IMPORTED} == {"error"}


def test_codes_are_never_used_again() -> None:
    """`codes.txt` has all codes that there ever were. A line is never changed, except that `retired` is appended."""
    lines = [line.split() for line in CODES.read_text("utf-8").splitlines()]
    assert [line[0] for line in lines] == sorted({line[0] for line in lines}), "sorted, and each once"
    living = {(code, name) for code, name, *retired in lines if not retired}
    assert {(rule.code, rule.name) for rule in all_rules()} == living
    assert {tuple(retired) for _, _, *retired in lines} <= {(), ("retired",)}


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_each_rule_has_a_page(rule: Rule) -> None:
    assert rule.page.startswith(f"# {rule.title}\n\n`{rule.code}` · `{rule.name}` · {rule.severity} · ")
    assert rule.title[-1] not in ".!?"
    assert rule.explanation[-1] in ".:`"
    least = 40 if rule.check is not None else 15
    assert len(rule.explanation.split()) > least, "say what it is about, why it matters, and what to do"
    assert find_rule(rule.code.lower()) is find_rule(rule.name.upper()) is rule
