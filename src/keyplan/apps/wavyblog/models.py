"""What goes into and out of WavyBlog's API."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints

from keyplan.apps.wavyblog.design import (
    UNCATEGORIZED,
    Category,
    Content,
    Email,
    Image,
    ImageType,
    Post,
    Role,
    Slug,
    User,
    Username,
)
from keyplan.apps.wavyblog.markdown import LONG, excerpt, safe_html
from keyplan.web import In, Link, Out

MOST_IMAGE = 10 * 1024 * 1024
SLUG_LENGTH = 80


def _fits_bcrypt(password: str) -> str:
    if not 8 <= len(password.encode()) <= 72:
        raise ValueError("a password has 8 to 72 bytes")
    if "\0" in password:
        raise ValueError("a password holds no NUL character")
    return password


Password: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=False), AfterValidator(_fits_bcrypt)]
Given: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=False, max_length=1024)]
"""A password as somebody claims it to be."""
Title: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ImageId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=80)]


class Registration(In):
    """A new account."""

    username: Username
    email: Email
    password: Password


class Credentials(In):
    """Who signs in: a username or an e-mail address, and the password."""

    user: Annotated[str, StringConstraints(min_length=1, max_length=254)]
    password: Given


class PasswordChange(In):
    """A new password, and the one until now."""

    password: Given
    new_password: Password


class EmailChange(In):
    """A new e-mail address, and the password."""

    password: Given
    email: Email


class SignedIn(Out):
    """An access token; the refresh token goes into a cookie."""

    access_token: str
    token_type: Literal["Bearer"] = "Bearer"
    expires_in: int
    refresh_token: Annotated[str, Field(exclude=True)]


class Account(Out):
    """An account, as its owner and admins see it."""

    username: str
    email: str
    role: Role
    post_count: int
    created_at: datetime
    version: int

    @classmethod
    def of(cls, user: User) -> "Account":
        return cls.model_validate(user)


class RoleChange(In):
    """Another role."""

    role: Role


class NewPost(In):
    """A post, as it is written. Its slug is made of its title."""

    title: Title
    content: Content
    category: Slug = UNCATEGORIZED
    thumbnail_url: Link | None = None
    publish: bool = False


class PostChange(In):
    """What is to be changed of a post; what is not named stays. Another title gives another slug."""

    title: Title | None = None
    content: Content | None = None
    category: Slug | None = None
    thumbnail_url: Link | None = None


class Slugs(In):
    """Posts to be deleted together."""

    slugs: Annotated[list[Slug], Field(min_length=1, max_length=100)]


class PostHead(Out):
    """What there is to know of a post beside its text."""

    slug: str
    title: str
    author: str
    category: str
    thumbnail_url: str | None
    is_published: bool
    created_at: datetime
    updated_at: datetime


def _head(post: Post) -> dict[str, Any]:
    return {
        "slug": post.slug,
        "title": post.title,
        "author": post.author_id,
        "category": post.category,
        "thumbnail_url": post.thumbnail_url,
        "is_published": post.is_published,
        "created_at": post.created_at,
        "updated_at": post.updated_at,
    }


class PostSummary(PostHead):
    """A post in a list."""

    excerpt: str

    @classmethod
    def of(cls, post: Post) -> "PostSummary":
        return cls(**_head(post), excerpt=excerpt(post.content))


class PostOut(PostHead):
    """A post."""

    content: Annotated[str, Field(description="Markdown, as it was written.")]
    html: Annotated[str, Field(description="The content as safe HTML.")]
    version: int

    @classmethod
    def of(cls, post: Post) -> "PostOut":
        return cls(**_head(post), content=post.content, html=safe_html(post.content), version=post.version)


class FeedPost(PostHead):
    """A post in the feed, with the name that it keeps whatever else changes."""

    html: Annotated[str | None, Field(description="None of a long post: a feed has many.")]
    excerpt: str
    post_id: str

    @classmethod
    def of(cls, post: Post) -> "FeedPost":
        html = safe_html(post.content) if len(post.content) <= LONG else None
        return cls(**_head(post), html=html, excerpt=excerpt(post.content), post_id=post.post_id)


class NewCategory(In):
    """A category. Its slug is made of its name, unless it is given."""

    name: Name
    slug: Slug | None = None


class CategoryChange(In):
    """Another name for a category, or another slug; with another slug its posts move along."""

    name: Name | None = None
    slug: Slug | None = None


class CategoryOut(Out):
    """A category."""

    slug: str
    name: str
    post_count: Annotated[int, Field(description="Drafts count, too.")]
    version: int

    @classmethod
    def of(cls, category: Category) -> "CategoryOut":
        return cls.model_validate(category)


class NewImage(In):
    """An image to be uploaded."""

    content_type: ImageType
    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)]


class SentImage(In):
    """An image that was uploaded."""

    upload_id: Annotated[str, StringConstraints(max_length=200)]


class ImageOut(Out):
    """An image of one's own."""

    image_id: str
    url: str
    content_type: str
    size: int
    created_at: datetime

    @classmethod
    def of(cls, image: Image, url: str) -> "ImageOut":
        return cls(
            image_id=image.image_id,
            url=url,
            content_type=image.content_type,
            size=image.size,
            created_at=image.created_at,
        )
