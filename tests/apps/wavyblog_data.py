"""A blog with data: two authors with a post a minute each, every third one a draft."""

from datetime import UTC, datetime, timedelta

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Admins, Category, Image, Leftover, Post, RefreshToken, TokenFamily, User
from keyplan.data import Store, create
from keyplan.design import Secret

START = datetime(2024, 1, 15, 10, 0, 0, tzinfo=UTC)
CENTURY = timedelta(days=36500)
POSTS = 30
"""Posts of each author, in a blog of scale 1."""


def user(username: str, **fields: object) -> User:
    """A user with their own e-mail address."""
    email = f"{username.title()}@example.com"
    return User.model_validate({"username": username, "email": email, "password_hash": Secret("$2b$10$x"), **fields})


def post(slug: str, **fields: object) -> Post:
    """A published post of john_doe on technology."""
    given = {"title": slug.title(), "author_id": "john_doe", "category": "technology", "is_published": True, **fields}
    return Post.model_validate({"slug": slug, "content": "# Hello\n" + "x" * 1500, **given})


def fill(store: Store[WavyBlog], scale: int = 1) -> None:
    """Users, categories, posts, images, files to be deleted and logins; twice as many of each with a scale of 2."""
    store.transact(create(Admins()), create(user("root", role="admin")))
    names = ["jane_roe", "john_doe", *(f"reader_{number:02}" for number in range(5 * scale))]
    for username in names:
        store.run(create(user(username)))
    slugs = ["technology", "travel", "uncategorized", *(f"topic-{number:02}" for number in range(5 * scale))]
    for slug in slugs:
        renamed = "travel" if slug == "topic-00" else None
        store.run(create(Category(slug=slug, name=slug.title(), renamed_to=renamed)))
    for number in range(1, POSTS * scale + 1):
        # Two of john's have the same second.
        minute = timedelta(minutes=number - (number == 29))
        draft = {"is_published": number % 3 != 0}
        store.run(create(post(f"john-{number:03}", created_at=START + minute, **draft)))
        jane = {"author_id": "jane_roe", "category": "travel", "created_at": START + minute + timedelta(seconds=30)}
        store.run(create(post(f"jane-{number:03}", **draft, **jane)))
    for number in range(5 * scale):
        store.run(
            create(
                Image(
                    image_id=f"img_{number:02}",
                    username="john_doe",
                    file="a.png",
                    content_type="image/png",
                    size=1 + number,
                )
            )
        )
        store.run(create(Leftover(username="john_doe", image_id=f"img_{number:02}", file="a.png")))
        family = TokenFamily(username="john_doe", family_id=f"login-{number:02}", expires_at=START + CENTURY)
        store.run(create(family))
        token = {"token_hash": f"hash-{number:02}", "family_id": family.family_id, "expires_at": START + CENTURY}
        store.run(create(RefreshToken.model_validate({"username": "john_doe", **token})))
