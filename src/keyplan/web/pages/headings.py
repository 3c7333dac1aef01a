"""Headings of texts that people wrote, below the heading of the page that shows them."""


class Headings:
    """The levels that the headings of a text get on a page, whose title is the only heading of level 1.

    The first ones become level 2, and no level is left out on the way down, whatever levels people chose: screen
    readers list the headings of a page as its table of contents.
    """

    def __init__(self) -> None:
        self._above: list[int] = []

    def tag(self, level: int) -> str:
        """The HTML tag for the next heading of the text, which has this level there."""
        while self._above and self._above[-1] >= level:
            self._above.pop()
        self._above.append(level)
        return f"h{min(6, len(self._above) + 1)}"
