"""Access patterns are checked once, when the design's class is created. One that the keys can't answer fails."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from keyplan.design import (
    HOUSEKEEPING,
    BatchGet,
    Design,
    DesignError,
    Entity,
    Follow,
    Get,
    Id,
    Lookup,
    Merge,
    Query,
    Scan,
    Table,
    at_least,
    batch_get,
    departure,
    follow,
    get,
    key,
    lookup,
    merge,
    pattern,
    query,
    ref,
    scan,
    starting,
    unique,
)
from keyplan.design.designs.patterns import Parameter
from keyplan.design.operations.bounds import Bound
from tests.design.support import wrong

blog = Table("Blog", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Post(Entity, table=blog):
    author: Id
    slug: Id
    at: datetime
    email: str = ""

    primary = key("USER#{author}", "POST#{slug}")
    by_time = blog.GSI1("BY#{author}", "{at}#{slug}")
    email_guard = unique("EMAIL#{email}", carries=("author", "slug"))


class Blog(Design):
    """A design with several patterns."""

    tables = (blog,)
    entities = (Post,)
    departures = (departure("The document says this.", "We do that.", "DynamoDB would reject it."),)

    @pattern("Get a post")
    def post(self, author: str, slug: str) -> Get[Post]:
        """One post."""
        return get(Post, author=author, slug=slug)

    @pattern("Get a post by e-mail")
    def by_email(self, email: str) -> Lookup[Post]:
        return lookup(Post.email_guard, email=email)

    @pattern("List posts of a user since a time")
    def since(self, author: str, at: datetime) -> Query[Post]:
        return query(Post.by_time, author=author, at=at_least(at), filter=lambda post: post.email == author)

    @pattern("List the posts of two users")
    def of_two(self, first: str, second: str) -> Merge[Post]:
        return merge([query(Post.by_time, author=each) for each in (first, second)], lambda post: post.at)

    @pattern("List posts, then themselves")
    def followed(self, author: str) -> Follow[Post]:
        return follow(query(Post.by_time, author=author), lambda p: ref(Post, author=p.author, slug=p.slug), Post)

    @pattern("Get many")
    def many(self, keys: Sequence[dict[str, str]]) -> BatchGet[Post]:
        return batch_get(Post, keys)

    @pattern("List all: Scan")
    def everything(self) -> Scan[Post]:
        return scan(Post)


def test_patterns_are_listed_in_the_order_and_words_of_the_document() -> None:
    assert {name: each.wording for name, each in Blog.patterns.items()} == {
        "post": "Get a post",
        "by_email": "Get a post by e-mail",
        "since": "List posts of a user since a time",
        "of_two": "List the posts of two users",
        "followed": "List posts, then themselves",
        "many": "Get many",
        "everything": "List all: Scan",
    }
    assert Blog.patterns["since"].parameters == ("author", "at")
    assert Blog.post.__doc__ == "One post."


def test_a_pattern_is_called_with_stand_ins() -> None:
    author, at = Parameter("author"), Parameter("at")
    read = Blog.patterns["since"].symbolic
    assert isinstance(read, Query)
    assert (read.values, read.bound) == ({"author": author}, ("at", Bound(">=", low=at)))
    assert read.filter is not None
    assert read.filter.operands[1] == author
    merged = Blog.patterns["of_two"].symbolic
    assert isinstance(merged, Merge)
    assert [each.values["author"] for each in merged.queries] == [Parameter("first"), Parameter("second")]
    many = Blog.patterns["many"].symbolic
    assert isinstance(many, BatchGet)
    assert many.keys == Parameter("keys")


def test_an_operation_knows_its_pattern() -> None:
    op = Blog().post("a", slug="s")
    assert (op.pattern, op.arguments) == ("post", {"author": "a", "slug": "s"})
    assert op.values == {"author": "a", "slug": "s"}


def declare(build: Callable[..., object]) -> None:
    """A design with this pattern."""
    build.__name__ = "wanted"
    wanted = pattern("Wanted")(build)  # type: ignore[type-var]  # whatever it returns
    type("Wrong", (Design,), {"tables": (blog,), "entities": (Post,), "wanted": wanted})


def misspelled(post: Post) -> bool:
    return post.sulg == "x"  # type: ignore[attr-defined, no-any-return]  # what is wrong here


BRANCHES = "Split it into two patterns, or let the caller decide."


@pytest.mark.parametrize(
    "build",
    [
        lambda self, slug: get(Post, author="a", slug=slug or "index"),
        lambda self, slug: get(Post, author="a", slug="x" if not slug else "y"),
        lambda self, slugs: [get(Post, author="a", slug=slug) for slug in slugs],
        lambda self, n: get(Post, author="a", slug="x" if n > 1 else "y"),
        lambda self, n: get(Post, author="a", slug=["x", "y"][n]),
        lambda self, slug: get(Post, author="a", slug="x" if "y" in slug else "z"),
    ],
)
def test_a_pattern_must_not_branch(build: Callable[..., object]) -> None:
    with wrong("pattern-branches", "Wrong.wanted", BRANCHES):
        declare(build)


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda self, slug: get(Post, slug=slug), "key-fields"),
        (lambda self, slug: query(Post.by_time, slug=slug), "key-fields"),
        (lambda self, slug: query(Post.by_time, author="a", slug=slug), "key-fields"),
        (lambda self, author: query(Post.by_time, author=starting(author)), "hash-range"),
        (lambda self, author: query(Post.by_time, author=author, consistent=True), "consistent-index"),
        (lambda self, email: lookup(Post.email_guard, e_mail=email), "key-fields"),
        (lambda self, author: query(Post.by_time, author=author, filter=misspelled), "no-such-field"),
    ],
)
def test_a_pattern_that_the_keys_cannot_answer_fails_when_the_design_is_made(
    build: Callable[..., object], code: str
) -> None:
    with pytest.raises(DesignError) as caught:
        declare(build)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "build",
    [
        (lambda self, slug: get(Post, author="a", slug="x" if slug == "y" else "z")),
        (lambda self, slug: get(Post, author="a", slug=f"post-{slug}")),
        (lambda self, slug: get(Post, author="a", slug=slug.lower())),
        (lambda self, slug: None),
    ],
    ids=["compares", "formats", "calls", "returns nothing"],
)
def test_a_pattern_must_not_inspect_its_parameters(build: Callable[..., object]) -> None:
    with pytest.raises(DesignError):
        declare(build)


def test_a_pattern_may_calculate_with_a_time() -> None:
    declare(lambda self, now: query(Post.by_time, author="a", at=at_least(now - timedelta(days=31))))


def test_a_design_lists_its_departures() -> None:
    [departed] = Blog.departures
    assert (departed.document, departed.here) == ("The document says this.", "We do that.")
    assert departed.because == "DynamoDB would reject it."


def test_housekeeping_has_its_own_table() -> None:
    assert Blog().table_name(HOUSEKEEPING) == "Blog-keyplan"
    assert HOUSEKEEPING not in Blog.tables
    assert Blog().all_tables[-1] is HOUSEKEEPING


def test_table_names_depend_on_the_environment() -> None:
    table = Table("hacktracker-{env}", key("PK"))

    class Tracker(Design):
        tables = (table,)

    assert Tracker({"env": "prod"}).table_name(table) == "hacktracker-prod"
    assert [*Tracker({"env": "prod"}).table_names.values()] == ["hacktracker-prod", "hacktracker-prod-keyplan"]
    with wrong("environment", "hacktracker-{env}", "Pass environment={'env': ...}."):
        Tracker().table_name(table)


def test_page_options_do_not_change_the_operation() -> None:
    first = query(Post.by_time, author="a")
    second = first.limit(7).after("cursor")
    assert (first.size, first.cursor) == (query(Post.by_time, author="a").size, None)
    assert (second.size, second.cursor) == (7, "cursor")


def test_an_entity_is_found_by_name() -> None:
    assert Blog().entity("Post") is Post
