"""Terraform's language: blocks with arguments, as values and as text."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NAME = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True)
class Expression:
    """Something that Terraform works out, such as `aws_dynamodb_table.blog.arn`."""

    text: str


@dataclass(frozen=True)
class Encoded:
    """A value that is given to Terraform as JSON text."""

    value: Any


@dataclass(frozen=True)
class Block:
    """A block: its type, its labels, its arguments, and the blocks in it."""

    type: str
    labels: tuple[str, ...] = ()
    arguments: tuple[tuple[str, Any], ...] = ()
    blocks: tuple["Block", ...] = ()


def text_of(blocks: Sequence[Block]) -> str:
    """Blocks as `terraform fmt` writes them."""
    return "\n".join("\n".join(_block(each, 0)) + "\n" for each in blocks)


def _block(block: Block, indent: int) -> list[str]:
    space = "  " * indent
    labels = "".join(f" {json.dumps(each)}" for each in block.labels)
    opening = f"{space}{block.type}{labels} {{"
    lines = [*_aligned(block.arguments, indent + 1)]
    for position, each in enumerate(block.blocks):
        if lines or position:
            lines.append("")
        lines += _block(each, indent + 1)
    return [opening, *lines, f"{space}}}"] if lines else [f"{opening}}}"]


def _aligned(arguments: Sequence[tuple[str, Any]], indent: int) -> list[str]:
    """Arguments with their equals signs below each other, as long as they are in one line."""
    space = "  " * indent
    texts = [(name, _value(value, indent)) for name, value in arguments]
    lines: list[str] = []
    run: list[tuple[str, str]] = []

    def end() -> None:
        width = max((len(name) for name, _ in run), default=0)
        lines.extend(f"{space}{name:{width}} = {text}" for name, text in run)
        run.clear()

    for name, text in texts:
        if "\n" in text:
            end()
            lines.append(f"{space}{name} = {text}")
        else:
            run.append((name, text))
    end()
    return lines


def _value(value: Any, indent: int) -> str:  # noqa: ANN401 - any value
    match value:
        case Expression(text=text):
            return text
        case Encoded(value=encoded):
            return f"jsonencode({_value(encoded, indent)})"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case Mapping():
            return _object(value, indent)
        case list() | tuple():
            return _list(value, indent)
    return str(value)


def quoted(text: str) -> str:
    """Text in quotes, in which nothing is worked out."""
    return json.dumps(text, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def _object(value: Mapping[str, Any], indent: int) -> str:
    pairs = [(name if _NAME.fullmatch(name) else quoted(name), each) for name, each in value.items()]
    return "\n".join(["{", *_aligned(pairs, indent + 1), "  " * indent + "}"])


def _list(value: Sequence[Any], indent: int) -> str:
    texts = [_value(each, indent + 1) for each in value]
    line = f"[{', '.join(texts)}]"
    if "\n" not in line and len(line) < 100:
        return line
    inner = "  " * (indent + 1)
    return "\n".join(["[", *(f"{inner}{text}," for text in texts), "  " * indent + "]"])
