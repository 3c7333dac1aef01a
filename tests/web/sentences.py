"""The sentences that a module says to people."""

import ast
from collections.abc import Iterator

from keyplan.web import Problem
from keyplan.web.models import problems

_PROBLEMS = {each.__name__ for each in vars(problems).values() if isinstance(each, type) and issubclass(each, Problem)}


def problem_sentences(source: str) -> Iterator[str]:
    """The messages of the problems in a module, if they contain no values."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _PROBLEMS:
            given = [*call.args, *(word.value for word in call.keywords)]
            said = [str(each.value) for each in given if isinstance(each, ast.Constant)]
            yield from (each for each in said if each.endswith("."))
        elif isinstance(call, ast.FunctionDef):  # the default of a problem's sentence
            defaults = [each for each in call.args.defaults if isinstance(each, ast.Constant)]
            yield from (str(each.value) for each in defaults if str(each.value).endswith("."))
