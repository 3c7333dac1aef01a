"""What callers send to WavyBlog's API and get from it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from keyplan.apps.wavyblog import fields
from keyplan.apps.wavyblog.entities import Post
from keyplan.apps.wavyblog.markdown import LONG, excerpt, safe_html
from keyplan.design import Versioned, about
from keyplan.web import Change, In, Out
from keyplan.web.media import PictureHosts

# Accounts


class Registration(fields.UserFields, In):
    """A new account."""

    password: fields.NewPassword


class Credentials(In):
    """A username or an e-mail address, and the password."""

    user: Annotated[str, StringConstraints(min_length=1, max_length=254), about("Username or e-mail address")]
    password: fields.GivenPassword


class PasswordChange(In):
    """A new password, and the current one."""

    password: Annotated[fields.GivenPassword, about("Current password")]
    new_password: Annotated[
        fields.NewPassword, about("New password", "8 to 72 characters. You will be signed out everywhere else.")
    ]


class EmailChange(In):
    """A new e-mail address, and the password."""

    password: Annotated[fields.GivenPassword, about("Password", "To confirm that it's you.")]
    email: fields.Email


class SignedIn(Out):
    """An access token; the refresh token is in a cookie."""

    access_token: str
    token_type: Literal["Bearer"] = "Bearer"
    expires_in: int
    refresh_token: Annotated[str, Field(exclude=True)]


class BlogOut(Out):
    """Base of answers: WavyBlog's times have seconds, as its document shows."""

    time_precision: ClassVar = "seconds"


class Account(fields.AccountFields, BlogOut):
    """An account, as its owner and admins see it."""


class RoleChange(In):
    """A new role."""

    role: fields.Role


# Posts


class NewPost(fields.PostFields, In):
    """A post. Its slug is made from its title."""

    publish: bool = False


class PostChange(Change[fields.PostFields]):
    """A change of a post. Fields that are left out stay as they are. A new title gives the post a new slug."""


class Slugs(In):
    """Posts to delete together."""

    slugs: Annotated[list[fields.Slug], Field(min_length=1, max_length=100)]


class PostSummary(fields.PostHeadFields, BlogOut):
    """A post in a list."""

    excerpt: str


class PostOut(fields.PostHeadFields, fields.PostText, Versioned, BlogOut):
    """A post. Its content is Markdown, as it was written."""

    html: Annotated[str, Field(description="The content as safe HTML.")]


class FeedPost(fields.PostHeadFields, fields.PostId, BlogOut):
    """A post in the feed."""

    html: Annotated[str | None, Field(description="Null for a long post.")]
    excerpt: str


def summary_of(post: Post) -> PostSummary:
    """A post as lists show it."""
    return PostSummary.from_fields(post, excerpt=excerpt(post.content))


def post_out(post: Post, hosts: PictureHosts) -> PostOut:
    """A post with its text, and the pictures of these hosts."""
    return PostOut.from_fields(post, html=safe_html(post.content, hosts))


def feed_post(post: Post, hosts: PictureHosts) -> FeedPost:
    """A post as the feed has it, with the pictures of these hosts."""
    html = safe_html(post.content, hosts) if len(post.content) <= LONG else None
    return FeedPost.from_fields(post, html=html, excerpt=excerpt(post.content))


# Categories


class NewCategory(fields.CategoryName, In):
    """A category. Without a slug, it is made from the name."""

    slug: Annotated[
        fields.Slug | None,
        about("Address", "Lowercase letters, digits and hyphens. Leave empty to make it from the name."),
    ] = None


class CategoryChange(Change[fields.CategoryFields]):
    """A change of a category. With a new slug, its posts move along."""


class CategoryOut(fields.CategoryShown, BlogOut):
    """A category."""


# Images


class NewImage(fields.ImageFields, In):
    """An image to upload."""


class SentImage(In):
    """An image that was uploaded."""

    upload_id: Annotated[str, StringConstraints(max_length=200)]


class ImageOut(fields.ImageShown, BlogOut):
    """An image."""

    url: str
