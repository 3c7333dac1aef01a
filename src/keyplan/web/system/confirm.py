"""What a form asks before it does something that can't be undone.

    pages.form("/shelves/{shelf_id}/delete", Librarian.delete_shelf, to="/", confirm=Confirm(
        "Delete shelf “{name}”?", "Delete shelf", "Its books stay without a shelf.", about=Librarian.shelf
    ))

The first POST answers with a page that asks, and sends everything again, with the confirmation. Names in braces are
those of values of the form, of the thing that `about` reads, or of the path. Nobody is asked who would be refused: the
form is rehearsed first, up to what it would write.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from keyplan.web.models.bodies import In
from keyplan.web.system.directions import filled_in

Text: TypeAlias = str | Callable[[Any, Any], str]
"""A text with names in braces, or a function of the view and the thing."""
CONFIRMED = "confirmed"
"""The name of the hidden field that confirms."""


@dataclass(frozen=True)
class Confirm:
    """A question, the button that does it, and what will happen."""

    question: Text
    button: Text
    then: str = "This can't be undone."
    about: Callable[..., object] | None = None
    """The method of the service that reads what it is about, by values of the path and the form."""
    shows: str | None = None
    """The template that shows the `thing` as it is now. It is done to the version that is shown, then, and not to the
    one that the page before showed."""
    when: Callable[[Any], bool] = lambda typed: True
    """Whether it has to be asked, by what was entered: a game is ended with the form that starts it."""

    def thing(self, view: Any, values: Mapping[str, object]) -> object:  # noqa: ANN401 - a View
        """What it is about, as it is now."""
        if self.about is None:
            return None
        taken = [*inspect.signature(self.about).parameters][1:]
        sent = {name: value for each in values.values() if isinstance(each, In) for name, value in each}
        known = {**sent, **values}
        return self.about(view.service, **{name: known[name] for name in taken if name in known})

    def asked(self, view: Any, typed: In | None, thing: object, values: Mapping[str, object]) -> dict[str, str]:  # noqa: ANN401 - a View
        """The question, the button and what will happen, in the words of the pages."""
        known = _Known(typed, thing, values)
        texts = {"question": self.question, "button": self.button, "then": self.then}
        return {name: _said(text, view, thing, known) for name, text in texts.items()}


class _Known(dict[str, object]):
    """Values by name: of the form, of the thing, of the path."""

    def __init__(self, typed: In | None, thing: object, values: Mapping[str, object]) -> None:
        super().__init__(values)
        self._sources = (typed, thing)

    def __getitem__(self, name: str) -> object:
        found = next((getattr(each, name) for each in self._sources if hasattr(each, name)), None)
        return super().__getitem__(name) if found is None else found


def _said(text: Text, view: Any, thing: object, known: _Known) -> str:  # noqa: ANN401 - a View
    if callable(text):
        return text(view, thing)
    translated: str = view.site.language.say(text)
    return filled_in(translated, known, view.site.language.day)
