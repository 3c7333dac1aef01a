"""WavyBlog's routes."""

from keyplan.apps.wavyblog.demo import fill
from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.pages import pages
from keyplan.apps.wavyblog.service import REFRESH_COOKIE, REFRESH_LASTS, Blog, own_identity
from keyplan.apps.wavyblog.upkeep import prepare, sweep
from keyplan.web import Api, SetCookie, System

_REFRESH = SetCookie(REFRESH_COOKIE, "refresh_token", REFRESH_LASTS)

api = Api(Blog)

api.post("/register", Blog.register, once=False, rate=30, cookie=_REFRESH, hashes=True)
api.post("/login", Blog.login, status=200, once=False, rate=60, cookie=_REFRESH, hashes=True)
api.post("/refresh", Blog.refresh, status=200, once=False, cookie=_REFRESH)
api.post("/logout", Blog.logout, once=False, cookie=_REFRESH)

api.get("/me", Blog.account)
api.post("/me/password", Blog.change_password, hashes=True)
api.post("/me/email", Blog.change_email, status=200, hashes=True)
api.get("/me/posts", Blog.my_posts)
api.get("/me/images", Blog.images)

api.get("/posts", Blog.latest_posts)
api.post("/posts", Blog.create_post)
api.get("/all-posts", Blog.all_posts)
api.post("/posts/delete", Blog.delete_posts)
api.get("/posts/{slug}", Blog.post)
api.patch("/posts/{slug}", Blog.change_post)
api.delete("/posts/{slug}", Blog.delete_post)
api.post("/posts/{slug}/publish", Blog.publish_post, status=200)
api.post("/posts/{slug}/unpublish", Blog.unpublish_post, status=200)
api.get("/authors/{username}/posts", Blog.posts_by_author)

api.get("/categories", Blog.categories)
api.post("/categories", Blog.create_category)
api.get("/categories/{slug}", Blog.category)
api.patch("/categories/{slug}", Blog.change_category)
api.delete("/categories/{slug}", Blog.delete_category)
api.get("/categories/{slug}/posts", Blog.posts_in_category)

api.post("/images/upload", Blog.upload_image)
api.post("/images", Blog.add_image)
api.delete("/images/{image_id}", Blog.delete_image)

api.get("/users", Blog.users)
api.get("/users/{username}", Blog.user_account)
api.put("/users/{username}/role", Blog.change_role)
api.delete("/users/{username}", Blog.delete_user)

SYSTEM = System(
    name="wavyblog",
    title="WavyBlog",
    summary="A blog with several authors.",
    design=WavyBlog,
    api=api,
    pages=pages,
    prepare=prepare,
    demo=fill,
    sweep=sweep,
    identity=own_identity,
)
