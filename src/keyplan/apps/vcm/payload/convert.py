"""Records of Payload's to entities. What can not be converted is listed by record and reason."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import JsonValue, ValidationError

from keyplan.apps.vcm.entities import Event, Location, Media, Member, News, Role, Sponsor, Team
from keyplan.apps.vcm.payload.export import COLLECTIONS, Export, Record
from keyplan.apps.vcm.payload.lexical import Conversion
from keyplan.apps.vcm.richtext import BadDocument, Node, excerpt, images_in, is_link
from keyplan.apps.vcm.values import LONGEST_EVENT, Collection
from keyplan.design import Entity

BERLIN = ZoneInfo("Europe/Berlin")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
DAYS = "sunday monday tuesday wednesday thursday friday saturday".split()
"""As JavaScript counts them."""
GERMAN_DAYS = "sonntag montag dienstag mittwoch donnerstag freitag samstag".split()


@dataclass(frozen=True)
class Issue:
    """Something that could not be converted."""

    collection: str
    record: str
    reason: str
    whole: bool = False
    """Whether the record is not written at all, and not only a part of it."""

    def __str__(self) -> str:
        return f"{self.collection} {self.record}: {self.reason}{' (left out)' if self.whole else ''}"


class Unusable(Exception):
    """A record can not be converted."""


@dataclass
class Converted:
    """What came of an export: entities in the order of the collections, without slugs yet, and issues."""

    entities: dict[Collection, list[Entity]] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)


class Converter:
    """Converts an export."""

    def __init__(
        self,
        export: Export,
        authors: Mapping[str, str],
        store_file: Callable[[str, Record], Media],
        *,
        keep_lexical: bool = False,
    ) -> None:
        self._export = export
        self._authors = authors
        self._store_file = store_file
        self._keep_lexical = keep_lexical
        self._made = Converted()
        self._ids: dict[Collection, set[str]] = {}
        self._at: tuple[Collection, str] = ("media", "")

    def convert(self, progress: Callable[[int, int], None]) -> Converted:
        """Everything that can be converted."""
        makers: Mapping[Collection, Callable[[Record, str], Entity]] = {
            "media": self._media,
            "roles": self._role,
            "locations": self._location,
            "members": self._member,
            "teams": self._team,
            "news": self._news,
            "events": self._event,
            "sponsors": self._sponsor,
        }
        total, done = sum(len(each) for each in self._export.records.values()), 0
        for name in COLLECTIONS:
            self._ids[name] = set()
            self._made.entities[name] = []
            for number, record in enumerate(self._export.records[name]):
                self._one(name, number, record, makers[name])
                done += 1
                progress(done, total)
        return self._made

    def _one(self, name: Collection, number: int, record: Record, make: Callable[[Record, str], Entity]) -> None:
        id = _id(record)
        self._at = (name, id or f"number {number + 1}")
        try:
            if id is None:
                raise Unusable("it has no id that can be used")
            if id in self._ids[name]:
                raise Unusable("another record has the same id")
            entity = make(record, id)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            self._issue(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", whole=True)
        except (Unusable, BadDocument) as error:
            self._issue(str(error), whole=True)
        else:
            self._ids[name].add(str(id))
            self._made.entities[name].append(entity)

    def _issue(self, reason: str, *, whole: bool = False) -> None:
        self._made.issues.append(Issue(*self._at, reason, whole))

    # Collections

    def _media(self, record: Record, id: str) -> Entity:
        return self._store_file(id, record)

    def _role(self, record: Record, id: str) -> Entity:
        return Role(id=id, name=_text(record, "name"), **stamps_of(record, "created_at"))

    def _location(self, record: Record, id: str) -> Entity:
        address = record.get("address")
        given = {**record, **address} if isinstance(address, dict) else record
        return Location(
            id=id,
            name=_text(record, "name"),
            street=_text(given, "street"),
            postal_code=_text(given, "postalCode"),
            city=_text(given, "city"),
            **stamps_of(record),
        )

    def _member(self, record: Record, id: str) -> Entity:
        return Member(
            id=id,
            name=_text(record, "name"),
            email=_optional(record, "email"),
            phone=_optional(record, "phone"),
            role_ids=self._related(record, "roles", "roles"),
            avatar_id=self._one_related(record, "avatar"),
            **stamps_of(record),
        )

    def _team(self, record: Record, id: str) -> Entity:
        age = record.get("age")
        return Team.model_validate(
            {
                "id": id,
                "name": _text(record, "name"),
                "slug": _optional(record, "slug") or "-",
                "gender": record.get("gender"),
                "age": int(age) if isinstance(age, str) and age.isdecimal() else age,
                "league": _optional(record, "league"),
                "sbvv_team_id": _id_of(record.get("sbvvTeam")),
                "description": _optional(record, "description") or "",
                "coach_ids": self._related(record, "coaches", "members"),
                "contact_person_ids": self._related(record, "contactPeople", "members"),
                "schedules": self._schedules(record.get("schedules")),
                "image_ids": self._images(record, None),
                "instagram": _optional(record, "instagram"),
                "status": "published",
                **stamps_of(record),
            }
        )

    def _news(self, record: Record, id: str) -> Entity:
        content = self._rich_text(record.get("content"))
        if content is None:
            raise Unusable("it has no content")
        return News.model_validate(
            {
                "id": id,
                "title": _text(record, "title"),
                "slug": _optional(record, "slug") or "-",
                "content": content,
                "excerpt": _optional(record, "excerpt") or excerpt(content),
                "published_date": _published(record),
                "status": record.get("_status") or "draft",
                "author_ids": self._author_ids(record),
                "image_ids": self._images(record, content),
                "lexical": self._lexical(record.get("content")),
                **stamps_of(record),
            }
        )

    def _event(self, record: Record, id: str) -> Entity:
        dates = record.get("date")
        given = dates if isinstance(dates, dict) else {}
        start, end = _time(given, "startDate"), _time(given, "endDate")
        if start is None:
            raise Unusable("it has no date.startDate")
        if end is not None and (end < start or end - start > LONGEST_EVENT):
            raise Unusable("it ends before it begins, or more than 31 days later")
        description = self._rich_text(record.get("description"))
        return Event.model_validate(
            {
                "id": id,
                "title": _text(record, "title"),
                "slug": _optional(record, "slug") or "-",
                "description": description,
                "start_date": start,
                "end_date": end,
                "address": _address(record.get("address")),
                "image_ids": self._images(record, description),
                "author_ids": self._author_ids(record),
                "status": "published",
                "lexical": self._lexical(record.get("description")),
                **stamps_of(record),
            }
        )

    def _sponsor(self, record: Record, id: str) -> Entity:
        return Sponsor(
            id=id,
            name=_text(record, "name"),
            website=self._website(record),
            logo_id=self._one_related(record, "logo"),
            expiry_timestamp=_seconds(_time(record, "expiryDate")),
            **stamps_of(record),
        )

    # Parts

    def _rich_text(self, lexical: JsonValue) -> Node | None:
        if lexical is None:
            return None
        conversion = Conversion(lambda id: id in self._ids["media"])
        document = conversion.document(lexical)
        for lost in conversion.lost:
            self._issue(f"the text has {lost}, which can not be converted")
        return document

    def _lexical(self, lexical: JsonValue) -> JsonValue:
        return lexical if self._keep_lexical else None

    def _related(self, record: Record, name: str, collection: Collection) -> list[str]:
        value = record.get(name)
        ids = [_id_of(each) for each in (value if isinstance(value, list) else [] if value is None else [value])]
        known = [id for id in ids if id is not None and id in self._ids[collection]]
        for id in ids:
            if id is None or id not in self._ids[collection]:
                self._issue(f"{name} names {id or 'nothing'}, which is not among the {collection}")
        return list(dict.fromkeys(known))

    def _one_related(self, record: Record, name: str) -> str | None:
        return next(iter(self._related(record, name, "media")), None)

    def _images(self, record: Record, document: Node | None) -> list[str]:
        return list(dict.fromkeys([*self._related(record, "images", "media"), *images_in(document)]))

    def _author_ids(self, record: Record) -> list[str]:
        value = record.get("authors")
        ids = [_id_of(each) for each in (value if isinstance(value, list) else [])]
        for id in ids:
            if id not in self._authors:
                self._issue(f"authors names {id or 'nothing'}, for whom the map of authors has no subject")
        return list(dict.fromkeys(self._authors[id] for id in ids if id is not None and id in self._authors))

    def _website(self, record: Record) -> str | None:
        website = _optional(record, "website")
        if website and not is_link(website):
            self._issue(f"website {website!r} is no address in the web")
            return None
        return website

    def _schedules(self, value: JsonValue) -> list[dict[str, object]]:
        made: list[dict[str, object]] = []
        for each in value if isinstance(value, list) else ():
            given = each if isinstance(each, dict) else {}
            times = given.get("time")
            given = {**given, **times} if isinstance(times, dict) else given
            place = _id_of(given.get("location", given.get("locationId")))
            if place not in self._ids["locations"]:
                self._issue(f"a training is at {place or 'no location'}, which is not among the locations")
                continue
            made.append(
                {
                    "day": _days(given.get("day")),
                    "startTime": _wall_time(given, "startTime"),
                    "endTime": _wall_time(given, "endTime"),
                    "locationId": place,
                }
            )
        return made


# Values


def _id(record: Mapping[str, JsonValue]) -> str | None:
    id = record.get("id")
    text = str(id) if isinstance(id, str | int) and not isinstance(id, bool) else ""
    return text if 0 < len(text) <= 128 and "#" not in text else None


def _id_of(value: JsonValue) -> str | None:
    """The id of what a relationship names: by itself, as the whole record, or with its collection."""
    if isinstance(value, dict):
        return _id_of(value["value"]) if "relationTo" in value and "value" in value else _id(value)
    return _id({"id": value})


def _text(record: Mapping[str, JsonValue], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unusable(f"it has no {name}")
    return value.strip()


def _optional(record: Mapping[str, JsonValue], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise Unusable(f"{name} is no text")
    return value.strip() or None if value else None


def _time(record: Mapping[str, JsonValue], name: str) -> datetime | None:
    value = record.get(name)
    if value in (None, ""):
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise Unusable(f"{name} {value!r} is no time") from error
    moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _published(record: Record) -> datetime:
    moment = _time(record, "publishedDate") or _time(record, "createdAt")
    if moment is None:
        raise Unusable("it has no publishedDate")
    return moment


def _seconds(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(microsecond=0)


def stamps_of(record: Record, *names: str) -> dict[str, Any]:
    """When a record was made and changed, as far as it says."""
    given = {"created_at": _time(record, "createdAt"), "updated_at": _time(record, "updatedAt")}
    return {name: at for name, at in given.items() if at is not None and (not names or name in names)}


def _address(value: JsonValue) -> dict[str, str | None] | None:
    given = value if isinstance(value, dict) else {}
    made = {name: _optional(given, name) for name in ("name", "street", "postalCode", "city")}
    return made if any(made.values()) else None


def _days(value: JsonValue) -> list[int]:
    made = []
    for each in value if isinstance(value, list) else [value]:
        name = str(each).strip().lower()
        if name in DAYS:
            made.append(DAYS.index(name))
        elif name in GERMAN_DAYS:
            made.append(GERMAN_DAYS.index(name))
        elif name in "0123456" and len(name) == 1:
            made.append(int(name))
        else:
            raise Unusable(f"{each!r} is no day of the week")
    return sorted(set(made))


def _wall_time(given: Mapping[str, JsonValue], name: str) -> str:
    """A time of day: as it is, or the one in Berlin of a moment, which is how Payload keeps times of day."""
    value = given.get(name)
    if isinstance(value, str) and _TIME.fullmatch(value):
        return value
    moment = _time(given, name)
    if moment is None:
        raise Unusable(f"a training has no {name}")
    return f"{moment.astimezone(BERLIN):%H:%M}"
