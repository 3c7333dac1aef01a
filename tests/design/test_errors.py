"""Every invalid declaration that is refused, with its code, place and remedy."""

import ast
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import new_class
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, StringConstraints, field_validator
from typing_extensions import TypeAliasType

from keyplan import design
from keyplan.design import (
    KEYS_ONLY,
    Aggregate,
    Aggregated,
    Count,
    Design,
    DesignError,
    Entity,
    Get,
    Id,
    Lookup,
    Ref,
    Refusal,
    Rewrite,
    Table,
    Ttl,
    Version,
    aggregate,
    at_least,
    batch_get,
    belongs_to,
    collection,
    count,
    counts,
    created,
    derived,
    get,
    index,
    job,
    key,
    large,
    limit,
    limits,
    local,
    lookup,
    merge,
    mirror,
    pattern,
    query,
    ref,
    scan,
    starting,
    stored,
    taken,
    transact_get,
    unique,
    within,
)
from keyplan.design.examples.values import example_value
from keyplan.design.operations.conditions import recorded
from keyplan.design.operations.key_values import OPTIONS
from tests.design import test_vectors, test_words
from tests.design.support import wrong

blog = Table(
    "Blog",
    key("PK", "SK"),
    indexes={"GSI1": key("GSI1PK", "GSI1SK"), "ByStars": key("stars:N", "PK"), "LSI1": local("LSI1SK")},
)
other = Table("Other", key("PK"), indexes={"GSI9": key("GSI9PK")})


class User(Entity, table=blog):
    name: Id
    email: str = ""
    posts: Count = 0

    primary = key("USER#{name}", "PROFILE")
    email_guard = unique("EMAIL#{email}")
    by_email = unique("USEREMAIL#{email}", carries="name")


class Post(Entity, table=blog):
    author: Id
    slug: Id
    title: str = ""
    at: datetime

    primary = key("USER#{author}", "POST#{slug}")
    by_author = blog.GSI1("BY#{author}", "{at}#{slug}")


class Aside(Entity, table=blog):
    id: Id

    primary = key("ASIDE#{id}", "ASIDE")


WRONG: list[tuple[str, str, str, Callable[[], object]]] = []
"""Code, place, remedy, and the declaration."""

Declaration = Callable[[], object]


def declares(code: str, place: str, remedy: str) -> Callable[[Declaration], Declaration]:
    """Adds an invalid declaration to the table."""

    def add(declaration: Declaration) -> Declaration:
        WRONG.append((code, place, remedy, declaration))
        return declaration

    return add


# Tables


@declares("key-type", "Things", "Use S, N or B.")
def a_key_of_a_type_that_does_not_exist() -> object:
    return Table("Things", key("PK:BOOL"))


@declares("table-key", "Things", "Use key(hash, range).")
def a_table_with_two_hash_keys() -> object:
    return Table("Things", key(("a", "b")))


@declares("index-key", "Things.GSI1", "Use four or fewer.")
def an_index_with_five_hash_keys() -> object:
    return Table("Things", key("PK"), indexes={"GSI1": index(key(("a", "b", "c", "d", "e")))})


@declares("same-name-twice", "Things", "Use only the hash key.")
def a_table_with_one_attribute_as_both_keys() -> object:
    return Table("Things", key("id", "id"))


@declares("same-name-twice", "Things.GSI-Slug", "Use only the hash key.")
def an_index_with_one_attribute_as_both_keys() -> object:
    return Table("Things", key("id"), indexes={"GSI-Slug": key("slug", "slug")})


@declares("two-types", "Things.n", "Use the same type in all keys.")
def an_attribute_of_two_types() -> object:
    return Table("Things", key("PK", "n"), indexes={"GSI1": key("n:N")})


@declares("no-such-index", "Blog.GSI7", "The indexes are: GSI1, ByStars, LSI1.")
def an_unknown_index() -> object:
    return blog["GSI7"]


@declares("environment", "things-{env}", "Pass environment={'env': ...}.")
def a_table_name_without_its_environment() -> object:
    return Table("things-{env}", key("PK")).actual_name({"stage": "prod"})


# Entities


@declares("no-key", "Thing", 'Declare primary = key("...", "...").')
def an_entity_without_a_key() -> object:
    class Thing(Entity, table=blog):
        id: Id

    return Thing


@declares("same-attribute", "Thing.user_id", 'Give one of them a different name: Annotated[..., stored("Name")].')
def two_fields_with_the_same_name() -> object:
    class Thing(Entity, table=Table("Things", key("PK"), case="camel")):
        id: Id
        user_id: Id
        userId: Id  # noqa: N815 - what is wrong here
        primary = key("{id}")

    return Thing


@declares("foreign-index", "Thing.other", "Use an index of Blog.")
def an_index_of_another_table() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("{id}", "x")
        other = other.GSI9("{id}")

    return Thing


@declares("key-parts", "Thing.primary", "Give one part for each of: PK, SK.")
def a_key_with_too_few_parts() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("{id}")

    return Thing


@declares("key-parts", "Thing.primary", "Give one part for each of: PK.")
def a_key_with_too_many_parts() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}", "{id}")

    return Thing


@declares("key-parts", "Thing.by_x", "Give one part for each of: GSI1PK, GSI1SK.")
def an_index_key_with_too_few_parts() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("{id}", "x")
        by_x = blog.GSI1("{id}")

    return Thing


@declares("key-type", "Thing.by_stars", "Give a single field: {field}.")
def text_as_a_number_key() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("{id}", "x")
        by_stars = blog.ByStars("STARS#{id}")

    return Thing


@declares("no-such-field", "Thing.primary", "The fields are: id.")
def a_template_with_an_unknown_field() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("THING#{di}")

    return Thing


@declares("no-such-field", "Thing.by_stars", "The fields are: id.")
def a_number_key_with_an_unknown_field() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("{id}", "x")
        by_stars = blog.ByStars("{stars}")

    return Thing


@declares("no-such-field", "Thing.by_x", "Use a field of the entity.")
def a_condition_on_an_unknown_field() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("{id}", "x")
        by_x = blog.GSI1("{id}", "x", when="public")

    return Thing


@declares("no-such-field", "Thing.guard", "Use a field of the entity.")
def a_guard_that_carries_an_unknown_field() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}")
        guard = unique("GUARD#{id}", carries="name")

    return Thing


@declares(
    "bad-template",
    "Thing.primary",
    "Fields are written as {field}, {field:04}, {field:%Y-%m}, {field.lower}, {field.address}, {field.desc}, "
    "{field|text} or {shard(field, 16)}.",
)
def a_template_that_is_not_closed() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("THING#{id")

    return Thing


@declares("empty-template", "Thing.primary", "DynamoDB doesn't allow empty keys. Add text or a field.")
def an_empty_template() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("")

    return Thing


@declares(
    "unpadded-number",
    "Thing.primary.n",
    "Give it a width, such as {n:04}, {n:+04} if it may be negative, or {n:+6.2} for a decimal.",
)
def a_number_without_a_width() -> object:
    class Thing(Entity, table=other):
        n: int
        primary = key("THING#{n}")

    return Thing


@declares("unknown-format", "Thing.primary.n", "Use {n:04}, {n:+04}, {n:6.2} or {n:+6.2}.")
def an_unknown_format() -> object:
    class Thing(Entity, table=other):
        n: int
        primary = key("THING#{n:4d}")

    return Thing


@declares("not-on-top", "Thing.name", "Store it outside the envelope too: Annotated[..., on_top()].")
def a_condition_inside_an_envelope() -> object:
    class Thing(Entity, table=Table("Things", key("PK"), envelope="data")):
        id: Id
        name: str
        primary = key("{id}")

    return recorded(Thing, lambda thing: thing.name == "x")


@declares("no-such-field", "Post.titel", "The fields are: author, slug, title, at.")
def a_filter_on_an_unknown_field() -> object:
    return recorded(Post, lambda post: post.titel == "x")  # type: ignore[attr-defined]  # what is wrong here


# Operations


@declares("key-fields", "Post.primary", "The fields of the key are: author, slug.")
def a_get_with_half_a_key() -> object:
    return get(Post, author="a")


@declares("key-fields", "Post.primary", "The fields of the key are: author, slug.")
def a_get_with_too_many_values() -> object:
    return get(Post, author="a", slug="s", title="t")


@declares("key-fields", "User.by_email", "The fields of the guard's key are: email.")
def a_lookup_without_the_value() -> object:
    return lookup(User.by_email)


@declares("guard-carries", "User.email_guard", "Add these fields to what it carries.")
def a_lookup_through_a_guard_without_a_target() -> object:
    return lookup(User.email_guard, email="e")


@declares("key-fields", "Post.by_author", "A query needs the whole hash key.")
def a_query_without_the_hash_key() -> object:
    return query(Post.by_author)


@declares("key-fields", "Post.by_author", "Its fields are at, slug. Give them from the left, without gaps.")
def a_query_into_the_middle_of_the_sort_key() -> object:
    return query(Post.by_author, author="a", slug="s")


@declares("key-fields", "Post.by_author", "Its fields are at, slug. Give them from the left, without gaps.")
def a_query_for_a_field_that_is_not_in_the_key() -> object:
    return query(Post.by_author, author="a", title="t")


@declares(
    "key-fields",
    "Post.by_author.at",
    "The hash key needs exact values. Put the field that needs a bound into a sort key.",
)
def a_range_before_the_last_field() -> object:
    return query(Post.by_author, author="a", at=at_least(1), slug="s")


@declares(
    "hash-range",
    "Post.by_author.author",
    "The hash key needs exact values. Put the field that needs a bound into a sort key.",
)
def a_range_over_the_hash_key() -> object:
    return query(Post.by_author, author=starting("a"))


@declares("consistent-index", "Post.by_author", "Remove consistent, or query the table.")
def a_consistent_read_of_a_global_index() -> object:
    return query(Post.by_author, author="a", consistent=True)


@declares("not-its-key", "Post", "Use one that is.")
def a_key_of_another_entity() -> object:
    return Post.spec.access(User.primary.declared)


SAME_FORM = "All entities of a collection need hash keys with the same text and fields of the same types."


@declares("not-one-collection", "User.primary and Aside.primary", SAME_FORM)
def a_collection_across_two_partitions() -> object:
    return collection(User, Aside, name="n")


@declares("not-one-collection", "User.primary and Post.by_author", SAME_FORM)
def a_collection_of_a_table_and_an_index() -> object:
    return collection(User, Post.by_author, name="n")


class Lonely(Aggregate):
    user: User


class Unplaced(Aggregate, index=blog.GSI1):
    post: Post
    users: list[User]


class Reversed(Aggregate):
    posts: list[Post]
    user: User


@declares("aggregate", "Lonely", "Declare one field for each entity.")
def an_aggregate_of_one_entity() -> object:
    return aggregate(Lonely, name="n")


@declares("aggregate", "Unplaced.users", "Give it one, or read a collection.")
def an_aggregate_of_an_entity_that_is_not_in_its_index() -> object:
    return aggregate(Unplaced, author="n")


@declares("aggregate", "Reversed.posts", "Declare posts as an entity, the root.")
def an_aggregate_that_begins_with_a_list() -> object:
    return aggregate(Reversed, name="n")


# Reads


class Card(BaseModel):
    titel: str


class Badge(BaseModel):
    title: int


CHOOSE = "Return a field, or a tuple of fields: lambda post: (post.title, post.slug)."


@declares("only", "Post", CHOOSE)
def a_selection_of_no_field() -> object:
    return get(Post, author="a", slug="s").only(lambda post: "title")


@declares("only", "Post", CHOOSE)
def a_selection_that_computes() -> object:
    return get(Post, author="a", slug="s").only(lambda post: post.title.upper())


@declares("only", "User.primary", "Read whole entities, or query one of them.")
def a_selection_of_several_entities() -> object:
    return collection(User, Post, name="n").only(lambda item: item)


@declares("view", "str", "Declare its fields.")
def a_view_that_is_no_model() -> object:
    view: Any = str
    return get(Post, author="a", slug="s").only(view)


@declares("view-type", "Badge.title", "Use the same type, or inherit it from shared Fields.")
def a_view_with_another_type() -> object:
    return get(Post, author="a", slug="s").only(Badge)


@declares("no-such-field", "Card.titel", "The fields are: author, slug, title, at.")
def a_view_with_another_field() -> object:
    return get(Post, author="a", slug="s").only(Card)


@declares("count", "count", "Count one of these, such as query(Post.by_author, author=author).")
def a_count_of_a_batch() -> object:
    batch: Any = batch_get(User, ["ann"])
    return count(batch)


@declares("transact-get", "transact_get", "Use batch_get, which reads any number.")
def a_transaction_that_reads_nothing() -> object:
    return transact_get()


@declares("transact-get", "transact_get", "Give reads by key: get(...).")
def a_transaction_that_reads_a_list() -> object:
    listed: Any = scan(Post)
    return transact_get(listed)


@declares("unreadable-order", "merge", 'Use on_unreadable("skip").')
def a_merge_with_items_that_have_no_order() -> object:
    return merge([query(Post.by_author, author="a")], lambda post: post.at).on_unreadable("raw")


@declares("ttl-not-projected", "Session.by_owner", "Project expires into the index.")
def an_index_without_the_time_to_live() -> object:
    sessions = Table("Sessions", key("id"), indexes={"ByOwner": index(key("owner"), KEYS_ONLY)}, ttl="expires")

    class Session(Entity, table=sessions):
        id: Id
        owner: Id
        expires: Ttl

        primary = key("{id}")
        by_owner = sessions.ByOwner("{owner}")

    return Session


# Designs


@declares("same-name", "Twice.Blog", "Rename one of them.")
def two_tables_with_the_same_name() -> object:
    class Twice(Design):
        tables = (blog, Table("Blog", key("PK")))

    return Twice


@declares("same-name", "Twice.User", "Rename one of them.")
def two_entities_with_the_same_name() -> object:
    first = User

    def second() -> type[Entity]:
        class User(Entity, table=other):
            name: Id

            primary = key("USER#{name}")

        return User

    class Twice(Design):
        tables = (blog, other)
        entities = (first, second())

    return Twice


@declares("foreign-table", "Post", "Add it to tables.")
def an_entity_of_a_table_that_is_not_listed() -> object:
    class Wrong(Design):
        tables = (other,)
        entities = (Post,)

    return Wrong


@declares(
    "ambiguous-entities",
    "First and Second",
    "Use different literals, Id for fields without the separator, or a type attribute.",
)
def two_entities_that_cannot_be_distinguished() -> object:
    class First(Entity, table=other):
        id: str
        primary = key("THING#{id}")

    class Second(Entity, table=other):
        id: Id
        primary = key("THING#{id}#X")

    class Wrong(Design):
        tables = (other,)
        entities = (First, Second)

    return Wrong


@declares("derived-entity", "Thing.copies", "Annotate what the method returns, and add that entity to the design.")
def derived_items_of_an_unknown_entity() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}")

        @derived
        def copies(self) -> list[Entity]:
            return []

    class Wrong(Design):
        tables = (other,)
        entities = (Thing,)

    return Wrong


def child_of(declaration: object) -> object:
    """A design with a child whose `parent` is declared like this."""

    class Child(Entity, table=blog):
        user: Id
        id: Id
        primary = key("CHILD#{id}", "CHILD")
        parent = declaration

    class Wrong(Design):
        tables = (blog,)
        entities = (User, Child)

    return Wrong


def user(self: Entity) -> Ref[User]:
    return ref(User, name=self.user)  # type: ignore[attr-defined]  # a field of the child


def nothing(self: Entity) -> None:
    return None


@declares("parent", "Child.parent", "Return ref(Parent, ...).")
def a_parent_that_is_not_returned() -> object:
    return child_of(belongs_to(on_delete="keep")(nothing))


@declares("no-such-field", "Child.owner", "Use a field of the entity.")
def a_parent_with_an_unknown_field() -> object:
    def owner(self: Entity) -> Ref[User]:
        return ref(User, name=self.owner)  # type: ignore[attr-defined]  # what is wrong here

    return child_of(belongs_to(on_delete="keep")(owner))


@declares("refuse-needs-count", "Child.parent", 'Add count="...", the name of a Count field of the parent.')
def a_refusal_without_a_count() -> object:
    return child_of(belongs_to(on_delete="refuse")(user))


@declares("cascade-via", "Child.parent", "Use the name of a placement.")
def a_cascade_without_a_key() -> object:
    return child_of(belongs_to(on_delete="cascade", via="by_user")(user))


@declares(
    "cascade-via",
    "Child.parent",
    "Use via= with a placement whose hash key is made of the parent's key, or list all values in over=.",
)
def a_cascade_that_does_not_find_the_children() -> object:
    return child_of(belongs_to(on_delete="cascade")(user))


@declares("counter", "Child.parent", "Declare children: Count = 0 there.")
def a_count_on_an_unknown_field() -> object:
    return child_of(counts("children")(user))


@declares("counter", "Child.parent", "Declare email: Count = 0 there.")
def a_refusal_on_a_field_that_is_not_a_count() -> object:
    return child_of(belongs_to(on_delete="refuse", count="email")(user))


@declares("on-delete", "user", "Use cascade, refuse or keep.")
def an_unknown_on_delete() -> object:
    return child_of(belongs_to(on_delete="casscade")(user))  # type: ignore[arg-type]  # what it is about


@declares("pattern-branches", "Wrong.post", "Split it into two patterns, or let the caller decide.")
def a_pattern_that_branches() -> object:
    class Wrong(Design):
        tables = (blog,)
        entities = (User, Post)

        @pattern("Get post")
        def post(self, author: str, slug: str) -> Get[Post]:
            return get(Post, author=author, slug=slug or "index")

    return Wrong


@declares("name", "t", "Use 3 to 255 letters, digits, _, - and dots.")
def a_name_that_dynamodb_rejects() -> object:
    return Table("t", key("PK"))


@declares("foreign-table", "Thing.guard", "Add it to tables.")
def a_guard_in_a_table_that_is_not_listed() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}")
        guard = unique("GUARD#{id}", table=Table("Guards", key("PK")))

    class Wrong(Design):
        tables = (other,)
        entities = (Thing,)

    return Wrong


@declares("ambiguous-guard", "Thing.guard", "Start the guard's key with a different literal.")
def a_guard_that_looks_like_an_item() -> object:
    class Thing(Entity, table=other):
        id: Id
        name: Id
        primary = key("THING#{id}")
        guard = unique("THING#{name}")

    class Wrong(Design):
        tables = (other,)
        entities = (Thing,)

    return Wrong


@declares("no-format", "Thing.primary.tags", "Keys can contain text, numbers, times, dates, UUIDs, enums and literals.")
def a_list_in_a_key() -> object:
    class Thing(Entity, table=other):
        tags: list[str]
        primary = key("{tags}")

    return Thing


@declares("unknown-format", "Thing.primary.name", "Remove it, or use a numeric field.")
def a_width_for_text() -> object:
    class Thing(Entity, table=other):
        name: str
        primary = key("{name:04}")

    return Thing


@declares("key-type", "Thing.by_stars.id", "Use a field of that type, or make the key attribute an S.")
def a_number_key_with_text() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("{id}", "x")
        by_stars = blog.ByStars("{id}")

    return Thing


@declares("two-templates", "Thing.by_id", "Use the same template, or remove it.")
def two_keys_that_write_one_attribute_differently() -> object:
    class Thing(Entity, table=blog):
        id: Id
        primary = key("THING#{id}", "x")
        by_id = blog.LSI1("OTHER#{id}", "{id}")

    return Thing


@declares(
    "optional-key",
    "Thing.primary.id",
    "Remove None from the type, or give the key a default: {field|text}.",
)
def an_optional_field_in_the_primary_key() -> object:
    class Thing(Entity, table=other):
        id: Id | None = None
        primary = key("{id}")

    return Thing


@declares("lost-value", "Site.site", 'Store it under a different name: Annotated[..., stored("Name")].')
def a_field_stored_as_an_optional_key() -> object:
    class Site(Entity, table=blog):
        id: Id
        site: Annotated[Id, stored("GSI1PK")]
        listed: bool = False
        primary = key("SITE#{id}", "SITE")
        listing = blog.GSI1("{site}", "{id}", when="listed")

    return Site


@declares(
    "lost-value",
    "Site.site",
    "Write {site} in the template 'SITE', or store it under a different name: Annotated[..., stored(\"Name\")].",
)
def a_field_stored_as_a_key_without_it() -> object:
    class Site(Entity, table=blog):
        id: Id
        site: Annotated[Id, stored("SK")]
        primary = key("SITE#{id}", "SITE")

    return Site


@declares(
    "number-in-key", "Thing.ranking.votes", "Give the index a numeric key attribute with the field's name: votes:N."
)
def a_counter_in_the_text_of_a_key() -> object:
    class Thing(Entity, table=blog):
        id: Id
        votes: Count = 0
        primary = key("THING#{id}", "THING")
        ranking = blog.GSI1("THINGS", "{votes:06}")

    return Thing


@declares(
    "number-in-key", "Thing.ranking.votes", "Give the index a numeric key attribute with the field's name: votes:N."
)
def a_counter_as_a_number_key_of_another_name() -> object:
    class Thing(Entity, table=blog):
        id: Id
        votes: Count = 0
        primary = key("THING#{id}", "THING")
        ranking = blog.ByStars("{votes}")

    return Thing


@declares(
    "unpadded-number",
    "Thing.primary.round",
    "Use text of one width, or a number with a width, such as {n:04}.",
)
def choices_where_ten_sorts_before_nine() -> object:
    class Thing(Entity, table=blog):
        id: Id
        round: Literal[9, 10]
        primary = key("THING#{id}", "ROUND#{round}")

    return Thing


@declares("guard-carries", "Thing.copy_of", "Add these fields to what it carries.")
def a_lookup_through_a_mirror_without_a_target() -> object:
    class Thing(Entity, table=other):
        id: Id
        place: Id
        primary = key("{place}#{id}")

        @mirror
        def copy_of(self) -> Aside:
            return Aside(id=self.id)

    class Wrong(Design):
        tables = (other, blog)
        entities = (Thing, Aside)

        @pattern("Thing by id")
        def thing(self, id: str) -> Lookup[Thing]:
            return lookup(Thing.copy_of, id=id)

    return Wrong


@declares("transaction-size", "Thing.tags", "Give the lists a smaller max_length.")
def more_items_than_fit_into_a_transaction() -> object:
    class Thing(Entity, table=other):
        id: Id
        tags: Annotated[list[Id], Field(max_length=50)]
        primary = key("{id}")

        @derived
        def tagged(self) -> list[Aside]:
            return [Aside(id=tag) for tag in self.tags]

    class Wrong(Design):
        tables = (other, blog)
        entities = (Thing, Aside)

    return Wrong


@declares("key-type", "Thing.tags", 'Store it under a different name: Annotated[..., stored("Name")].')
def a_list_with_the_name_of_an_index_key() -> object:
    class Thing(Entity, table=blog):
        id: Id
        tags: Annotated[list[str], stored("GSI1PK")]
        primary = key("THING#{id}", "THING")

    return Thing


@declares("not-by-itself", "Thing.place", 'Store it under a different name: Annotated[..., stored("Name")].')
def a_condition_on_a_field_that_shares_its_attribute() -> object:
    class Thing(Entity, table=other):
        id: Id
        place: Annotated[Id, stored("PK")]
        primary = key("{place}#{id}")

    return recorded(Thing, lambda thing: thing.place == "here")


@declares("derived-entity", "Thing.copy_of", "Declare its effects in Thing, next to copy_of.")
def a_derived_item_with_a_guard() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}")

        @mirror
        def copy_of(self) -> User:
            return User(name=self.id)

    class Wrong(Design):
        tables = (other, blog)
        entities = (Thing, User)

    return Wrong


@declares("not-projected", "Slim.by_name.text", "Project text into the index.")
def a_filter_on_a_field_that_is_not_projected() -> object:
    slim = Table("Slim", key("PK"), indexes={"ByName": index(key("name"), KEYS_ONLY)})

    class Slim(Entity, table=slim):
        name: Id
        text: str = ""
        primary = key("SLIM#{name}")
        by_name = slim.ByName("{name}")

    return query(Slim.by_name, name="a", filter=lambda slim: slim.text == "")


@declares("filter-on-key", "Keyed.primary.status", "Query by it, or use another index.")
def a_filter_on_the_key_that_is_queried() -> object:
    class Keyed(Entity, table=Table("Keyed", key("status", "at"))):
        status: Id
        at: datetime
        primary = key("{status}", "{at}")

    return query(Keyed.primary, status="s", filter=lambda each: each.status == "s")


# Values that would be lost


STORABLE = "Use text, numbers, bytes, times, dates, UUIDs, enums, or lists, sets, dicts and models of them."


class Nested(BaseModel):
    note: str | None = "none"


@declares("no-codec", "Thing.lasts", STORABLE)
def a_type_that_cannot_be_stored() -> object:
    class Thing(Entity, table=other):
        id: Id
        lasts: timedelta
        primary = key("{id}")

    return Thing


@declares("unknown-type", "Unknown", "Define it at the top of the module, before the entity.")
def an_alias_of_a_type_that_is_not_defined() -> object:
    unknown: Any = TypeAliasType("Unknown", "list[Missing]")  # noqa: F821 - on purpose

    class Thing(Entity, table=other):
        id: Id
        value: unknown
        primary = key("{id}")

    return Thing


@declares("no-codec", "Thing.paths", STORABLE)
def a_list_of_a_type_that_cannot_be_stored() -> object:
    class Thing(Entity, table=other):
        id: Id
        paths: list[Path] | None = None
        primary = key("{id}")

    return Thing


NAMES = "Use keys of one type that can be read from a text: texts, numbers, dates, UUIDs, enums of texts."


@declares("no-codec", "Thing.shares", NAMES)
def a_dict_with_keys_that_are_bytes() -> object:
    class Thing(Entity, table=other):
        id: Id
        shares: dict[bytes, int]
        primary = key("{id}")

    return Thing


@declares("no-codec", "Thing.points", NAMES)
def a_dict_with_keys_that_are_tuples() -> object:
    class Thing(Entity, table=other):
        id: Id
        points: list[dict[tuple[int, int], str]]
        primary = key("{id}")

    return Thing


@declares("no-codec", "Thing.seats", NAMES)
def a_dict_with_keys_that_may_be_none() -> object:
    class Thing(Entity, table=other):
        id: Id
        seats: dict[str | None, int]
        primary = key("{id}")

    return Thing


@declares("no-codec", "Thing.levels", NAMES)
def a_dict_with_keys_that_are_literal_numbers() -> object:
    class Thing(Entity, table=other):
        id: Id
        levels: dict[Literal[1, 2], int]
        primary = key("{id}")

    return Thing


MEMBERS = "Use a list, or a set of a text for each member."


@declares("no-codec", "Thing.squares", MEMBERS)
def a_set_of_tuples() -> object:
    class Thing(Entity, table=other):
        id: Id
        squares: frozenset[tuple[int, int]] = frozenset()
        primary = key("{id}")

    return Thing


@declares("no-codec", "Thing.days", MEMBERS)
def a_set_of_what_may_be_none_inside_a_dict() -> object:
    class Thing(Entity, table=other):
        id: Id
        days: dict[str, set[date | None]]
        primary = key("{id}")

    return Thing


@declares("no-codec", "Thing.flags", MEMBERS)
def a_set_of_truths() -> object:
    class Thing(Entity, table=other):
        id: Id
        flags: set[bool]
        primary = key("{id}")

    return Thing


@declares("no-codec", "Thing.mixed", MEMBERS)
def a_set_of_texts_and_numbers() -> object:
    class Thing(Entity, table=other):
        id: Id
        mixed: set[Literal["all", 1, 2]]
        primary = key("{id}")

    return Thing


@declares("lost-none", "Thing.note", "Make None the default, or remove None from the type.")
def none_that_would_be_read_back_as_a_default() -> object:
    class Thing(Entity, table=other):
        id: Id
        note: str | None = "none"
        primary = key("{id}")

    return Thing


@declares("lost-none", "Thing.inner.note", "Make None the default, or remove None from the type.")
def none_in_a_model_that_would_be_read_back_as_a_default() -> object:
    class Thing(Entity, table=other):
        id: Id
        inner: list[Nested]
        primary = key("{id}")

    return Thing


@declares("lost-none", "Thing.at", "Make None the default, or remove None from the type.")
def none_with_a_default_that_is_made() -> object:
    class Thing(Entity, table=other):
        id: Id
        at: datetime | None = created()
        primary = key("{id}")

    return Thing


@declares("lost-empty-set", "Thing.roles", "Remove the default, and pass the members when you create the entity.")
def an_empty_set_that_would_be_read_back_as_a_default() -> object:
    class Thing(Entity, table=other):
        id: Id
        roles: frozenset[str] = frozenset({"reader"})
        primary = key("{id}")

    return Thing


@declares("empty-or-none", "Thing.roles", "Remove None from the type: a missing set is an empty set.")
def an_empty_set_with_none() -> object:
    class Thing(Entity, table=other):
        id: Id
        roles: set[str] | None = None
        primary = key("{id}")

    return Thing


@declares("empty-or-none", "Thing.roles", "Remove None from the type: a missing set is an empty set.")
def an_empty_set_with_none_in_a_list() -> object:
    class Thing(Entity, table=other):
        id: Id
        roles: list[set[str] | None]
        primary = key("{id}")

    return Thing


@declares("taken-attribute", "Thing.kind", 'Store it under a different name: Annotated[..., stored("Name")].')
def a_field_named_like_the_type_attribute() -> object:
    class Thing(Entity, table=Table("Typed", key("PK"), type_attribute="kind"), type="THING"):
        id: Id
        kind: str
        primary = key("{id}")

    return Thing


@declares("same-kind", "Thing.second", "Make it a plain int, or remove it.")
def two_versions() -> object:
    class Thing(Entity, table=other):
        id: Id
        first: Version = 0
        second: Version = 0
        primary = key("{id}")

    return Thing


@declares("ttl-attribute", "Thing.until", 'Store a Ttl there (stored("expires")), and nothing else.')
def a_time_to_live_in_the_wrong_attribute() -> object:
    class Thing(Entity, table=Table("Short", key("PK"), ttl="expires")):
        id: Id
        until: Ttl
        primary = key("{id}")

    return Thing


@declares("ttl-attribute", "Thing.until", 'Give the table ttl="until".')
def a_time_to_live_in_a_table_without_one() -> object:
    class Thing(Entity, table=other):
        id: Id
        until: Ttl
        primary = key("{id}")

    return Thing


@declares("two-templates", "Thing.second", "Use the same template, or remove it.")
def two_placements_in_one_index() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}")
        first = other.GSI9("A#{id}")
        second = other.GSI9("B#{id}")

    return Thing


@declares("no-type-attribute", "Thing", "Give the table type_attribute=..., or remove the type.")
def a_type_without_a_type_attribute() -> object:
    class Thing(Entity, table=other, type="THING"):
        id: Id
        primary = key("{id}")

    return Thing


@declares(
    "class-options",
    "Thing",
    'Use table=... and, with it, type="...", noun="...", exists=Refusal(...), expected=expect(...) and claims=(...), '
    "or abstract=True.",
)
def a_misspelled_option() -> object:
    class Thing(Entity, tabel=other):
        id: Id
        primary = key("{id}")

    return Thing


@declares("no-table", "Thing", "Declare it with table=..., or with abstract=True if it is there to be inherited from.")
def an_entity_without_a_table() -> object:
    class Thing(Entity):
        id: Id
        primary = key("{id}")

    return Thing


@declares("not-a-sequence", "Wrong", "Write entities = (One,), with the comma.")
def a_forgotten_comma() -> object:
    class Wrong(Design):
        tables = (blog,)
        entities = User  # type: ignore[assignment]

    return Wrong


@declares("pattern-wording", "a_pattern_without_a_wording.<locals>.Wrong.user", 'Write @pattern("Get order by id").')
def a_pattern_without_a_wording() -> object:
    class Wrong(Design):
        tables = (blog,)
        entities = (User,)

        @pattern  # type: ignore[arg-type]
        def user(self, name: str) -> Get[User]:  # type: ignore[misc]
            return get(User, name=name)

    return Wrong


@declares(
    "not-a-key", "User", f"Use one of: {', '.join(f'User.{each}' for each in ('primary', *User.spec.placements))}."
)
def a_query_of_an_entity() -> object:
    return query(User, name="ann")  # type: ignore[arg-type]


@declares("unknown-option", "User.primary", "Did you mean newest_first? The options are " + ", ".join(OPTIONS) + ".")
def a_misspelled_option_of_a_query() -> object:
    return query(User.primary, newestfirst=True)


@declares("foreign-entity", "Wrong.aside", "Add it to Wrong.entities.")
def a_pattern_of_an_entity_that_is_not_in_the_design() -> object:
    class Wrong(Design):
        tables = (blog,)
        entities = (User,)

        @pattern("Get aside")
        def aside(self, id: str) -> Get[Aside]:
            return get(Aside, id=id)

    return Wrong


@declares("foreign-entity", "Thing.of", "Add it to Wrong.entities.")
def a_counter_on_an_entity_that_is_not_in_the_design() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}")

        @counts("posts")
        def of(self) -> Ref[User]:
            return ref(User, name=self.id)

    class Wrong(Design):
        tables = (other,)
        entities = (Thing,)

    return Wrong


@declares("key-fields", "User.primary", "The fields of the key are: name.")
def a_parent_by_a_field_that_is_not_in_its_key() -> object:
    class Thing(Entity, table=other):
        id: Id
        primary = key("{id}")

        @belongs_to(on_delete="keep")
        def of(self) -> Ref[User]:
            return ref(User, nickname=self.id)

    class Wrong(Design):
        tables = (other, blog)
        entities = (Thing, User)

    return Wrong


@declares("key-fields", "Post.primary", "The fields of the key are: author, slug.")
def a_batch_with_part_of_the_key() -> object:
    return batch_get(Post, [{"author": "ann"}])


@declares("key-type", "Thing.number", "Keep guards in a table with keys of type S.")
def a_guard_in_a_table_with_number_keys() -> object:
    numbers = Table("Numbers", key("number:N"))

    class Thing(Entity, table=other):
        id: Id
        number_of: int
        primary = key("{id}")
        number = unique("{number_of:04}", table=numbers)

    class Wrong(Design):
        tables = (other, numbers)
        entities = (Thing,)

    return Wrong


@declares("local-index", "Flat.Local", "Make it a global index: key(hash, range).")
def a_local_index_without_a_range_key() -> object:
    return Table("Flat", key("PK"), indexes={"Local": local("x")})


@declares("capacity", "Paid", 'Use capacity=(read, write) with billing="PROVISIONED", and only with it.')
def provisioned_capacity_without_units() -> object:
    return Table("Paid", key("PK"), billing="PROVISIONED")


@declares("unknown-field", "Wrong.in_order", "Name its fields.")
def a_limit_on_a_field_that_does_not_exist() -> object:
    class Wrong(Entity, table=blog):
        name: Id
        primary = key("A#{name}", "A")

        @limits("name", "surname")
        def in_order(self) -> Refusal | None:
            return None

    return Wrong


# Computed keys


def thing(hash: str, range: str = "{id}", *, by: str = "GSI1", **rules: object) -> type[Entity]:
    """An entity with these templates in an index, or in its primary key."""
    fields = {"id": Id, "at": datetime, "day": date, "size": Decimal, "word": str}
    keys = {"primary": key("THING#{id}", "THING"), "by": blog.GSI1(hash, range)}
    body = {"__annotations__": fields, "__module__": __name__, **keys, **rules}
    if by == "primary":
        body["primary"] = key(hash, range)
        del body["by"]
    return new_class("Thing", (Entity,), {"table": blog}, lambda space: space.update(body))


UNITS = "Use %Y, %Y-%m, %Y-%m-%d and so on down to %S, or %G-W%V for weeks."


@declares("bucket-format", "Thing.by.at", UNITS)
def a_bucket_with_the_name_of_a_month() -> object:
    return thing("{at:%Y-%B}")


@declares("bucket-format", "Thing.by.at", UNITS)
def a_bucket_that_ends_with_a_percent_sign() -> object:
    return thing("{at:%Y-%}")


@declares("bucket-format", "Thing.by.day", "Use %Y, %Y-%m or %Y-%m-%d.")
def a_bucket_of_hours_of_a_date() -> object:
    return thing("{day:%Y-%m-%d %H}")


@declares("bucket-format", "Thing.by.at", "Separate the units by other characters.")
def a_bucket_with_digits_of_its_own() -> object:
    return thing("{at:%Y1%m}")


@declares("bucket-order", "Thing.by.at", UNITS)
def a_bucket_with_the_month_first() -> object:
    return thing("{at:%m-%Y}")


@declares("bucket-order", "Thing.by.at", UNITS)
def a_bucket_without_the_year() -> object:
    return thing("{at:%m-%d}")


@declares("bucket-order", "Thing.by.at", UNITS)
def a_bucket_that_leaves_out_the_month() -> object:
    return thing("{at:%Y-%d}")


@declares("bucket-order", "Thing.by.at", UNITS)
def a_bucket_with_a_week_of_the_calendar_year() -> object:
    return thing("{at:%Y-%V}")


@declares("unknown-format", "Thing.by.word", "Remove it, or use such a field.")
def a_bucket_of_text() -> object:
    return thing("{word:%Y-%m}")


@declares("not-invertible", "Thing.by.word", "Use .desc with numbers, times and dates.")
def text_in_reverse_order() -> object:
    return thing("A", "{word.desc}")


@declares("not-invertible", "Thing.by.kind", "Use .desc with numbers, times and dates.")
def a_literal_in_reverse_order() -> object:
    return thing("A", "{kind.desc}", __annotations__={"id": Id, "kind": Literal["a", "b"]})


@declares("shard-count", "Thing.by.id", "Use 2 to 256 shards.")
def one_shard() -> object:
    return thing("{shard(id, 1)}")


@declares("shard-count", "Thing.by.id", "Use 2 to 256 shards.")
def too_many_shards() -> object:
    return thing("{shard(id, 16, was=257)}")


@declares("shard-count", "Thing.by.id", "Remove was=.")
def as_many_shards_as_before() -> object:
    return thing("{shard(id, 16, was=16)}")


@declares("no-format", "Thing.by.size", "Shard by text, whole numbers, times, dates, UUIDs, enums or literals.")
def a_shard_of_a_decimal() -> object:
    return thing("{shard(size, 16)}")


@declares("shard-in-sort-key", "Thing.by.id", "Put the shard into the hash key.")
def a_shard_in_a_sort_key() -> object:
    return thing("A", "{shard(id, 16)}#{id}")


@declares("shard-in-guard", "Thing.guard.word", "Use {word}.")
def a_shard_in_a_guard() -> object:
    return thing("A", guard=unique("WORD#{shard(word, 4)}"))


@declares(
    "shard-was",
    "Thing.primary.id",
    "Use was= in the key of an index. To change a primary key, declare a second entity with the new key, and move the "
    "items by a rewrite: lambda old: (create(New.from_fields(old)), delete(old)).",
)
def a_primary_key_with_former_shards() -> object:
    return thing("{shard(id, 16, was=4)}", "{id}", by="primary")


@declares("not-injective", "Thing.primary.at", "Add {at} to the primary key, as the last part of the sort key.")
def a_primary_key_with_only_the_bucket_of_a_field() -> object:
    return thing("THINGS#{at:%Y-%m}", "{id}", by="primary")


@declares("not-injective", "Thing.primary.word", "Add {word} to the primary key, as the last part of the sort key.")
def a_primary_key_with_only_the_shard_of_a_field() -> object:
    return thing("{word.lower}#{shard(word, 4)}", "{id}", by="primary")


@declares("computed-twice", "Thing.by.id", "Keep one of them, and put the other value into the sort key.")
def two_shards_in_a_key() -> object:
    return thing("{shard(word, 4)}#{shard(id, 4)}")


@declares("several-sort-keys", "Thing.by.id", "Use one attribute as the sort key.")
def shards_with_two_sort_keys() -> object:
    table = Table("Several", key("PK"), indexes={"GSI1": key("hash", ("first", "second"))})

    class Thing(Entity, table=table):
        id: Id
        word: str
        primary = key("{id}")
        by = table.GSI1("{shard(id, 4)}", ("{word}", "{id}"))

    return Thing


@declares("inverted-value", "Thing.at", 'Store it under a different name: Annotated[..., stored("Name")].')
def a_field_that_is_stored_in_reverse() -> object:
    annotations = {"id": Id, "at": Annotated[datetime, stored("GSI1SK")]}
    return thing("A", "{at.desc}", __annotations__=annotations)


@declares("lost-value", "Thing.at", 'Store it under a different name: Annotated[..., stored("Name")].')
def a_field_that_is_stored_as_its_bucket() -> object:
    annotations = {"id": Id, "at": Annotated[datetime, stored("GSI1SK")]}
    return thing("A", "{at:%Y-%m}", __annotations__=annotations)


@declares("key-type", "Thing.by_stars", "Give a single field: {field}.")
def a_number_key_in_reverse() -> object:
    return thing("A", by_stars=blog.ByStars("{stars.desc}"), __annotations__={"id": Id, "stars": int})


@declares("open-range", "Thing.by.at", "Use within(first, last), or one value for one bucket.")
def a_range_of_buckets_without_an_end() -> object:
    return query(thing("{at:%Y-%m}", "{at}").by, at=at_least(1))  # type: ignore[attr-defined]  # declared above


@declares("bucket-range", "Thing.by.at", "Begin the sort key with {at}, or query one bucket with one value.")
def a_range_of_buckets_that_the_sort_key_does_not_limit() -> object:
    return query(thing("{at:%Y-%m}", "{id}").by, at=within(1, 2))  # type: ignore[attr-defined]  # declared above


@declares("bound-on-bucket", "Thing.by.at", "Use {at} in the sort key, which sorts by time as well.")
def a_bound_on_a_bucket_in_a_sort_key() -> object:
    return query(thing("A", "{at:%Y-%m}").by, at=at_least(1))  # type: ignore[attr-defined]  # declared above


@declares("newest-first", "Thing.by", "Leave newest_first out.")
def newest_first_of_a_key_in_reverse() -> object:
    return query(thing("A", "{at.desc}").by, newest_first=True)  # type: ignore[attr-defined]  # declared above


@declares("key-fields", "Thing.by", "Its fields are at. Give them from the left, without gaps.")
def a_shard_by_a_field_that_is_not_in_the_sort_key() -> object:
    return query(thing("{shard(id, 4)}", "{at}").by, id="1")  # type: ignore[attr-defined]  # declared above


# Abstract entities


class Abstract(Entity, abstract=True):
    id: Id
    primary = key("{id}")
    guard = unique("GUARD#{id}", carries="id")


INHERIT = "Use an entity that inherits from it."


@declares("abstract-entity", "Abstract", INHERIT)
def an_item_of_an_abstract_entity() -> object:
    return Abstract(id="1")


@declares("abstract-entity", "Abstract", INHERIT)
def a_get_of_an_abstract_entity() -> object:
    return get(Abstract, id="1")


@declares("abstract-entity", "Abstract", INHERIT)
def a_query_of_an_abstract_entity() -> object:
    return query(Abstract.primary, id="1")


@declares("abstract-entity", "Abstract", INHERIT)
def a_lookup_of_an_abstract_entity() -> object:
    return lookup(Abstract.guard, id="1")


@declares("abstract-entity", "Abstract", INHERIT)
def a_scan_of_an_abstract_entity() -> object:
    return scan(Abstract)


@declares("abstract-entity", "Abstract", INHERIT)
def an_abstract_entity_in_a_design() -> object:
    class Wrong(Design):
        tables = (other,)
        entities = (Abstract,)

    return Wrong


@declares("large-type", "Wrong.body", "Use str or bytes.")
def a_large_number() -> object:
    class Wrong(Entity, table=blog):
        name: Id
        body: Annotated[int, large()]
        primary = key("A#{name}", "A")

    return Wrong


@declares("abstract-entity", "Thing", "Give these to the entities that inherit from it.")
def an_abstract_entity_with_a_type() -> object:
    class Thing(Entity, table=other, type="THING", abstract=True):
        id: Id

    return Thing


@declares("foreign-index", "Thing.by", "Use an index of Blog.")
def an_inherited_index_of_another_table() -> object:
    class Shared(Entity, abstract=True):
        id: Id
        by = other.GSI9("{id}")

    class Thing(Shared, table=blog):
        primary = key("THING#{id}", "THING")

    return Thing


@declares("large-key", "Wrong.body", "Use another field there.")
def a_large_value_in_a_guard() -> object:
    class Wrong(Entity, table=blog):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}", "A")
        guard = unique("BODY#{name}", carries="body")

    return Wrong


@declares("large-envelope", "Wrong.body", "Declare large values in a table without an envelope.")
def a_large_value_in_an_envelope() -> object:
    class Wrong(Entity, table=Table("Packed", key("PK", "SK"), envelope="data")):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}", "A")

    return Wrong


@declares("large-limit", "Wrong.body", "Use 1024 to 350000 bytes.")
def more_inline_than_an_item_can_have() -> object:
    class Wrong(Entity, table=blog):
        name: Id
        body: Annotated[str, large(inline=500_000)]
        primary = key("A#{name}", "A")

    return Wrong


@declares("large-order", "Wrong.body", "Make large() the last marker in Annotated[...].")
def a_limit_after_large() -> object:
    class Wrong(Entity, table=blog):
        name: Id
        body: Annotated[str, large(), StringConstraints(max_length=5)]
        primary = key("A#{name}", "A")

    return Wrong


@declares(
    "large-validator",
    "Wrong.body",
    "Declare it with the type, before large(): Annotated[str, AfterValidator(...), large()].",
)
def a_validator_of_a_large_value() -> object:
    class Wrong(Entity, table=blog):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}", "A")

        @field_validator("body")
        @classmethod
        def upper(cls, value: str) -> str:
            return value.upper()

    return Wrong


@declares(
    "large-joint-limit",
    "Wrong.body",
    "Limit it alone, with its type, or keep what the limit needs in another field.",
)
def a_large_value_in_a_joint_limit() -> object:
    class Wrong(Entity, table=blog):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}", "A")

        @limits("name", "body")
        def in_order(self) -> Refusal | None:
            return None

    return Wrong


@declares(
    "large-sort-key",
    "Wrong.body",
    'Give the table a sort key, or keep the value in object storage: large(kept_in="objects").',
)
def parts_in_a_table_without_a_sort_key() -> object:
    class Wrong(Entity, table=other):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}")

    return Wrong


@declares("large-parts", "Beside.primary", 'Begin the sort key with a text that sorts before it, such as "ITEM#".')
def a_list_that_would_read_parts() -> object:
    class Owner(Entity, table=blog):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}", "A")

    class Beside(Entity, table=blog):
        name: Id
        number: Id
        primary = key("A#{name}", "{number}")

    class Wrong(Design):
        tables = (blog,)
        entities = (Owner, Beside)

    return Wrong


@declares("large-parts", "Owner.guard", 'Begin the sort key with a text that sorts before it, such as "ITEM#".')
def a_guard_that_looks_like_a_part() -> object:
    class Owner(Entity, table=blog):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}", "A")
        guard = unique("A#{name}", "~PART#{name}")

    class Wrong(Design):
        tables = (blog,)
        entities = (Owner,)

    return Wrong


@declares(
    "large-in-condition",
    "Owner.body",
    "Keep what you need of it in another field.",
)
def a_condition_on_a_large_value() -> object:
    class Owner(Entity, table=blog):
        name: Id
        body: Annotated[str, large()]
        primary = key("A#{name}", "A")

    return recorded(Owner, lambda owner: owner.body == "")


@declares("derived-entity", "Wrong.copies", "Declare its effects in Wrong, next to copies.")
def a_derived_item_with_a_large_value() -> object:
    class Copy(Entity, table=blog):
        name: Id
        body: Annotated[str, large()]
        primary = key("B#{name}", "B")

    class Wrong(Entity, table=blog):
        name: Id
        primary = key("A#{name}", "A")

        @derived
        def copies(self) -> list[Copy]:
            return [Copy(name=self.name, body="")]

    class Copied(Design):
        tables = (blog,)
        entities = (Wrong, Copy)

    return Copied


@declares("not-a-table", "Thing.guard", "Use the Table itself.")
def a_guard_in_the_name_of_a_table() -> object:
    return thing("A", guard=unique("WORD#{word}", table="Names"))  # type: ignore[arg-type]


@declares("floor", "counts", "Use the least number, such as floor=0.")
def a_floor_that_is_a_text() -> object:
    return counts("posts", floor="0")  # type: ignore[arg-type]


@declares("limit", "limit", "Use a function that raises ValueError, or pydantic's limits: Field(le=3).")
def a_limit_that_is_a_number() -> object:
    return limit(3)  # type: ignore[arg-type]


@declares("pattern-wording", "pattern", 'Write @pattern("Get order by id").')
def an_empty_wording() -> object:
    return pattern(" ")


@declares("job", "a_job_that_reads.<locals>.Reading.find", "Return rewrite(...) or rekey(...).")
def a_job_that_reads() -> object:
    class Reading(Design):
        tables = (blog,)
        entities = (User,)

        @job
        def find(self, name: str) -> Rewrite[User]:
            return get(User, name=name)  # type: ignore[return-value]

    return Reading().find("ann")


NO_GUARD = "For an item by its key, use get or there; for the items of an index, query."


@declares("not-a-guard", "lookup", NO_GUARD)
def a_lookup_by_the_primary_key() -> object:
    return lookup(User.primary, name="ann")  # type: ignore[arg-type]


@declares("not-a-guard", "taken", NO_GUARD)
def a_key_that_may_be_taken() -> object:
    return taken(User.primary, name="ann")  # type: ignore[arg-type, call-overload, unused-ignore]


@declares("on-unreadable", "on_unreadable", "Use one of: raise, skip, raw.")
def an_unknown_choice_for_unreadable_items() -> object:
    return query(User.primary, name="ann").on_unreadable("ignore")  # type: ignore[call-overload]


@declares("on-unreadable", "on_unreadable", "Use one of: raise, raw.")
def a_batch_get_that_skips() -> object:
    return batch_get(User, ["ann"]).on_unreadable("skip")  # type: ignore[call-overload]


@declares("on-unreadable", "on_unreadable", "Use one of: raise, skip.")
def an_aggregate_with_raw_items() -> object:
    class Both(Aggregate):
        user: User
        posts: list[Post]

    return Aggregated(Both, query(User.primary, name="ann")).on_unreadable("raw")  # type: ignore[arg-type]


@declares("no-example", "name", "Declare one: Annotated[..., about(..., example=...)] or Field(examples=[...]).")
def an_example_within_limits_that_no_value_keeps() -> object:
    return example_value("name", Annotated[int, Field(gt=3, lt=4)])


def test_an_error_in_a_pattern_names_the_pattern() -> None:
    with pytest.raises(DesignError) as caught:

        class Wrong(Design):
            tables = (blog,)
            entities = (User,)

            @pattern("Get user")
            def user(self, name: str) -> Get[User]:
                return get(User, nickname=name)

    assert caught.value.__notes__ == ["in the access pattern Wrong.user"]


@pytest.mark.parametrize(
    ("code", "place", "remedy", "declaration"), WRONG, ids=[declaration.__name__ for *_, declaration in WRONG]
)
def test_an_invalid_declaration_is_refused(code: str, place: str, remedy: str, declaration: Declaration) -> None:
    with wrong(code, place, remedy):
        declaration()


def codes_in_the_source() -> Iterator[str]:
    """The first argument of every DesignError that is raised."""
    for path in Path(design.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DesignError":
                texts = [each for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)]
                yield from (each.value for each in texts if isinstance(each.value, str))


def test_every_code_is_tested() -> None:
    tested = {code for code, *_ in WRONG} | {code for code, *_ in (*test_vectors.WRONG, *test_words.WRONG)}
    assert set(codes_in_the_source()) - tested == set()


def test_an_unknown_index_is_reported_with_the_known_ones() -> None:
    with pytest.raises(
        AttributeError, match=r"^The table Blog has no index GSI7\. Its indexes are: GSI1, ByStars, LSI1\.$"
    ):
        _ = blog.GSI7
