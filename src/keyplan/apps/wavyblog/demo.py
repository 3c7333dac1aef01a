"""Demo data for WavyBlog: a travel blog with many authors, the same in every run."""

import colorsys
import math
import random
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Category, Image, Post, User
from keyplan.apps.wavyblog.service import hashed
from keyplan.data import Refused, create
from keyplan.web import Person, Progress, Running, slug_of

PASSWORD = "wavy-demo"
"""The password of every demo user; mira_berg is an admin."""
PEOPLE = (
    Person("mira_berg", "mira_berg", about=f"admin, password {PASSWORD}"),
    Person("jonas_dahl", "jonas_dahl", about=f"author, password {PASSWORD}"),
)
FIRST = "mira jonas lena tariq aiko paulo ines bram zoe emeka sanna luca"
LAST = "berg costa dahl endo fraser greco haas ito joshi kade"
PLACES = "Lisbon Porto Bergen Oslo Kyoto Naples Tbilisi Ghent Lyon Split Cork Riga Turku"
SUBJECTS = "Walks in|Eating in|Night trains to|Markets of|Winter in|A weekend in|Harbours of|Music from"
OPENINGS = (
    "We came with one small bag and no plan.",
    "It rained for the first two days, and that was the best that could happen.",
    "Nobody had told us about the stairs.",
    "The ferry was late, so we had time to look around.",
    "I had been here before, in another season.",
    "The market opens at six, and at seven the best of it is gone.",
)
MIDDLES = (
    "The bakery at the corner sells out before nine, and they know it.",
    "From the tower one sees how the old town follows the river.",
    "A ticket for the day costs less than two single ones, which nobody tells you.",
    "We walked along the tracks until the pavement ended.",
    "The museum is small, and one leaves it knowing everything in it.",
    "They serve whatever came in with the boats that morning.",
    "The last bus leaves at half past eight. We learned that at nine.",
    "In the square people play chess until it is too dark to see the board.",
    "It is best in the hour after the day visitors have left.",
)
LISTS = (
    "- good shoes\n- a rain jacket\n- cash for the ferry",
    "1. The harbour at dawn\n2. Coffee under the arcade\n3. The long way back",
    "> We thought we were lost. We were only early.",
    "| What | Price |\n| --- | --- |\n| Bed | 38 |\n| Soup | 7 |\n| Tram | 2 |",
)
USERS, POSTS, IMAGES = 120, 420, 104
_BEGAN = datetime(2025, 3, 1, 7, 0, tzinfo=UTC)


def fill(running: Running[WavyBlog], progress: Progress) -> None:
    """Create users, categories, posts and images. Existing ones are kept, so that an interrupted run can continue."""
    made = random.Random(1848)
    names = [f"{first}_{last}" for first, last in product(FIRST.split(), LAST.split())]
    categories = [f"{subject} {place}" for subject, place in product(SUBJECTS.split("|"), PLACES.split())]
    images = list(_images(running, names[0]))
    entities: list[User | Category | Image | Post] = [*_users(names), *(_category(each) for each in categories)]
    entities += [*images, *_posts(made, names, categories, [running.media.url(each.file) for each in images])]
    for done, entity in enumerate(entities, 1):
        with suppress(Refused):
            running.store.run(create(entity))
        progress(done, len(entities))


def _users(names: list[str]) -> Iterator[User]:
    password = hashed(PASSWORD)
    for number, name in enumerate(names[:USERS]):
        yield User(
            user_id=f"usr_demo{number:04}",
            username=name,
            email=f"{name.replace('_', '.')}@example.org",
            password_hash=password,
            role="admin" if number == 0 else "user",
            created_at=_BEGAN - timedelta(hours=7 * (USERS - number)),
        )


def _category(name: str) -> Category:
    slug = slug_of(name, 80)
    return Category(category_id=f"cat_demo-{slug}", slug=slug, name=name, created_at=_BEGAN)


def _posts(made: random.Random, names: list[str], categories: list[str], pictures: Sequence[str]) -> Iterator[Post]:
    at = _BEGAN
    for number in range(POSTS):
        at += timedelta(minutes=made.randrange(200, 2600))
        # One author and one category get a third of the posts each, so that there are long lists.
        author = names[0] if number % 3 == 0 else made.choice(names[:USERS])
        category = categories[0] if number % 3 == 1 else made.choice(categories)
        title = f"{category}, day {number + 1}"
        yield Post(
            post_id=f"post_demo{number:04}",
            slug=slug_of(title, 80),
            title=title,
            content=_text(made, category),
            author_id=author,
            category=slug_of(category, 80),
            thumbnail_url=pictures[number // 6 % IMAGES] if number % 6 == 0 else None,  # the author's own images
            is_published=number % 7 != 3,
            created_at=at,
            updated_at=at,
        )


def _text(made: random.Random, category: str) -> str:
    parts = [f"{made.choice(OPENINGS)} {' '.join(made.sample(MIDDLES, 2))}"]
    for heading in made.sample(("Getting there", "Where to sleep", "What we ate", "What it cost", "Again?"), 3):
        parts += [f"## {heading}", " ".join(made.sample(MIDDLES, 3))]
    parts.insert(made.randrange(2, len(parts)), made.choice(LISTS))
    return "\n\n".join([*parts, f"*{category}: more another day.*"])


def _images(running: Running[WavyBlog], username: str) -> Iterator[Image]:
    for number in range(IMAGES):
        file = running.media.put(_picture(number), "image/png", under=["images"], key=f"demo {number}")
        yield Image(
            image_id=f"img_00000000-demo-{number:04}",  # sorts before ids of uploaded images, which begin with a time
            username=username,
            file=file.name,
            content_type="image/png",
            size=file.size,
            created_at=_BEGAN + timedelta(days=4 * number),
        )


_WIDTH, _HEIGHT, _HORIZON, _SWELL = 640, 400, 210, 9


def _picture(number: int) -> bytes:
    """A sun over the sea, in colors that depend on the number."""
    hue = (0.5 if number % 3 else 0.0) + number * 0.037 % 0.12  # daylight or evening colors
    seas = [_color(0.48 + number * 0.053 % 0.15, 0.46 - 0.08 * each, 0.5) for each in range(4)]
    sun = 80 + number * 97 % (_WIDTH - 160)
    rows = [_sky(y, hue, sun) if y < _HORIZON else _sea(y, seas, 64 + number % 5 * 16) for y in range(_HEIGHT)]
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _color(hue: float, lightness: float, saturation: float) -> bytes:
    return bytes(round(255 * part) for part in colorsys.hls_to_rgb(hue % 1, lightness, saturation))


def _sky(y: int, hue: float, sun: int) -> bytes:
    half = round(math.sqrt(max(0, 55**2 - (y - 150) ** 2)))
    sky = _color(hue, 0.72 + 0.18 * y / _HORIZON, 0.7)
    return sky * (sun - half) + _color(hue + 0.08, 0.95, 0.9) * (2 * half) + sky * (_WIDTH - sun - half)


def _sea(y: int, seas: Sequence[bytes], length: int) -> bytes:
    """A row of the sea. Where two waves meet, the nearer one covers the other in crests."""
    each, within = divmod(y - _HORIZON, (_HEIGHT - _HORIZON) // (len(seas) - 1))
    each = min(each, len(seas) - 2)
    crest = round(length / math.tau * math.acos(max(-1.0, min(1.0, 1 - (within - 25) / _SWELL))))
    period = seas[each + 1] * crest + seas[each] * (length - 2 * crest) + seas[each + 1] * crest
    return (period * (_WIDTH // length + 1))[: 3 * _WIDTH]
