"""The table of WavyBlog and its entities, in the order and words of its document."""

from datetime import datetime
from typing import Annotated

from keyplan.apps.wavyblog import fields
from keyplan.design import (
    HIDDEN,
    HOUSEKEEPING,
    READ_ONLY,
    Count,
    CreatedAt,
    Entity,
    Id,
    Ref,
    Refusal,
    Secret,
    Stamped,
    Table,
    Ttl,
    Versioned,
    belongs_to,
    counts,
    index,
    key,
    new_id,
    ref,
    stored,
    unique,
)

blog = Table(
    "{dynamodb_table=WavyBlog}",
    key("PK", "SK"),
    indexes={
        "GSI1": index(key("GSI1PK", "GSI1SK"), why="Posts by author, in the order of their time."),
        "GSI2": index(key("GSI2PK", "GSI2SK"), why="Posts by category, in the order of their time."),
        "GSI3": index(key("EntityType", "PK"), why="All entities of a type, without a scan."),
        "GSI4": index(key("GSI4PK", "GSI4SK"), why="Published posts by time, for the front page, without drafts."),
    },
    why="One table for everything, with prefixes that say what an item is. What must be unique or change together is "
    "written in one transaction.",
    case="pascal",
    type_attribute="EntityType",
    times="seconds",
)


HAS_POSTS = "This user has posts. Delete the posts first."


class User(
    fields.AccountFields,
    Stamped,
    Entity,
    table=blog,
    type="USER",
    exists=Refusal("username-taken", "This username is already in use."),
    claims=("email",),
):
    """User Entity, and with its guard the UserEmail Entity (Uniqueness Enforcement)."""

    user_id: Annotated[Id, stored("UserID")] = new_id("usr_")
    password_hash: Secret[str]

    primary = key("USER#{username}", "METADATA#{username}")
    email_guard = unique(
        "USEREMAIL#{email.address}",
        carries="username",
        refusal=Refusal("email-taken", "An account with this e-mail address already exists."),
    )
    by_type = blog.GSI3("USER")

    @counts(
        "admin_count",
        floor=1,
        refusal=Refusal("last-one", "There must be at least one admin. Make another user an admin first."),
    )
    def admins(self) -> "Ref[Admins]":
        """An admin counts as one."""
        return ref(Admins).adding(int(self.role == "admin"))


class Post(fields.PostHeadFields, fields.PostText, fields.PostId, Versioned, Entity, table=blog, type="POST"):
    """Post Entity, and with its guard the Slug Uniqueness Entity."""

    primary = key("POST#{slug}", "METADATA#{slug}")
    by_user = blog.GSI1("POSTS_BY_USER#{author_id}", "POST#{created_at}#{slug}")
    by_category = blog.GSI2("POSTS_BY_CAT#{category}", "POST#{created_at}#{slug}")
    by_type = blog.GSI3("POST")
    published = blog.GSI4("PUBLISHED_POSTS", "POST#{created_at}#{slug}", when="is_published")
    slug_guard = unique("SLUG#{slug}")

    @belongs_to(on_delete="refuse", count="post_count", in_use=Refusal("has-posts", HAS_POSTS))
    def author(self) -> Ref[User]:
        """A user with posts can't be deleted."""
        return ref(User, username=self.author_id)

    @belongs_to(
        on_delete="refuse",
        count="post_count",
        missing=Refusal("no-such-category", "Category not found.", field="category"),
        in_use=Refusal("in-use", "This category has posts. Move or delete them first."),
    )
    def in_category(self) -> "Ref[Category]":
        """A category in use can't be deleted."""
        return ref(Category, slug=self.category)


class Category(
    fields.CategoryShown,
    Stamped,
    Entity,
    table=blog,
    type="CATEGORY",
    exists=Refusal("slug-taken", "A category with this address already exists."),
):
    """Category Entity. Its slug is unique by its own key."""

    category_id: Annotated[Id, stored("CategoryID")] = new_id("cat_")
    renamed_to: Annotated[fields.Slug | None, HIDDEN] = None
    """During a rename: the category that replaces this one and gets its posts."""
    awaited_count: Annotated[Count, HIDDEN] = 0
    """How many categories are being renamed to this one: 1 while their posts are moving, else 0."""

    primary = key("CATEGORY#{slug}", "METADATA#{slug}")
    by_type = blog.GSI3("CATEGORY")

    @belongs_to(on_delete="refuse", count="awaited_count")
    def successor(self) -> "Ref[Category] | None":
        """A category to which posts are moving can't be deleted."""
        return None if self.renamed_to is None else ref(Category, slug=self.renamed_to)


class Admins(Entity, table=blog):
    """The number of admins, so that the last one can't be removed."""

    admin_count: Annotated[Count, HIDDEN] = 0

    primary = key("ADMINS", "ADMINS")


class Image(fields.ImageShown, Versioned, Entity, table=blog):
    """An uploaded image, under its owner; the bytes are in object storage."""

    username: Annotated[fields.Username, READ_ONLY]
    file: Annotated[str, HIDDEN]

    primary = key("USER#{username}", "IMAGE#{image_id}")

    @belongs_to(on_delete="cascade")
    def owner(self) -> Ref[User]:
        """A user's images are deleted with the user."""
        return ref(User, username=self.username)


class Leftover(CreatedAt, Entity, table=HOUSEKEEPING):
    """A file to delete after its image. It is written first, so that no file is left behind."""

    username: fields.Username
    image_id: Id
    file: Annotated[str, HIDDEN]

    primary = key("LEFTOVERS", "{username}#{image_id}")


class TokenFamily(CreatedAt, Entity, table=HOUSEKEEPING):
    """A sign-in, with all refresh tokens that came from it by rotation. Deleting it revokes them."""

    username: fields.Username
    family_id: Id = new_id()
    expires_at: Ttl

    primary = key("USER#{username}", "FAMILY#{family_id}")

    @belongs_to(on_delete="cascade")
    def user(self) -> Ref[User]:
        """Sign-ins are deleted with the user."""
        return ref(User, username=self.username)


class RefreshToken(CreatedAt, Entity, table=HOUSEKEEPING):
    """A refresh token by its hash, listed under its user. Using one twice is a sign of theft."""

    token_hash: Annotated[Id, HIDDEN]
    username: fields.Username
    family_id: Id
    used_at: datetime | None = None
    expires_at: Ttl

    primary = key("USER#{username}", "TOKEN#{family_id}#{token_hash}")
    by_hash = unique("TOKEN#{token_hash}", carries=("username", "family_id", "expires_at"))

    @belongs_to(on_delete="cascade")
    def family(self) -> Ref[TokenFamily]:
        """Deleting a sign-in deletes its tokens."""
        return ref(TokenFamily, username=self.username, family_id=self.family_id)
