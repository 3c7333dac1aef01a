"""What the club's pages have in common."""

from datetime import datetime
from typing import TypeAlias
from zoneinfo import ZoneInfo

from markupsafe import Markup
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from keyplan.apps.vcm.models import MediaOut
from keyplan.apps.vcm.pages.german import GERMAN
from keyplan.apps.vcm.richtext import Node
from keyplan.apps.vcm.service import Club
from keyplan.web import In, Pages, Person, View, is_shown_twice

ClubView: TypeAlias = View[Club]

BERLIN = ZoneInfo("Europe/Berlin")
DAYS = ("Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag")
"""As they are stored: 0 is Sunday, as JavaScript counts."""
GENDERS = {"woman": "Frauen", "men": "Männer", "mixed": "Mixed"}

pages = Pages(
    "keyplan.apps.vcm",
    title="VC Musterstadt",
    people=[
        Person("mona", "Mona Moderatorin", ["Moderator"], "schreibt News und Termine"),
        Person("anja", "Anja Administratorin", ["Admin"], "darf außerdem SAMS-Daten importieren"),
        Person("gast", "Gast", [], "ist angemeldet und darf nichts bearbeiten"),
    ],
    language=GERMAN,
    zone=BERLIN.key,
)


# Times, as people in Mannheim say them


def day(value: datetime) -> Markup:
    """A day."""
    text = GERMAN.day(value.astimezone(BERLIN))
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(), text)


def clock(value: datetime) -> str:
    """A time of day; one that clocks show twice with its zone."""
    local = value.astimezone(BERLIN)
    return f"{local:%H:%M} Uhr ({local.tzname()})" if is_shown_twice(local) else f"{local:%H:%M} Uhr"


def span(start: datetime, end: datetime | None) -> Markup:
    """From when to when."""
    first = Markup("{}, {}").format(day(start), clock(start))
    if end is None or end == start:
        return first
    if start.astimezone(BERLIN).date() == end.astimezone(BERLIN).date():
        return Markup("{} bis {}").format(first.removesuffix(" Uhr"), clock(end))
    return Markup("{} bis {}, {}").format(first, day(end), clock(end))


def by_age(media: MediaOut) -> str:
    """What media items are sorted by: when they were added. Their ids don't tell, because imported ones keep theirs."""
    return f"{media.created_at.timestamp():016.3f} {media.id}"


class FormIn(In):
    """Base of forms; their fields have the names of the tables' attributes."""

    model_config = ConfigDict(alias_generator=to_camel)


@pages.on_every_page
def known(view: ClubView) -> dict[str, object]:
    """What the menu depends on, and how things are said."""
    return {
        "editor": view.caller is not None and view.service.is_editor,
        "admin": view.caller is not None and "Admin" in view.service.my_roles,
        "day": day,
        "clock": clock,
        "span": span,
        "days": DAYS,
        "genders": GENDERS,
    }


EMPTY: Node = {"type": "doc", "content": [{"type": "paragraph"}]}
