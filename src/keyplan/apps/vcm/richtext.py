"""Rich text: Tiptap's JSON, held against the schema that the club's pages can show.

Each document is checked node by node and rebuilt: what is stored has the nodes, marks and attributes that are listed
here and nothing else, whoever made it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, TypeAlias, cast

from pydantic import GetJsonSchemaHandler, JsonValue, ValidatorFunctionWrapHandler, WrapValidator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from keyplan.design import LINK, limit

Node: TypeAlias = dict[str, JsonValue]
"""A node or a mark; a document is a node."""

DEEPEST = 31
"""How deep maps and lists may stand in each other, so that the texts inside are within DynamoDB's 32 levels."""
LARGEST = 300_000
"""Bytes of text, names and numbers: an item holds 400 KB, and there is more in it than its text."""
EXCERPT = 240
_LINK = re.compile(LINK)
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")


class BadDocument(ValueError):
    """A document is not valid; `pointer` says where."""

    def __init__(self, problem: str, pointer: str = "", code: str = "bad-rich-text") -> None:
        super().__init__(problem)
        self.problem = problem
        self.pointer = pointer
        self.code = code


def _level(value: JsonValue) -> JsonValue:
    if type(value) is not int or not 1 <= value <= 6:
        raise ValueError("a heading's level must be 1 to 6")
    return value


def _start(value: JsonValue) -> JsonValue:
    if type(value) is not int or not 0 <= value <= 1_000_000_000:
        raise ValueError("a list must start with a whole number")
    return value


def _language(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise ValueError("this isn't the name of a language")
    return value


def is_link(text: str) -> bool:
    """Whether a text is a link that may stand in a page."""
    return len(text) <= 2048 and _LINK.fullmatch(text) is not None


def _href(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or not is_link(value):
        raise ValueError("a link begins with https://, http:// or mailto:")
    return value


def _media_id(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or not 1 <= len(value) <= 128 or "#" in value:
        raise ValueError("this isn't the id of a media item")
    return value


def _short(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or len(value) > 500:
        raise ValueError("use at most 500 characters")
    return value


@dataclass(frozen=True)
class Kind:
    """What a node or mark may have. Attributes that are None say nothing, and are left out."""

    holds: str = ""
    """Which nodes are in it: the names of a group, or "" where there is nothing in it."""
    attrs: Mapping[str, Callable[[JsonValue], JsonValue]] | None = None
    needs: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    """What an editor sends along for itself; it is not stored."""


BLOCKS = "paragraph heading bulletList orderedList blockquote codeBlock horizontalRule image"
_HOLDS: Mapping[str, tuple[str, ...]] = {
    "blocks": tuple(BLOCKS.split()),
    "inline": ("text", "hardBreak"),
    "items": ("listItem",),
    "plain": ("text",),
}
_MAY_BE_EMPTY = {"inline", "plain"}
NODES: Mapping[str, Kind] = {
    "doc": Kind("blocks"),
    "paragraph": Kind("inline"),
    "heading": Kind("inline", {"level": _level}, ("level",)),
    "bulletList": Kind("items"),
    "orderedList": Kind("items", {"start": _start}, drops=("type",)),
    "listItem": Kind("blocks"),
    "blockquote": Kind("blocks"),
    "codeBlock": Kind("plain", {"language": _language}),
    "horizontalRule": Kind(),
    "hardBreak": Kind(),
    "image": Kind(
        "",
        {"mediaId": _media_id, "alt": _short, "title": _short},
        ("mediaId",),
        ("src", "width", "height"),
    ),
}
MARKS: Mapping[str, Kind] = {
    "bold": Kind(),
    "italic": Kind(),
    "strike": Kind(),
    "underline": Kind(),
    "code": Kind(),
    "link": Kind("", {"href": _href}, ("href",), ("target", "rel", "class", "title")),
}
MARK_ORDER = tuple(MARKS)


def checked(document: Mapping[str, JsonValue]) -> Node:
    """The document as it is stored; `BadDocument` for one that the schema does not allow, or that can't be stored."""
    if depth_of(document) > DEEPEST:
        raise BadDocument(f"The text nests more than {DEEPEST} levels deep, which can't be stored.", code="too-deep")
    made = _node(document, "", ("doc",))
    if (size := size_of(made)) > LARGEST:
        raise BadDocument(f"The text has {size:,} bytes. At most {LARGEST:,} can be stored.", code="too-large")
    return made


def size_of(value: JsonValue) -> int:
    """About what DynamoDB counts."""
    match value:
        case dict():
            return 3 + sum(1 + len(name) + size_of(each) for name, each in value.items())
        case list():
            return 3 + sum(1 + size_of(each) for each in value)
        case str():
            return len(value.encode("utf-8", "surrogatepass"))
    return 8


def _node(given: object, at: str, allowed: Sequence[str]) -> Node:
    if not isinstance(given, dict):
        raise BadDocument("A node must be an object.", at)
    name = given.get("type")
    if not isinstance(name, str) or name not in allowed:
        raise BadDocument(f"{name!r} isn't allowed here. Use {', '.join(allowed)}.", f"{at}/type")
    if name == "text":
        return _text(given, at)
    kind = NODES[name]
    made: Node = {"type": name}
    if attrs := _attributes(kind, given.get("attrs"), f"{at}/attrs"):
        made["attrs"] = attrs
    _only(given, ("type", "attrs", "content", "marks"), at)
    content = _content(kind, name, given.get("content", []), f"{at}/content")
    if content:
        made["content"] = cast("JsonValue", content)
    if marks := given.get("marks"):
        if name not in _HOLDS["inline"] or not isinstance(marks, list):
            raise BadDocument("Only text can have marks.", f"{at}/marks")
        # A line break in bold text is bold, too, as Tiptap has it; nobody sees it, so it is not stored.
        for _ in _marks(marks, f"{at}/marks"):
            pass
    return made


def _content(kind: Kind, name: str, given: object, at: str) -> list[Node]:
    if not isinstance(given, list):
        raise BadDocument("The content must be a list of nodes.", at)
    if not kind.holds:
        if given:
            raise BadDocument(f"A {name} can't have content.", at)
        return []
    allowed = _HOLDS[kind.holds]
    made = [_node(each, f"{at}/{number}", allowed) for number, each in enumerate(given)]
    if not made and kind.holds not in _MAY_BE_EMPTY:
        if name == "doc":
            return [{"type": "paragraph"}]
        raise BadDocument(f"A {name} must have content.", at)
    if name == "listItem" and made[0]["type"] != "paragraph":
        made.insert(0, {"type": "paragraph"})  # as Tiptap wants it
    if name == "codeBlock" and any("marks" in each for each in made):
        raise BadDocument("Text in a codeBlock can't have marks.", at)
    return _joined(made)


def _joined(nodes: list[Node]) -> list[Node]:
    """Neighbouring texts with the same marks as one."""
    made: list[Node] = []
    for node in nodes:
        last = made[-1] if made else None
        if last and node["type"] == last["type"] == "text" and node.get("marks") == last.get("marks"):
            last["text"] = f"{last['text']}{node['text']}"
        else:
            made.append(node)
    return made


def _text(given: Mapping[str, JsonValue], at: str) -> Node:
    _only(given, ("type", "text", "marks"), at)
    text = given.get("text")
    if not isinstance(text, str) or not text:
        raise BadDocument("A text can't be empty.", f"{at}/text")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadDocument("The text isn't valid Unicode.", f"{at}/text")
    made: Node = {"type": "text", "text": text}
    marks = given.get("marks")
    if marks is not None and not isinstance(marks, list):
        raise BadDocument("Marks must be a list.", f"{at}/marks")
    found = {str(each["type"]): each for each in _marks(marks or [], f"{at}/marks")}
    if found:
        made["marks"] = [found[name] for name in MARK_ORDER if name in found]
    return made


def _marks(given: Sequence[JsonValue], at: str) -> Iterator[Node]:
    for number, each in enumerate(given):
        where = f"{at}/{number}"
        name = each.get("type") if isinstance(each, dict) else None
        if not isinstance(each, dict) or not isinstance(name, str) or name not in MARKS:
            raise BadDocument(f"Unknown mark. Use {', '.join(MARKS)}.", where)
        _only(each, ("type", "attrs"), where)
        attrs = _attributes(MARKS[name], each.get("attrs"), f"{where}/attrs")
        yield {"type": name, "attrs": attrs} if attrs else {"type": name}


def _attributes(kind: Kind, given: object, at: str) -> Node:
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise BadDocument("Attributes must be an object.", at)
    made: Node = {}
    for name, value in given.items():
        check = (kind.attrs or {}).get(name)
        if value is None or name in kind.drops:
            continue
        if check is None:
            raise BadDocument(f"Unknown attribute {name!r}.", f"{at}/{name}")
        try:
            made[name] = check(value)
        except ValueError as error:
            raise BadDocument(f"{str(error)[:1].upper()}{str(error)[1:]}.", f"{at}/{name}") from error
    for name in kind.needs:
        if name not in made:
            raise BadDocument(f"The attribute {name!r} is required.", f"{at}/{name}")
    return made


def _only(given: Mapping[str, object], names: Sequence[str], at: str) -> None:
    for name in given:
        if name not in names:
            raise BadDocument(f"A node can't have {name!r}.", f"{at}/{name}")


# Reading documents


def nodes_in(document: Mapping[str, JsonValue]) -> Iterator[Node]:
    """All nodes, in the order of the text."""
    content = document.get("content")
    yield cast("Node", document)
    for each in content if isinstance(content, list) else ():
        if isinstance(each, dict):
            yield from nodes_in(each)


def images_in(document: Mapping[str, JsonValue] | None) -> list[str]:
    """The ids of the media items that the text shows, each once."""
    if document is None:
        return []
    attrs = (node.get("attrs") for node in nodes_in(document) if node.get("type") == "image")
    return list(dict.fromkeys(str(each["mediaId"]) for each in attrs if isinstance(each, dict) and "mediaId" in each))


def with_sources(document: Mapping[str, JsonValue], sources: Mapping[str, str]) -> Node:
    """The document with the address of each image, as editors and readers of Tiptap's JSON expect it."""

    def shown(node: Mapping[str, JsonValue]) -> Node:
        made = dict(node)
        attrs, content = node.get("attrs"), node.get("content")
        if node.get("type") == "image" and isinstance(attrs, dict):
            made["attrs"] = {**attrs, "src": sources.get(str(attrs.get("mediaId")))}
        if isinstance(content, list):
            made["content"] = [shown(each) if isinstance(each, dict) else each for each in content]
        return made

    return shown(document)


def plain_text(document: Mapping[str, JsonValue]) -> str:
    """The words of a document."""
    inside = {"text", "hardBreak"}
    pieces = []
    for node in nodes_in(document):
        if node["type"] == "text":
            pieces.append(str(node["text"]))
        elif node["type"] == "hardBreak" or node["type"] not in inside:
            pieces.append(" ")
    return " ".join("".join(pieces).split())


def is_blank(document: Mapping[str, JsonValue]) -> bool:
    """Whether a document has neither words nor images."""
    return not plain_text(document) and not images_in(document)


def excerpt(document: Mapping[str, JsonValue] | None, length: int = EXCERPT) -> str:
    """The beginning of the text."""
    words = plain_text(document) if document else ""
    if len(words) <= length:
        return words
    cut = words[:length]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut} …"


# The type of fields


def depth_of(document: object) -> int:
    """How deep maps and lists stand in each other."""
    level, depth = [document], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _can_be_stored(document: object) -> None:
    if depth_of(document) > DEEPEST:
        raise ValueError(f"The document nests more than {DEEPEST} levels deep, which can't be stored.")


def _as_sent(value: object, check: ValidatorFunctionWrapHandler) -> object:
    """A document just as it was sent, since the blanks at the ends of its texts are a part of it, with numbers as JSON
    has them: stored fractions are read as Decimal."""
    document = value if depth_of(value) > DEEPEST else _json_numbers(value)
    check(document)
    return document


def _json_numbers(value: object) -> object:
    match value:
        case Decimal():
            return float(value)
        case dict():
            return {name: _json_numbers(each) for name, each in value.items()}
        case list():
            return [_json_numbers(each) for each in value]
    return value


class _DocumentedInBodies:
    """What the API's document says about documents that callers send."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        if handler.mode == "serialization":
            return handler(schema)
        return {
            "type": "object",
            "properties": {"type": {"const": "doc"}, "content": {"type": "array", "items": {"type": "object"}}},
            "required": ["type"],
            "additionalProperties": False,
            "description": "Tiptap JSON.",
            "examples": [
                {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Hallo"}]}]}
            ],
        }


RichText: TypeAlias = Annotated[
    dict[str, JsonValue],
    limit(_can_be_stored, in_bodies=False),  # a service refuses more, with codes of its own
    WrapValidator(_as_sent),
    _DocumentedInBodies(),
]
"""Tiptap JSON."""
