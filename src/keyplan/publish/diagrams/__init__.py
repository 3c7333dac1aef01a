"""Pictures of a design, as SVG and as Mermaid, without a drawing library: the same values always give the same text.

Nothing here knows designs: `keyplan.publish.document.drawings` makes the subjects.

| module | what it is |
| --- | --- |
| `subjects` | what a picture can show: `Relations`, `Collections` and `Actions` |
| `relations` | draws entities and how they depend on each other; `layers` puts them into columns |
| `collections` | draws items in the order of a table or an index, by partition |
| `actions` | draws one write with all items that it touches |
| `picture` | `Picture`: shapes with their places |
| `text` | how wide text is with the widest of the usual fonts, so that it fits its box everywhere |
| `svg`, `mermaid` | pictures as SVG, and the same subjects as Mermaid |
| `drawing` | `Drawing`: a picture with its name, title and description |

Colors are classes of one style sheet with a light and a dark half, and text has the color of the text around it.
"""

from keyplan.publish.diagrams.drawing import Drawing, draw
from keyplan.publish.diagrams.picture import Picture
from keyplan.publish.diagrams.subjects import (
    Action,
    Actions,
    Collections,
    Edge,
    EdgeKind,
    ItemGroup,
    Node,
    Relations,
    Row,
)
from keyplan.publish.diagrams.svg import STYLE, inline_svg, svg_file

__all__ = [
    "STYLE",
    "Action",
    "Actions",
    "Collections",
    "Drawing",
    "Edge",
    "EdgeKind",
    "ItemGroup",
    "Node",
    "Picture",
    "Relations",
    "Row",
    "draw",
    "inline_svg",
    "svg_file",
]
