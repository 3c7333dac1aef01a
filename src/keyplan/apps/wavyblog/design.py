"""WavyBlog's access patterns, in the order and words of its document."""

from collections.abc import Sequence

from keyplan.apps.wavyblog.departures import ACCEPTED, DEPARTURES
from keyplan.apps.wavyblog.entities import (
    Admins,
    Category,
    Image,
    Leftover,
    Post,
    RefreshToken,
    TokenFamily,
    User,
    blog,
)
from keyplan.data import delete
from keyplan.design import (
    BatchGet,
    Design,
    Get,
    Lookup,
    Op,
    Query,
    Rewrite,
    Together,
    accept,
    batch_get,
    exists,
    get,
    job,
    lookup,
    pattern,
    query,
    ref,
    rewrite,
    taken,
    together,
)

OPERATION = "whoever runs the system decides how it is backed up; on one file, `keyplan backup` copies everything"
"""Why the tables don't say how they are protected."""


class WavyBlog(Design):
    """A blog with several authors: users with roles, posts in categories, drafts and images.

    All entities share one table. E-mail addresses and the slugs of posts are unique: a guard is written in the same
    transaction as what it belongs to. Lists come from indexes and never from a scan, and the posts of an author or a
    category are in the order of their time.

    The first nine access patterns are those of the document. The API needs the others as well.
    """

    tables = (blog,)
    entities = (User, Post, Category, Admins, Image, Leftover, TokenFamily, RefreshToken)
    accepted = (
        accept("not-protected", "WavyBlog", because=OPERATION),
        accept("no-recovery", "WavyBlog", because=OPERATION),
        *ACCEPTED,
    )

    @pattern("Get User by Username", decides="what a request may do")
    def user(self, username: str) -> Get[User]:
        """Read consistently: the role decides what a request may do, and a change of role applies at once."""
        return get(User, username=username, consistent=True)

    @pattern("Get User by Email", decides="whether a password is right")
    def user_by_email(self, email: str) -> Lookup[User]:
        """Lookup via UserEmail entity, then User entity. Read consistently: an old password is refused at once."""
        return lookup(User.email_guard, email=email, consistent=True)

    @pattern("Get All Users")
    def users(self) -> Query[User]:
        return query(User.by_type)

    @pattern("Get Post by Slug")
    def post(self, slug: str) -> Get[Post]:
        return get(Post, slug=slug)

    @pattern("Get All Posts")
    def posts(self) -> Query[Post]:
        """In the order of their slugs, drafts included."""
        return query(Post.by_type)

    @pattern("Get Posts by User")
    def posts_by_user(self, username: str) -> Query[Post]:
        """Newest first, drafts included: for the author and for admins."""
        return query(Post.by_user, author_id=username, newest_first=True)

    @pattern("Get Posts by Category")
    def posts_by_category(self, category: str) -> Query[Post]:
        """Newest first, drafts included: for admins."""
        return query(Post.by_category, category=category, newest_first=True)

    @pattern("Get All Categories")
    def categories(self) -> Query[Category]:
        return query(Category.by_type)

    @pattern("Check Slug Uniqueness")
    def slug_taken(self, slug: str) -> Op[bool]:
        return taken(Post.slug_guard, slug=slug)

    # Patterns that the document doesn't have

    @pattern("Latest published posts")
    def latest_posts(self) -> Query[Post]:
        return query(Post.published, newest_first=True)

    @pattern("Get published Posts by User")
    def published_posts_by_user(self, username: str) -> Query[Post]:
        return query(Post.by_user, author_id=username, newest_first=True, filter=lambda post: post.is_published)

    @pattern("Get published Posts by Category")
    def published_posts_by_category(self, category: str) -> Query[Post]:
        return query(Post.by_category, category=category, newest_first=True, filter=lambda post: post.is_published)

    @pattern("Get published Posts by Category, and a User's drafts")
    def posts_by_category_for(self, category: str, username: str) -> Query[Post]:
        """What an author may read in a category."""
        return query(
            Post.by_category,
            category=category,
            newest_first=True,
            filter=lambda post: post.is_published | (post.author_id == username),
        )

    @pattern("Get Posts by Slugs", decides="which posts are deleted together")
    def posts_by_slugs(self, slugs: Sequence[str]) -> BatchGet[Post]:
        """In the order asked, as they are now."""
        return batch_get(Post, slugs, consistent=True)

    @pattern("Get Category by Slug")
    def category(self, slug: str) -> Get[Category]:
        return get(Category, slug=slug)

    @pattern("Get Categories by Slugs")
    def categories_by_slugs(self, slugs: Sequence[str]) -> BatchGet[Category]:
        """In the order asked."""
        return batch_get(Category, slugs)

    @pattern("Categories that are being renamed")
    def renamed_categories(self) -> Query[Category]:
        """Any process can finish the rename: move the posts, then delete the category."""
        return query(Category.by_type, filter=lambda category: exists(category.renamed_to))

    @pattern("Number of admins")
    def admins(self) -> Get[Admins]:
        return get(Admins, consistent=True)

    @pattern("Get Images by User")
    def images_by_user(self, username: str) -> Query[Image]:
        """Newest first."""
        return query(Image.primary, username=username, newest_first=True)

    @pattern("Get Image by User and ID", decides="which file is deleted")
    def image(self, username: str, image_id: str) -> Get[Image]:
        return get(Image, username=username, image_id=image_id, consistent=True)

    @pattern("Files of images that are being deleted", decides="which files are deleted")
    def leftovers(self) -> Query[Leftover]:
        return query(Leftover.primary, consistent=True)

    @pattern("Get refresh token by hash", decides="whether a sign-in continues")
    def refresh_token(self, token_hash: str) -> Lookup[RefreshToken]:
        """Read consistently, so that signing out right after signing in works."""
        return lookup(RefreshToken.by_hash, token_hash=token_hash, consistent=True)

    @pattern("Get token family", decides="whether a sign-in is still valid")
    def token_family(self, username: str, family_id: str) -> Get[TokenFamily]:
        return get(TokenFamily, username=username, family_id=family_id, consistent=True)

    @pattern("Get User with token family", decides="whether an access token is still valid")
    def user_and_family(
        self, username: str, family_id: str
    ) -> Together[tuple[list[User | None], list[TokenFamily | None]]]:
        """The user of an access token, and whether its sign-in is still valid, in one request."""
        return together(
            batch_get(User, [{"username": username}], consistent=True),
            batch_get(TokenFamily, [{"username": username, "family_id": family_id}], consistent=True),
        )

    @pattern("Get token families by User", decides="which sign-ins are revoked")
    def token_families(self, username: str) -> Query[TokenFamily]:
        """All sign-ins of a user, to revoke them."""
        return query(TokenFamily.primary, username=username, consistent=True)

    @pattern("Get refresh tokens by User", decides="which tokens are deleted")
    def refresh_tokens(self, username: str) -> Query[RefreshToken]:
        return query(RefreshToken.primary, username=username, consistent=True)

    @job
    def move_posts(self, category: str, to: str) -> Rewrite[Post]:
        """Rename a category: its posts move to the new one and are counted there, then the old one is deleted."""
        moved = rewrite(self.posts_by_category(category), lambda post: setattr(post, "category", to))
        return moved.then(ref(Category, slug=category), lambda old: delete(old) if old.renamed_to == to else None)

    departures = DEPARTURES


DESIGN = WavyBlog
