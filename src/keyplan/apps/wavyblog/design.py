"""WavyBlog's design, in the order and words of its document."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter

from keyplan.apps.wavyblog.departures import DEPARTURES
from keyplan.data import delete
from keyplan.design import (
    HOUSEKEEPING,
    BatchGet,
    Count,
    Created,
    Design,
    Entity,
    Get,
    Id,
    Lookup,
    Op,
    Query,
    Ref,
    Rewrite,
    Secret,
    Table,
    Together,
    Ttl,
    Updated,
    Version,
    batch_get,
    belongs_to,
    counts,
    created,
    exists,
    get,
    job,
    key,
    lookup,
    new_id,
    pattern,
    query,
    ref,
    rewrite,
    stored,
    taken,
    together,
    unique,
    updated,
)

blog = Table(
    "{dynamodb_table=WavyBlog}",
    key("PK", "SK"),
    indexes={
        "GSI1": key("GSI1PK", "GSI1SK"),  # Query posts by author/user
        "GSI2": key("GSI2PK", "GSI2SK"),  # Query posts by category
        "GSI3": key("EntityType", "PK"),  # Query all entities by type
        "GSI4": key("GSI4PK", "GSI4SK"),  # Query published posts by time
    },
    case="pascal",
    type_attribute="EntityType",
    times="seconds",
)

Username: TypeAlias = Annotated[Id, StringConstraints(pattern=r"^[a-z0-9_]{3,32}$")]
Email: TypeAlias = Annotated[
    str, StringConstraints(max_length=254, pattern=r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$")
]
Slug: TypeAlias = Annotated[Id, StringConstraints(pattern=r"^[a-z0-9-]+$")]
Role: TypeAlias = Literal["user", "admin"]
ImageType: TypeAlias = Literal["image/jpeg", "image/png", "image/gif", "image/webp"]

image_type: TypeAdapter[ImageType] = TypeAdapter(ImageType)

UNCATEGORIZED = "uncategorized"
"""The category that always exists."""
MOST_CONTENT = 300 * 1024
"""Bytes of markdown that a post may have, so that the item with all else in it stays within 400 KB."""


def _not_too_large(content: str) -> str:
    size = len(content.encode())
    if size > MOST_CONTENT:
        raise ValueError(f"{size} bytes are more than {MOST_CONTENT}")
    return content


Content: TypeAlias = Annotated[str, AfterValidator(_not_too_large)]


class User(Entity, table=blog, type="USER"):
    """User Entity, and with its guard the UserEmail Entity (Uniqueness Enforcement)."""

    user_id: Annotated[Id, stored("UserID")] = new_id("usr_")
    username: Username
    email: Email
    password_hash: Secret[str]
    role: Role = "user"
    created_at: Created = created()
    updated_at: Updated = updated()
    post_count: Count = 0
    version: Version = 0

    primary = key("USER#{username}", "METADATA#{username}")
    email_guard = unique("USEREMAIL#{email.lower}", carries="username")
    by_type = blog.GSI3("USER")

    @counts("admin_count", floor=1)
    def admins(self) -> "Ref[Admins]":
        """An admin counts as one."""
        return ref(Admins).adding(int(self.role == "admin"))


class Post(Entity, table=blog, type="POST"):
    """Post Entity, and with its guard the Slug Uniqueness Entity."""

    post_id: Annotated[Id, stored("PostID")] = new_id("post_")
    slug: Slug
    title: str
    content: Content
    author_id: Annotated[Username, stored("AuthorID")]
    category: Slug = UNCATEGORIZED
    thumbnail_url: Annotated[str | None, stored("ThumbnailURL")] = None
    is_published: bool = False
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("POST#{slug}", "METADATA#{slug}")
    by_user = blog.GSI1("POSTS_BY_USER#{author_id}", "POST#{created_at}#{slug}")
    by_category = blog.GSI2("POSTS_BY_CAT#{category}", "POST#{created_at}#{slug}")
    by_type = blog.GSI3("POST")
    published = blog.GSI4("PUBLISHED_POSTS", "POST#{created_at}#{slug}", when="is_published")
    slug_guard = unique("SLUG#{slug}")

    @belongs_to(on_delete="refuse", count="post_count")
    def author(self) -> Ref[User]:
        """A user with posts can't be deleted."""
        return ref(User, username=self.author_id)

    @belongs_to(on_delete="refuse", count="post_count")
    def in_category(self) -> "Ref[Category]":
        """A category in use can't be deleted."""
        return ref(Category, slug=self.category)


class Category(Entity, table=blog, type="CATEGORY"):
    """Category Entity. Its slug is unique by its own key."""

    category_id: Annotated[Id, stored("CategoryID")] = new_id("cat_")
    slug: Slug
    name: str
    renamed_to: Slug | None = None
    """While it is being renamed: the category that takes its place, and to which its posts move."""
    created_at: Created = created()
    updated_at: Updated = updated()
    post_count: Count = 0
    awaited_count: Count = 0
    """How many categories are being renamed to it: 1 while its posts are on their way, else 0."""
    version: Version = 0

    primary = key("CATEGORY#{slug}", "METADATA#{slug}")
    by_type = blog.GSI3("CATEGORY")

    @belongs_to(on_delete="refuse", count="awaited_count")
    def successor(self) -> "Ref[Category] | None":
        """A category to which posts are on their way can't be deleted, or they would arrive nowhere."""
        return None if self.renamed_to is None else ref(Category, slug=self.renamed_to)


class Admins(Entity, table=blog):
    """How many admins there are, so that the last one can not be lost."""

    admin_count: Count = 0

    primary = key("ADMINS", "ADMINS")


class Image(Entity, table=blog):
    """An uploaded image, under its owner; the bytes are in object storage."""

    image_id: Annotated[Id, stored("ImageID")] = new_id("img_")
    username: Username
    file: str
    content_type: ImageType
    size: Annotated[int, Field(ge=1, le=10 * 1024 * 1024)]
    created_at: Created = created()
    version: Version = 0

    primary = key("USER#{username}", "IMAGE#{image_id}")

    @belongs_to(on_delete="cascade")
    def owner(self) -> Ref[User]:
        """A user's images go with the user."""
        return ref(User, username=self.username)


class Leftover(Entity, table=HOUSEKEEPING):
    """A file to be deleted as soon as its image is: written first, so that no file outlives an image unseen."""

    username: Username
    image_id: Id
    file: str
    created_at: Created = created()

    primary = key("LEFTOVERS", "{username}#{image_id}")


class TokenFamily(Entity, table=HOUSEKEEPING):
    """A login: all refresh tokens that came from it by rotation. Without it none of them is good."""

    username: Username
    family_id: Id = new_id()
    created_at: Created = created()
    expires_at: Ttl

    primary = key("USER#{username}", "FAMILY#{family_id}")

    @belongs_to(on_delete="cascade")
    def user(self) -> Ref[User]:
        """Logins go with the user."""
        return ref(User, username=self.username)


class RefreshToken(Entity, table=HOUSEKEEPING):
    """A refresh token by its hash, listed under its user. One that was used before is a sign of theft."""

    token_hash: Id
    username: Username
    family_id: Id
    created_at: Created = created()
    used_at: datetime | None = None
    expires_at: Ttl

    primary = key("USER#{username}", "TOKEN#{family_id}#{token_hash}")
    by_hash = unique("TOKEN#{token_hash}", carries=("username", "family_id", "expires_at"))

    @belongs_to(on_delete="cascade")
    def family(self) -> Ref[TokenFamily]:
        """Revoking a family takes its tokens along."""
        return ref(TokenFamily, username=self.username, family_id=self.family_id)


class WavyBlog(Design):
    """The nine access patterns of the document, and those that the API needs beside them."""

    tables = (blog,)
    entities = (User, Post, Category, Admins, Image, Leftover, TokenFamily, RefreshToken)

    @pattern("Get User by Username")
    def user(self, username: str) -> Get[User]:
        """Read strongly: the role decides what a request may do, and a change of it holds at once."""
        return get(User, username=username, consistent=True)

    @pattern("Get User by Email")
    def user_by_email(self, email: str) -> Lookup[User]:
        """Lookup via UserEmail entity, then User entity. Strongly, as by username: a password of before is none."""
        return lookup(User.email_guard, email=email, consistent=True)

    @pattern("Get All Users")
    def users(self) -> Query[User]:
        return query(User.by_type)

    @pattern("Get Post by Slug")
    def post(self, slug: str) -> Get[Post]:
        return get(Post, slug=slug)

    @pattern("Get All Posts")
    def posts(self) -> Query[Post]:
        """In the order of their slugs, drafts included."""
        return query(Post.by_type)

    @pattern("Get Posts by User")
    def posts_by_user(self, username: str) -> Query[Post]:
        """The newest first, drafts included: for the author and for admins."""
        return query(Post.by_user, author_id=username, newest_first=True)

    @pattern("Get Posts by Category")
    def posts_by_category(self, category: str) -> Query[Post]:
        """The newest first, drafts included: for admins."""
        return query(Post.by_category, category=category, newest_first=True)

    @pattern("Get All Categories")
    def categories(self) -> Query[Category]:
        return query(Category.by_type)

    @pattern("Check Slug Uniqueness")
    def slug_taken(self, slug: str) -> Op[bool]:
        return taken(Post.slug_guard, slug=slug)

    # Beside the document's

    @pattern("Latest published posts")
    def latest_posts(self) -> Query[Post]:
        return query(Post.published, newest_first=True)

    @pattern("Get published Posts by User")
    def published_posts_by_user(self, username: str) -> Query[Post]:
        return query(Post.by_user, author_id=username, newest_first=True, filter=lambda post: post.is_published)

    @pattern("Get published Posts by Category")
    def published_posts_by_category(self, category: str) -> Query[Post]:
        return query(Post.by_category, category=category, newest_first=True, filter=lambda post: post.is_published)

    @pattern("Get published Posts by Category, and a User's drafts")
    def posts_by_category_for(self, category: str, username: str) -> Query[Post]:
        """What an author may read in a category."""
        return query(
            Post.by_category,
            category=category,
            newest_first=True,
            filter=lambda post: post.is_published | (post.author_id == username),
        )

    @pattern("Get Posts by Slugs")
    def posts_by_slugs(self, slugs: Sequence[str]) -> BatchGet[Post]:
        """In the order asked, as they are now."""
        return batch_get(Post, slugs, consistent=True)

    @pattern("Get Category by Slug")
    def category(self, slug: str) -> Get[Category]:
        return get(Category, slug=slug)

    @pattern("Get Categories by Slugs")
    def categories_by_slugs(self, slugs: Sequence[str]) -> BatchGet[Category]:
        """In the order asked."""
        return batch_get(Category, slugs)

    @pattern("Categories that are being renamed")
    def renamed_categories(self) -> Query[Category]:
        """Whoever finds one can finish it: move its posts, then delete it."""
        return query(Category.by_type, filter=lambda category: exists(category.renamed_to))

    @pattern("Number of admins")
    def admins(self) -> Get[Admins]:
        return get(Admins, consistent=True)

    @pattern("Get Images by User")
    def images_by_user(self, username: str) -> Query[Image]:
        """The newest first."""
        return query(Image.primary, username=username, newest_first=True)

    @pattern("Get Image by User and ID")
    def image(self, username: str, image_id: str) -> Get[Image]:
        return get(Image, username=username, image_id=image_id, consistent=True)

    @pattern("Files of images that are being deleted")
    def leftovers(self) -> Query[Leftover]:
        return query(Leftover.primary, consistent=True)

    @pattern("Get refresh token by hash")
    def refresh_token(self, token_hash: str) -> Lookup[RefreshToken]:
        """Expired ones too: DynamoDB deletes them when it gets to it, so the reader looks at `expires_at`.

        Read strongly: who signs out right after signing in is signed out.
        """
        return lookup(RefreshToken.by_hash, token_hash=token_hash, consistent=True)

    @pattern("Get token family")
    def token_family(self, username: str, family_id: str) -> Get[TokenFamily]:
        return get(TokenFamily, username=username, family_id=family_id, consistent=True)

    @pattern("Get User with token family")
    def user_and_family(
        self, username: str, family_id: str
    ) -> Together[tuple[list[User | None], list[TokenFamily | None]]]:
        """Who sends an access token, and whether the login it came from still holds: one request for both."""
        return together(
            batch_get(User, [{"username": username}], consistent=True),
            batch_get(TokenFamily, [{"username": username, "family_id": family_id}], consistent=True),
        )

    @pattern("Get token families by User")
    def token_families(self, username: str) -> Query[TokenFamily]:
        """All logins of a user, to revoke them."""
        return query(TokenFamily.primary, username=username, consistent=True)

    @pattern("Get refresh tokens by User")
    def refresh_tokens(self, username: str) -> Query[RefreshToken]:
        return query(RefreshToken.primary, username=username, consistent=True)

    @job
    def move_posts(self, category: str, to: str) -> Rewrite[Post]:
        """Renaming a category: its posts move to the new one, and are counted there; then the old one goes."""
        moved = rewrite(self.posts_by_category(category), lambda post: setattr(post, "category", to))
        return moved.then(ref(Category, slug=category), lambda old: delete(old) if old.renamed_to == to else None)

    departures = DEPARTURES


DESIGN = WavyBlog
