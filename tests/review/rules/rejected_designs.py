"""Designs that DynamoDB refuses, in part, and designs that it doesn't."""

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from keyplan.design import (
    KEYS_ONLY,
    Design,
    Entity,
    Id,
    ItemCount,
    OrderedList,
    Query,
    Scan,
    Table,
    count,
    include,
    index,
    key,
    large,
    limit,
    one_of,
    pattern,
    query,
    scan,
    unique,
)
from tests.review.rules.cases import Cases

CASES = Cases()


def with_tables(*declared: Table) -> type[Design]:
    class Things(Design):
        tables = declared

    return Things


MANY = {f"GSI{number}": key(f"GSI{number}PK") for number in range(20)}
many = Table("Many", key("PK", "SK"), indexes={**MANY, "GSI20": key("GSI20PK")})
enough = Table("Enough", key("PK", "SK"), indexes=MANY)


@CASES.finds("KP201", "Many")
def a_table_with_21_indexes() -> type[Design]:
    return with_tables(many)


@CASES.finds_nothing("KP201", "KP202", "KP203", "KP204", "KP205", "KP206", "KP207")
def a_table_with_20_indexes() -> type[Design]:
    return with_tables(enough)


def attributes(count: int) -> list[str]:
    return [f"attribute{number}" for number in range(count)]


wide = Table(
    "Wide",
    key("PK"),
    indexes={f"GSI{number}": index(key(f"GSI{number}PK"), include(*attributes(17))) for number in range(6)},
)
full = Table(
    "Full",
    key("PK"),
    indexes={f"GSI{number}": index(key(f"GSI{number}PK"), include(*attributes(20))) for number in range(5)},
)


@CASES.finds("KP202", "Wide")
def indexes_that_project_102_attributes() -> type[Design]:
    return with_tables(wide)


@CASES.finds_nothing("KP202", "KP203")
def indexes_that_project_100_attributes() -> type[Design]:
    return with_tables(full)


long = Table(
    "Long",
    key("PK"),
    indexes={"GSI1": index(key("GSI1PK"), include(*attributes(21))), "GSI2": index(key("GSI2PK"), include())},
)
keys_only = Table("Keys", key("PK"), indexes={"GSI1": index(key("GSI1PK"), KEYS_ONLY)})


@CASES.finds("KP203", "Long.GSI1", "Long.GSI2")
def projections_of_21_attributes_and_of_none() -> type[Design]:
    return with_tables(long)


@CASES.finds_nothing("KP203")
def a_projection_of_keys() -> type[Design]:
    return with_tables(keys_only)


nameless = Table("Nameless", key("PK", "ä" * 128), indexes={"GSI1": key("")})
longest_names = Table("Names", key("PK", "ä" * 127 + "a"))


@CASES.finds("KP204", "Nameless", "Nameless")
def key_attributes_without_a_name_and_with_256_bytes() -> type[Design]:
    return with_tables(nameless)


@CASES.finds_nothing("KP204")
def a_key_attribute_with_255_bytes() -> type[Design]:
    return with_tables(longest_names)


spaced = Table("{table=My Blog}", key("PK"))
defaults = Table("{table=My_Blog}-{env}", key("PK"))


@CASES.finds("KP205", "{table=My Blog}")
def a_default_with_a_space() -> type[Design]:
    return with_tables(spaced)


@CASES.finds_nothing("KP205", "KP207")
def a_default_that_is_a_name() -> type[Design]:
    return with_tables(defaults)


posts, users = Table("{posts=Blog}", key("PK")), Table("{users=Blog}", key("PK"))
likes = Table("{likes}", key("PK"))


@CASES.finds("KP206", "{users=Blog}")
def two_tables_with_one_default() -> type[Design]:
    return with_tables(posts, users)


@CASES.finds_nothing("KP206")
def tables_with_different_names() -> type[Design]:
    return with_tables(posts, likes)


endless = Table("x" * 248, key("PK"))
short = Table("x" * 247, key("PK"))


@CASES.finds("KP207", "x" * 248)
def a_name_with_248_characters() -> type[Design]:
    return with_tables(endless)


@CASES.finds_nothing("KP207")
def a_name_with_247_characters() -> type[Design]:
    return with_tables(short, endless)


# Sizes

table = Table("Things", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


def with_entities(*declared: type[Entity]) -> type[Design]:
    class Things(Design):
        tables = (table,)
        entities = declared

    return Things


@CASES.finds("KP208", "Place.by_country", "Place.name_guard")
def names_that_fill_a_key() -> type[Design]:
    class Place(Entity, table=table):
        place_id: Id
        country: Annotated[str, Field(max_length=512)]
        name: Annotated[str, Field(max_length=510)]
        code: Annotated[str, StringConstraints(pattern=r"^[A-Z]{1,600}$", max_length=600)]

        primary = key("PLACE#{place_id}", "CODE#{code}")
        by_country = table.GSI1("{country}", "{country}#{name}")
        name_guard = unique("NAME#{name}")

    return with_entities(Place)


@CASES.finds_nothing("KP208")
def names_that_fit_into_a_key() -> type[Design]:
    class Place(Entity, table=table):
        place_id: Id
        parent_id: Id
        name: Annotated[str, Field(max_length=220)]

        primary = key("PLACE#{place_id}#{parent_id}", "PLACE#{parent_id}#{name}")
        name_guard = unique("NAME#{name}")

    return with_entities(Place)


@CASES.cannot_judge("KP208", "Place.name")
def names_without_a_limit() -> type[Design]:
    class Place(Entity, table=table):
        name: str

        primary = key("PLACE#{name}", "PLACE")

    return with_entities(Place)


def fits(text: str) -> None:
    if len(text) > 1000:
        raise ValueError("Use up to 1,000 characters.")


@CASES.finds("KP209", "Page.text", "Book")
def texts_that_are_larger_than_an_item() -> type[Design]:
    class Page(Entity, table=table):
        page_id: Id
        text: Annotated[str, Field(max_length=110_000)]

        primary = key("PAGE#{page_id}", "PAGE")

    class Book(Entity, table=table):
        book_id: Id
        text: Annotated[str, Field(max_length=60_000)]
        notes: Annotated[bytes, Field(max_length=180_000)]

        primary = key("BOOK#{book_id}", "BOOK")

    return with_entities(Page, Book)


@CASES.finds_nothing("KP209")
def texts_that_fit_into_an_item() -> type[Design]:
    class Page(Entity, table=table):
        page_id: Id
        text: Annotated[str, Field(max_length=100_000)]
        summary: Annotated[str, limit(fits)]
        book: Annotated[str, Field(max_length=10_000_000), large()]

        primary = key("PAGE#{page_id}", "PAGE")

    return with_entities(Page)


@CASES.cannot_judge("KP209", "Page.text")
def a_text_without_a_limit() -> type[Design]:
    class Page(Entity, table=table):
        page_id: Id
        text: str

        primary = key("PAGE#{page_id}", "PAGE")

    return with_entities(Page)


# Values


@CASES.finds("KP210", "Coin.supply", "Coin.owned")
def numbers_with_40_digits() -> type[Design]:
    class Coin(Entity, table=table):
        coin_id: Id
        supply: Annotated[Decimal, Field(max_digits=40)]
        owned: Annotated[int, Field(lt=10**40)]

        primary = key("COIN#{coin_id}", "COIN")

    return with_entities(Coin)


@CASES.finds_nothing("KP210")
def numbers_with_38_digits() -> type[Design]:
    class Coin(Entity, table=table):
        coin_id: Id
        supply: Annotated[Decimal, Field(max_digits=38)]
        owned: Annotated[int, Field(ge=0, lt=10**38)]
        other: int = 0

        primary = key("COIN#{coin_id}", "COIN")

    return with_entities(Coin)


class Line(BaseModel):
    text: str


class Answer(BaseModel):
    text: str
    lines: list[Line] = []
    answers: list["Answer"] = []


@CASES.finds("KP211", "Question.answers")
def answers_to_answers() -> type[Design]:
    class Question(Entity, table=table):
        question_id: Id
        answers: Annotated[list[Answer], Field(default_factory=list)]

        primary = key("QUESTION#{question_id}", "QUESTION")

    return with_entities(Question)


@CASES.finds_nothing("KP211")
def lists_of_lines() -> type[Design]:
    class Question(Entity, table=table):
        question_id: Id
        lines: Annotated[list[Line], Field(default_factory=list)]
        more: Annotated[dict[str, list[Line]], Field(default_factory=dict)]

        primary = key("QUESTION#{question_id}", "QUESTION")

    return with_entities(Question)


# Requests


class Town(Entity, table=table):
    town_id: Id
    code: int = 0

    primary = key("TOWN#{town_id}", "TOWN")


@CASES.finds("KP212", "Towns.by_code", "Towns.by_range")
def filters_with_101_values_and_301_operators() -> type[Design]:
    class Towns(Design):
        tables = (table,)
        entities = (Town,)

        @pattern("Towns with one of many codes")
        def by_code(self, town_id: str) -> Query[Town]:
            return query(Town.primary, town_id=town_id, filter=lambda town: one_of(town.code, range(101)))

        @pattern("Towns with any of many codes")
        def by_range(self) -> Scan[Town]:
            def any_of(town: Town) -> object:
                condition: object = town.code == 0
                for number in range(1, 151):
                    condition = condition | (town.code == number)  # type: ignore[operator]  # a recorded condition
                return condition

            return scan(Town, filter=any_of)

    return Towns


@CASES.finds_nothing("KP212")
def filters_with_100_values() -> type[Design]:
    class Towns(Design):
        tables = (table,)
        entities = (Town,)

        @pattern("Towns with one of many codes")
        def by_code(self, town_id: str) -> Query[Town]:
            return query(Town.primary, town_id=town_id, filter=lambda town: one_of(town.code, range(100)))

        @pattern("Towns")
        def towns(self, town_id: str) -> Query[Town]:
            return query(Town.primary, town_id=town_id)

    return Towns


news = Table(
    "News",
    key("PK", "SK"),
    indexes={"GSI1": index(key("author", "SK"), include("title")), "GSI2": index(key("GSI2PK"), KEYS_ONLY)},
)


class Article(Entity, table=news):
    article_id: Id
    author: Id
    title: str
    text: str

    primary = key("ARTICLE#{article_id}", "ARTICLE#{article_id}")
    by_author = news.GSI1("{author}")


class Link(Entity, table=news):
    link_id: Id
    topic: Id

    primary = key("LINK#{link_id}", "LINK")
    by_topic = news.GSI2("{topic}")


@CASES.finds("KP215", "News.articles", "News.texts")
def articles_without_their_text() -> type[Design]:
    class News(Design):
        tables = (news,)
        entities = (Article,)

        @pattern("Articles of an author")
        def articles(self, author: str) -> Query[Article]:
            return query(Article.by_author, author=author)

        @pattern("Texts of an author")
        def texts(self, author: str) -> OrderedList[str]:
            return query(Article.by_author, author=author).only(lambda article: article.text)

    return News


@CASES.finds_nothing("KP215")
def what_the_index_has() -> type[Design]:
    class News(Design):
        tables = (news,)
        entities = (Article, Link)

        @pattern("Titles of an author")
        def titles(self, author: str) -> OrderedList[tuple[str, str]]:
            return query(Article.by_author, author=author).only(lambda article: (article.article_id, article.title))

        @pattern("Number of articles of an author")
        def number(self, author: str) -> ItemCount:
            return count(query(Article.by_author, author=author))

        @pattern("Links of a topic")
        def links(self, topic: str) -> Query[Link]:
            return query(Link.by_topic, topic=topic)

    return News


# Regions

streamed = Table("Streamed", key("PK"), stream="NEW_IMAGE")
keyed = Table("Keyed", key("PK"), encryption="arn:aws:kms:eu-central-1:111122223333:key/1234")
replicated = Table("Replicated", key("PK"), stream="NEW_AND_OLD_IMAGES", encryption="AWS_MANAGED")


def in_regions(declared: Table, *names: str) -> type[Design]:
    class Things(Design):
        tables = (declared,)
        regions = names

    return Things


@CASES.finds("KP213", "Streamed")
def a_stream_of_new_images_in_two_regions() -> type[Design]:
    return in_regions(streamed, "eu-central-1", "us-east-1")


@CASES.finds_nothing("KP213")
def a_stream_of_new_images_in_one_region() -> type[Design]:
    return in_regions(streamed, "eu-central-1")


@CASES.finds("KP214", "Keyed")
def a_key_of_another_region() -> type[Design]:
    return in_regions(keyed, "eu-central-1", "us-east-1")


@CASES.finds_nothing("KP214")
def a_key_of_the_only_region() -> type[Design]:
    return in_regions(keyed, "eu-central-1")


@CASES.finds_nothing("KP213", "KP214")
def a_table_for_two_regions() -> type[Design]:
    return in_regions(replicated, "eu-central-1", "us-east-1")
