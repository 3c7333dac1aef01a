"""What WavyBlog's creates and changes write, item by item, in the document's keys; and what they refuse."""

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Admins, Category, Image, RefreshToken, TokenFamily, User
from keyplan.data import (
    FloorReached,
    InUse,
    ParentMissing,
    StaleVersion,
    Store,
    UniqueViolation,
    create,
    delete,
    move,
    update,
)
from keyplan.design import InvalidValue
from tests.apps.support import World, world
from tests.apps.wavyblog_data import CENTURY, START, post, user


def _start(store: Store[WavyBlog]) -> None:
    store.transact(create(Admins()), create(user("root", role="admin")))
    store.run(create(user("john_doe")))
    for slug in ("technology", "uncategorized"):
        store.run(create(Category(slug=slug, name=slug)))


@pytest.fixture
def blog() -> Iterator[World[WavyBlog]]:
    with world(WavyBlog(), _start) as made:
        yield made


@pytest.fixture
def store(blog: World[WavyBlog]) -> Store[WavyBlog]:
    return blog.stores["in-process"]


def _items(store: Store[WavyBlog]) -> dict[str, dict[str, Any]]:
    client: Any = store.client
    return {f"{item['PK']['S']} / {item['SK']['S']}": item for item in client.scan(TableName="WavyBlog")["Items"]}


def _user(store: Store[WavyBlog], username: str) -> User:
    found = store.run(store.design.user(username))
    assert found is not None
    return found


def test_a_post_as_the_document_has_it(blog: World[WavyBlog]) -> None:
    store = blog.stores["in-process"]
    before = _items(store)
    with blog.recorders["in-process"].recording() as sent:
        store.run(create(post("my-first-post", created_at=START, thumbnail_url="https://example.com/thumb.jpg")))
    assert [call.shown for call in sent] == ["transact_write_items"]
    after = _items(store)
    assert after.keys() - before.keys() == {
        "POST#my-first-post / METADATA#my-first-post",
        "SLUG#my-first-post / SLUG#my-first-post",
    }
    item = after["POST#my-first-post / METADATA#my-first-post"]
    assert item["EntityType"] == {"S": "POST"}
    assert item["GSI1PK"] == {"S": "POSTS_BY_USER#john_doe"}
    assert item["GSI2PK"] == {"S": "POSTS_BY_CAT#technology"}
    assert item["GSI1SK"] == item["GSI2SK"] == item["GSI4SK"] == {"S": "POST#2024-01-15T10:00:00Z#my-first-post"}
    assert item["PostID"]["S"].startswith("post_")
    assert item["CreatedAt"] == {"S": "2024-01-15T10:00:00Z"}
    assert item.keys() >= {
        "Slug",
        "Title",
        "Content",
        "AuthorID",
        "Category",
        "ThumbnailURL",
        "IsPublished",
        "UpdatedAt",
    }
    assert after["SLUG#my-first-post / SLUG#my-first-post"].keys() == {"PK", "SK"}


def test_a_user_as_the_document_has_it(store: Store[WavyBlog]) -> None:
    items = _items(store)
    item = items["USER#john_doe / METADATA#john_doe"]
    assert item["EntityType"] == {"S": "USER"}
    assert item["UserID"]["S"].startswith("usr_")
    assert item["Email"] == {"S": "John_Doe@example.com"}
    assert item["PasswordHash"] == {"S": "$2b$10$x"}
    guard = items["USEREMAIL#john_doe@example.com / USEREMAIL#john_doe@example.com"]
    assert guard["Username"] == {"S": "john_doe"}
    assert items["CATEGORY#technology / METADATA#technology"]["CategoryID"]["S"].startswith("cat_")


def test_the_password_hash_is_not_shown(store: Store[WavyBlog]) -> None:
    john = _user(store, "john_doe")
    assert "$2b$" not in repr(john) + str(john.model_dump_json())


def test_one_address_one_user(store: Store[WavyBlog]) -> None:
    with pytest.raises(UniqueViolation):
        store.run(create(user("johnny", email="JOHN_DOE@example.COM")))
    john = _user(store, "john_doe")
    john.email = "new@example.com"
    store.run(update(john))
    assert store.run(store.design.user_by_email("John_Doe@example.com")) is None
    found = store.run(store.design.user_by_email("new@example.com"))
    assert found is not None
    assert (found.username, found.version) == ("john_doe", 2)


def test_a_rename_moves_item_and_guard(store: Store[WavyBlog]) -> None:
    made = store.run(create(post("old", created_at=START)))
    store.run(move(made, slug="new"))
    assert store.run(store.design.slug_taken("old")) is False
    assert store.run(store.design.slug_taken("new")) is True
    assert store.run(store.design.post("old")) is None
    (listed,) = store.run(store.design.latest_posts()).items
    assert (listed.slug, listed.created_at) == ("new", START)
    assert _user(store, "john_doe").post_count == 1


def test_a_draft_is_not_among_the_latest(store: Store[WavyBlog]) -> None:
    made = store.run(create(post("draft", is_published=False)))
    assert "GSI4PK" not in _items(store)["POST#draft / METADATA#draft"]
    made.is_published = True
    store.run(update(made))
    assert [each.slug for each in store.run(store.design.latest_posts()).items] == ["draft"]
    made.is_published = False
    store.run(update(made))
    assert store.run(store.design.latest_posts()).items == []


def test_what_is_in_use_stays(store: Store[WavyBlog]) -> None:
    made = store.run(create(post("a-post")))
    john, technology = _user(store, "john_doe"), store.run(store.design.category("technology"))
    assert technology is not None
    for used in (john, technology):
        with pytest.raises(InUse):
            store.run(delete(used))
    made.category = "uncategorized"
    store.run(update(made))
    store.run(delete(technology))
    with pytest.raises(ParentMissing):
        store.run(create(post("another")))
    assert [each.slug for each in store.run(store.design.posts_by_category("uncategorized")).items] == ["a-post"]


def test_the_last_admin_stays(store: Store[WavyBlog]) -> None:
    root, john = _user(store, "root"), _user(store, "john_doe")
    with pytest.raises(FloorReached):
        store.run(delete(root))
    john.role = "admin"
    store.run(update(john))
    store.run(delete(root))
    admins = store.run(store.design.admins())
    assert admins is not None
    assert admins.admin_count == 1


def test_a_token_belongs_to_a_login_of_a_user(store: Store[WavyBlog]) -> None:
    expiry = {"username": "john_doe", "expires_at": START + CENTURY}
    token = RefreshToken.model_validate({"token_hash": "hash", "family_id": "login", **expiry})
    with pytest.raises(ParentMissing):
        store.run(create(token))
    store.run(create(TokenFamily.model_validate({"family_id": "login", **expiry})))
    store.run(create(token))
    found = store.run(store.design.refresh_token("hash"))
    assert found is not None
    assert (found.username, found.family_id, found.used_at) == ("john_doe", "login", None)
    client: Any = store.client
    items = client.scan(TableName="WavyBlog-keyplan")["Items"]
    assert {item["sk"]["S"] for item in items} == {"FAMILY#login", "TOKEN#login#hash", "TOKEN#hash"}
    assert {item["expiresAt"]["N"] for item in items} == {str(int((START + CENTURY).timestamp()))}


def test_an_image_belongs_to_a_user(store: Store[WavyBlog]) -> None:
    image = Image(username="nobody", file="a.png", content_type="image/png", size=10)
    with pytest.raises(ParentMissing):
        store.run(create(image))


def test_posts_follow_a_renamed_category(store: Store[WavyBlog]) -> None:
    for number in range(30):
        store.run(create(post(f"post-{number:02}")))
    old = store.run(store.design.category("technology"))
    assert old is not None
    old.renamed_to = "tech"
    store.transact(create(Category(slug="tech", name="Technology")), update(old))
    # From here on any process can finish it.
    (found,) = store.run(store.design.renamed_categories()).items
    assert found.renamed_to is not None
    assert store.run(store.design.move_posts(found.slug, found.renamed_to)) == 30
    assert store.run(store.design.category("technology")) is None
    new = store.run(store.design.category("tech"))
    assert new is not None
    assert new.post_count == 30
    assert len(store.run(store.design.posts_by_category("tech")).items) == 30
    assert store.run(store.design.renamed_categories()).items == []
    assert store.verify() == []


def test_a_post_is_at_most_300_kilobytes(store: Store[WavyBlog]) -> None:
    store.run(create(post("long", content="ä" * 150 * 1024)))
    with pytest.raises(InvalidValue, match="307,201 bytes") as refused:
        store.run(create(post("longer", content="ä" * 150 * 1024 + "a")))
    assert refused.value.field == "content"
    assert store.run(store.design.post("longer")) is None


def test_a_deleted_user_leaves_nothing(store: Store[WavyBlog]) -> None:
    _log_in(store, "one")
    store.run(create(Image(username="john_doe", file="a.png", content_type="image/png", size=10)))
    store.run(delete(_user(store, "john_doe")))
    assert [where for where in _items(store) if "john_doe" in where.lower()] == []
    client: Any = store.client
    assert client.scan(TableName="WavyBlog-keyplan")["Items"] == []
    assert store.verify() == []


def test_a_revoked_login_leaves_the_others(store: Store[WavyBlog]) -> None:
    for name in ("one", "two"):
        _log_in(store, name)
    family = store.run(store.design.token_family("john_doe", "one"))
    assert family is not None
    store.run(delete(family))
    assert [each.family_id for each in store.run(store.design.token_families("john_doe")).items] == ["two"]
    assert [each.token_hash for each in store.run(store.design.refresh_tokens("john_doe")).items] == ["hash-two"]
    assert store.verify() == []


def _log_in(store: Store[WavyBlog], name: str) -> None:
    given = {"username": "john_doe", "family_id": name, "expires_at": START + CENTURY}
    store.run(create(TokenFamily.model_validate(given)))
    store.run(create(RefreshToken.model_validate({"token_hash": f"hash-{name}", **given})))


def test_an_old_copy_does_not_change_another_user_of_the_same_name(store: Store[WavyBlog]) -> None:
    copy = _user(store, "john_doe")
    store.run(delete(_user(store, "john_doe")))
    store.run(create(user("john_doe", email="second@example.com")))
    store.run(create(user("jane_roe", email="John_Doe@example.com")))
    copy.email = "third@example.com"
    with pytest.raises(StaleVersion):
        store.run(update(copy))
    assert store.verify() == []


def test_the_design_keeps_journals_and_cursors_beside_the_logins(blog: World[WavyBlog]) -> None:
    store = Store(WavyBlog(), blog.recorders["in-process"])
    _log_in(store, "one")
    page = store.run(store.design.users().limit(1))
    assert store.run(store.design.users().limit(1).after(page.next)).items
    assert store.verify() == []


def test_verify_finds_nothing_wrong(store: Store[WavyBlog]) -> None:
    store.run(create(post("a-post")))
    _log_in(store, "one")
    assert store.verify() == []
