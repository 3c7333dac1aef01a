"""WavyBlog's design, in the order and words of its document."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StringConstraints

from keyplan.design import (
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
    Ttl,
    Updated,
    Version,
    belongs_to,
    counts,
    created,
    departure,
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

# Login sessions are not the document's: they stand in the design's housekeeping table.
sessions = Table(f"{blog.name}-keyplan", key("pk", "sk"), case="camel", ttl="expiresAt")

Username: TypeAlias = Annotated[Id, StringConstraints(pattern=r"^[a-z0-9_]{3,32}$")]
Email: TypeAlias = Annotated[str, StringConstraints(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
Slug: TypeAlias = Annotated[Id, StringConstraints(pattern=r"^[a-z0-9-]+$")]
Role: TypeAlias = Literal["user", "admin"]
ImageType: TypeAlias = Literal["image/jpeg", "image/png", "image/gif", "image/webp"]

UNCATEGORIZED = "uncategorized"
"""The category that always exists."""


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
    content: str
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
    created_at: Created = created()
    updated_at: Updated = updated()
    post_count: Count = 0
    version: Version = 0

    primary = key("CATEGORY#{slug}", "METADATA#{slug}")
    by_type = blog.GSI3("CATEGORY")


class Admins(Entity, table=blog):
    """How many admins there are, so that the last one can not be lost."""

    admin_count: Count = 0

    primary = key("ADMINS", "ADMINS")


class Image(Entity, table=blog):
    """An uploaded image, under its owner; the bytes are in object storage."""

    image_id: Annotated[Id, stored("ImageID")] = new_id("img_")
    username: Username
    content_type: ImageType
    size: Annotated[int, Field(ge=1, le=10 * 1024 * 1024)]
    created_at: Created = created()
    version: Version = 0

    primary = key("USER#{username}", "IMAGE#{image_id}")

    @belongs_to(on_delete="cascade")
    def owner(self) -> Ref[User]:
        """A user's images go with the user."""
        return ref(User, username=self.username)


class TokenFamily(Entity, table=sessions):
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


class RefreshToken(Entity, table=sessions):
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

    tables = (blog, sessions)
    entities = (User, Post, Category, Admins, Image, TokenFamily, RefreshToken)

    @pattern("Get User by Username")
    def user(self, username: str) -> Get[User]:
        return get(User, username=username)

    @pattern("Get User by Email")
    def user_by_email(self, email: str) -> Lookup[User]:
        """Lookup via UserEmail entity, then User entity."""
        return lookup(User.email_guard, email=email)

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

    @pattern("Get Category by Slug")
    def category(self, slug: str) -> Get[Category]:
        return get(Category, slug=slug)

    @pattern("Number of admins")
    def admins(self) -> Get[Admins]:
        return get(Admins, consistent=True)

    @pattern("Get Images by User")
    def images_by_user(self, username: str) -> Query[Image]:
        """The newest first."""
        return query(Image.primary, username=username, newest_first=True)

    @pattern("Get Image by User and ID")
    def image(self, username: str, image_id: str) -> Get[Image]:
        return get(Image, username=username, image_id=image_id)

    @pattern("Get refresh token by hash")
    def refresh_token(self, token_hash: str) -> Lookup[RefreshToken]:
        """Expired ones too: DynamoDB deletes them when it gets to it, so the reader looks at `expires_at`."""
        return lookup(RefreshToken.by_hash, token_hash=token_hash)

    @pattern("Get token family")
    def token_family(self, username: str, family_id: str) -> Get[TokenFamily]:
        return get(TokenFamily, username=username, family_id=family_id, consistent=True)

    @pattern("Get token families by User")
    def token_families(self, username: str) -> Query[TokenFamily]:
        """All logins of a user, to revoke them."""
        return query(TokenFamily.primary, username=username, consistent=True)

    @pattern("Get refresh tokens by User")
    def refresh_tokens(self, username: str) -> Query[RefreshToken]:
        return query(RefreshToken.primary, username=username, consistent=True)

    @job
    def move_posts(self, category: str, to: str) -> Rewrite[Post]:
        """Renaming a category: its posts move to the new one, and its number of posts with them."""
        return rewrite(self.posts_by_category(category), lambda post: setattr(post, "category", to))

    departures = (
        departure(
            document='Get User by Username: PK = "USER#<username>"; Get Post by Slug: PK = "POST#<slug>"',
            here="GetItem with the sort key METADATA#<the same>",
            because="the table has a sort key, so the partition key alone is a Query, which for a user "
            "would read the images too",
        ),
        departure(
            document='UserEmail: PK = "USEREMAIL#<email>"',
            here="the address is in lower case in the guard's key; the user keeps it as it was written",
            because="addresses that differ in case only are one mailbox nearly everywhere",
        ),
        departure(
            document='Slug Uniqueness Entity: PK = "SLUG#<slug>"',
            here="only posts have it; the slug of a category is unique by the category's own key",
            because="posts and categories would otherwise take slugs from each other",
        ),
        departure(
            document='GSI1SK and GSI2SK: "POST#<CreatedAt_RFC3339>"',
            here='"POST#<CreatedAt>#<slug>", which begins with the document\'s form',
            because="posts of the same second would have no order of their own",
        ),
        departure(
            document="Posts sorted by creation date; Get All Posts through GSI3",
            here="GSI3 gives posts by slug, as its sort key says; one more index, GSI4, holds published posts by time: "
            'GSI4PK = "PUBLISHED_POSTS", GSI4SK = "POST#<CreatedAt>#<slug>", no attributes on drafts',
            because="no index of the document has all posts in order of time, and a front page needs the latest",
        ),
        departure(
            document="Get Posts by User, Get Posts by Category, Get All Posts",
            here="these give drafts too and are for authors (their own) and admins; visitors get the same queries with "
            "a filter on IsPublished, and pages are refilled",
            because="IsPublished is in no key of GSI1 to GSI3",
        ),
        departure(
            document="GSI projection: all attributes",
            here="kept; PasswordHash, which GSI3 thus copies, is a secret that no answer, log or error shows",
            because="a listing of users has no use for it, but another projection would not be the document's index",
        ),
        departure(
            document="GSI3 eliminates expensive Scan operations",
            here="kept, but read in pages, and never all of it for one answer",
            because="a Query on EntityType reads all items of the type just as a Scan would, and each type is one "
            "partition of the index, with the throughput of one",
        ),
        departure(
            document="CreatedAt and UpdatedAt of type Timestamp",
            here="strings: RFC 3339 in UTC, whole seconds, Z",
            because="DynamoDB has no such type, and texts of one width sort as their times do",
        ),
        departure(
            document="User and Category entities",
            here="both have PostCount, which writes of posts keep; an item ADMINS / ADMINS holds AdminCount",
            because="that a user or category has no posts, and that an admin is not the last one, can not be decided "
            "on a query while others write",
        ),
        departure(
            document="User, Post and Category entities",
            here="each has a Version, which every update raises and checks",
            because="two people who edit one post must not overwrite each other unseen",
        ),
        departure(
            document="no images",
            here='an item per image under its owner: PK = "USER#<username>", SK = "IMAGE#<ImageID>"',
            because="a user's images are listed, and deleted with the user",
        ),
        departure(
            document="no login sessions",
            here="refresh tokens (by hash, through a guard, listed under their user) and their families in the table "
            "WavyBlog-keyplan, with a time to live",
            because="a token that is rotated, reused or revoked has to be known; the document's table has no time to "
            "live and should hold nothing that is not the document's",
        ),
        departure(
            document="Endpoint: LocalStack, http://localhost:4566",
            here="any DynamoDB: the embedded engine, an endpoint or AWS",
            because="the design does not depend on where it runs",
        ),
    )


DESIGN = WavyBlog
