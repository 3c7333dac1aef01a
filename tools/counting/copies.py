"""Copying by hand: attributes that are handed on one by one, and functions that do nothing else."""

import ast
from collections.abc import Iterator

from tools.counting.sources import Class, Function, Place, System

_CONVERSIONS = {"cast", "tuple", "list", "str", "int"}


def copied_attribute(value: ast.expr) -> ast.Attribute | None:
    """The attribute that a value is a copy of, through a conversion or `... or None`; none where it is computed."""
    match value:
        case ast.Attribute(value=ast.Name()):
            return value
        case ast.IfExp(body=ast.Constant(), orelse=inner) | ast.IfExp(body=inner, orelse=ast.Constant()):
            return copied_attribute(inner)
        case ast.BoolOp(op=ast.Or(), values=[inner, *_]):
            return copied_attribute(inner)
        case ast.Call(func=ast.Name(id=name), args=[*_, inner], keywords=[]) if name in _CONVERSIONS:
            return copied_attribute(inner)
    return None


def named_entries(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The entries of a dict literal, or the keywords of a call, with their names."""
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg is not None:
                    yield keyword.arg, keyword.value


def is_dict(node: ast.AST) -> bool:
    """Whether this writes a dict down: a literal, or `dict(...)`."""
    return isinstance(node, ast.Dict) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "dict")


def functions_that_only_copy(system: System, models: set[Class], entities: list[Class]) -> list[Place]:
    """Functions and lambdas that make one object from the attributes of another and do nothing else."""
    copying = Copying(system, models)
    places = []
    for function in system.functions:
        if function.owner not in entities:
            places += [function.place(function.node)] if copying.only_copies(function) else []
            lambdas = [node for node in function.nodes if isinstance(node, ast.Lambda)]
            places += [function.place(each) for each in lambdas if copying.lambda_only_copies(each, function)]
    return places


class Copying:
    """Which functions of a system only validate or copy."""

    def __init__(self, system: System, models: set[Class]) -> None:
        self.system = system
        self.models = models
        self._asked: list[Function] = []

    def only_copies(self, function: Function) -> bool:
        """Whether the body does no more than make one object or dict from the attributes of others."""
        if function in self._asked or not function.body:
            return False
        self._asked.append(function)
        try:
            return self._only_copies(function)
        finally:
            self._asked.pop()

    def _only_copies(self, function: Function) -> bool:
        *before, last = function.body
        known: dict[str, ast.expr] = {}
        for statement in before:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    known[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    known[name] = value
                case _:
                    return False
        return isinstance(last, ast.Return) and last.value is not None and self._makes(last.value, function, known)

    def lambda_only_copies(self, node: ast.Lambda, function: Function) -> bool:
        """The same for a lambda."""
        return self._makes(node.body, function, {})

    def _makes(self, value: ast.expr, function: Function, known: dict[str, ast.expr]) -> bool:
        match value:
            case ast.Name(id=name) if name in known:
                return self._makes(known[name], function, known)
            case ast.Call(func=ast.Attribute(value=target, attr=method), args=[given]) if method.startswith("model_"):
                return self._is_model(target, function) and self._plain(given, function, known)
            case ast.Call(func=func) if is_dict(value) or self._is_model(func, function):
                values = [*value.args, *(each.value for each in value.keywords)]
                return self._all_plain(values, function, known) and self._copies_some(value)
            case ast.Dict() | ast.DictComp() | ast.BinOp():
                return self._plain(value, function, known) and self._copies_some(value)
        return False

    def _is_model(self, target: ast.expr, function: Function) -> bool:
        if isinstance(target, ast.Name) and target.id == "cls":
            return function.owner in self.models
        return self.system.meaning(function.module, target) in self.models

    def _copies_some(self, value: ast.expr) -> bool:
        """Whether an attribute or a whole object is in it: what only passes parameters on copies nothing."""
        nodes = list(ast.walk(value))
        methods = [node.func for node in nodes if isinstance(node, ast.Call)]
        whole = any(
            isinstance(node, ast.DictComp) or (isinstance(node, ast.keyword) and not node.arg) for node in nodes
        )
        return whole or any(isinstance(node, ast.Attribute) and node not in methods for node in nodes)

    def _all_plain(self, values: list[ast.expr], function: Function, known: dict[str, ast.expr]) -> bool:
        return all(self._plain(each, function, known) for each in values)

    def _plain(self, value: ast.expr, function: Function, known: dict[str, ast.expr]) -> bool:
        """Whether a value is handed on as it is: a name, an attribute, a whole object, or a dict of such."""
        match value:
            case ast.Name(id=name):
                return name not in known or self._plain(known[name], function, known)
            case ast.Constant():
                return True
            case ast.Attribute(value=inner):
                return self._plain(inner, function, known)
            case ast.Dict(values=values):
                return self._all_plain(values, function, known)
            case ast.DictComp(value=ast.Call(func=ast.Name(id="getattr"))):
                return True
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._all_plain([left, right], function, known)
            case ast.Call(func=ast.Attribute(value=inner, attr="model_dump" | "model_copy"), args=[]):
                keywords = {each.arg for each in value.keywords}
                return "update" not in keywords and self._plain(inner, function, known)
            case ast.Call(func=ast.Name(id=name), args=[*_, inner], keywords=[]) if name in _CONVERSIONS:
                return self._plain(inner, function, known)
            case ast.Call():
                return self._is_copying_call(value, function, known)
        return False

    def _is_copying_call(self, call: ast.Call, function: Function, known: dict[str, ast.expr]) -> bool:
        """Whether it calls a function that only copies, or makes a model in the same plain way."""
        called = [each for each in self._called(call, function) if each is not function]
        if not called:
            return self._makes(call, function, known)
        given = [*call.args, *(each.value for each in call.keywords)]
        return all(map(self.only_copies, called)) and self._all_plain(given, function, known)

    def _called(self, call: ast.Call, function: Function) -> list[Function]:
        match call.func:
            case ast.Name(id=name):
                return [each for each in self.system.functions_by_name.get(name, ()) if each.owner is None]
            case ast.Attribute(value=target, attr=name):
                of = self.system.meaning(function.module, target)
                owners = self.system.ancestors(of) if isinstance(of, Class) else []
                return [each for each in self.system.functions_by_name.get(name, ()) if each.owner in owners]
        return []
