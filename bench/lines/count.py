"""Counts the code of the slices: lines and characters, without imports, blank lines, comments and docstrings."""

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
SLICES = {
    "Keyplan": "keyplan_shop.py",
    "PynamoDB 6": "pynamodb_shop.py",
    "ElectroDB 3 (JavaScript)": "electrodb_shop.mjs",
    "boto3": "boto3_shop.py",
}
_COMMENT = re.compile(r"\s*//")
_NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@dataclass(frozen=True)
class Size:
    """Lines of code, and the characters in them that aren't spaces."""

    lines: int
    characters: int


def sizes() -> dict[str, Size]:
    """The size of each slice."""
    return {name: size_of(FOLDER / file) for name, file in SLICES.items()}


def size_of(path: Path) -> Size:
    """The size of a source file in Python or JavaScript."""
    text = path.read_text("utf-8")
    lines = _python(text) if path.suffix == ".py" else _javascript(text)
    return Size(len(lines), sum(len("".join(line.split())) for line in lines))


def _python(text: str) -> list[str]:
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            assert isinstance(node, ast.stmt)
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    lines = text.splitlines()
    return [lines[number - 1] for number in sorted(code - left_out)]


def _javascript(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip() and not _COMMENT.match(line)]
    return [line for line in lines if not line.startswith("import ")]


def table() -> str:
    """The sizes as a table in Markdown."""
    rows = ["| | lines | characters |", "| --- | --- | --- |"]
    rows += [f"| {name} | {size.lines} | {size.characters:,} |" for name, size in sizes().items()]
    return "\n".join(rows)
