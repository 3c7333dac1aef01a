"""Public pages: the latest posts, a post, authors, categories, and the feed."""

from starlette.responses import Response

from keyplan.apps.wavyblog.fields import Slug, Username
from keyplan.apps.wavyblog.markdown import excerpt
from keyplan.apps.wavyblog.pages.feed import feed_of
from keyplan.apps.wavyblog.pages.shared import POSTS, BlogView, is_admin, names_of, pages
from keyplan.web import Paging, not_modified

_IN_FEED = 20


@pages.get("/")
def latest(view: BlogView) -> Response:
    posts = view.page(view.service.latest_posts, "Newest first", POSTS)
    return view.render("latest.html", posts=posts.items, names=names_of(view, posts.items), turn=posts.turn)


@pages.get("/posts/{slug}")
def post(view: BlogView, slug: Slug) -> Response:
    found = view.service.post(slug)
    return view.render(
        "post.html",
        post=found,
        about=excerpt(found.content, 160),
        names=names_of(view, [found]),
        mine=view.caller is not None and (found.author_id == view.caller.sub or is_admin(view)),
    )


@pages.get("/authors/{username}")
def author(view: BlogView, username: Username) -> Response:
    posts = view.page(lambda page: view.service.posts_by_author(username, page), "Newest first", POSTS)
    names = names_of(view, posts.items)
    return view.render("author.html", author=username, posts=posts.items, names=names, turn=posts.turn)


@pages.get("/categories")
def categories(view: BlogView) -> Response:
    found = view.page(view.service.categories, "Sorted by address", 100)
    return view.render("categories.html", categories=found.items, turn=found.turn)


@pages.get("/categories/{slug}")
def category(view: BlogView, slug: Slug) -> Response:
    found = view.service.category(slug)
    posts = view.page(lambda page: view.service.posts_in_category(slug, page), "Newest first", POSTS)
    names = {slug: found.name}
    return view.render("category.html", category=found, posts=posts.items, names=names, turn=posts.turn)


@pages.get("/feed.atom")
def feed(view: BlogView) -> Response:
    url = view.request.url
    base = view.site.running.settings.base_url or f"{url.scheme}://{url.netloc}"
    made = feed_of(view.site, base, view.service.feed(Paging(limit=_IN_FEED)).items)
    headers = {"ETag": made.etag, "Last-Modified": made.last_modified}
    if not_modified(view.request.headers.get("if-none-match"), made.etag):
        return Response(status_code=304, headers=headers)
    return Response(made.body, headers=headers, media_type="application/atom+xml")
