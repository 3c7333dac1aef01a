"""Writing, previewing and publishing posts, and lists to manage them."""

from contextlib import suppress
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.wavyblog.fields import UNCATEGORIZED, PostFields, PostText, Slug
from keyplan.apps.wavyblog.markdown import safe_html
from keyplan.apps.wavyblog.models import NewPost, PostChange, PostOut, Slugs
from keyplan.apps.wavyblog.pages.reading import post as post_page
from keyplan.apps.wavyblog.pages.shared import BlogView, all_categories, names_of, pages
from keyplan.apps.wavyblog.service import Blog
from keyplan.data import NotFound
from keyplan.design import about
from keyplan.web import Confirm, In, Listed, Missing, OfVersion, Paging, Unprocessable

_POST = "/posts/{slug}"
_AT_HAND = 6
"""How many images are offered beside the text."""
_LISTED = 25
"""Posts per page in lists for managing them; one transaction can delete them all."""


class Draft(PostText, In, extra="ignore"):
    """The text so far, for a preview. The other fields of the form are not checked yet."""


class EditedPost(PostFields, OfVersion):
    """An edited post."""

    publish: bool = False


class SelectedPosts(In):
    """Posts that were selected."""

    slugs: Annotated[list[Slug], Field(max_length=100), about("Posts")]


def _titles(service: Blog, slugs: list[str]) -> list[str]:
    """The titles of the posts that were selected, without those that are gone."""
    found = []
    for slug in dict.fromkeys(slugs):
        with suppress(Missing):
            found.append(service.post(slug).title)
    return found


def _question(view: BlogView, titles: list[str]) -> str:
    return f"Delete {len(titles)} posts?" if len(titles) > 1 else "Delete this post?"


def _writing(view: BlogView, post: PostOut | None, *, draft: Draft | None = None, deleted: bool = False) -> Response:
    """The page for writing a new post or editing an existing one."""
    images = view.service.images(Paging(limit=_AT_HAND))
    view.form.asking(NewPost).starting_from(post or {"category": UNCATEGORIZED})
    categories = {each.slug: each.name for each in all_categories(view)}
    if chosen := view.form.value("category"):
        categories.setdefault(chosen, chosen)  # even if it was deleted in the meantime
    return view.render(
        "write.html",
        status=404 if deleted else 200,
        sends_files=True,
        post=post,
        deleted=deleted,
        categories=list(categories.items()),
        save_at=view.site.url("/write" if post is None else f"/posts/{post.slug}/edit"),
        preview=None if draft is None else safe_html(draft.content, view.service.media.hosts),
        images=images.items,
    )


def _editing(view: BlogView, slug: str, draft: Draft | None = None) -> Response:
    try:
        post = view.service.post_to_change(slug)
    except Missing:
        if view.request.method != "POST":
            raise
        # It was deleted or renamed in the meantime. What was typed can still become a new post.
        return _writing(view, None, draft=draft, deleted=True)
    return _writing(view, post, draft=draft)


@pages.get("/write")
def write(view: BlogView) -> Response:
    return _writing(view, None)


@pages.post("/write")
def save(view: BlogView, new: NewPost) -> Response:
    made = view.service.create_post(new)
    notice = "Post published" if made.is_published else "Draft saved"
    return view.redirect(_POST, slug=made.slug, notice=notice)


@pages.post("/write/preview", again=write, once=False)
def preview(view: BlogView, draft: Draft) -> Response:
    return _writing(view, None, draft=draft)


@pages.get("/posts/{slug}/edit")
def edit(view: BlogView, slug: Slug) -> Response:
    return _editing(view, slug)


@pages.post("/posts/{slug}/edit")
def change(view: BlogView, slug: Slug, edited: EditedPost) -> Response:
    try:
        changed = view.service.change_post(slug, PostChange.from_fields(edited), edited.seen)
    except (Missing, NotFound):
        return _editing(view, slug)
    if edited.publish:
        changed = view.service.publish_post(changed.slug, frozenset({changed.version}))
    notice = "Post saved and published" if edited.publish else "Post saved"
    return view.redirect(_POST, slug=changed.slug, notice=notice)


@pages.post("/posts/{slug}/edit/preview", again=edit, once=False)
def preview_edit(view: BlogView, slug: Slug, draft: Draft) -> Response:
    return _editing(view, slug, draft)


pages.form("/posts/{slug}/publish", Blog.publish_post, to=_POST, notice="Post published", again=post_page)
pages.form(
    "/posts/{slug}/unpublish",
    Blog.unpublish_post,
    to=_POST,
    notice="Post unpublished. It is a draft again.",
    again=post_page,
)
pages.delete(
    "/posts/{slug}/delete", Blog.delete_post, "post", one=Blog.post, name="“{title}”", to="/my-posts", again=post_page
)


my_posts = pages.show(
    "/my-posts", "my_posts.html", posts=Listed(Blog.my_posts, "Newest first", _LISTED), names=names_of
)


@pages.post(
    "/my-posts/delete",
    again=my_posts,
    confirm=Confirm(
        _question, "Delete posts", about=_titles, shows="posts_now.html", when=lambda selected: bool(selected.slugs)
    ),
)
def delete_selected(view: BlogView, selected: SelectedPosts) -> Response:
    if not selected.slugs:
        raise Unprocessable("none-chosen", "Select the posts to delete.")
    view.service.delete_posts(Slugs(slugs=selected.slugs))
    count = len(set(selected.slugs))
    return view.redirect("/my-posts", notice="Post deleted" if count == 1 else f"{count} posts deleted")


pages.show("/all-posts", "all_posts.html", posts=Listed(Blog.all_posts, "Sorted by address", _LISTED), names=names_of)
