"""The fields of WavyBlog: their types, limits and labels, in the order of its document."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter

from keyplan.design import (
    READ_ONLY,
    Count,
    Created,
    Fields,
    Id,
    Link,
    Updated,
    Version,
    about,
    created,
    limit,
    new_id,
    public,
    stored,
    updated,
)

UNCATEGORIZED = "uncategorized"
"""The category that always exists."""
MOST_CONTENT = 300 * 1024
"""Bytes of Markdown that a post may have, so that the whole item stays within 400 KB."""
MOST_IMAGE = 10 * 1024 * 1024
SLUG_LENGTH = 80


def _fits_into_item(content: str) -> None:
    size = len(content.encode())
    if size > MOST_CONTENT:
        raise ValueError(f"The text has {size:,} bytes. It can have up to {MOST_CONTENT:,}.")


def _fits_bcrypt(password: str) -> str:
    if not 8 <= len(password.encode()) <= 72:
        raise ValueError("Use 8 to 72 characters. Characters outside ASCII count as two or more.")
    if "\0" in password:
        raise ValueError("A password can't contain the NUL character.")
    return password


Username: TypeAlias = Annotated[
    Id,
    StringConstraints(pattern=r"^[a-z0-9_]{3,32}$"),
    about("Username", "3 to 32 lowercase letters, digits and underscores.", example="john_doe"),
]
Email: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=254, pattern=r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$"),
    about("E-mail address", example="john@example.com"),
]
Slug: TypeAlias = Annotated[Id, StringConstraints(pattern=r"^[a-z0-9-]+$")]
Title: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200), about("Title")]
Content: TypeAlias = Annotated[
    str, limit(_fits_into_item), about("Text", "In Markdown: ## heading, *emphasis*, [link](https://…), - list.")
]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=80), about("Name")]
Role: TypeAlias = Annotated[Literal["user", "admin"], about("Role")]
ImageType: TypeAlias = Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
image_type: TypeAdapter[ImageType] = TypeAdapter(ImageType)
ImageId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
NewPassword: TypeAlias = Annotated[
    str,
    StringConstraints(strip_whitespace=False),
    AfterValidator(_fits_bcrypt),
    about("Password", "8 to 72 characters."),
]
GivenPassword: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=False, max_length=1024), about("Password")]
"""A password to be compared with the stored one."""


class Versioned(Fields):
    """What is changed under an optimistic lock."""

    version: Version = 0


class WhenCreated(Fields):
    """What has a time of creation."""

    created_at: Created = created()


class Stamped(WhenCreated):
    """What has times of creation and of the last change."""

    updated_at: Updated = updated()


class UserFields(Fields):
    """What somebody registers with."""

    username: Username
    email: Email


class AccountFields(UserFields, WhenCreated, Versioned):
    """What its owner and admins see of an account."""

    role: Annotated[Role, READ_ONLY] = "user"
    post_count: Count = 0


class PostSettings(Fields):
    """What an author decides about a post beside its text."""

    title: Title
    category: Annotated[Slug, about("Category")] = UNCATEGORIZED
    thumbnail_url: Annotated[
        Link | None, stored("ThumbnailURL"), about("Picture beside the title", "The address of an image. Optional.")
    ] = None


class PostText(Fields):
    """The text of a post."""

    content: Content


class PostFields(PostSettings, PostText):
    """What an author writes."""


class PostHeadFields(PostSettings, Stamped):
    """What a list shows of a post."""

    slug: Annotated[Slug, READ_ONLY]
    author_id: Annotated[Username, stored("AuthorID"), public("author"), READ_ONLY]
    is_published: Annotated[bool, READ_ONLY] = False


class PostId(Fields):
    """The name that a post keeps whatever else changes."""

    post_id: Annotated[Id, stored("PostID")] = new_id("post_")


class CategoryName(Fields):
    """What a category is called."""

    name: Name


class CategoryFields(CategoryName):
    """What admins decide about a category."""

    slug: Annotated[Slug, about("Address", "Lowercase letters, digits and hyphens.")]


class CategoryShown(CategoryFields, Versioned):
    """What everybody sees of a category."""

    post_count: Annotated[Count, Field(description="Drafts count, too.")] = 0


class ImageFields(Fields):
    """What is known of an image before it is uploaded."""

    content_type: ImageType
    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)]


class ImageShown(ImageFields, WhenCreated):
    """What its owner sees of an image."""

    image_id: Annotated[Id, stored("ImageID")] = new_id("img_")
