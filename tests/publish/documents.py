"""Documents of the designs that tests have, each made once."""

from functools import cache

from keyplan.cli.documents import document_of_design
from keyplan.publish.document import Document
from tests.all_designs import design


@cache
def document(name: str) -> Document:
    """The document of the design with this name, such as `apps/vcm`, with findings and costs."""
    kind = design(name)
    return document_of_design(kind())
