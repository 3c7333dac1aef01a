"""The catalog's pages: sites with their ratings and comments."""

from typing import Annotated

from pydantic import BeforeValidator
from starlette.responses import Response

from keyplan.apps.funkedupshift.fields import STARS, SiteEntry, Stars, Tags
from keyplan.apps.funkedupshift.models import CommentText, NewRating, NewSite, RatingOut, SiteChange
from keyplan.apps.funkedupshift.pages.shared import LISTED, FusView, pages
from keyplan.apps.funkedupshift.service import FunkedUpShift
from keyplan.design import Id
from keyplan.web import Confirm, Forbidden, In, Listed, Missing, OfVersion

_COMMENTS = 20
_SITE = "/sites/{site_id}"


def _lines(texts: list[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines() if line.strip()]


class SiteForm(SiteEntry, In):
    """The form that adds a site."""

    tags: Annotated[Tags, BeforeValidator(_lines)]
    """Each on a line of its own, since a tag may have any character."""


class SiteEdit(SiteForm, OfVersion):
    """The form that changes a site."""


@pages.get("/")
def catalog(view: FusView, text: str = "", tag: str = "") -> Response:
    text, tag = text.strip()[:100].lower(), tag.strip()[:50].lower()
    found = view.page(lambda page: view.service.sites(page, tag or None, text or None), "Newest first", LISTED)
    return view.render("catalog.html", sites=found.items, text=text, tag=tag, turn=found.turn)


@pages.get(_SITE)
def site(view: FusView, site_id: Id) -> Response:
    found = view.service.site(site_id)
    comments = view.page(lambda page: view.service.comments(site_id, page), "Newest first", _COMMENTS)
    mine = _my_rating(view, site_id)
    view.forms("rating").asking(NewRating).starting_from(mine or {})
    view.forms("comment").asking(CommentText)
    return view.render(
        "site.html",
        shown=found,
        summary=view.service.rating_summary(site_id),
        mine=mine,
        comments=comments.items,
        turn=comments.turn,
    )


def _my_rating(view: FusView, site_id: str) -> RatingOut | None:
    if view.caller is None:
        return None
    try:
        return view.service.my_rating(site_id)
    except Missing:
        return None


pages.form("/sites/{site_id}/rating", FunkedUpShift.rate, to=_SITE, notice="Rating saved", again=site)
pages.form(
    "/sites/{site_id}/rating/delete",
    FunkedUpShift.delete_rating,
    to=_SITE,
    notice="Rating deleted",
    again=site,
    confirm=Confirm(
        "Delete your rating of {title}?",
        "Delete rating",
        "This deletes your stars and your note.",
        about=FunkedUpShift.site,
    ),
)


pages.show("/my-ratings", "my_ratings.html", ratings=Listed(FunkedUpShift.my_ratings, "Oldest sites first", LISTED))


@pages.get("/ratings")
def ratings(view: FusView, stars: Stars = 5) -> Response:
    found = view.page(lambda page: view.service.ratings_by_stars(stars, page), "Oldest sites first", LISTED)
    return view.render("ratings.html", ratings=found.items, stars=stars, all_stars=STARS, turn=found.turn)


of_site = Listed(FunkedUpShift.ratings_of_site, "Most stars first", LISTED)
pages.show("/sites/{site_id}/ratings", "site_ratings.html", ratings=of_site, shown=FunkedUpShift.site)


# Comments

_COMMENT = "/sites/{site_id}/comments/{comment_id}"
pages.form("/sites/{site_id}/comments", FunkedUpShift.add_comment, to=_SITE, notice="Comment added", again=site)


@pages.get(f"{_COMMENT}/edit")
def edit_comment(view: FusView, site_id: Id, comment_id: Id) -> Response:
    comment = view.service.comment(site_id, comment_id)
    _ = view.service.me  # sends users who are not signed in to the page for that
    if not comment.mine:
        raise Forbidden
    view.form.asking(CommentText).starting_from(comment)
    return view.render("edit_comment.html", site_id=site_id, comment=comment)


pages.form(f"{_COMMENT}/edit", FunkedUpShift.change_comment, to=_SITE, notice="Comment saved")
pages.delete(
    f"{_COMMENT}/delete",
    FunkedUpShift.delete_comment,
    "comment",
    one=FunkedUpShift.comment,
    name="by {display_name}",
    to=_SITE,
    again=site,
)


# Managing sites


pages.show("/new-site", "edit_site.html", asks=SiteForm, requires=FunkedUpShift.create_site, shown=None)


@pages.post("/new-site")
def create_site(view: FusView, new: SiteForm) -> Response:
    made = view.service.create_site(NewSite.from_fields(new))
    return view.redirect(_SITE, site_id=made.id, notice="Site added")


@pages.get("/sites/{site_id}/edit")
def edit_site(view: FusView, site_id: Id) -> Response:
    view.service.require(FunkedUpShift.create_site)
    found = view.service.site(site_id)
    # A title that is the URL changes along with it.
    title = None if found.title == found.url else found.title
    view.form.asking(SiteEdit).starting_from(found.model_dump() | {"title": title, "tags": "\n".join(found.tags)})
    return view.render("edit_site.html", shown=found)


@pages.post("/sites/{site_id}/edit")
def change_site(view: FusView, site_id: Id, edited: SiteEdit) -> Response:
    view.service.change_site(site_id, SiteChange.from_fields(edited), edited.seen)
    return view.redirect(_SITE, site_id=site_id, notice="Site saved")


pages.delete(
    "/sites/{site_id}/delete",
    FunkedUpShift.delete_site,
    "site",
    "This deletes the site with its ratings and comments.",
    one=FunkedUpShift.site,
    name="{title}",
    to="/",
    again=site,
)
