"""What authors do: write, look at it, publish it, and keep their posts in order."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.wavyblog.design import UNCATEGORIZED, Content, Slug
from keyplan.apps.wavyblog.markdown import safe_html
from keyplan.apps.wavyblog.models import NewPost, PostChange, PostOut, Slugs, Title
from keyplan.apps.wavyblog.pages.reading import post as post_page
from keyplan.apps.wavyblog.pages.shared import BlogView, all_categories, names_of, pages
from keyplan.data import NotFound
from keyplan.web import Cursor, In, Link, Missing, OfVersion, Paging, Unprocessable, turn

_AT_HAND = 6
"""Images that are offered beside what one writes."""
_LISTED = 25
"""Posts in a list to work on; all of them together fit into one transaction that deletes them."""


class Look(In):
    """What is written so far; nothing has to be right yet but the length of the text."""

    title: str = ""
    content: Content = ""
    category: str = ""
    thumbnail_url: str = ""
    version: str = ""


class Edit(OfVersion):
    """A post as it is to be."""

    title: Title
    content: Content
    category: Slug
    thumbnail_url: Link | None = None
    publish: bool = False

    def change(self) -> PostChange:
        """As the service takes it."""
        return PostChange(
            title=self.title, content=self.content, category=self.category, thumbnail_url=self.thumbnail_url
        )


class Chosen(In):
    """Posts that were ticked."""

    slugs: Annotated[list[Slug], Field(max_length=100)]


def _writing(view: BlogView, post: PostOut | None, *, look: Look | None = None, gone: bool = False) -> Response:
    """The page to write on: a new post, or one that is there."""
    images = view.service.images(Paging(limit=_AT_HAND))
    view.form.starting_from(post or {"category": UNCATEGORIZED})
    categories = {each.slug: each.name for each in all_categories(view)}
    if chosen := view.form.value("category"):
        categories.setdefault(chosen, chosen)  # one that is gone meanwhile is not silently another
    return view.render(
        "write.html",
        status=404 if gone else 200,
        sends_files=True,
        post=post,
        gone=gone,
        # The form goes on with the version of now, once it was said that there is one.
        stale=post is not None and view.form.value("version") != str(post.version),
        categories=list(categories.items()),
        save_at=view.site.url("/write" if post is None else f"/posts/{post.slug}/edit"),
        preview=None if look is None else safe_html(look.content),
        images=images.items,
    )


def _editing(view: BlogView, slug: str, look: Look | None = None) -> Response:
    try:
        post = view.service.post_to_change(slug)
    except Missing:
        if view.request.method != "POST":
            raise
        # It was deleted or got another title meanwhile. What was typed can still become a post.
        return _writing(view, None, look=look, gone=True)
    return _writing(view, post, look=look)


@pages.get("/write")
def write(view: BlogView) -> Response:
    return _writing(view, None)


@pages.post("/write")
def save(view: BlogView, new: NewPost) -> Response:
    made = view.service.create_post(new)
    notice = "It is published." if made.is_published else "It is saved as a draft."
    return view.redirect("/posts/{slug}", slug=made.slug, notice=notice)


@pages.post("/write/preview", again=write)
def preview(view: BlogView, look: Look) -> Response:
    return _writing(view, None, look=look)


@pages.get("/posts/{slug}/edit")
def edit(view: BlogView, slug: Slug) -> Response:
    return _editing(view, slug)


@pages.post("/posts/{slug}/edit")
def change(view: BlogView, slug: Slug, edited: Edit) -> Response:
    try:
        changed = view.service.change_post(slug, edited.change(), edited.seen)
    except (Missing, NotFound):
        return _editing(view, slug)
    if edited.publish:
        changed = view.service.publish_post(changed.slug, frozenset({changed.version}))
    notice = "It is saved and published." if edited.publish else "It is saved."
    return view.redirect("/posts/{slug}", slug=changed.slug, notice=notice)


@pages.post("/posts/{slug}/edit/preview", again=edit)
def preview_edit(view: BlogView, slug: Slug, look: Look) -> Response:
    return _editing(view, slug, look)


@pages.post("/posts/{slug}/publish", again=post_page)
def publish(view: BlogView, slug: Slug, which: OfVersion) -> Response:
    view.service.publish_post(slug, which.seen)
    return view.redirect("/posts/{slug}", slug=slug, notice="It is published.")


@pages.post("/posts/{slug}/unpublish", again=post_page)
def unpublish(view: BlogView, slug: Slug, which: OfVersion) -> Response:
    view.service.unpublish_post(slug, which.seen)
    return view.redirect("/posts/{slug}", slug=slug, notice="It is a draft again.")


@pages.post("/posts/{slug}/delete", again=post_page)
def delete(view: BlogView, slug: Slug, which: OfVersion) -> Response:
    view.service.delete_post(slug, which.seen)
    return view.redirect("/my-posts", notice="The post is deleted.")


@pages.get("/my-posts")
def my_posts(view: BlogView, cursor: Cursor = None) -> Response:
    posts = view.service.my_posts(Paging(limit=_LISTED, cursor=cursor))
    names, around = names_of(view, posts.items), turn(view.site.url("/my-posts"), cursor, posts.next)
    return view.render("my_posts.html", posts=posts.items, names=names, turn=around)


@pages.post("/my-posts/delete", again=my_posts)
def delete_chosen(view: BlogView, chosen: Chosen) -> Response:
    if not chosen.slugs:
        raise Unprocessable("none-chosen", "Tick the posts that are to be deleted.")
    view.service.delete_posts(Slugs(slugs=chosen.slugs))
    count = len(set(chosen.slugs))
    return view.redirect("/my-posts", notice="The post is deleted." if count == 1 else f"{count} posts are deleted.")


@pages.get("/all-posts")
def all_posts(view: BlogView, cursor: Cursor = None) -> Response:
    posts = view.service.all_posts(Paging(limit=_LISTED, cursor=cursor))
    names, around = names_of(view, posts.items), turn(view.site.url("/all-posts"), cursor, posts.next)
    return view.render("all_posts.html", posts=posts.items, names=names, turn=around)
