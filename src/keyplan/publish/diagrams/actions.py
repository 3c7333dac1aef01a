"""Draws one write with all items that it touches, each with its condition."""

from keyplan.publish.diagrams.picture import Box, Picture
from keyplan.publish.diagrams.subjects import Action, Actions
from keyplan.publish.diagrams.text import BOLD, MONO, cells, wrapped

_SIZE = 12.0
_STEP = 17.0
_COLUMNS = 92
_HUES = {"Put": "h1", "Update": "h2", "Delete": "h3", "ConditionCheck": "h4"}
_LEFT = 20.0
_VERB = 14 * 11 * MONO + 14


def draw_actions(subject: Actions) -> Picture:
    """A frame for the request, with a row for each action: what it does, on which item, under which condition."""
    blocks = [(each, _lines(each)) for each in subject.actions]
    inner = _LEFT + _VERB + 14
    longest = max(cells(text) for _, lines in blocks for _, text in lines)
    heading = f"{subject.name}: {subject.operation}"
    wide = max(inner + longest * _SIZE * MONO + 2 * _LEFT, cells(heading) * 15 * BOLD + 2 * _LEFT)
    picture = Picture(wide)
    picture.shapes.append(_frame(picture, 0))
    picture.text(_LEFT, 30, heading, "t", 15, bold=True)
    y = 46.0
    for action, lines in blocks:
        height = len(lines) * _STEP + 12
        picture.box(_LEFT, y, wide - 2 * _LEFT, height, "card")
        picture.box(_LEFT + 8, y + 8, _VERB, 19, _HUES.get(action.verb, "h0"), 4)
        picture.text(_LEFT + 15, y + 21.5, action.verb, "t", 11)
        for number, (look, text) in enumerate(lines):
            picture.text(inner + 8, y + 21 + number * _STEP, text, look, _SIZE)
        y += height + 10
    picture.height = y + 10
    picture.shapes[0] = _frame(picture, picture.height)
    return picture


def _frame(picture: Picture, height: float) -> Box:
    return Box(1, 1, picture.width - 2, max(height - 2, 0), "soft", 8)


def _lines(action: Action) -> list[tuple[str, str]]:
    """The lines of an action, each with how it looks."""
    found = [("t", line) for line in wrapped(f"{action.what or 'an item'} in {action.table}", _COLUMNS)]
    found += [("t", line) for line in wrapped(action.key, _COLUMNS)]
    for word, text in (("", action.change), ("if ", action.condition)):
        found += [("m", line) for line in (wrapped(f"{word}{text}", _COLUMNS) if text else ())]
    return found
