"""Designs that other engines run in another way, or that are unfinished, and designs that aren't."""

from keyplan.design import (
    KEYS_ONLY,
    Departure,
    Design,
    Entity,
    Get,
    Id,
    Lookup,
    Query,
    Ref,
    Table,
    belongs_to,
    departure,
    get,
    include,
    index,
    key,
    lookup,
    mirror,
    pattern,
    query,
    ref,
    vector_index,
)
from keyplan.review import Reviewed
from tests.review.rules.cases import Cases

CASES = Cases()


# Targets


def with_table(declared: Table, *names: str) -> type[Design]:
    class Things(Design):
        tables = (declared,)
        regions = names

    return Things


plain = Table("Plain", key("PK"), ttl="expires_at")
rich = Table(
    "Rich",
    key("PK"),
    indexes={"GSI1": index(key("GSI1PK"), KEYS_ONLY)},
    ttl="expires at",
    recovery=7,
    billing="PROVISIONED",
    capacity=(5, 5),
    table_class="STANDARD_INFREQUENT_ACCESS",
    encryption="AWS_MANAGED",
)
searched = Table("Searched", key("PK"), vectors={"ByMeaning": vector_index("meaning", dimensions=3)})


@CASES.finds("KP601", "Things")
@CASES.finds("KP602", "Rich")
@CASES.finds("KP603", "Rich.GSI1")
@CASES.finds("KP604", "Rich", "Rich", "Rich")
def a_rich_table_on_alternator() -> Reviewed:
    return Reviewed(with_table(rich), "alternator")


@CASES.finds("KP604", "Rich", "Rich", "Rich")
def a_rich_table_on_one_machine() -> Reviewed:
    return Reviewed(with_table(rich), "embedded")


@CASES.finds("KP607", "Rich")
def a_rich_table_on_extenddb() -> Reviewed:
    return Reviewed(with_table(rich), "extenddb")


@CASES.finds("KP605", "Searched.ByMeaning")
def vectors_on_alternator() -> Reviewed:
    return Reviewed(with_table(searched), "alternator")


@CASES.finds("KP606", "Things.regions")
def two_regions_on_one_machine() -> Reviewed:
    return Reviewed(with_table(plain, "eu-central-1", "us-east-1"), "embedded")


@CASES.finds_nothing("KP601", "KP602", "KP603", "KP604", "KP605", "KP606", "KP607")
def a_rich_table_on_aws() -> Reviewed:
    return Reviewed(with_table(rich, "eu-central-1", "us-east-1"))


@CASES.finds_nothing("KP602", "KP603", "KP604", "KP605", "KP606")
def a_plain_table_on_alternator() -> Reviewed:
    return Reviewed(with_table(plain, "eu-central-1"), "alternator")


@CASES.finds_nothing("KP601", "KP604", "KP605", "KP607")
def a_plain_table_on_extenddb() -> Reviewed:
    return Reviewed(with_table(plain), "extenddb")


# Upkeep

blog = Table("Blog", key("PK", "SK"), indexes={"GSI1": index(key("GSI1PK"), include("title", "body"))})


class Author(Entity, table=blog):
    name: Id
    primary = key("AUTHOR#{name}", "AUTHOR")


class Handle(Entity, table=blog):
    """The author under another key."""

    handle: Id
    name: Id
    primary = key("HANDLE#{handle}", "HANDLE")


class Pen(Entity, table=blog):
    """An author with a second name."""

    name: Id
    handle: Id
    primary = key("PEN#{name}", "PEN")

    @mirror
    def by_handle(self) -> Handle:
        return Handle(handle=self.handle, name=self.name)


class Draft(Entity, table=blog):
    draft_id: Id
    name: Id
    primary = key("AUTHOR#{name}", "DRAFT#{draft_id}")

    @belongs_to(on_delete="cascade")
    def author(self) -> Ref[Author]:
        return ref(Author, name=self.name)


class Vote(Entity, table=blog):
    vote_id: Id
    primary = key("VOTE#{vote_id}", "VOTE")


class Blog(Design):
    """Authors and what they write."""

    tables = (blog,)
    entities = (Author, Handle, Pen, Draft, Vote)
    departures = (departure("GSI1 has all", "GSI1 has titles", "lists are read often"),)

    @pattern("Get author")
    def author(self, name: str) -> Get[Author]:
        return get(Author, name=name)

    @pattern("Get author by handle")
    def by_handle(self, handle: str) -> Lookup[Pen]:
        return lookup(Pen.by_handle, handle=handle)


@CASES.finds("KP610", "Blog.by_handle")
def a_pattern_that_no_test_ran() -> Reviewed:
    return Reviewed(Blog, tested={"author"})


@CASES.finds_nothing("KP610")
def patterns_that_tests_ran() -> Reviewed:
    return Reviewed(Blog, tested={"author", "by_handle"})


@CASES.cannot_judge("KP610", "Blog")
def patterns_of_which_nothing_is_known() -> Reviewed:
    return Reviewed(Blog)


@CASES.finds("KP611", "Vote")
def votes_that_nobody_reads() -> type[Design]:
    return Blog


@CASES.finds_nothing("KP611")
def votes_that_are_read() -> type[Design]:
    class Votes(Design):
        tables = (blog,)
        entities = (Vote,)

        @pattern("Votes with an id")
        def votes(self, vote_id: str) -> Query[Vote]:
            return query(Vote.primary, vote_id=vote_id)

    return Votes


@CASES.finds("KP612", "Hasty.departures", "Hasty.departures")
@CASES.finds("KP614", "Hasty")
def departures_without_reasons() -> type[Design]:
    class Hasty(Design):
        tables = (blog,)
        departures = (departure("GSI1 has all", "GSI1 has titles", " "), Departure("", "", "it was late"))

    return Hasty


@CASES.finds_nothing("KP612", "KP614")
def a_departure_with_a_reason() -> type[Design]:
    return Blog


@CASES.finds("KP613", "Copied.second")
def two_patterns_with_one_wording() -> type[Design]:
    class Copied(Design):
        tables = (blog,)
        entities = (Author, Vote)

        @pattern("Get author by name")
        def first(self, name: str) -> Get[Author]:
            return get(Author, name=name)

        @pattern("Get  Author by name")
        def second(self, vote_id: str) -> Get[Vote]:
            return get(Vote, vote_id=vote_id)

    return Copied


@CASES.finds_nothing("KP613")
def patterns_with_their_own_wording() -> type[Design]:
    return Blog
