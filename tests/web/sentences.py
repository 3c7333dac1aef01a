"""The sentences that a module says to people."""

import ast
import re
from collections.abc import Iterator

_SENTENCE = re.compile(r"[A-Z“{].* .*[.?!]", re.DOTALL)
_FOR_DEVELOPERS = re.compile(r"(Type|Value|Key|Runtime|Declaration|Design|OS)Error")
_LOGGING = re.compile(r"_?log(ger)?\.")


_FOR_READERS_OF_DESIGNS = {"because", "claims", "decides", "description", "why"}
"""Arguments that the document of a design shows, or that of an API."""


def sentences(source: str) -> Iterator[str]:
    """The sentences in a module, with `{}` for each value.

    Docstrings, descriptions for the OpenAPI document, reasons in a design, and what developers get for a wrong
    declaration or operators read in the log are left out.
    """
    yield from _Found(ast.parse(source)).sentences


class _Found(ast.NodeVisitor):
    def __init__(self, module: ast.Module) -> None:
        self.sentences: list[str] = []
        self.visit(module)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring otherwise
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if not _LOGGING.match(ast.unparse(node.func)):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        made = node.exc.func if isinstance(node.exc, ast.Call) else None
        if made is None or not _FOR_DEVELOPERS.fullmatch(ast.unparse(made)):
            self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in _FOR_READERS_OF_DESIGNS:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._add(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._add("".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values))
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                self.visit(each.value)

    def _add(self, text: str) -> None:
        if _SENTENCE.fullmatch(text):
            self.sentences.append(text)
