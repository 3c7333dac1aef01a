"""Pictures as Mermaid. Everything that comes from a design is written as character codes where it could be syntax."""

import re
from collections.abc import Iterator

from keyplan.publish.diagrams.subjects import Actions, Collections, Relations
from keyplan.publish.diagrams.text import clean, shortened

_PLAIN = re.compile(r"[A-Za-z0-9 _.,:+/-]")
_WORD = re.compile(r"[^A-Za-z0-9_]")
_CROWS = {"cascade": "||--o{", "refuse": "||--o{", "keep": "|o--o{", "copy": "||..o{", "count": "||..o{"}
_WORDS = {
    "cascade": "deleted with it",
    "refuse": "keeps it from being deleted",
    "keep": "stays",
    "copy": "copied",
    "count": "counted",
}
_LONGEST = 70


def label(text: str) -> str:
    """A text in quotes; all but letters, digits and a few signs as codes, so that nothing in it is syntax."""
    line = shortened(clean(text), _LONGEST)
    return '"' + "".join(each if _PLAIN.fullmatch(each) else f"#{ord(each)};" for each in line) + '"'


def _name(text: str) -> str:
    """A name that Mermaid accepts as one."""
    word = _WORD.sub("_", text)
    return word if word[:1].isalpha() else f"n{word}"


def relations(subject: Relations) -> str:
    """Entities and their relations, as an entity relationship diagram."""
    lines = ["erDiagram"]
    for node in subject.nodes:
        lines.append(f"    {_name(node.name)} {{")
        lines += [f"        {_name(what)} template {_comment(text)}" for what, text in node.lines]
        lines.append("    }")
    for edge in subject.edges:
        target, source = _name(edge.target), _name(edge.source)
        lines.append(f'    {target} {_CROWS[edge.kind]} {source} : "{_name(edge.name)}, {_WORDS[edge.kind]}"')
    return "\n".join(lines)


def _comment(text: str) -> str:
    """A comment of an attribute, which has no character codes: what could end it becomes harmless."""
    line = shortened(clean(text), _LONGEST)
    return '"' + line.replace('"', "'").replace("`", "'").replace("<", "(").replace(">", ")").replace("%%", "% %") + '"'


def collections(subject: Collections) -> str:
    """Items by partition, as a flow chart with a frame for each partition."""
    return "\n".join(["flowchart LR", *_groups(subject)])


def _groups(subject: Collections) -> Iterator[str]:
    for number, group in enumerate(subject.groups):
        yield f"    subgraph p{number}[{label(f'{subject.partition_name} {group.partition}')}]"
        yield "        direction LR"
        for position, row in enumerate(group.rows):
            sort = f"{subject.sort_name} {row.sort}".strip()
            yield f"        i{number}x{position}[{label(f'{row.what}: {sort}' if sort else row.what)}]"
        yield "    end"


def actions(subject: Actions) -> str:
    """One write, as a flow chart from the write to the items that it touches."""
    lines = ["flowchart LR", f"    w[{label(f'{subject.name}: {subject.operation}')}]"]
    for number, each in enumerate(subject.actions):
        text = f"{each.what or 'item'}: {each.key}"
        lines += [f"    a{number}[{label(text)}]", f"    w -->|{label(each.verb)}| a{number}"]
    return "\n".join(lines)
