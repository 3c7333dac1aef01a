"""A document as JSON: the model as it is, with pictures as Mermaid."""

import json
from dataclasses import fields, is_dataclass

from keyplan.publish.diagrams import Drawing
from keyplan.publish.document.model import Document
from keyplan.publish.document.requests import jsonable


def document_json(document: Document) -> str:
    """The document as JSON text."""
    return json.dumps(_value(document), indent=2, ensure_ascii=False)


def _value(value: object) -> object:
    if isinstance(value, Drawing):
        return {
            "name": value.name,
            "title": value.title,
            "description": value.description,
            "mermaid": value.mermaid,
            "svg": value.svg,
        }
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _value(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    return jsonable(value)
