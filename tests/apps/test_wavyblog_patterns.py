"""Every access pattern of WavyBlog: its result, its requests, and its cost."""

from collections.abc import Iterator

import pytest

from keyplan.apps.wavyblog.design import WavyBlog
from tests.apps.support import WAYS, Case, Way, World, run_case, scanning, units, without_case, world
from tests.apps.wavyblog_data import fill


def _username(user: object) -> object:
    return getattr(user, "username", None)


def _slug(item: object) -> object:
    return getattr(item, "slug", None)


def _slugs(items: list[object]) -> object:
    return [_slug(item) for item in items]


def _both(found: tuple[list[object], list[object]]) -> object:
    """A user's name, and a token family's id."""
    (user,), (family,) = found
    return [_username(user), getattr(family, "family_id", None)]


CASES = [
    # 1. Get User by Username
    Case("user", ("john_doe",), "john_doe", ["get_item"], _username),
    Case("user", ("nobody",), None, ["get_item"], _username),
    # 2. Get User by Email
    Case("user_by_email", ("john_doe@EXAMPLE.com",), "john_doe", ["get_item", "get_item"], _username),
    Case("user_by_email", ("nobody@example.com",), None, ["get_item"], _username),
    # 3. Get All Users
    Case("users", (), ["jane_roe", "john_doe"], ["query GSI3"], _username, limit=2),
    # 4. Get Post by Slug
    Case("post", ("jane-007",), "jane-007", ["get_item"], _slug),
    Case("post", ("no-such-post",), None, ["get_item"], _slug),
    # 5. Get All Posts
    Case("posts", (), ["jane-001", "jane-002", "jane-003"], ["query GSI3"], _slug, limit=3),
    # 6. Get Posts by User
    Case("posts_by_user", ("john_doe",), ["john-030", "john-029", "john-028"], ["query GSI1"], _slug, limit=3),
    Case("posts_by_user", ("reader_00",), [], ["query GSI1"], _slug, limit=3),
    # 7. Get Posts by Category
    Case("posts_by_category", ("travel",), ["jane-030", "jane-029"], ["query GSI2"], _slug, limit=2),
    # 8. Get All Categories
    Case("categories", (), ["technology", "topic-00"], ["query GSI3"], _slug, limit=2),
    # 9. Check Slug Uniqueness
    Case("slug_taken", ("john-001",), True, ["get_item"]),
    Case("slug_taken", ("john-1",), False, ["get_item"]),
    # Beside the document's
    Case("latest_posts", (), ["jane-029", "jane-028", "john-029", "john-028"], ["query GSI4"], _slug, limit=4),
    Case(
        "published_posts_by_user", ("john_doe",), ["john-029", "john-028", "john-026"], ["query GSI1"], _slug, limit=3
    ),
    Case("published_posts_by_category", ("travel",), ["jane-029", "jane-028"], ["query GSI2"], _slug, limit=2),
    # john's drafts are not jane's; hers are 030 and 027.
    Case(
        "posts_by_category_for",
        ("travel", "jane_roe"),
        ["jane-030", "jane-029", "jane-028"],
        ["query GSI2"],
        _slug,
        limit=3,
    ),
    Case("posts_by_category_for", ("travel", "john_doe"), ["jane-029", "jane-028"], ["query GSI2"], _slug, limit=2),
    Case(
        "posts_by_slugs",
        (["john-002", "none", "jane-007"],),
        ["john-002", None, "jane-007"],
        ["batch_get_item"],
        _slugs,
    ),
    Case("category", ("travel",), "travel", ["get_item"], _slug),
    Case("categories_by_slugs", (["travel", "none"],), ["travel", None], ["batch_get_item"], _slugs),
    Case("renamed_categories", (), ["topic-00"], ["query GSI3"], _slug),
    Case("admins", (), 1, ["get_item"], lambda admins: admins.admin_count),
    Case("images_by_user", ("jane_roe",), [], ["query"], lambda image: image.image_id, limit=2),
    Case("image", ("john_doe", "img_01"), 2, ["get_item"], lambda image: image.size),
    Case("leftovers", (), ["img_00", "img_01"], ["query"], lambda leftover: leftover.image_id, limit=2),
    Case("refresh_token", ("hash-01",), "login-01", ["get_item", "get_item"], lambda token: token.family_id),
    Case("refresh_token", ("hash-99",), None, ["get_item"]),
    Case("token_family", ("john_doe", "login-01"), "john_doe", ["get_item"], _username),
    Case("user_and_family", ("john_doe", "login-01"), ["john_doe", "login-01"], ["batch_get_item"], _both),
    Case("user_and_family", ("john_doe", "login-99"), ["john_doe", None], ["batch_get_item"], _both),
    Case(
        "token_families", ("john_doe",), ["login-00", "login-01"], ["query"], lambda family: family.family_id, limit=2
    ),
    Case("refresh_tokens", ("john_doe",), ["hash-00", "hash-01"], ["query"], lambda token: token.token_hash, limit=2),
]

# Lists with the newest first show other items in a larger blog, but not more of them.
NEWEST_IMAGES = Case("images_by_user", ("john_doe",), ["img_04", "img_03"], ["query"], lambda i: i.image_id, limit=2)
CASES.append(NEWEST_IMAGES)


@pytest.fixture(scope="module")
def blog() -> Iterator[World[WavyBlog]]:
    with world(WavyBlog(), fill) as made:
        yield made


@pytest.fixture(scope="module")
def larger_blog() -> Iterator[World[WavyBlog]]:
    with world(WavyBlog(), lambda store: fill(store, scale=2)) as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_pattern(blog: World[WavyBlog], way: Way, case: Case) -> None:
    run_case(blog, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cost_does_not_grow(blog: World[WavyBlog], larger_blog: World[WavyBlog], way: Way, case: Case) -> None:
    assert 0 < units(blog, way, case) == units(larger_blog, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pattern", "arguments", "expected"),
    [
        # Decisions are made on strong reads.
        ("user", ("john_doe",), 1.0),
        ("user_by_email", ("john_doe@example.com",), 2.0),
        # Three posts of 1.9 KB are two reads of 4 KB, half a unit each.
        ("posts_by_user", ("john_doe",), 1.0),
        ("slug_taken", ("john-001",), 0.5),
        # A filter is applied to what was read, and paid for: six posts.
        ("published_posts_by_user", ("john_doe",), 1.5),
    ],
)
def test_cost(blog: World[WavyBlog], way: Way, pattern: str, arguments: tuple[object, ...], expected: float) -> None:
    case = next(case for case in CASES if case.pattern == pattern)
    assert units(blog, way, Case(pattern, arguments, None, [], limit=case.limit)) == expected


def test_every_pattern_is_tried() -> None:
    assert without_case(WavyBlog, CASES) == []


def test_nothing_scans() -> None:
    assert scanning(CASES) == set()


@pytest.mark.parametrize("way", WAYS)
def test_pages_go_on_where_they_stopped(blog: World[WavyBlog], way: Way) -> None:
    store = blog.stores[way]
    slugs = [post.slug for post in store.each(store.design.latest_posts().limit(7))]
    assert len(slugs) == 40
    assert len(set(slugs)) == 40
    assert slugs == [post.slug for post in store.run(store.design.latest_posts().limit(100)).items]


def test_the_table_is_named_by_the_environment() -> None:
    assert [WavyBlog().table_name(table) for table in WavyBlog().all_tables] == ["WavyBlog", "WavyBlog-keyplan"]
    named = WavyBlog({"dynamodb_table": "Blog"})
    assert [named.table_name(table) for table in named.all_tables] == ["Blog", "Blog-keyplan"]
