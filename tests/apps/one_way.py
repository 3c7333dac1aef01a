"""Finds out what a form does: which methods of the service it calls, and whether they delete something.

It follows the names in the code: of functions of the system, and of methods of its service.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from keyplan.data import delete, delete_all
from keyplan.web.system.access import permission_of

Function = Callable[..., Any]


def reached(function: Function, service: type) -> set[Function]:
    """The functions of the system that a function calls, and those that they call, itself included."""
    found: set[Function] = set()
    left = [inspect.unwrap(function)]
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left += _called(each, service)
    return found


def methods_called(function: Function, service: type) -> set[Function]:
    """The methods of the service that a form calls."""
    methods = {inspect.unwrap(each): each for _, each in inspect.getmembers(service, inspect.isfunction)}
    called = {methods[each] for each in reached(function, service) if each in methods}
    return {each for each in called if permission_of(each) is not None}


def deletes(function: Function, service: type) -> bool:
    """Whether a method deletes an item."""
    return not {delete, delete_all}.isdisjoint(reached(function, service))


def _called(function: Function, service: type) -> Iterator[Function]:
    if not inspect.isfunction(function) or not function.__module__.startswith(("keyplan.apps", "keyplan.web", "tests")):
        return
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        named = None
        if isinstance(node, ast.Name):
            named = known.get(node.id)
        elif isinstance(node, ast.Attribute) and _is_service(node.value):
            named = inspect.getattr_static(service, node.attr, None)
        if named in (delete, delete_all) or inspect.isfunction(named):
            yield inspect.unwrap(named)


def _is_service(value: ast.expr) -> bool:
    """Whether an expression is a service: `self`, `service`, or `view.service`."""
    name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
    return name in ("self", "service")
