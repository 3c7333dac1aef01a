"""The rules of WavyBlog: posts, categories, and the admins' users."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import count

from keyplan.apps.wavyblog.design import (
    UNCATEGORIZED,
    Category,
    Post,
    User,
    Username,
)
from keyplan.apps.wavyblog.design import Slug as SlugText
from keyplan.apps.wavyblog.images import Images
from keyplan.apps.wavyblog.models import (
    SLUG_LENGTH,
    Account,
    CategoryChange,
    CategoryOut,
    FeedPost,
    NewCategory,
    NewPost,
    PostChange,
    PostOut,
    PostSummary,
    RoleChange,
    Slugs,
)
from keyplan.apps.wavyblog.upkeep import finish_rename, sweep_files
from keyplan.data import (
    AlreadyExists,
    InUse,
    ParentMissing,
    UniqueViolation,
    create,
    delete,
    move,
    update,
)
from keyplan.design import Query, get
from keyplan.web import (
    ANYONE,
    IfMatch,
    InConflict,
    Listing,
    MayMatch,
    Missing,
    Paging,
    Unauthorized,
    Unprocessable,
    Versions,
    allow,
    slug_of,
)

_AT_ONCE = 200
"""Posts that a renamed category moves while the caller waits; with more, background work goes on."""


class Blog(Images):
    """Everything that can be done with WavyBlog."""

    # Reading

    @allow(ANYONE)
    def latest_posts(self, page: Paging) -> Listing[PostSummary]:
        """Published posts, the newest first."""
        return self._posts(self.design.latest_posts(), page)

    @allow(ANYONE)
    def feed(self, page: Paging) -> Listing[FeedPost]:
        """Published posts with their text, the newest first."""
        return self.listed(self.design.latest_posts(), page, FeedPost.of)

    @allow(ANYONE)
    def posts_by_author(self, username: Username, page: Paging) -> Listing[PostSummary]:
        """The posts of an author, the newest first: the published ones, and for the author and admins the drafts."""
        if self.store.run(self.design.user(username)) is None:
            raise Missing(detail="There is no such author.")
        with_drafts = self._reader is not None and self._is_author_or_admin(username)
        found = self.design.posts_by_user if with_drafts else self.design.published_posts_by_user
        return self._posts(found(username), page)

    @allow(ANYONE)
    def posts_in_category(self, slug: SlugText, page: Paging) -> Listing[PostSummary]:
        """The posts in a category, the newest first: the published ones, one's own drafts, and for admins all."""
        self._category(slug)
        if self._reader is None:
            return self._posts(self.design.published_posts_by_category(slug), page)
        if self._reader.role == "admin":
            return self._posts(self.design.posts_by_category(slug), page)
        return self._posts(self.design.posts_by_category_for(slug, self._reader.username), page)

    @allow(ANYONE)
    def post(self, slug: SlugText) -> PostOut:
        """A post; a draft is there for its author and for admins only."""
        post = self.store.run(self.design.post(slug))
        if post is None or not (post.is_published or self._is_author_or_admin(post.author_id)):
            raise Missing(detail="There is no such post.")
        return PostOut.of(post)

    @allow("user")
    def my_posts(self, page: Paging) -> Listing[PostSummary]:
        """One's own posts, drafts included, the newest first."""
        return self._posts(self.design.posts_by_user(self.user.username), page)

    @allow("admin")
    def all_posts(self, page: Paging) -> Listing[PostSummary]:
        """All posts by slug, drafts included."""
        return self._posts(self.design.posts(), page)

    def _posts(self, op: Query[Post], page: Paging) -> Listing[PostSummary]:
        return self.listed(op, page, PostSummary.of)

    @cached_property
    def _reader(self) -> User | None:
        """Whose drafts are shown beside what everybody reads; none of who is not known, or no longer."""
        with suppress(Unauthorized):
            return self.user if self.caller is not None else None
        return None

    def _is_author_or_admin(self, author: str) -> bool:
        """Whether the caller may read the drafts of this author, and change their posts."""
        return self.caller is not None and (author == self.user.username or "admin" in self.my_roles)

    # Writing

    @allow("user")
    def create_post(self, new: NewPost) -> PostOut:
        """Write a post, as a draft or published at once."""
        for slug in self._slugs(new.title):
            post = Post(
                slug=slug,
                title=new.title,
                content=new.content,
                author_id=self.user.username,
                category=new.category,
                thumbnail_url=new.thumbnail_url,
                is_published=new.publish,
            )
            try:
                return PostOut.of(self.store.run(create(post)))
            except (UniqueViolation, AlreadyExists):
                continue
            except ParentMissing as error:
                raise _no_category() from error
        raise AssertionError("there is always another slug")

    def _slugs(self, title: str) -> Iterator[str]:
        """Slugs for a title that may be free: the plain one, then with -2, -3 ..."""
        plain = slug_of(title, SLUG_LENGTH) or "post"
        for number in count(1):
            slug = plain if number == 1 else f"{plain}-{number}"
            # The plain one is free nearly always; only after it, looking first saves a transaction.
            if number == 1 or not self.store.run(self.design.slug_taken(slug)):
                yield slug

    @allow("user", also="it is your post, or you are an admin")
    def post_to_change(self, slug: SlugText) -> PostOut:
        """A post, for who may change it."""
        return PostOut.of(self._my_post(slug))

    @allow("user", also="it is your post, or you are an admin")
    def change_post(self, slug: SlugText, change: PostChange, version: IfMatch) -> PostOut:
        """Change a post. With another title it gets another slug, and keeps the time at which it was written."""
        post = self._my_post(slug)
        self.current(post, version)
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        for name in ("title", "content", "category"):
            if changes.get(name, ...) is None:
                raise Unprocessable("required", "A post has one.", pointer=f"/{name}")
        try:
            if slug_of(changes.get("title", post.title), SLUG_LENGTH) != slug_of(post.title, SLUG_LENGTH):
                return PostOut.of(self._moved(post, changes))
            for name, value in changes.items():
                setattr(post, name, value)
            return PostOut.of(self.store.run(update(post)))
        except ParentMissing as error:
            raise _no_category() from error

    def _moved(self, post: Post, changes: dict[str, object]) -> Post:
        """The post under the slug of its new title: item and guard in one transaction."""
        for slug in self._slugs(str(changes["title"])):
            try:
                return self.store.run(move(post, slug=slug, **changes))
            except (UniqueViolation, AlreadyExists):
                continue
        raise AssertionError("there is always another slug")

    @allow("user", also="it is your post, or you are an admin")
    def publish_post(self, slug: SlugText, version: MayMatch) -> PostOut:
        """Show a post to everybody."""
        return self._published(slug, version, True)

    @allow("user", also="it is your post, or you are an admin")
    def unpublish_post(self, slug: SlugText, version: MayMatch) -> PostOut:
        """Make a post a draft again."""
        return self._published(slug, version, False)

    def _published(self, slug: str, version: Versions, published: bool) -> PostOut:
        post = self._my_post(slug)
        self.current(post, version)
        post.is_published = published
        return PostOut.of(self.store.run(update(post)))

    @allow("user", also="it is your post, or you are an admin")
    def delete_post(self, slug: SlugText, version: IfMatch) -> None:
        """Delete a post."""
        post = self._my_post(slug)
        self.current(post, version)
        self.store.run(delete(post))

    @allow("user", also="they are your posts, or you are an admin")
    def delete_posts(self, posts: Slugs) -> None:
        """Delete several posts: all of them, or none."""
        found = self.store.run(self.design.posts_by_slugs(list(dict.fromkeys(posts.slugs))))
        self.store.transact(*(delete(self._mine(post)) for post in found))

    def _my_post(self, slug: str) -> Post:
        # As it is now: a version that somebody has just been given is not stale.
        return self._mine(self.store.run(get(Post, slug=slug, consistent=True)))

    def _mine(self, post: Post | None) -> Post:
        if post is None:
            raise Missing(detail="There is no such post.")
        # Somebody else's draft is not to be known of.
        self.permit(self._is_author_or_admin(post.author_id), hidden=not post.is_published)
        return post

    # Categories

    @allow(ANYONE)
    def categories(self, page: Paging) -> Listing[CategoryOut]:
        """All categories, by slug."""
        return self.listed(self.design.categories(), page, CategoryOut.of)

    @allow(ANYONE)
    def category(self, slug: SlugText) -> CategoryOut:
        """A category."""
        return CategoryOut.of(self._category(slug))

    @allow(ANYONE)
    def category_names(self, slugs: Collection[str]) -> dict[str, str]:
        """The names of these categories, as far as they are there, by their slugs."""
        found = self.store.run(self.design.categories_by_slugs(sorted(set(slugs))))
        return {each.slug: each.name for each in found if each is not None}

    @allow("admin")
    def create_category(self, new: NewCategory) -> CategoryOut:
        """Make a category."""
        slug = new.slug or slug_of(new.name, SLUG_LENGTH)
        if not slug:
            raise Unprocessable("no-slug", "No slug can be made of this name: give one.", pointer="/slug")
        try:
            return CategoryOut.of(self.store.run(create(Category(slug=slug, name=new.name))))
        except AlreadyExists as error:
            raise _slug_taken() from error

    @allow("admin")
    def change_category(self, slug: SlugText, change: CategoryChange, version: IfMatch) -> CategoryOut:
        """Rename a category. With another slug its posts move along, which may go on after the answer."""
        category = self._category_now(slug)
        self.current(category, version)
        if category.renamed_to is not None:
            raise InConflict("being-renamed", f"It is being renamed to {category.renamed_to}.")
        name = change.name or category.name
        if change.slug is None or change.slug == slug:
            category.name = name
            return CategoryOut.of(self.store.run(update(category)))
        if slug == UNCATEGORIZED:
            raise InConflict("always-there", f"{UNCATEGORIZED} keeps its slug.")
        if category.awaited_count:
            raise _awaited()
        renamed = Category(
            category_id=category.category_id, slug=change.slug, name=name, created_at=category.created_at
        )
        category.renamed_to = change.slug
        try:
            self.store.transact(create(renamed), update(category))
        except AlreadyExists as error:
            raise _slug_taken() from error
        if category.post_count <= _AT_ONCE:
            finish_rename(self.running, category)
        return CategoryOut.of(self._category_now(change.slug))

    @allow("admin")
    def delete_category(self, slug: SlugText, version: IfMatch) -> None:
        """Delete a category that has no posts."""
        category = self._category_now(slug)
        self.current(category, version)
        if slug == UNCATEGORIZED:
            raise InConflict("always-there", f"{UNCATEGORIZED} stays.")
        if category.awaited_count:
            raise _awaited()
        try:
            self.store.run(delete(category))
        except InUse as error:
            raise InConflict("in-use", "There are posts in it.") from error

    def _category(self, slug: str) -> Category:
        return _found(self.store.run(self.design.category(slug)))

    def _category_now(self, slug: str) -> Category:
        """A category that is to be changed, or was."""
        return _found(self.store.run(get(Category, slug=slug, consistent=True)))

    # Users

    @allow("admin")
    def users(self, page: Paging) -> Listing[Account]:
        """All accounts, by username."""
        return self.listed(self.design.users(), page, Account.of)

    @allow("admin")
    def user_account(self, username: Username) -> Account:
        """An account."""
        return Account.of(self._user(username))

    @allow("admin")
    def change_role(self, username: Username, change: RoleChange, version: MayMatch) -> Account:
        """Give somebody another role. One admin stays."""
        user = self._user(username)
        self.current(user, version)
        user.role = change.role
        return Account.of(self.store.run(update(user)))

    @allow("admin")
    def delete_user(self, username: Username, version: IfMatch) -> None:
        """Delete an account that has no posts, with its images and logins."""
        user = self._user(username)
        self.current(user, version)
        if user.post_count:
            raise _has_posts()
        for image in self.store.each(self.design.images_by_user(username)):
            self._note_leftover(image)
        try:
            self.store.run(delete(user))
        except InUse as error:
            raise _has_posts() from error
        self._revoke_all(username)
        sweep_files(self.running)

    def _user(self, username: str) -> User:
        user = self.store.run(self.design.user(username))
        if user is None:
            raise Missing(detail="There is no such user.")
        return user


def _found(category: Category | None) -> Category:
    if category is None:
        raise Missing(detail="There is no such category.")
    return category


def _no_category() -> Unprocessable:
    return Unprocessable("no-such-category", "There is no such category.", pointer="/category")


def _awaited() -> InConflict:
    return InConflict("being-renamed", "Another is being renamed to this one: its posts are still on their way.")


def _has_posts() -> InConflict:
    return InConflict("has-posts", "There are posts of this user.")


def _slug_taken() -> InConflict:
    return InConflict("slug-taken", "There is a category with this slug.")
