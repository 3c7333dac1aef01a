"""Writes the recipes in docs/patterns from the modules in tests/patterns: `make docs`.

A recipe is one module. Its docstring is the text of the page, the code up to `use` is the design, the body of `use` is
the example, and the requests are those that the example sends.
"""

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from keyplan.design import Design, ids_from
from tests.designs.support import Opened, opened
from tools.request_text import request_shape, request_text

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "patterns"
MODULES = ROOT / "tests" / "patterns"


_RUNNER = " The runner also\nreads the stream, and keeps its lease and its checkpoints in the housekeeping table."


def recipes() -> list[str]:
    """The names of all recipes."""
    return sorted(path.stem for path in MODULES.glob("*.py") if not path.stem.startswith(("test_", "support")))


def recipe(name: str) -> ModuleType:
    """The module of a recipe."""
    return importlib.import_module(f"tests.patterns.{name}")


def design_of(module: ModuleType) -> Design:
    """The design that a recipe declares."""
    (found,) = (
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Design) and each.__module__ == module.__name__
    )
    return found()


def takes_streams(module: ModuleType) -> bool:
    """Whether the example of a recipe needs the client of the streams."""
    return "streams" in inspect.signature(module.use).parameters


def page_of(name: str) -> str:
    """The page of a recipe."""
    module = recipe(name)
    parts = [
        inspect.cleandoc(module.__doc__ or ""),
        "## Design",
        _block("python", _declarations(module)),
        "## Use",
        textwrap.fill(" ".join((module.use.__doc__ or "").split()), 120, break_on_hyphens=False),
        _block("python", f"{_opening(module)}\n\n{_body(module)}"),
        "## Requests",
        "What the statements send; a statement that sends the same as one above is left out."
        + (_RUNNER if takes_streams(module) else ""),
        _block("text", "\n".join(requests_of(module))),
        f"<!-- Written by `make docs` from tests/patterns/{name}.py, which the tests run. -->",
    ]
    return "\n\n".join(parts) + "\n"


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def _nodes(module: ModuleType) -> tuple[str, ast.Module, ast.FunctionDef]:
    source = inspect.getsource(module)
    tree = ast.parse(source)
    (use,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "use")
    return source, tree, use


def _declarations(module: ModuleType) -> str:
    """The code between the module's docstring and `use`, with the imports that it needs."""
    source, tree, use = _nodes(module)
    declared = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom) and node is not use]
    end = max(node.end_lineno or 0 for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return "\n".join([*_imports(module, declared), *source.splitlines()[end : use.lineno - 1]])


def _names(nodes: Sequence[ast.AST]) -> set[str]:
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def _imports(module: ModuleType, nodes: Sequence[ast.AST], beside: Sequence[ast.AST] = ()) -> Iterator[str]:
    """The imports of what the nodes use and those beside them don't, with as many names in a line as fit."""
    source, tree, _ = _nodes(module)
    lines, names, started = source.splitlines(), _names(nodes) - _names(beside), False
    pause = False
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        pause |= started and not lines[node.lineno - 2].strip()
        wanted = [each.name for each in node.names if each.name in names]
        if wanted:
            yield from [""] if pause else []
            start = f"from {node.module} import " if isinstance(node, ast.ImportFrom) else "import "
            yield from (start + line.strip(" ,") for line in textwrap.wrap(", ".join(wanted), 118 - len(start)))
            started, pause = True, False


def _opening(module: ModuleType) -> str:
    _, tree, use = _nodes(module)
    declared = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom) and node is not use]
    imports = [*_imports(module, [use], declared), "from keyplan.engine import Engine"]
    name = type(design_of(module)).__name__
    opened = ["", "engine = Engine()", f"store = Store({name}(), engine)", "store.create_tables()"]
    return "\n".join(imports + opened + ["streams = engine"] * takes_streams(module))


def _body(module: ModuleType) -> str:
    source, _, use = _nodes(module)
    start = use.body[0].end_lineno or 0
    return textwrap.dedent("\n".join(source.splitlines()[start : use.end_lineno]))


def requests_of(module: ModuleType) -> Iterator[str]:
    """The statements of the example that send requests, each followed by what it sends."""
    _, _, use = _nodes(module)
    simple = [node for node in ast.walk(use) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    lines = inspect.getsource(module).splitlines()
    sent: dict[int, dict[str, list[str]]] = {}

    def listen(operation: str, request: dict[str, Any]) -> None:
        if request.get("TableName", "").endswith("-keyplan") or operation == "describe_table":
            return  # a runner's own leases and checkpoints
        line = _line_of(module)
        start = next((each.lineno for each in simple if each.lineno <= line <= (each.end_lineno or 0)), line)
        texts = sent.setdefault(start, {}).setdefault(request_shape(operation, request), [])
        texts.append(request_text(operation, request))

    run(module, listen)
    ends = {node.lineno: node.end_lineno for node in simple}
    seen: list[list[str]] = []
    for line in sorted(sent):
        if list(sent[line]) in seen:
            continue
        seen.append(list(sent[line]))
        statement = textwrap.dedent("\n".join(lines[line - 1 : ends.get(line, line)]))
        yield statement.partition("  # ")[0]
        for texts in sent[line].values():
            yield _indented(texts[0] + (f"\n  ({len(texts)} times, with other values)" if len(texts) > 1 else ""))


def _indented(text: str) -> str:
    """A request under its statement, with long lines wrapped."""
    wrapped: list[str] = []
    for line in text.splitlines():
        indent = " " * (4 + len(line) - len(line.lstrip()))
        text = line.strip().replace(": ", ":\N{NO-BREAK SPACE}")
        wrapper = textwrap.TextWrapper(112, indent, f"{indent}        ", break_long_words=False, break_on_hyphens=False)
        wrapped += wrapper.wrap(text)
    return "\n".join(wrapped).replace("\N{NO-BREAK SPACE}", " ")


Listener = Callable[[str, dict[str, Any]], None]


def run(module: ModuleType, listen: Listener) -> None:
    """Run the example with ids and times that are the same in every run."""
    made = iter(range(1, 1000))
    with ids_from(lambda: f"id-{next(made)}"), opened(design_of(module), "engine", listen) as given:
        use(module, given)


def use(module: ModuleType, given: Opened[Any]) -> None:
    """Run the example on this store."""
    module.use(given.store, *([given.streams] if takes_streams(module) else []))


def _line_of(module: ModuleType) -> int:
    """The line of the recipe's example that is running."""
    frame = sys._getframe()
    while frame.f_back and not (frame.f_code.co_name == "use" and frame.f_code.co_filename == module.__file__):
        frame = frame.f_back
    return frame.f_lineno


def pages() -> Iterator[tuple[Path, str]]:
    """The pages of all recipes, as they should be."""
    for name in recipes():
        yield PAGES / f"{name}.md", page_of(name)


if __name__ == "__main__":
    for path, page in pages():
        if not path.exists() or path.read_text("utf-8") != page:
            path.write_text(page, "utf-8")
