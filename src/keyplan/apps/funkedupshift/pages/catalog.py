"""The catalog's pages: sites with their ratings and comments."""

from typing import Annotated

from pydantic import BeforeValidator
from starlette.responses import Response

from keyplan.apps.funkedupshift.fields import STARS, SiteEntry, Stars, Tags
from keyplan.apps.funkedupshift.models import (
    CommentText,
    NewRating,
    NewSite,
    RatingOut,
    SiteChange,
)
from keyplan.apps.funkedupshift.pages.shared import LISTED, FusView, only, pages
from keyplan.design import Id
from keyplan.web import Cursor, Forbidden, In, Missing, OfVersion, Paging, turn

_COMMENTS = 20


def _lines(texts: list[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines() if line.strip()]


class SiteForm(SiteEntry, In):
    """The form that adds a site."""

    tags: Annotated[Tags, BeforeValidator(_lines)]
    """Each on a line of its own, since a tag may have any character."""


class SiteEdit(SiteForm, OfVersion):
    """The form that changes a site."""


class CommentEdit(CommentText, OfVersion):
    """The form that changes a comment."""


@pages.get("/")
def catalog(view: FusView, text: str = "", tag: str = "", cursor: Cursor = None) -> Response:
    text, tag = text.strip()[:100].lower(), tag.strip()[:50].lower()
    page = Paging(limit=LISTED, cursor=cursor)
    found = view.service.sites(page, tag or None, text or None)
    asked = {"text": text or None, "tag": tag or None}
    around = turn(view.site.url("/", **asked), cursor, found.next)
    return view.render("catalog.html", sites=found.items, text=text, tag=tag, turn=around)


@pages.get("/sites/{site_id}")
def site(view: FusView, site_id: Id, cursor: Cursor = None) -> Response:
    found = view.service.site(site_id)
    comments = view.service.comments(site_id, Paging(limit=_COMMENTS, cursor=cursor))
    mine = _my_rating(view, site_id)
    view.forms("rating").asking(NewRating).starting_from(mine or {})
    view.forms("comment").asking(CommentText)
    return view.render(
        "site.html",
        shown=found,
        summary=view.service.rating_summary(site_id),
        mine=mine,
        comments=comments.items,
        turn=turn(view.site.url("/sites/{site_id}", site_id=site_id), cursor, comments.next),
    )


def _my_rating(view: FusView, site_id: str) -> RatingOut | None:
    if view.caller is None:
        return None
    try:
        return view.service.my_rating(site_id)
    except Missing:
        return None


@pages.post("/sites/{site_id}/rating", again=site)
def rate(view: FusView, site_id: Id, new: NewRating) -> Response:
    view.service.rate(site_id, new, None)
    return view.redirect("/sites/{site_id}", site_id=site_id, notice="Rating saved")


@pages.post("/sites/{site_id}/rating/delete", again=site)
def delete_rating(view: FusView, site_id: Id, which: OfVersion) -> Response:
    view.service.delete_rating(site_id, which.seen)
    return view.redirect("/sites/{site_id}", site_id=site_id, notice="Rating deleted")


@pages.get("/my-ratings")
def my_ratings(view: FusView, cursor: Cursor = None) -> Response:
    found = view.service.my_ratings(Paging(limit=LISTED, cursor=cursor))
    return view.render(
        "my_ratings.html", ratings=found.items, turn=turn(view.site.url("/my-ratings"), cursor, found.next)
    )


@pages.get("/ratings")
def ratings(view: FusView, stars: Stars = 5, cursor: Cursor = None) -> Response:
    found = view.service.ratings_by_stars(stars, Paging(limit=LISTED, cursor=cursor))
    around = turn(view.site.url("/ratings", stars=stars), cursor, found.next)
    return view.render("ratings.html", ratings=found.items, stars=stars, all_stars=STARS, turn=around)


@pages.get("/sites/{site_id}/ratings")
def site_ratings(view: FusView, site_id: Id, cursor: Cursor = None) -> Response:
    found = view.service.ratings_of_site(site_id, Paging(limit=LISTED, cursor=cursor))
    around = turn(view.site.url("/sites/{site_id}/ratings", site_id=site_id), cursor, found.next)
    return view.render("site_ratings.html", ratings=found.items, shown=view.service.site(site_id), turn=around)


# Comments


@pages.post("/sites/{site_id}/comments", again=site)
def add_comment(view: FusView, site_id: Id, new: CommentText) -> Response:
    view.service.add_comment(site_id, new)
    return view.redirect("/sites/{site_id}", site_id=site_id, notice="Comment added")


@pages.get("/sites/{site_id}/comments/{comment_id}/edit")
def edit_comment(view: FusView, site_id: Id, comment_id: Id) -> Response:
    comment = view.service.comment(site_id, comment_id)
    _ = view.service.me  # sends users who are not signed in to the page for that
    if not comment.mine:
        raise Forbidden
    view.form.asking(CommentEdit).starting_from(comment)
    return view.render("edit_comment.html", site_id=site_id, comment=comment)


@pages.post("/sites/{site_id}/comments/{comment_id}/edit")
def change_comment(view: FusView, site_id: Id, comment_id: Id, edited: CommentEdit) -> Response:
    view.service.change_comment(site_id, comment_id, CommentText.from_fields(edited), edited.seen)
    return view.redirect("/sites/{site_id}", site_id=site_id, notice="Comment saved")


@pages.post("/sites/{site_id}/comments/{comment_id}/delete", again=site)
def delete_comment(view: FusView, site_id: Id, comment_id: Id, which: OfVersion) -> Response:
    view.service.delete_comment(site_id, comment_id, which.seen)
    return view.redirect("/sites/{site_id}", site_id=site_id, notice="Comment deleted")


# Managing sites


@pages.get("/new-site")
def new_site(view: FusView) -> Response:
    only(view, "sites:write")
    view.form.asking(SiteForm)
    return view.render("edit_site.html", shown=None)


@pages.post("/new-site")
def create_site(view: FusView, new: SiteForm) -> Response:
    made = view.service.create_site(NewSite.from_fields(new))
    return view.redirect("/sites/{site_id}", site_id=made.id, notice="Site added")


@pages.get("/sites/{site_id}/edit")
def edit_site(view: FusView, site_id: Id) -> Response:
    only(view, "sites:write")
    found = view.service.site(site_id)
    # A title that is the URL changes along with it.
    title = None if found.title == found.url else found.title
    view.form.asking(SiteEdit).starting_from(found.model_dump() | {"title": title, "tags": "\n".join(found.tags)})
    return view.render("edit_site.html", shown=found)


@pages.post("/sites/{site_id}/edit")
def change_site(view: FusView, site_id: Id, edited: SiteEdit) -> Response:
    view.service.change_site(site_id, SiteChange.from_fields(edited), edited.seen)
    return view.redirect("/sites/{site_id}", site_id=site_id, notice="Site saved")


@pages.post("/sites/{site_id}/delete", again=site)
def delete_site(view: FusView, site_id: Id, which: OfVersion) -> Response:
    view.service.delete_site(site_id, which.seen)
    return view.redirect("/", notice="Site deleted")
