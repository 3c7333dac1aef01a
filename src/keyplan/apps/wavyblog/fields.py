"""The fields of WavyBlog: their types, limits and labels, in the order of its document."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter

from keyplan.design import (
    READ_ONLY,
    Count,
    CreatedAt,
    Fields,
    Id,
    ImageLink,
    OneLine,
    Stamped,
    Versioned,
    about,
    check_address,
    limit,
    new_id,
    public,
    stored,
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
        raise ValueError("Use 8 to 72 characters. Accented letters and emoji count as two or more.")
    if "\0" in password:
        raise ValueError("A password can't contain the NUL character.")
    return password


Username: TypeAlias = Annotated[
    Id,
    StringConstraints(pattern=r"^[a-z0-9_]{3,32}$"),
    about(
        "Username",
        "3 to 32 lowercase letters, digits and underscores. You can't change it later.",
        example="john_doe",
    ),
]
Email: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=254, pattern=r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$"),
    limit(check_address),
    about("E-mail address", "Only you and admins can see it.", example="john@example.com"),
]
Slug: TypeAlias = Annotated[Id, StringConstraints(pattern=r"^[a-z0-9-]+$")]
Title: TypeAlias = Annotated[str, OneLine(max_length=200), about("Title")]
Content: TypeAlias = Annotated[
    str, limit(_fits_into_item), about("Text", "Markdown: ## heading, *emphasis*, [link](https://…), - list.")
]
Name: TypeAlias = Annotated[str, OneLine(max_length=80), about("Name")]
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
"""A password to compare with the stored hash."""


class UserFields(Fields):
    """What users register with."""

    username: Username
    email: Email


class AccountFields(UserFields, CreatedAt, Versioned):
    """The fields of an account that its owner and admins see."""

    role: Annotated[Role, READ_ONLY] = "user"
    post_count: Count = 0


class PostSettings(Fields):
    """What an author sets, apart from the text."""

    title: Title
    category: Annotated[Slug, about("Category")] = UNCATEGORIZED
    thumbnail_url: Annotated[
        ImageLink | None, stored("ThumbnailURL"), about("Cover image", "The address of an image. Optional.")
    ] = None


class PostText(Fields):
    """The text of a post."""

    content: Content


class PostFields(PostSettings, PostText):
    """What an author writes."""


class PostHeadFields(PostSettings, Stamped):
    """The fields of a post that lists show."""

    slug: Annotated[Slug, READ_ONLY]
    author_id: Annotated[Username, stored("AuthorID"), public("author"), READ_ONLY]
    is_published: Annotated[bool, READ_ONLY] = False


class PostId(Fields):
    """The id of a post, which never changes."""

    post_id: Annotated[Id, stored("PostID")] = new_id("post_")


class CategoryName(Fields):
    """The name of a category."""

    name: Name


class CategoryFields(CategoryName):
    """The fields of a category that admins set."""

    slug: Annotated[Slug, about("Address", "Lowercase letters, digits and hyphens.")]


class CategoryShown(CategoryFields, Versioned):
    """The fields of a category that everyone sees."""

    post_count: Annotated[Count, Field(description="Includes drafts.")] = 0


class ImageFields(Fields):
    """The fields of an image that are known before its upload."""

    content_type: ImageType
    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)]


class ImageShown(ImageFields, CreatedAt):
    """The fields of an image that its owner sees."""

    image_id: Annotated[Id, stored("ImageID")] = new_id("img_")
