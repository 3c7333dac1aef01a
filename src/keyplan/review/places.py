"""Places: where in a design something is, with the file and the line."""

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from keyplan.design import Table


@dataclass(frozen=True)
class Place:
    """Where in a design something is. `text` is how people name it: `Post.by_author`."""

    text: str
    table: str | None = None
    entity: str | None = None
    attribute: str | None = None
    """The field, or the declaration such as a key, of the entity."""
    index: str | None = None
    pattern: str | None = None
    file: str | None = None
    line: int | None = None


@cache
def text_of(file: str) -> str:
    """The text of a file."""
    return Path(file).read_text("utf-8")


@cache
def syntax_of(file: str) -> ast.Module | None:
    """The syntax tree of a file, or None if it can't be read."""
    try:
        return ast.parse(text_of(file))
    except (OSError, SyntaxError, ValueError):
        return None


def file_of(module: str) -> str | None:
    """The source file of an imported module."""
    return getattr(sys.modules.get(module), "__file__", None)


def class_line(kind: type, member: str | None = None) -> tuple[str | None, int | None]:
    """The file and line of a class, or of one of its members wherever it is inherited from."""
    for base in kind.__mro__ if member is not None else (kind,):
        file = file_of(base.__module__)
        tree = syntax_of(file) if file else None
        found = _class_in(tree, base.__qualname__) if tree else None
        if found is None:
            continue
        line = found.lineno if member is None else line_of_member(found, member)
        if line is not None:
            return file, line
    return class_line(kind) if member is not None else (file_of(kind.__module__), None)


def source_of_member(kind: type, member: str) -> tuple[ast.stmt, str] | None:
    """The statement that declares a member of a class, wherever it is inherited from, and the text of its file."""
    for base in kind.__mro__:
        file = file_of(base.__module__)
        tree = syntax_of(file) if file else None
        found = _class_in(tree, base.__qualname__) if tree else None
        statements = (each for each in found.body if member in names_in(each)) if found else iter(())
        statement = next(statements, None)
        if statement is not None and file is not None:
            return statement, text_of(file)
    return None


def _class_in(tree: ast.Module, qualified_name: str) -> ast.ClassDef | None:
    """The class with this qualified name, which may be inside of functions."""
    node: ast.AST | None = tree
    for name in qualified_name.split("."):
        node = node if name == "<locals>" else _named(node, name)
    return node if isinstance(node, ast.ClassDef) else None


def _named(parent: ast.AST | None, name: str) -> ast.AST | None:
    """The last class or function with this name in a block, also under conditions."""
    found: ast.AST | None = None
    for node in ast.iter_child_nodes(parent) if parent is not None else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found = node if node.name == name else found
        elif isinstance(node, ast.stmt | ast.ExceptHandler):
            found = _named(node, name) or found
    return found


def line_of_member(node: ast.ClassDef, name: str) -> int | None:
    """The line on which a class has a member with this name."""
    for statement in node.body:
        if name in names_in(statement):
            return statement.lineno
    return None


def names_in(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives to something."""
    targets: Iterable[ast.expr] = ()
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = (statement.target,)
    for target in targets:
        for each in target.elts if isinstance(target, ast.Tuple) else (target,):
            if isinstance(each, ast.Name):
                yield each.id


def table_line(table: Table, modules: Iterable[str], index: str | None = None) -> tuple[str | None, int | None]:
    """The file and line on which one of these modules declares a table, or an index of it."""
    for module in modules:
        names = [name for name, value in vars(sys.modules.get(module)).items() if value is table]
        file = file_of(module)
        tree = syntax_of(file) if file and names else None
        for statement in _statements(tree) if tree else ():
            if any(name in names for name in names_in(statement)) and not isinstance(statement, ast.ClassDef):
                return file, (index and line_of_text(statement, index)) or statement.lineno
    return None, None


def _statements(parent: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a module, also those in blocks such as `with collecting():`, but not in functions."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.stmt | ast.ExceptHandler) and not isinstance(
            node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            yield from _statements(node)


def line_of_text(statement: ast.stmt, text: str) -> int | None:
    """The line on which a statement has this text, such as the name of an index."""
    texts = (node for node in ast.walk(statement) if isinstance(node, ast.Constant) and node.value == text)
    return next((node.lineno for node in texts), None)
