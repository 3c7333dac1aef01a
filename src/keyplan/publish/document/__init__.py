"""A design as a document: what people write by hand about a table design, made from the declaration and complete.

`document_of(design, client)` makes a `Document`, the model: plain values that hold everything that is said. `markdown`,
`page` and `document_json` only render it, so that all forms say the same. The examples in it are run on the client
that the caller gives (an empty DynamoDB), and the requests shown are those that the store sent.

| module | it is |
| --- | --- |
| `model` | `Document` and the values in it; `Remark` is a finding, `Consumption` what a pattern or write consumes |
| `examples` | runs the examples and keeps what was sent and stored |
| `tables`, `items`, `patterns`, `together` | the parts of a document, each read off the declaration |
| `operations`, `conditions`, `fields` | what is read, under which conditions, and types, in words |
| `requests`, `code` | requests as text and as code |
| `drawings` | what the diagrams of a design show |
| `making` | `document_of`, which puts the parts together |
| `blocks`, `content` | a document as headings, tables, code and pictures, in order |
| `markdown`, `html`, `as_json` | the forms |
"""

from keyplan.publish.document.as_json import document_json
from keyplan.publish.document.drawings import slug
from keyplan.publish.document.html import page, page_style
from keyplan.publish.document.making import document_of
from keyplan.publish.document.markdown import markdown
from keyplan.publish.document.model import Consumption, Document, Remark, Use
from keyplan.publish.document.operations import operation_name

__all__ = [
    "Consumption",
    "Document",
    "Remark",
    "Use",
    "document_json",
    "document_of",
    "markdown",
    "operation_name",
    "page",
    "page_style",
    "slug",
]
