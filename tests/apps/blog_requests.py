"""A valid request for every route of WavyBlog, and the data that these requests need."""

from collections.abc import Callable
from itertools import count

import httpx

from keyplan.apps.wavyblog.entities import Category
from keyplan.data import create
from tests.apps.blog_site import ANY, PASSWORD, add_user, write
from tests.web.media_support import png
from tests.web.site import Site

_numbers = count()


def new(what: str) -> str:
    return f"{what}_{next(_numbers)}"


def new_user(site: Site) -> str:
    name = new("user")
    add_user(site, name)
    return name


def new_category(site: Site) -> str:
    slug = new("category").replace("_", "-")
    site.running.store.run(create(Category(slug=slug, name=slug)))
    return slug


def new_post(site: Site, author: str, *, publish: bool = True) -> str:
    slug: str = write(site.as_(author), new("A title"), publish=publish)["slug"]
    return slug


def signed_in(site: Site, client: httpx.Client) -> httpx.Client:
    """The client, with the cookie of somebody's sign-in."""
    answer = site.as_().post("/login", json={"user": "ada", "password": PASSWORD})
    client.cookies.update(answer.cookies)
    return client


def upload(client: httpx.Client) -> str:
    """Upload an image. Returns its ID."""
    picture = png()
    ticket = client.post("/images/upload", json={"content_type": "image/png", "size": len(picture)}).json()
    sent = httpx.post(client.base_url.join(ticket["url"]), data=ticket["fields"], files={"file": picture})
    assert sent.status_code in (201, 204), sent.text
    upload_id: str = ticket["upload_id"]
    return upload_id


def new_image(client: httpx.Client) -> str:
    image_id: str = client.post("/images", json={"upload_id": upload(client)}).json()["image_id"]
    return image_id


Send = Callable[[Site, httpx.Client, str], httpx.Response]
"""A good request; the third is whose the thing is that it is about."""

GOOD: dict[str, Send] = {
    "POST /register": lambda site, client, owner: client.post(
        "/register", json={"username": (name := new("name")), "email": f"{name}@example.org", "password": PASSWORD}
    ),
    "POST /login": lambda site, client, owner: client.post("/login", json={"user": "ada", "password": PASSWORD}),
    "POST /refresh": lambda site, client, owner: signed_in(site, client).post("/refresh"),
    "POST /logout": lambda site, client, owner: signed_in(site, client).post("/logout"),
    "GET /me": lambda site, client, owner: client.get("/me"),
    "POST /me/password": lambda site, client, owner: client.post(
        "/me/password", json={"password": PASSWORD, "new_password": PASSWORD}
    ),
    "POST /me/email": lambda site, client, owner: client.post(
        "/me/email", json={"password": PASSWORD, "email": f"{new('me')}@example.org"}
    ),
    "GET /me/posts": lambda site, client, owner: client.get("/me/posts"),
    "GET /me/images": lambda site, client, owner: client.get("/me/images"),
    "GET /posts": lambda site, client, owner: client.get("/posts"),
    "POST /posts": lambda site, client, owner: client.post("/posts", json={"title": "A", "content": "x"}),
    "GET /all-posts": lambda site, client, owner: client.get("/all-posts"),
    "POST /posts/delete": lambda site, client, owner: client.post(
        "/posts/delete", json={"slugs": [new_post(site, owner)]}
    ),
    "GET /posts/{slug}": lambda site, client, owner: client.get(f"/posts/{new_post(site, owner)}"),
    "PATCH /posts/{slug}": lambda site, client, owner: client.patch(
        f"/posts/{new_post(site, owner)}", json={"content": "y"}, headers=ANY
    ),
    "DELETE /posts/{slug}": lambda site, client, owner: client.delete(f"/posts/{new_post(site, owner)}", headers=ANY),
    "POST /posts/{slug}/publish": lambda site, client, owner: client.post(f"/posts/{new_post(site, owner)}/publish"),
    "POST /posts/{slug}/unpublish": lambda site, client, owner: client.post(
        f"/posts/{new_post(site, owner)}/unpublish"
    ),
    "GET /authors/{username}/posts": lambda site, client, owner: client.get("/authors/ada/posts"),
    "GET /categories": lambda site, client, owner: client.get("/categories"),
    "POST /categories": lambda site, client, owner: client.post("/categories", json={"name": new("name")}),
    "GET /categories/{slug}": lambda site, client, owner: client.get("/categories/travel"),
    "PATCH /categories/{slug}": lambda site, client, owner: client.patch(
        f"/categories/{new_category(site)}", json={"name": "X"}, headers=ANY
    ),
    "DELETE /categories/{slug}": lambda site, client, owner: client.delete(
        f"/categories/{new_category(site)}", headers=ANY
    ),
    "GET /categories/{slug}/posts": lambda site, client, owner: client.get("/categories/travel/posts"),
    "POST /images/upload": lambda site, client, owner: client.post(
        "/images/upload", json={"content_type": "image/png", "size": 100}
    ),
    "POST /images": lambda site, client, owner: client.post("/images", json={"upload_id": upload(site.as_(owner))}),
    "DELETE /images/{image_id}": lambda site, client, owner: client.delete(f"/images/{new_image(site.as_(owner))}"),
    "GET /users": lambda site, client, owner: client.get("/users"),
    "GET /users/{username}": lambda site, client, owner: client.get("/users/ada"),
    "PUT /users/{username}/role": lambda site, client, owner: client.put(
        f"/users/{new_user(site)}/role", json={"role": "admin"}
    ),
    "DELETE /users/{username}": lambda site, client, owner: client.delete(f"/users/{new_user(site)}", headers=ANY),
}
