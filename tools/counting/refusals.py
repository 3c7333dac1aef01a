"""Errors of the data layer that are made problems by hand: the rules are in `tools.counts`."""

import ast
from collections.abc import Iterator

from tools.counting.meaning import Meaning
from tools.counting.sources import Function, Place


def refusals_translated(meaning: Meaning) -> list[Place]:
    """Where a system makes an error of the data layer a problem."""
    places, translators = [], set()
    for function in meaning.system.functions:
        for handler in function.nodes:
            if isinstance(handler, ast.ExceptHandler) and meaning.is_data_error(handler.type, function):
                for node in _raised_in(handler):
                    places.append(function.place(node))
                    translators |= {each for call in ast.walk(node) for each in meaning.called(call, function)}
        places += [function.place(node) for node in _tables(meaning, function)]
    hooks = [each for each in meaning.system.functions if each not in translators and _takes_data_error(meaning, each)]
    return places + [hook.place(node) for hook in hooks for node in _problems_in(meaning, hook)]


def _raised_in(handler: ast.ExceptHandler) -> list[ast.Raise]:
    """What a handler raises instead of the error, without what handlers inside of it raise."""
    inside = {each for node in ast.walk(handler) if isinstance(node, ast.Try) for each in node.handlers}
    nested = {node for each in inside for node in ast.walk(each)}
    raised = [node for node in ast.walk(handler) if isinstance(node, ast.Raise) and node.exc and node not in nested]
    return [node for node in raised if not (isinstance(node.exc, ast.Name) and node.exc.id == handler.name)]


def _tables(meaning: Meaning, function: Function) -> Iterator[ast.AST]:
    """Entries of a table, and calls, that put an error of the data layer and a problem together."""
    managers = [node.context_expr for node in function.nodes if isinstance(node, ast.withitem)]
    for node in function.nodes:
        match node:
            case ast.Dict(keys=keys):
                yield from (key for key in keys if key is not None and meaning.is_data_error(key, function))
            case ast.Call(args=args, keywords=keywords):
                given = [*args, *(each.value for each in keywords)]
                # A class alone may only be named to be caught, too; for a context manager it is what to raise.
                made = [each for each in given if node in managers or isinstance(each, ast.Call | ast.Lambda)]
                problems = [each.body if isinstance(each, ast.Lambda) else each for each in made]
                if any(meaning.is_data_error(each, function) for each in given):
                    yield from [node] if any(meaning.statuses(each, function) for each in problems) else ()


def _takes_data_error(meaning: Meaning, function: Function) -> bool:
    """Whether a function is given an error of the data layer, or tells them apart."""
    annotations = [each for each in function.parameters.values() if each is not None]
    names: list[ast.expr] = [
        node for each in annotations for node in ast.walk(each) if isinstance(node, ast.Name | ast.Attribute)
    ]
    names += [node.cls for node in function.nodes if isinstance(node, ast.MatchClass)]
    return any(meaning.is_data_error(each, function) for each in names)


def _problems_in(meaning: Meaning, function: Function) -> Iterator[ast.AST]:
    """The statements that return or raise a problem."""
    for node in function.nodes:
        match node:
            case ast.Return(value=ast.expr() as value) | ast.Raise(exc=ast.expr() as value):
                if meaning.statuses(value, function):
                    yield node
