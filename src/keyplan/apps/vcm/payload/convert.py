"""Records of Payload to entities. What can't be converted is listed by record and reason."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue, ValidationError

from keyplan.apps.vcm.entities import Event, Location, Media, Member, News, Role, Sponsor, Team
from keyplan.apps.vcm.fields import LONGEST_EVENT, Collection
from keyplan.apps.vcm.payload.export import COLLECTIONS, Export, Record
from keyplan.apps.vcm.payload.fields import (
    Unusable,
    address_of,
    days_of,
    id_in,
    id_of,
    optional_in,
    published_in,
    stamps_of,
    text_in,
    time_in,
    to_seconds,
    wall_time_in,
)
from keyplan.apps.vcm.payload.lexical import Conversion
from keyplan.apps.vcm.richtext import DEEPEST, BadDocument, Node, depth_of, excerpt, images_in, is_link, size_of
from keyplan.data import codec_of
from keyplan.design import Entity, InvalidValue, takes_none

_BOTH = 390_000
"""Bytes of a text and its original together, so that they are one item with all the rest."""
_INSTAGRAM = re.compile(r"(?:https?://)?(?:www\.)?(?:instagram\.com/|@)?([A-Za-z0-9._]{1,30})/?(?:\?.*)?")


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


@dataclass
class Converted:
    """The result: entities in the order of the collections, without slugs yet, and issues."""

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
        id = id_in(record)
        self._at = (name, id or f"number {number + 1}")
        try:
            if id is None:
                raise Unusable("it has no id that can be used")
            if id in self._ids[name]:
                raise Unusable("another record has the same id")
            entity = make(record, id)
            self._leave_out_what_is_over_a_limit(entity)
            codec_of(type(entity)).encode(entity)  # can it be stored?
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            self._issue(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", whole=True)
        except InvalidValue as error:
            self._issue(f"{error.field}: {error.problem}", whole=True)
        except (Unusable, BadDocument) as error:
            self._issue(str(error), whole=True)
        else:
            self._ids[name].add(str(id))
            self._made.entities[name].append(entity)

    def _leave_out_what_is_over_a_limit(self, entity: Entity) -> None:
        """Where the field may be empty it is, and the value is listed; else the whole record can't be converted."""
        for error in entity.spec.limits.broken(entity.__dict__):
            if error.field is None or not takes_none(entity.declared_fields[error.field]):
                raise error
            self._issue(f"{error.field}: {error.problem}")
            setattr(entity, error.field, None)

    def _issue(self, reason: str, *, whole: bool = False) -> None:
        self._made.issues.append(Issue(*self._at, reason, whole))

    # Collections

    def _media(self, record: Record, id: str) -> Entity:
        return self._store_file(id, record)

    def _role(self, record: Record, id: str) -> Entity:
        return Role(id=id, name=text_in(record, "name"), **stamps_of(record, "created_at"))

    def _location(self, record: Record, id: str) -> Entity:
        address = record.get("address")
        given = {**record, **address} if isinstance(address, dict) else record
        return Location(
            id=id,
            name=text_in(record, "name"),
            street=text_in(given, "street"),
            postal_code=text_in(given, "postalCode"),
            city=text_in(given, "city"),
            **stamps_of(record),
        )

    def _member(self, record: Record, id: str) -> Entity:
        return Member(
            id=id,
            name=text_in(record, "name"),
            email=optional_in(record, "email"),
            phone=optional_in(record, "phone"),
            role_ids=self._related(record, "roles", "roles"),
            avatar_id=self._one_related(record, "avatar"),
            **stamps_of(record),
        )

    def _team(self, record: Record, id: str) -> Entity:
        age = record.get("age")
        return Team.model_validate(
            {
                "id": id,
                "name": text_in(record, "name"),
                "slug": optional_in(record, "slug") or "-",
                "gender": record.get("gender"),
                "age": int(age) if isinstance(age, str) and age.isdecimal() else age,
                "league": optional_in(record, "league"),
                "sbvv_team_id": self._sams_team(record),
                "description": optional_in(record, "description") or "",
                "coach_ids": self._related(record, "coaches", "members"),
                "contact_person_ids": self._related(record, "contactPeople", "members"),
                "schedules": self._schedules(record.get("schedules")),
                "image_ids": self._images(record, None),
                "instagram": self._instagram(record),
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
                "title": text_in(record, "title"),
                "slug": optional_in(record, "slug") or "-",
                "content": content,
                "excerpt": optional_in(record, "excerpt") or excerpt(content),
                "published_date": published_in(record),
                "status": record.get("_status") or "draft",
                "author_ids": self._author_ids(record),
                "image_ids": self._images(record, content),
                "lexical": self._lexical(record.get("content"), content),
                **stamps_of(record),
            }
        )

    def _event(self, record: Record, id: str) -> Entity:
        dates = record.get("date")
        given = dates if isinstance(dates, dict) else {}
        start, end = time_in(given, "startDate"), time_in(given, "endDate")
        if start is None:
            raise Unusable("it has no date.startDate")
        if end is not None and (end < start or end - start > LONGEST_EVENT):
            raise Unusable("it ends before it begins, or more than 31 days later")
        description = self._rich_text(record.get("description"))
        return Event.model_validate(
            {
                "id": id,
                "title": text_in(record, "title"),
                "slug": optional_in(record, "slug") or "-",
                "description": description,
                "start_date": start,
                "end_date": end,
                "address": address_of(record.get("address")),
                "image_ids": self._images(record, description),
                "author_ids": self._author_ids(record),
                "status": "published",
                "lexical": self._lexical(record.get("description"), description),
                **stamps_of(record),
            }
        )

    def _sponsor(self, record: Record, id: str) -> Entity:
        return Sponsor(
            id=id,
            name=text_in(record, "name"),
            website=self._website(record),
            logo_id=self._one_related(record, "logo"),
            expiry_timestamp=to_seconds(time_in(record, "expiryDate")),
            **stamps_of(record),
        )

    # Parts

    def _rich_text(self, lexical: JsonValue) -> Node | None:
        if lexical is None:
            return None
        conversion = Conversion(lambda id: id in self._ids["media"])
        document = conversion.document(lexical)
        for lost in conversion.lost:
            self._issue(f"the text has {lost}, which can't be converted")
        return document

    def _lexical(self, lexical: JsonValue, document: Node | None) -> JsonValue:
        if not self._keep_lexical or document is None:
            return None
        if depth_of(lexical) > DEEPEST or size_of(lexical) + size_of(document) > _BOTH:
            self._issue("its original rich text is too deep or too large to be kept beside the new one")
            return None
        return lexical

    def _related(self, record: Record, name: str, collection: Collection) -> list[str]:
        value = record.get(name)
        ids = [id_of(each) for each in (value if isinstance(value, list) else [] if value is None else [value])]
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
        ids = [id_of(each) for each in (value if isinstance(value, list) else [])]
        for id in ids:
            if id not in self._authors:
                self._issue(f"authors names {id or 'nothing'}, for whom the map of authors has no subject")
        return list(dict.fromkeys(self._authors[id] for id in ids if id is not None and id in self._authors))

    def _sams_team(self, record: Record) -> str | None:
        given = record.get("sbvvTeam")
        id = id_of(given)
        if given is not None and id is None:
            self._issue("sbvvTeam names nothing that has an id")
        return id

    def _instagram(self, record: Record) -> str | None:
        """The handle alone, of what people take for one: with an @, or the address of the page."""
        given = optional_in(record, "instagram")
        found = _INSTAGRAM.fullmatch(given) if given else None
        if given and not found:
            self._issue(f"instagram {given!r} is not an Instagram handle")
        return found[1] if found else None

    def _website(self, record: Record) -> str | None:
        website = optional_in(record, "website")
        if website and not is_link(website):
            self._issue(f"website {website!r} is not a web address")
            return None
        return website

    def _schedules(self, value: JsonValue) -> list[dict[str, object]]:
        made: list[dict[str, object]] = []
        for each in value if isinstance(value, list) else ():
            given = each if isinstance(each, dict) else {}
            times = given.get("time")
            given = {**given, **times} if isinstance(times, dict) else given
            place = id_of(given.get("location", given.get("locationId")))
            if place not in self._ids["locations"]:
                self._issue(f"a training is at {place or 'no location'}, which is not among the locations")
                continue
            made.append(
                {
                    "day": days_of(given.get("day")),
                    "startTime": wall_time_in(given, "startTime"),
                    "endTime": wall_time_in(given, "endTime"),
                    "locationId": place,
                }
            )
        return made
