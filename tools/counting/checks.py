"""Checks that are written by hand: find or 404, version checks, "required". The rules are in `tools.counts`."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from tools.counting.meaning import Meaning
from tools.counting.sources import Function

_LOOKUPS = {"KeyError", "IndexError", "LookupError", "StopIteration"}
_VERSIONS = "frozenset[int]"
_REQUIRED = re.compile(
    r"\brequired\b|can ?not be (left )?(empty|blank|null|without)|must (not be (empty|null)|be given)|Pflichtfeld",
    re.IGNORECASE,
)
_NONE = ast.Constant(None)


class FindOr404:
    """What was not found becomes a 404."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning

    def found_in(self, function: Function) -> Iterator[ast.AST]:
        return (node for node, _ in self._tests(function))

    def is_helper(self, function: Function) -> bool:
        """Whether it is given what was found or none; what finds by itself is no helper."""
        given = any(name in function.parameters for _, tested in self._tests(function) for name in tested)
        return given and not self.meaning.touches_store(function)

    def _tests(self, function: Function) -> Iterator[tuple[ast.AST, list[str]]]:
        """Where a 404 is raised because something is not there, and what that is, as it is written."""
        for node, tested in (*self._branches(function), *self._falls_through(function)):
            if any(ast.unparse(function.annotation_of(each) or _NONE) != "bool" for each in tested):
                yield node, tested
        for node in function.nodes:
            match node:
                case ast.BoolOp(op=ast.Or(), values=[first, *_, last]) if self._always_missing(last, function):
                    yield node, [ast.unparse(first)]
                case ast.IfExp(body=one, orelse=other):
                    if self._always_missing(one, function) or self._always_missing(other, function):
                        yield node, _absent_in(node.test) + _present_in(node.test)
                case ast.Match(subject=subject, cases=cases):
                    none = [each.body for each in cases if isinstance(each.pattern, ast.MatchSingleton)]
                    if any(self.meaning.raises(404, body, function) for body in none):
                        yield node, [ast.unparse(subject)]
                case ast.ExceptHandler(type=ast.expr() as kind, body=body) if ast.unparse(kind) in _LOOKUPS:
                    if self.meaning.raises(404, body, function):
                        yield node, []

    def _branches(self, function: Function) -> Iterator[tuple[ast.AST, list[str]]]:
        for node in function.nodes:
            if isinstance(node, ast.If):
                if self.meaning.raises(404, node.body, function):
                    yield node, _absent_in(node.test)
                elif self.meaning.raises(404, node.orelse, function):
                    yield node, _present_in(node.test)

    def _falls_through(self, function: Function) -> Iterator[tuple[ast.AST, list[str]]]:
        """`if found is not None: return found` and then the 404."""
        for node in [function.node, *function.nodes]:
            body = getattr(node, "body", None)
            for one, two in pairwise(body) if isinstance(body, list) else ():
                match one:
                    case ast.If(test=test, body=[*_, ast.Return()], orelse=[]):
                        if self.meaning.raises(404, [two], function):
                            yield one, _present_in(test)

    def _always_missing(self, expression: ast.expr, function: Function) -> bool:
        """Whether this calls a function that does nothing but raise a 404."""
        called = self.meaning.called(expression, function)
        return bool(called) and all(
            len(each.body) == 1 and self.meaning.raises(404, each.body, each) for each in called
        )


def _absent_in(test: ast.expr) -> list[str]:
    """What is not there where this holds: `... is None`, `not ...`."""
    found = _compared_with_none(test, ast.Is)
    for node in ast.walk(test):
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
                found.append(name)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare() as inner):
                found += _compared_with_none(inner, ast.IsNot)
    return found


def _present_in(test: ast.expr) -> list[str]:
    """What is there where this holds: `... is not None`, or the name alone."""
    names = [test.id] if isinstance(test, ast.Name) else []
    return names + _compared_with_none(test, ast.IsNot)


def _compared_with_none(test: ast.expr, operator: type[ast.Is | ast.IsNot]) -> list[str]:
    found = []
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=left, ops=[asked], comparators=[ast.Constant(value=None)]):
                if isinstance(asked, operator):
                    found.append(ast.unparse(left.target if isinstance(left, ast.NamedExpr) else left))
    return found


class VersionChecks:
    """The caller's version is compared with that of what is there."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning

    def found_in(self, function: Function) -> Iterator[ast.AST]:
        """Comparisons of versions, and 412s; but not conditions for the store, which are lambdas with a parameter."""
        conditions = [each for each in function.nodes if isinstance(each, ast.Lambda) and each.args.args]
        inside = {node for each in conditions for node in ast.walk(each)}
        compared = [each for each in function.nodes if self._compares(each, function) and each not in inside]
        yield from compared
        for node in function.nodes:
            match node:
                case ast.If(test=test, body=body) if not any(each in compared for each in ast.walk(test)):
                    if self.meaning.raises(412, body, function):
                        yield node

    def is_helper(self, function: Function) -> bool:
        """Whether it gets versions and refuses others, and neither finds nor writes anything."""
        if not any(self._holds_versions(name, function) for name in function.parameters):
            return False
        refuses = any(self.found_in(function)) or any(self.meaning.uses(self.is_helper, function))
        return refuses and not self.meaning.touches_store(function)

    def _compares(self, node: ast.AST, function: Function) -> bool:
        if not isinstance(node, ast.Compare) or any(isinstance(each, ast.Is | ast.IsNot) for each in node.ops):
            return False
        for part in (inner for side in (node.left, *node.comparators) for inner in ast.walk(side)):
            match part:
                case ast.Attribute(attr="version"):
                    return True
                case ast.Name(id=name) if self._holds_versions(name, function):
                    return True
        return False

    def _holds_versions(self, name: str, function: Function) -> bool:
        """Whether a parameter is of the type in which the kit hands on `If-Match`, under whatever name."""
        annotation = function.annotation_of(name)
        if annotation is None:
            return False
        home = self.meaning.home(function)
        written = [ast.unparse(annotation), repr(home.meaning(function.module, annotation))]
        if isinstance(annotation, ast.Name):
            written += [ast.unparse(each or _NONE) for _, each in home.alias(function.module, annotation.id)]
        return any(_VERSIONS in each for each in written)


class RequiredByHand:
    """A 422 says that something can't be left out."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning

    def found_in(self, function: Function) -> Iterator[ast.AST]:
        for node in function.nodes:
            if isinstance(node, ast.Call) and self.meaning.statuses(node.func, function) == {422}:
                texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                if any(isinstance(text, str) and _REQUIRED.search(text) for text in texts):
                    yield node

    def is_helper(self, function: Function) -> bool:
        """Whether callers give it what is to be checked. One of the kit is none: there it may be said once for all."""
        checks = bool(function.parameters) and any(self.found_in(function))
        own = self.meaning.home(function) is self.meaning.system
        return checks and own and not self.meaning.touches_store(function)
