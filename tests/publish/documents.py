"""Documents of the designs that tests have, each made once: those of the five systems with findings and costs."""

from functools import cache

from keyplan.engine import Engine
from keyplan.publish.document import Document, document_of
from tests.all_designs import design
from tools.write_designs import documents


@cache
def document(name: str) -> Document:
    """The document of the design with this name, such as `apps/vcm`."""
    kind, _, system = name.partition("/")
    if kind == "apps":
        return documents()[system][0]
    with Engine() as engine:
        return document_of(design(name)(), engine)
