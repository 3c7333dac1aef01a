"""`Drawing`: a picture with its name, title and description, and the same as Mermaid."""

from dataclasses import dataclass

from keyplan.publish.diagrams import mermaid
from keyplan.publish.diagrams.actions import draw_actions
from keyplan.publish.diagrams.collections import draw_collections
from keyplan.publish.diagrams.picture import Picture
from keyplan.publish.diagrams.relations import draw_relations
from keyplan.publish.diagrams.subjects import Actions, Collections, Relations
from keyplan.publish.diagrams.svg import inline_svg, svg_file


@dataclass(frozen=True)
class Drawing:
    """A picture of a design."""

    name: str
    """For files and links: `entities`, `table-wavyblog`."""
    about: str
    """The part of the design that it shows: the name of a table or an index, or nothing."""
    title: str
    description: str
    """What it shows, for those who can't see it."""
    picture: Picture
    mermaid: str

    @property
    def svg(self) -> str:
        """The picture as an SVG file."""
        return svg_file(self.picture, self.title, self.description)

    @property
    def inline(self) -> str:
        """The picture as part of a page that has the style sheet."""
        return inline_svg(self.picture, self.title, self.description, self.name)


def draw(name: str, about: str, title: str, description: str, subject: Relations | Collections | Actions) -> Drawing:
    """The drawing of a subject."""
    if isinstance(subject, Relations):
        picture, text = draw_relations(subject), mermaid.relations(subject)
    elif isinstance(subject, Collections):
        picture, text = draw_collections(subject), mermaid.collections(subject)
    else:
        picture, text = draw_actions(subject), mermaid.actions(subject)
    return Drawing(name, about, title, description, picture, text)
