"""WavyBlog, as its design document wrote it."""

from typing import Annotated, Literal

from keyplan.design import (
    Created,
    Design,
    Entity,
    Get,
    Id,
    Lookup,
    Op,
    Query,
    Secret,
    Table,
    Updated,
    created,
    get,
    key,
    lookup,
    pattern,
    query,
    stored,
    taken,
    unique,
    updated,
)
from keyplan.review.declaring import errors_recorded

with errors_recorded() as ERRORS:
    blog = Table(
        "WavyBlog",
        key("PK", "SK"),
        indexes={
            "GSI1": key("GSI1PK", "GSI1SK"),
            "GSI2": key("GSI2PK", "GSI2SK"),
            "GSI3": key("EntityType", "PK"),
        },
        case="pascal",
        type_attribute="EntityType",
        times="seconds",
    )

    class User(Entity, table=blog, type="USER", claims=("email",)):
        user_id: Annotated[Id, stored("UserID")]
        username: Id
        email: str
        password_hash: Secret[str]
        role: Literal["user", "admin"] = "user"
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("USER#{username}", "METADATA#{username}")
        email_guard = unique("USEREMAIL#{email}", carries="username")
        by_type = blog.GSI3("USER")

    class Post(Entity, table=blog, type="POST", claims=("slug",)):
        post_id: Annotated[Id, stored("PostID")]
        slug: Id
        title: str
        content: str
        author_id: Annotated[Id, stored("AuthorID")]
        category: Id
        thumbnail_url: Annotated[str, stored("ThumbnailURL")]
        is_published: bool
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("POST#{slug}", "METADATA#{slug}")
        by_user = blog.GSI1("POSTS_BY_USER#{author_id}", "POST#{created_at}")
        by_category = blog.GSI2("POSTS_BY_CAT#{category}", "POST#{created_at}")
        by_type = blog.GSI3("POST")
        slug_guard = unique("SLUG#{slug}")

    class Category(Entity, table=blog, type="CATEGORY"):
        category_id: Annotated[Id, stored("CategoryID")]
        slug: Id
        name: str
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("CATEGORY#{slug}", "METADATA#{slug}")
        by_type = blog.GSI3("CATEGORY")

    class WavyBlog(Design):
        """Posts are sorted by creation date; GSI3 replaces scans."""

        tables = (blog,)
        entities = (User, Post, Category)

        @pattern("Get User by Username")
        def user(self, username: str) -> Get[User]:
            return get(User, username=username)

        @pattern("Get User by Email")
        def user_by_email(self, email: str) -> Lookup[User]:
            return lookup(User.email_guard, email=email)

        @pattern("Get All Users")
        def users(self) -> Query[User]:
            return query(User.by_type)

        @pattern("Get Post by Slug")
        def post(self, slug: str) -> Get[Post]:
            return get(Post, slug=slug)

        @pattern("Get All Posts")
        def posts(self) -> Query[Post]:
            return query(Post.by_type, newest_first=True)

        @pattern("Get Posts by User")
        def posts_by_user(self, username: str) -> Query[Post]:
            return query(Post.by_user, author_id=username, newest_first=True)

        @pattern("Get Posts by Category")
        def posts_by_category(self, category: str) -> Query[Post]:
            return query(Post.by_category, category=category, newest_first=True)

        @pattern("Get All Categories")
        def categories(self) -> Query[Category]:
            return query(Category.by_type)

        @pattern("Check Slug Uniqueness", decides="whether the slug is free")
        def slug_taken(self, slug: str) -> Op[bool]:
            return taken(Post.slug_guard, slug=slug)


DESIGN = WavyBlog
