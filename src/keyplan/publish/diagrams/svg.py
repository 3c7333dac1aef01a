"""Pictures as SVG: alone in a file, or inside of a page that has the style sheet."""

from dataclasses import dataclass
from html import escape

from keyplan.publish.diagrams.picture import Arrow, Box, Label, Line, Picture, Shape
from keyplan.publish.diagrams.subjects import EdgeKind


@dataclass(frozen=True)
class _Colors:
    """The colors of a scheme."""

    ink: str
    muted: str
    back: str
    soft: str
    edge: str
    hues: tuple[str, ...]
    """Behind the names of item types and actions."""
    lines: dict[EdgeKind, str]


_LIGHT = _Colors(
    ink="#1f2328",
    muted="#57606a",
    back="#ffffff",
    soft="#f3f5f8",
    edge="#8c959f",
    hues=("#dbeafe", "#dcfce7", "#fef3c7", "#fce7f3", "#e0e7ff", "#ffedd5", "#ccfbf1", "#ede9fe"),
    lines={"cascade": "#b42318", "refuse": "#1d4ed8", "keep": "#57606a", "copy": "#15803d", "count": "#92400e"},
)
_DARK = _Colors(
    ink="#e6edf3",
    muted="#9da7b3",
    back="#0d1117",
    soft="#161b22",
    edge="#6e7681",
    hues=("#1e3a5f", "#14432a", "#4d3800", "#52203a", "#2b2f6b", "#55300f", "#0f4541", "#3b2a66"),
    lines={"cascade": "#ff8a80", "refuse": "#79b8ff", "keep": "#9da7b3", "copy": "#56d364", "count": "#e3b341"},
)
_WIDE = 1450
HUES = len(_LIGHT.hues)
_MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
_SANS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


def _colors(colors: _Colors) -> str:
    rules = [
        f".kp{{color:{colors.ink}}}",
        f".kp .m{{fill:{colors.muted}}}",
        f".kp .back{{fill:{colors.back}}}",
        f".kp .soft{{fill:{colors.soft};stroke:{colors.edge}}}",
        f".kp .card{{fill:{colors.back};stroke:{colors.edge}}}",
        f".kp .rule{{stroke:{colors.edge}}}",
        *(f".kp .h{number}{{fill:{hue}}}" for number, hue in enumerate(colors.hues)),
        *(f".kp .{kind}{{stroke:{color}}}.kp .{kind}-head{{fill:{color}}}" for kind, color in colors.lines.items()),
    ]
    return "".join(rules)


STYLE = (
    f".kp text{{font-family:{_MONO};fill:currentColor;white-space:pre}}"
    f".kp .b{{font-family:{_SANS};font-weight:700}}"
    ".kp path{fill:none;stroke-width:1.6}.kp .copy{stroke-dasharray:7 4}.kp .count{stroke-dasharray:2 4}"
    f".kp .keep{{stroke-dasharray:10 3 2 3}}{_colors(_LIGHT)}"
    f"@media (prefers-color-scheme: dark){{{_colors(_DARK)}}}"
)
"""The style sheet of all pictures. A page that has pictures inside needs it once."""


def inline_svg(picture: Picture, title: str, description: str, number: str) -> str:
    """The picture as part of a page; `number` makes the ids in it unique.

    A page on a large screen may shrink it to its own width, unless it is so wide (`kp-wide`) that nobody could read it.
    """
    kind = "kp kp-wide" if picture.width > _WIDE else "kp"
    ids = f"kp-{escape(number)}-title kp-{escape(number)}-text"
    return (
        f'<svg class="{kind}" role="img" aria-labelledby="{ids}" {_size(picture)}>'
        f'<title id="kp-{escape(number)}-title">{escape(title)}</title>'
        f'<desc id="kp-{escape(number)}-text">{escape(description)}</desc>{_shapes(picture)}</svg>'
    )


def svg_file(picture: Picture, title: str, description: str) -> str:
    """The picture as a file, with its style sheet and a background of its own."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kp" role="img" {_size(picture)}>\n'
        f"<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n<style>{STYLE}</style>\n"
        f'<rect class="back" width="100%" height="100%"/>\n{_shapes(picture)}\n</svg>\n'
    )


def _size(picture: Picture) -> str:
    wide, high = _number(picture.width), _number(picture.height)
    return f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'


def _shapes(picture: Picture) -> str:
    return "\n".join(map(_shape, picture.shapes))


def _shape(shape: Shape) -> str:
    match shape:
        case Box():
            place = f'x="{_number(shape.x)}" y="{_number(shape.y)}"'
            size = f'width="{_number(shape.width)}" height="{_number(shape.height)}" rx="{_number(shape.radius)}"'
            return f'<rect class="{shape.look}" {place} {size}/>'
        case Label():
            look = f"{shape.look} b" if shape.bold else shape.look
            place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" font-size="{_number(shape.size)}"'
            return f'<text class="{look}" {place}>{escape(shape.text)}</text>'
        case Line():
            return f'<path class="{shape.look}" d="{shape.path}"/>'
        case Arrow():
            back = _number(shape.x + (9 if shape.left else -9))
            points = (
                f"{_number(shape.x)},{_number(shape.y)} {back},{_number(shape.y - 5)} {back},{_number(shape.y + 5)}"
            )
            return f'<polygon class="{shape.look}-head" points="{points}"/>'


def _number(value: float) -> str:
    return f"{round(value, 1):g}"
