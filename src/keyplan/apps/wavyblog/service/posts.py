"""Posts: reading, writing, publishing and deleting them."""

from contextlib import suppress
from functools import cached_property

from keyplan.apps.wavyblog.entities import Post, User
from keyplan.apps.wavyblog.fields import SLUG_LENGTH, Slug, Username
from keyplan.apps.wavyblog.models import (
    FeedPost,
    NewPost,
    PostChange,
    PostOut,
    PostSummary,
    Slugs,
    feed_post,
    post_out,
    summary_of,
)
from keyplan.apps.wavyblog.service.images import Images
from keyplan.data import create, delete, move
from keyplan.design import Query, get
from keyplan.web import ANYONE, IfMatch, Listing, MayMatch, Paging, Unauthorized, Versions, allow, missing, slug_of

_AUTHOR = "it is your post, or you are an admin"


class Posts(Images):
    """What readers and authors do."""

    # Reading

    @allow(ANYONE)
    def latest_posts(self, page: Paging) -> Listing[PostSummary]:
        """Published posts, newest first."""
        return self._posts(self.design.latest_posts(), page)

    @allow(ANYONE)
    def feed(self, page: Paging) -> Listing[FeedPost]:
        """Published posts with their text, newest first."""
        return self.listed(self.design.latest_posts(), page, lambda post: feed_post(post, self.media.hosts))

    @allow(ANYONE)
    def posts_by_author(self, username: Username, page: Paging) -> Listing[PostSummary]:
        """The published posts of an author, newest first. The author and admins see drafts, too."""
        self.find(self.design.user(username))
        with_drafts = self._reader is not None and self._is_author_or_admin(username)
        found = self.design.posts_by_user if with_drafts else self.design.published_posts_by_user
        return self._posts(found(username), page)

    @allow(ANYONE)
    def posts_in_category(self, slug: Slug, page: Paging) -> Listing[PostSummary]:
        """The published posts in a category, newest first. Authors see their own drafts, admins all drafts."""
        self.find(self.design.category(slug))
        if self._reader is None:
            return self._posts(self.design.published_posts_by_category(slug), page)
        if self._reader.role == "admin":
            return self._posts(self.design.posts_by_category(slug), page)
        return self._posts(self.design.posts_by_category_for(slug, self._reader.username), page)

    @allow(ANYONE)
    def post(self, slug: Slug) -> PostOut:
        """A post. Drafts are visible to their author and to admins only."""
        return self._post_out(self.find(self.design.post(slug), allowed=self._may_read, hidden=True))

    @allow("user")
    def my_posts(self, page: Paging) -> Listing[PostSummary]:
        """Your posts, drafts included, newest first."""
        return self._posts(self.design.posts_by_user(self.user.username), page)

    @allow("admin")
    def all_posts(self, page: Paging) -> Listing[PostSummary]:
        """All posts by slug, drafts included."""
        return self._posts(self.design.posts(), page)

    def _posts(self, op: Query[Post], page: Paging) -> Listing[PostSummary]:
        return self.listed(op, page, summary_of)

    @cached_property
    def _reader(self) -> User | None:
        """The caller's account, if the caller is signed in and still has one."""
        with suppress(Unauthorized):
            return self.user if self.caller is not None else None
        return None

    def _may_read(self, post: Post) -> bool:
        return post.is_published or self._is_author_or_admin(post.author_id)

    def _is_author_or_admin(self, author: str) -> bool:
        """Whether the caller may read the drafts of this author, and change their posts."""
        return self.caller is not None and (author == self.user.username or "admin" in self.my_roles)

    # Writing

    @allow("user")
    def create_post(self, new: NewPost) -> PostOut:
        """Write a post, as a draft or published at once."""

        def write(slug: str) -> Post:
            post = Post.from_fields(new, slug=slug, author_id=self.user.username, is_published=new.publish)
            return self.store.run(create(post))

        return self._post_out(self.with_free_slug(_slug(new.title), write, self.design.slug_taken))

    @allow("user", also=_AUTHOR)
    def post_to_change(self, slug: Slug) -> PostOut:
        """A post, for someone who may change it."""
        return self._post_out(self._my_post(slug))

    @allow("user", also=_AUTHOR)
    def change_post(self, slug: Slug, change: PostChange, version: IfMatch) -> PostOut:
        """Change a post. With a new title it gets a new slug, and keeps its time of creation."""
        post = self._my_post(slug, version)
        title = _slug(change.get(lambda post: post.title, post.title))
        if title == _slug(post.title):
            return self._post_out(self.save(post, change))
        moved = self.with_free_slug(
            title,
            lambda slug: self.store.run(move(post, slug=slug, **change.values)),
            self.design.slug_taken,
        )
        return self._post_out(moved)

    @allow("user", also=_AUTHOR)
    def publish_post(self, slug: Slug, version: MayMatch) -> PostOut:
        """Publish a post."""
        return self._publish(slug, version, published=True)

    @allow("user", also=_AUTHOR)
    def unpublish_post(self, slug: Slug, version: MayMatch) -> PostOut:
        """Turn a post back into a draft."""
        return self._publish(slug, version, published=False)

    def _publish(self, slug: str, version: Versions, *, published: bool) -> PostOut:
        post = self._my_post(slug, version)
        post.is_published = published
        return self._post_out(self.save(post))

    @allow("user", also=_AUTHOR, one_way=True)
    def delete_post(self, slug: Slug, version: IfMatch) -> None:
        """Delete a post."""
        self.store.run(delete(self._my_post(slug, version)))

    @allow("user", also="they are your posts, or you are an admin", one_way=True)
    def delete_posts(self, posts: Slugs) -> None:
        """Delete several posts: all of them, or none."""
        found = self.store.run(self.design.posts_by_slugs(list(dict.fromkeys(posts.slugs))))
        self.store.transact(*(delete(self._mine(post)) for post in found))

    def _post_out(self, post: Post) -> PostOut:
        return post_out(post, self.media.hosts)

    def _my_post(self, slug: str, version: Versions = None) -> Post:
        # Read consistently, so that a version that was just handed out is not stale.
        return self.find(get(Post, slug=slug, consistent=True), version, allowed=self._may_change, hidden=_is_draft)

    def _may_change(self, post: Post) -> bool:
        return self._is_author_or_admin(post.author_id)

    def _mine(self, post: Post | None) -> Post:
        if post is None or (_is_draft(post) and not self._may_change(post)):
            raise missing(Post)
        self.permit(self._may_change(post))
        return post


def _is_draft(post: Post) -> bool:
    """Whether others must not learn that the post exists."""
    return not post.is_published


def _slug(title: str) -> str:
    return slug_of(title, SLUG_LENGTH) or "post"
