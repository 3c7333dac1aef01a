"""Public pages: the latest posts, a post, authors, categories, and the feed."""

from starlette.responses import Response

from keyplan.apps.wavyblog.fields import Slug
from keyplan.apps.wavyblog.markdown import excerpt
from keyplan.apps.wavyblog.pages.feed import feed_of
from keyplan.apps.wavyblog.pages.shared import POSTS, BlogView, is_admin, names_of, pages
from keyplan.apps.wavyblog.service import Blog
from keyplan.web import Listed, Paging, not_modified

_IN_FEED = 20


pages.show("/", "latest.html", posts=Listed(Blog.latest_posts, "Newest first", POSTS), names=names_of)


@pages.get("/posts/{slug}")
def post(view: BlogView, slug: Slug) -> Response:
    found = view.service.post(slug)
    return view.render(
        "post.html",
        post=found,
        about=excerpt(found.content, 160),
        names=names_of(view.service, [found]),
        mine=view.caller is not None and (found.author_id == view.caller.sub or is_admin(view)),
    )


by_author = Listed(Blog.posts_by_author, "Newest first", POSTS)
in_category = Listed(Blog.posts_in_category, "Newest first", POSTS)
pages.show("/authors/{username}", "author.html", posts=by_author, names=names_of)
pages.show("/categories", "categories.html", categories=Listed(Blog.categories, "Sorted by address", 100))
category = pages.show("/categories/{slug}", "category.html", category=Blog.category, posts=in_category)


@pages.get("/feed.atom")
def feed(view: BlogView) -> Response:
    url = view.request.url
    base = view.site.running.settings.base_url or f"{url.scheme}://{url.netloc}"
    made = feed_of(view.site, base, view.service.feed(Paging(limit=_IN_FEED)).items)
    headers = {"ETag": made.etag, "Last-Modified": made.last_modified}
    if not_modified(view.request.headers.get("if-none-match"), made.etag):
        return Response(status_code=304, headers=headers)
    return Response(made.body, headers=headers, media_type="application/atom+xml")
