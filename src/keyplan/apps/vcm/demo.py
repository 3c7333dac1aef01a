"""Made-up data for the club: a volleyball club in Mannheim, always the same."""

import random
import struct
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import product

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Event, Location, Media, Member, News, Role, SamsClub, SamsTeam, Sponsor, Team
from keyplan.apps.vcm.fields import Address, Schedule
from keyplan.apps.vcm.markdown import from_markdown
from keyplan.apps.vcm.richtext import checked, excerpt
from keyplan.apps.vcm.slugs import numbered, slug_of
from keyplan.data import InvalidItem, import_all, put_all
from keyplan.design import Entity
from keyplan.web import Progress, Running

FIRST = (
    "Anja Ben Clara David Elif Finn Greta Hannes Ida Jonas Katrin Luca Mona Nils Olga Paul Rieke Sven Tanja Udo".split()
)
LAST = "Adler Becker Çelik Dörr Ebert Fuchs Groß Huber Jäger Kowalski Lang".split()
OPPONENTS = (
    "Heidelberg Karlsruhe Ludwigshafen Weinheim Bretten Speyer Ettlingen Worms Viernheim Sinsheim Bruchsal".split()
)
LINEUPS = (
    ("Damen", "woman"),
    ("Herren", "men"),
    ("Mixed", "mixed"),
    ("U12 weiblich", "woman"),
    ("U14 weiblich", "woman"),
    ("U16 weiblich", "woman"),
    ("U18 männlich", "men"),
    ("U20 männlich", "men"),
    ("Senioren", "mixed"),
)
LEAGUES = "Oberliga Verbandsliga Landesliga Bezirksliga Kreisliga Freizeitliga".split()
ROLES = (
    "Trainer Vorstand Kassenwart Jugendleitung Schiedsrichter Abteilungsleitung Materialwart Pressewart Zeugwart Helfer"
).split()
PLACES = (
    "Käfertal Neckarau Feudenheim Sandhofen Seckenheim Lindenhof Rheinau Vogelstang Wallstadt Friedrichsfeld Waldhof"
).split()
TRADES = "Bäckerei Autohaus Apotheke Gärtnerei Druckerei Metzgerei Optik Elektro Sanitär Buchladen Brauerei".split()
TITLES = (
    "Heimsieg gegen {}",
    "Knappe Niederlage in {}",
    "Derby gegen {}",
    "Pokalrunde in {}",
    "Jugend überrascht {}",
    "Testspiel gegen {}",
    "Saisonstart gegen {}",
    "Drei Punkte aus {}",
    "Aufholjagd in {}",
    "Krimi gegen {}",
)
EVENTS = (
    "Heimspieltag gegen {}",
    "Beachturnier mit {}",
    "Trainingslager in {}",
    "Jugendturnier in {}",
    "Schiedsrichterlehrgang in {}",
    "Grillfest mit {}",
)
SENTENCES = (
    "Die Annahme stand von Beginn an sicher, und der Block ließ wenig zu.",
    "Im zweiten Satz wurde es laut in der Halle.",
    "Nach einer Auszeit drehte die Mannschaft einen Rückstand von sechs Punkten.",
    "Besonders die Aufschläge machten den Unterschied.",
    "Am Ende fehlte ein wenig Glück, aber nicht der Wille.",
    "Das Trainerteam lobte die Stimmung auf der Bank.",
    "Für viele war es das erste Spiel vor so vielen Zuschauern.",
    "Wer mithelfen möchte, meldet sich bei der Abteilungsleitung.",
    "Kaffee und Kuchen gab es wie immer am Eingang.",
    "Nächste Woche geht es auswärts weiter.",
)
NEWS, TEAMS, MEMBERS, MEDIA, SPONSORS = 240, 108, 120, 110, 110
_SCALE = 8


def fill(running: Running[VcmDesign], progress: Progress) -> None:
    """Store everything that the club has. What exists already stays, so that a run that was stopped can continue."""
    made = random.Random(1953)
    now = running.store.clock()
    progress(0, 3)
    entities: list[Entity] = [*_media(running), *_roles(), *_locations(), *_members(made), *_teams(made)]
    entities += [*_news(made, now), *_events(made, now), *_sponsors(now)]
    for _, refusal in running.store.run(import_all(entities)).refused:
        if isinstance(refusal, InvalidItem):  # another refusal is about items that somebody changed since
            raise refusal
    progress(1, 3)
    running.store.run(put_all(_clubs()))
    progress(2, 3)
    running.store.run(put_all(_sams_teams()))
    progress(3, 3)


def _id(kind: str, number: int) -> str:
    return f"demo-{kind}-{number:03}"


def _media(running: Running[VcmDesign]) -> Iterator[Media]:
    for number in range(MEDIA):
        file = running.media.put(_png(number), "image/png", under=["media"], key=f"demo {number}")
        yield Media(
            id=_id("media", number),
            filename=file.name.rpartition("/")[2],
            s3_key=file.name,
            s3_bucket=running.media.bucket,
            url=running.media.url(file.name),
            alt=f"Ball über dem Netz, Bild {number + 1}",
        )


def _roles() -> Iterator[Role]:
    for number, (name, place) in enumerate(product(ROLES, PLACES)):
        yield Role(id=_id("role", number), name=name if number % len(PLACES) == 0 else f"{name} {place}")


def _locations() -> Iterator[Location]:
    for number, (hall, place) in enumerate(
        product(
            "Sporthalle Schulturnhalle Großfeldhalle Dreifeldhalle Beachplatz "
            "Turnhalle Kleinhalle Ballhalle Osthalle Westhalle".split(),
            PLACES,
        )
    ):
        yield Location(
            id=_id("location", number),
            name=f"{hall} {place}",
            street=f"Vereinsstraße {number + 1}",
            postal_code=f"68{150 + number}",
            city="Mannheim",
        )


def _members(made: random.Random) -> Iterator[Member]:
    names = [f"{first} {last}" for first, last in product(FIRST, LAST)]
    for number, name in enumerate(made.sample(names, MEMBERS)):
        yield Member(
            id=_id("member", number),
            name=name,
            email=f"{slug_of(name).replace('-', '.')}@example.org",
            phone=f"0621 55{number:04}",
            show_contact=number % 3 != 0,
            role_ids=[_id("role", 11 * (number % 10))],
            avatar_id=_id("media", number % MEDIA) if number % 4 == 0 else None,
        )


def _teams(made: random.Random) -> Iterator[Team]:
    for number in range(TEAMS):
        name, gender = LINEUPS[number % len(LINEUPS)]
        title = f"{name} {number // len(LINEUPS) + 1}"
        days = made.sample(range(1, 6), 2)
        yield Team.model_validate(
            {
                "id": _id("team", number),
                "name": title,
                "slug": slug_of(title),
                "gender": gender,
                "age": 12 + number % 9 if number % 2 else None,
                "league": LEAGUES[number % len(LEAGUES)],
                "sbvv_team_id": _id("sams-team", number),
                "description": " ".join(made.sample(SENTENCES, 3)),
                "coach_ids": [_id("member", number), _id("member", (number + 7) % MEMBERS)],
                "contact_person_ids": [_id("member", (number + 3) % MEMBERS)],
                "schedules": [
                    Schedule(day=[day], startTime="18:30", endTime="20:15", locationId=_id("location", number % 110))
                    for day in sorted(days)
                ],
                "image_ids": [_id("media", number % MEDIA)],
                "instagram": f"vcm.{slug_of(title).replace('-', '.')}"[:30],
                "status": "draft" if number % 27 == 26 else "published",
            }
        )


def _news(made: random.Random, now: datetime) -> Iterator[News]:
    taken: set[str] = set()
    for number in range(NEWS):
        title = made.choice(TITLES).format(made.choice(OPPONENTS))
        slug = next(each for each in numbered(slug_of(title)) if each not in taken)
        taken.add(slug)
        content = checked(from_markdown(_text(made, number)))
        at = now - timedelta(hours=31 * number + 2)
        yield News(
            id=_id("news", number),
            title=title,
            slug=slug,
            content=content,
            excerpt=excerpt(content),
            published_date=at,
            status="draft" if number % 8 == 5 else "published",
            author_ids=["mona" if number % 2 else "anja"],
            image_ids=list(dict.fromkeys([_id("media", number % MEDIA), _id("media", (number * 7) % MEDIA)])),
            created_at=at,
            updated_at=at,
        )


def _text(made: random.Random, number: int) -> str:
    return "\n\n".join(
        [
            " ".join(made.sample(SENTENCES, 3)),
            f"## Der {made.choice(('erste', 'zweite', 'dritte'))} Satz",
            " ".join(made.sample(SENTENCES, 3)),
            f"- Satz 1: **25:{made.randrange(10, 24)}**\n- Satz 2: {made.randrange(10, 24)}:25",
            f"![Ball über dem Netz](media:{_id('media', (number * 7) % MEDIA)})",
            "> Wir haben uns das verdient.",
        ]
    )


def _events(made: random.Random, now: datetime) -> Iterator[Event]:
    for number in range(260):
        day = now + timedelta(days=2 * (number - 130))
        start = day.replace(hour=13 + number % 5, minute=0, second=0, microsecond=0)
        kind = EVENTS[number % len(EVENTS)].format(OPPONENTS[number % len(OPPONENTS)])
        title = f"{kind}, {start:%d.%m.%Y}"
        lasts = timedelta(days=3) if number % 5 == 0 else timedelta(hours=4)
        yield Event(
            id=_id("event", number),
            title=title,
            slug=slug_of(title),
            description=checked(from_markdown(" ".join(made.sample(SENTENCES, 2)))),
            start_date=start,
            end_date=start + lasts,
            address=Address(
                name=f"Sporthalle {PLACES[number % 11]}", street="Vereinsstraße 1", postalCode="68161", city="Mannheim"
            ),
            author_ids=["mona"],
            status="draft" if number % 11 == 7 else "published",
        )


def _sponsors(now: datetime) -> Iterator[Sponsor]:
    for number, (trade, name) in enumerate(product(TRADES, LAST)):
        if number < SPONSORS:
            yield Sponsor(
                id=_id("sponsor", number),
                name=f"{trade} {name}",
                website=f"https://{slug_of(f'{trade} {name}')}.example.org/",
                logo_id=_id("media", number % MEDIA),
                expiry_timestamp=(now + timedelta(days=30 + number)).replace(microsecond=0) if number % 3 else None,
            )


def _clubs() -> Iterator[SamsClub]:
    for number, (prefix, place) in enumerate(product("VC SV TSV TV VSG SG VfB TG SC MTV".split(), OPPONENTS)):
        name = f"{prefix} {place}"
        yield SamsClub(sams_club_id=_id("sams-club", number), name=name, name_slug=slug_of(name))


def _sams_teams() -> Iterator[SamsTeam]:
    for number in range(TEAMS + 12):
        league = LEAGUES[number % len(LEAGUES)]
        yield SamsTeam(
            sams_team_id=_id("sams-team", number),
            name=f"VC Musterstadt {number + 1}",
            league_name=league,
            league_id=slug_of(league),
            club_id=_id("sams-club", 0),
            season="2026/27",
        )


def _png(number: int) -> bytes:
    """A picture: a ball over a net, by its number."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    sky = bytes((150 + number % 80, 190, 220))
    ground, ball, net = bytes((200, 120 + number % 60, 80)), bytes((250, 240, 200)), bytes((90, 90, 90))
    left = 10 + number * 13 % 36
    rows = bytearray()
    for y in range(36):
        row = bytearray(b"\0")
        for x in range(64):
            if (x - left) ** 2 + (y - 9) ** 2 <= 25:
                row += ball * _SCALE
            elif y in (16, 19, 22) or (x % 6 == 0 and 16 <= y <= 22):
                row += net * _SCALE
            else:
                row += (sky if y < 28 else ground) * _SCALE
        rows += row * _SCALE
    header = struct.pack(">IIBBBBB", 64 * _SCALE, 36 * _SCALE, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")
    )
