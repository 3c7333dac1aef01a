"""Pictures of a design, as SVG and as Mermaid, without a drawing library: the same values always give the same text.

What a picture shows is a value of `subjects`: `Relations` (entities and how they depend on each other), `Collections`
(items in the order of a table or an index, by partition) and `Actions` (one write with all items that it touches). Each
is drawn by a module of that name into a `Picture`, a list of shapes with a size, which `svg` writes; `mermaid` writes
the same subjects as Mermaid. Nothing here knows designs: `keyplan.publish.document.drawings` makes the subjects.

Text is measured with the widest of the usual fonts (`text`), so that it fits its box everywhere. Colors are classes of
one style sheet with a light and a dark half, and text is `currentColor`.
"""

from keyplan.publish.diagrams.drawing import Drawing, draw
from keyplan.publish.diagrams.picture import Picture
from keyplan.publish.diagrams.subjects import Action, Actions, Collections, Edge, EdgeKind, Group, Node, Relations, Row
from keyplan.publish.diagrams.svg import STYLE, inline_svg, svg_file

__all__ = [
    "STYLE",
    "Action",
    "Actions",
    "Collections",
    "Drawing",
    "Edge",
    "EdgeKind",
    "Group",
    "Node",
    "Picture",
    "Relations",
    "Row",
    "draw",
    "inline_svg",
    "svg_file",
]
