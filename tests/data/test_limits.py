"""Limits are checked on every kind of write; items stored under looser limits can still be used."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, StringConstraints

from keyplan.data import (
    InvalidItem,
    Store,
    create,
    delete,
    import_all,
    increment,
    move,
    patch,
    put,
    put_all,
    touch,
    update,
)
from keyplan.design import (
    Count,
    Design,
    Entity,
    Id,
    InvalidValue,
    Query,
    Ref,
    Rewrite,
    Table,
    Updated,
    Version,
    belongs_to,
    get,
    job,
    key,
    mirror,
    pattern,
    query,
    ref,
    rewrite,
    unique,
    updated,
)
from keyplan.engine import Engine

films = Table("Films", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Spot(BaseModel):
    """Part of a film."""

    row: Annotated[int, Field(ge=1, le=20)]


class Film(Entity, table=films):
    """A film with derived items."""

    film_id: Id
    title: Annotated[str, StringConstraints(min_length=1, max_length=10)]
    year: Annotated[int, Field(ge=1900, le=2100)] = 2000
    studio: Id = "s"
    spot: Spot | None = None
    seen: bool = False
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("FILM#{film_id}", "FILM")
    by_studio = films.GSI1("STUDIO#{studio}", "FILM#{film_id}")
    title_guard = unique("TITLE#{title.lower}", carries="film_id")

    @mirror
    def listed(self) -> "Listed":
        return Listed(studio=self.studio, film_id=self.film_id, title=self.title)


class Listed(Entity, table=films):
    """The film under its studio, with the limits of the film."""

    studio: Id
    film_id: Id
    title: Annotated[str, StringConstraints(min_length=1, max_length=10)]
    primary = key("STUDIO#{studio}", "FILM#{film_id}")


class Plain(Entity, table=films):
    """An entity without effects."""

    plain_id: Id
    name: Annotated[str, StringConstraints(max_length=3)] = ""
    count: Annotated[int, Field(le=5)] = 0
    text: str = ""
    primary = key("PLAIN#{plain_id}", "PLAIN")


class Strict(Entity, table=films):
    """An entity whose effects rely on its limits."""

    strict_id: Id
    name: Annotated[str, StringConstraints(min_length=1)]
    ratings: Count = 0
    primary = key("STRICT#{strict_id}", "STRICT")

    @mirror
    def initial(self) -> "Initial":
        return Initial(initial=self.name[0], strict_id=self.strict_id)


class Initial(Entity, table=films):
    """An entity under its first letter."""

    initial: Id
    strict_id: Id
    primary = key("INITIAL#{initial}", "STRICT#{strict_id}")


class Rating(Entity, table=films):
    """An entity with a parent."""

    strict_id: Id
    stars: Annotated[int, Field(le=5)]
    primary = key("STRICT#{strict_id}", "RATING")

    @belongs_to(on_delete="refuse", count="ratings")
    def parent(self) -> Ref[Strict]:
        return ref(Strict, strict_id=self.strict_id)


class Cinema(Design):
    """Films."""

    tables = (films,)
    entities = (Film, Listed, Plain, Strict, Initial, Rating)

    @pattern("Films of a studio")
    def films_of(self, studio: str) -> Query[Film]:
        return query(Film.by_studio, studio=studio)

    @job
    def rename(self, studio: str, title: str) -> Rewrite[Film]:
        return rewrite(self.films_of(studio), lambda film: setattr(film, "title", title))


@pytest.fixture
def store() -> Iterator[Store[Cinema]]:
    with Engine() as engine:
        made = Store(Cinema(), engine)
        made.create_tables()
        made.run(create(Film(film_id="f", title="Old")))
        made.run(create(Plain(plain_id="p")))
        yield made


LONG = "x" * 11


def client_of(store: Store[Cinema]) -> Any:
    return store.client


def changed(store: Store[Cinema], **changes: object) -> Film:
    film = store.run(get(Film, film_id="f"))
    assert film is not None
    for name, value in changes.items():
        setattr(film, name, value)
    return film


WRITES: dict[str, Callable[[Store[Cinema]], object]] = {
    "create": lambda store: store.run(create(Film(film_id="g", title=LONG))),
    "create with a part": lambda store: store.run(
        create(Film(film_id="g", title="New", spot=Spot.model_construct(row=21)))
    ),
    "create in a transaction": lambda store: store.transact(create(Film(film_id="g", title=LONG))),
    "put in place of another": lambda store: store.run(put(Film(film_id="f", title=LONG))),
    "put": lambda store: store.run(put(Plain(plain_id="q", name="long"))),
    "update": lambda store: store.run(update(changed(store, title=LONG))),
    "update of a part": lambda store: store.run(update(changed(store, spot=Spot.model_construct(row=0)))),
    "patch": lambda store: store.run(patch(ref(Plain, plain_id="p"), name="long")),
    "patch that reads first": lambda store: store.run(patch(ref(Film, film_id="f"), title=LONG)),
    "touch": lambda store: store.run(touch(ref(Film, film_id="f"), year=1)),
    "increment": lambda store: store.run(patch(ref(Plain, plain_id="p"), count=increment(6))),
    "move": lambda store: store.run(move(changed(store), film_id="h", title=LONG)),
    "move to a bad key": lambda store: store.run(move(changed(store), film_id="h" * 129)),
    "batch": lambda store: store.run(put_all([Plain(plain_id="q", name="long")])),
    "rewrite": lambda store: store.run(store.design.rename("s", LONG)),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_over_a_limit_is_refused_and_changes_nothing(write: str, store: Store[Cinema]) -> None:
    before = client_of(store).scan(TableName="Films")["Items"]
    with pytest.raises(InvalidValue) as refused:
        WRITES[write](store)
    assert refused.value.field in ("title", "year", "spot", "name", "count", "film_id")
    assert client_of(store).scan(TableName="Films")["Items"] == before


def test_an_import_reports_every_item_over_a_limit_and_writes_the_others(store: Store[Cinema]) -> None:
    # The effects of Strict fail for values over the limits.
    made = [
        Film(film_id="g", title=LONG, year=1),
        Film(film_id="h", title="New"),
        Film(film_id="a#b", title="Key"),
        Strict(strict_id="s", name=""),
        Plain(plain_id="q", text="\ud800", count=6),
        Plain(plain_id="r", count=6),
    ]
    result = store.run(import_all(made))
    assert result.written == (made[1],)
    refused = {str(entity.key_values): error for entity, error in result.refused}
    assert all(isinstance(error, InvalidItem) for error in refused.values())
    assert {
        where: [(problem.field, problem.code) for problem in error.problems]
        for where, error in refused.items()
        if isinstance(error, InvalidItem)
    } == {
        "{'film_id': 'g'}": [("title", "string-too-long"), ("year", "greater-than-equal")],
        "{'film_id': 'a#b'}": [("film_id", "string-pattern-mismatch")],
        "{'strict_id': 's'}": [("name", "string-too-short")],
        "{'plain_id': 'q'}": [("count", "less-than-equal"), ("text", "invalid")],
        "{'plain_id': 'r'}": [("count", "less-than-equal")],
    }
    assert str(refused["{'film_id': 'g'}"]) == (
        "Can't import Film(film_id='g'): Film.title: String should have at most 10 characters [string-too-long]; "
        "Film.year: Input should be greater than or equal to 1900 [greater-than-equal] [Film.title]"
    )
    assert store.verify() == []


def test_a_repeated_import_leaves_items_that_were_stored_over_their_limits(loose: Store[Cinema]) -> None:
    film = changed(loose)
    assert film.spot is not None
    again = Film(film_id="f", title=LONG, year=1, spot=film.spot)
    loose.run(create(Strict(strict_id="s", name="S")))
    rating = Rating(strict_id="s", stars=9)
    stored: Any = {"PK": {"S": "STRICT#s"}, "SK": {"S": "RATING"}, "strict_id": {"S": "s"}, "stars": {"N": "9"}}
    client_of(loose).put_item(TableName="Films", Item=stored)
    before = client_of(loose).scan(TableName="Films")["Items"]
    result = loose.run(import_all([rating, again, Film(film_id="f", title=LONG)]))
    assert result.unchanged == (rating, again)
    assert [type(error) for _, error in result.refused] == [InvalidItem]
    assert client_of(loose).scan(TableName="Films")["Items"] == before


def test_values_within_their_limits_are_written(store: Store[Cinema]) -> None:
    store.run(patch(ref(Plain, plain_id="p"), count=increment(5)))
    store.run(update(changed(store, title="x" * 10, year=2100, spot=Spot(row=20))))
    plain = store.run(get(Plain, plain_id="p"))
    assert plain is not None
    assert plain.count == 5


@pytest.fixture
def loose(store: Store[Cinema]) -> Store[Cinema]:
    """A store with items that were written before there were limits."""
    for item in client_of(store).scan(TableName="Films")["Items"]:
        for name, value in (("title", {"S": LONG}), ("year", {"N": "1"}), ("spot", {"M": {"row": {"N": "99"}}})):
            if name in item and item["PK"]["S"].startswith(("FILM", "STUDIO")):
                item[name] = value
        client_of(store).put_item(TableName="Films", Item=item)
    film = client_of(store).get_item(TableName="Films", Key={"PK": {"S": "FILM#f"}, "SK": {"S": "FILM"}})["Item"]
    client_of(store).put_item(TableName="Films", Item={**film, "spot": {"M": {"row": {"N": "99"}}}})
    guard: Any = {**{name: {"S": f"TITLE#{LONG}"} for name in ("PK", "SK")}, "film_id": {"S": "f"}}
    client_of(store).put_item(TableName="Films", Item=guard)
    client_of(store).delete_item(TableName="Films", Key={name: {"S": "TITLE#old"} for name in ("PK", "SK")})
    return store


def test_items_over_their_limits_can_be_read_listed_and_changed_in_other_fields(loose: Store[Cinema]) -> None:
    film = changed(loose)
    assert (film.title, film.year, film.spot) == (LONG, 1, Spot.model_construct(row=99))
    assert [each.title for each in loose.run(loose.design.films_of("s")).items] == [LONG]
    film.seen = True
    loose.run(update(film))
    assert changed(loose).seen
    film.studio = "t"  # moves the mirror, which repeats the title
    loose.run(update(film))
    mirrored = loose.run(get(Listed, studio="t", film_id="f"))
    assert mirrored is not None
    assert mirrored.title == LONG
    loose.run(patch(ref(Film, film_id="f"), seen=False))
    moved = loose.run(move(changed(loose), film_id="g"))
    loose.run(delete(moved))
    assert loose.run(get(Film, film_id="g")) is None


def test_items_over_their_limits_can_be_corrected(loose: Store[Cinema]) -> None:
    loose.run(update(changed(loose, title="Short", year=1999, spot=None)))
    assert loose.verify() == []


def test_verify_reports_items_over_their_limits(loose: Store[Cinema]) -> None:
    found = loose.verify()
    assert {finding.kind for finding in found} == {"over-limit"}
    assert not any(finding.repairable for finding in found)
    assert sorted(finding.problem.partition(":")[0] for finding in found) == [
        "Film.spot.row",
        "Film.title",
        "Film.year",
        "Listed.title",
    ]
    assert loose.repair(found) == 0
