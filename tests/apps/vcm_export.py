"""An export of Payload as a club would have it: more than 200 records, with nested rich text."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.apps.vcm_site import png

Record = dict[str, Any]
NEWS, EVENTS, TEAMS, MEMBERS, MEDIA, SPONSORS, ROLES, LOCATIONS = 90, 45, 18, 25, 40, 12, 8, 6
RECORDS = NEWS + EVENTS + TEAMS + MEMBERS + MEDIA + SPONSORS + ROLES + LOCATIONS
AUTHORS = {"1": "sub-anja", "2": "sub-mona"}
BEGAN = datetime(2024, 9, 1, 17, 30, tzinfo=UTC)
WORDS = "Satz Block Aufschlag Halle Trainerin Libero Annahme Derby Pokal Größe Straße".split()


def text(words: str, format: int = 0) -> Record:
    return {"type": "text", "text": words, "format": format, "mode": "normal", "style": "", "detail": 0, "version": 1}


def node(kind: str, *children: Record, **more: object) -> Record:
    return {
        "type": kind,
        "children": list(children),
        "direction": "ltr",
        "format": "",
        "indent": 0,
        "version": 1,
        **more,
    }


def link(url: str, *children: Record) -> Record:
    return node("link", *children, fields={"linkType": "custom", "url": url, "newTab": True}, id="64f0")


def bullets(kind: str, *items: Record) -> Record:
    return node("list", *items, listType=kind, tag="ol" if kind == "number" else "ul", start=1)


def item(*children: Record) -> Record:
    return node("listitem", *children, value=1)


def picture(id: object) -> Record:
    return {"type": "upload", "relationTo": "media", "value": id, "fields": None, "format": "", "version": 3}


def rich(*children: Record) -> Record:
    return {"root": node("root", *children)}


def article(made: random.Random, number: int) -> Record:
    """A text with everything that editors use."""
    inner = bullets("number", item(text("eins")), item(text("zwei", 1)))
    deeper = bullets("bullet", item(text("tief")), item(inner))
    words = " ".join(made.choices(WORDS, k=30))
    parts = [
        node("heading", text(f"Runde {number}"), tag=f"h{number % 3 + 1}"),
        node(
            "paragraph",
            text(words),
            text(" fett", 1),
            text(" kursiv und fett", 3),
            text(" weg", 4),
            text(" unter", 8),
            text(" code", 16),
            {"type": "linebreak", "version": 1},
            link("https://example.org/spiel?a=1", text("zum Spiel", 2)),
            text("."),
        ),
        bullets("bullet", item(text("Anfang")), item(deeper), item(link("mailto:info@example.org", text("Mail")))),
        node("quote", text("Wir wollten es"), {"type": "linebreak", "version": 1}, text("mehr.")),
        {"type": "horizontalrule", "version": 1},
        node("paragraph"),
    ]
    if number % 4 == 0:
        parts.insert(2, picture(number % MEDIA + 1))
    return rich(*parts)


def stamps(number: int) -> Record:
    at = BEGAN + timedelta(hours=7 * number)
    return {"createdAt": f"{at:%Y-%m-%dT%H:%M:%S.123Z}", "updatedAt": f"{at:%Y-%m-%dT%H:%M:%S.456Z}"}


def records() -> dict[str, list[Record]]:
    """The collections. Relationships are ids or whole records, as the depth of the export was."""
    made = random.Random(7)
    media = [
        {
            "id": n + 1,
            "filename": f"bild-{n + 1}.png",
            "alt": f"Bild {n + 1}" if n % 3 else None,
            "mimeType": "image/png",
        }
        | stamps(n)
        for n in range(MEDIA)
    ]
    roles = [{"id": f"role-{n}", "name": f"Rolle {n}"} | stamps(n) for n in range(ROLES)]
    locations = [
        {
            "id": n + 1,
            "name": f"Halle {n}",
            "address": {"street": f"Ring {n}", "postalCode": "68161", "city": "Mannheim"},
        }
        | stamps(n)
        for n in range(LOCATIONS)
    ]
    members = [
        {
            "id": f"m{n}",
            "name": f"Mitglied {n}",
            "email": f"m{n}@example.org" if n % 2 else None,
            "phone": "0621 1234" if n % 3 else None,
            "roles": [roles[n % ROLES], roles[(n + 3) % ROLES]["id"]],
            "avatar": media[n] if n % 5 == 0 else None,
        }
        | stamps(n)
        for n in range(MEMBERS)
    ]
    return {
        "media": media,
        "roles": roles,
        "locations": locations,
        "members": members,
        "teams": [_team(made, n) for n in range(TEAMS)],
        "news": [_news(made, n) for n in range(NEWS)],
        "events": [_event(made, n) for n in range(EVENTS)],
        "sponsors": [_sponsor(n) for n in range(SPONSORS)],
    }


def _team(made: random.Random, n: int) -> Record:
    return {
        "id": n + 1,
        "name": f"Damen {n // 2 + 1}",
        "slug": f"damen-{n // 2 + 1}",
        "gender": ("woman", "men", "mixed")[n % 3],
        "age": 12 + n if n % 2 else None,
        "league": "Oberliga",
        "sbvvTeam": {"id": f"sams-{n}", "name": "Team"} if n % 2 else None,
        "description": "Wir spielen mit.",
        "coaches": [f"m{n}"],
        "contactPeople": [{"id": f"m{n + 1}", "name": "M"}],
        "schedules": [
            {
                "id": "6500",
                "day": ["monday", "thursday"],
                "time": {"startTime": "2024-01-10T17:30:00.000Z", "endTime": "2024-07-10T18:00:00.000Z"},
                "location": n % LOCATIONS + 1,
            }
        ],
        "images": [made.randrange(1, MEDIA + 1)],
        "instagram": "vcm" if n % 3 == 0 else None,
    } | stamps(n)


def _news(made: random.Random, n: int) -> Record:
    # Titles repeat on purpose, so that slugs must be made unique.
    return {
        "id": n + 1,
        "title": f"{WORDS[n % len(WORDS)]} für die Straße",
        "content": article(made, n),
        "publishedDate": stamps(n)["createdAt"] if n % 7 else None,
        "authors": [{"relationTo": "users", "value": n % 2 + 1}] if n % 3 else [1, 2],
        "images": [made.randrange(1, MEDIA + 1), {"id": made.randrange(1, MEDIA + 1), "filename": "x"}],
        "excerpt": "Von Hand." if n % 5 == 0 else None,
        "_status": "published" if n % 4 else "draft",
    } | stamps(n)


def _event(made: random.Random, n: int) -> Record:
    start = BEGAN + timedelta(days=20 * n)
    end = start + timedelta(days=n % 31) if n % 2 else None
    return {
        "id": f"e{n}",
        "title": "Sommerfest" if n % 3 else f"Turnier {n}",
        "description": article(made, n) if n % 2 else None,
        "date": {"startDate": start.isoformat(), "endDate": end.isoformat() if end else None},
        "address": {"name": "Halle", "street": "Ring 1", "postalCode": "68161", "city": "Mannheim"} if n % 2 else {},
        "images": [],
        "authors": [2],
    } | stamps(n)


def _sponsor(n: int) -> Record:
    return {
        "id": n + 1,
        "name": f"Sponsor {n}",
        "website": "https://example.org" if n % 2 else None,
        "logo": n // 2 + 1,
        "expiryDate": "2035-01-01T00:00:00.500Z" if n % 3 else None,
    } | stamps(n)


def write_export(folder: Path, collections: dict[str, list[Record]] | None = None) -> Path:
    """The export as files."""
    collections = collections if collections is not None else records()
    (folder / "media").mkdir(parents=True, exist_ok=True)
    for name, docs in collections.items():
        found = {"docs": docs, "totalDocs": len(docs), "limit": 0, "page": 1, "hasNextPage": False}
        (folder / f"{name}.json").write_text(json.dumps(found, ensure_ascii=False), "utf-8")
    for n in range(MEDIA):
        (folder / "media" / f"bild-{n + 1}.png").write_bytes(png(n))
    return folder
