"""What the code of a system means to the counters: which functions a call goes to, and what kind an error is."""

import ast
from collections.abc import Callable, Iterator
from typing import Protocol

from tools.counting.sources import Class, Function, Place, System

_STORE = {"run", "transact", "each"}


class Meaning:
    """Calls and errors of a system. Functions are looked up in it first, and then in the kit."""

    def __init__(self, system: System, kit: System) -> None:
        self.system = system
        self.kit = kit
        self._asked: list[tuple[str, Function]] = []
        self._answers: dict[tuple[str, Function], bool] = {}

    def home(self, function: Function) -> System:
        """Where a function is from: the system or the kit."""
        return self.system if function.module.name in self.system.modules else self.kit

    # Functions

    def called(self, call: ast.AST, function: Function) -> list[Function]:
        """The functions that a call may mean: by name, those of the system or else of the kit."""
        return self._meant(call.func, function) if isinstance(call, ast.Call) else []

    def _meant(self, expression: ast.expr, function: Function) -> list[Function]:
        match expression:
            case ast.Name(id=name):
                origin, attribute = function.module.imports.get(name, (function.module.name, name))
                named = [each for each in self._named(attribute or name, function) if each.owner is None]
                return [each for each in named if each.module.name == origin] or named
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return [each for each in self._named(name, function) if each.owner is not None]
            case ast.Attribute(attr=name):
                return self._named(name, function)
        return []

    def _named(self, name: str, function: Function) -> list[Function]:
        """The functions of a name; the kit doesn't know those of the systems."""
        own = self.system.functions_by_name.get(name, []) if self.home(function) is self.system else []
        return own or self.kit.functions_by_name.get(name, [])

    def uses(self, is_helper: Callable[[Function], bool], function: Function) -> Iterator[tuple[ast.AST, Function]]:
        """The calls of a function that go to a helper, and those that hand one on, each with the helper."""
        for node in function.nodes:
            if isinstance(node, ast.Call):
                handed_on = [each for each in node.args if _is_own(each)]
                for expression in (node.func, *handed_on):
                    helpers = [each for each in self._meant(expression, function) if self._once(is_helper, each)]
                    yield from ((expression, each) for each in helpers[:1])

    def touches_store(self, function: Function) -> bool:
        """Whether it reads or writes, itself or through what it calls."""
        return self._once(self._touches_store, function)

    def _touches_store(self, function: Function) -> bool:
        calls = [node.func for node in function.nodes if isinstance(node, ast.Call)]
        if any(map(_is_of_store, calls)):
            return True
        own = [each for each in calls if _is_own(each)]
        return any(self.touches_store(each) for expression in own for each in self._meant(expression, function))

    def _once(self, question: Callable[[Function], bool], function: Function) -> bool:
        """The answer to a question about a function that may lead back to itself; then it is no."""
        asked = (question.__qualname__, function)
        if asked in self._answers or asked in self._asked:
            return self._answers.get(asked, False)
        self._asked.append(asked)
        try:
            answer = question(function)
        finally:
            self._asked.pop()
        if not self._asked:  # else a "no" may only mean that it leads back to where the asking began
            self._answers[asked] = answer
        return answer

    # Errors

    def statuses(self, expression: ast.expr | None, function: Function) -> set[int]:
        """The HTTP statuses of the problems that an expression may be; empty where it is no problem."""
        match expression:
            case None:
                return set()
            case ast.IfExp(body=one, orelse=other):
                return self.statuses(one, function) | self.statuses(other, function)
            case ast.Call(func=func):
                made = self.called(expression, function)
                return self.statuses(func, function) or {status for each in made for status in self._returned(each)}
            case ast.Name(id=name) if function.annotation_of(name) is not None:
                types = self.home(function).types_in(function.module, function.annotation_of(name))
                return {status for each in types for status in self._status(each)}
        return self._status(self.home(function).meaning(function.module, expression))

    def _returned(self, function: Function) -> set[int]:
        asked = ("returned", function)
        if asked in self._asked:
            return set()
        self._asked.append(asked)
        try:
            returns = [node.value for node in function.nodes if isinstance(node, ast.Return)]
            return {status for value in returns for status in self.statuses(value, function)}
        finally:
            self._asked.pop()

    def _status(self, found: object) -> set[int]:
        """The status of a class of problems: an exception that has one."""
        match found:
            case Class(given={"status": ast.Assign(value=ast.Constant(value=int(status)))}):
                return {status}
            case Class():
                home = self.system if found.module.name in self.system.modules else self.kit
                return {status for base in home.outside(found) for status in self._status(base)}
            case type() if issubclass(found, Exception):
                own = getattr(found, "status", None)
                return {own} if isinstance(own, int) else set()
        return set()

    def raises(self, status: int, body: list[ast.stmt], function: Function) -> bool:
        """Whether one of these statements raises a problem of this status, and of no other."""
        return any(isinstance(each, ast.Raise) and self.statuses(each.exc, function) == {status} for each in body)

    def is_data_error(self, expression: ast.expr | None, function: Function) -> bool:
        """Whether this is an error of the data layer, or a tuple with one."""
        if isinstance(expression, ast.Tuple):
            return any(self.is_data_error(each, function) for each in expression.elts)
        found = self.home(function).meaning(function.module, expression)
        return isinstance(found, type) and issubclass(found, Exception) and found.__module__.startswith("keyplan.data")


def _is_of_store(called: ast.expr) -> bool:
    """Whether this is a method of a store: by its name, or by that of what it is called on."""
    match called:
        case ast.Attribute(value=target, attr=name):
            return name in _STORE or "store" in ast.unparse(target).split(".")
    return False


def _is_own(expression: ast.expr) -> bool:
    """Whether it names a function or a method of one's own, and not a method of whatever was given."""
    match expression:
        case ast.Name() | ast.Attribute(value=ast.Name(id="self" | "cls")):
            return True
    return False


class Check(Protocol):
    """Something that is done by hand, or by a helper that does nothing else."""

    meaning: Meaning

    def found_in(self, function: Function) -> Iterator[ast.AST]:
        """Where a function does it itself."""

    def is_helper(self, function: Function) -> bool:
        """Whether others call this function to have it done."""


def done_by_hand(check: Check) -> list[Place]:
    """Where a system does it: itself, or by a call of a helper. In a helper it counts only where nobody calls it."""
    places: list[Place] = []
    helpers, used = [], set()
    for function in check.meaning.system.functions:
        calls = list(check.meaning.uses(check.is_helper, function))
        used |= {helper for _, helper in calls}
        if check.is_helper(function):
            helpers.append(function)
        else:
            places += [function.place(node) for node in (*check.found_in(function), *(node for node, _ in calls))]
    unused = [each for each in helpers if each not in used]
    return places + [each.place(node) for each in unused for node in check.found_in(each)]
