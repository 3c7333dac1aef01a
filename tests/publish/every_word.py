"""A design that uses every word that says how its tables are deployed."""

from keyplan.design import (
    KEYS_ONLY,
    Design,
    Entity,
    Id,
    Query,
    Scan,
    Table,
    consumer,
    include,
    index,
    key,
    local,
    pattern,
    query,
    scan,
    vector_index,
)

library = Table(
    "Library-{stage=dev}",
    key("PK", "SK"),
    indexes={
        "GSI1": key("GSI1PK", "GSI1SK"),
        "ByYear": index(key("year:N", "PK"), include("title", "language")),
        "ByShelf": index(key(("building", "room"), ("shelf", "year:N")), KEYS_ONLY),
        "ByTitle": local("title"),
    },
    ttl="expiresAt",
    stream="NEW_AND_OLD_IMAGES",
    vectors={"ByMeaning": vector_index("meaning", 8, partition="language", filters=("year:N",))},
    protected=True,
    recovery=7,
    table_class="STANDARD_INFREQUENT_ACCESS",
    encryption="arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    tags={"team": "books and more", "cost-center": "7"},
    consumers=(
        consumer("search index", failures="search-index-failures"),
        consumer("mail", failures="arn:aws:sqs:us-east-1:111122223333:mail-failures"),
        consumer("statistics"),
    ),
)
readers = Table(
    "readers",
    key("id"),
    billing="PROVISIONED",
    capacity=(5, 7),
    indexes={"ByName": key("name")},
    recovery=False,
    protected=False,
    encryption="AWS_MANAGED",
)
rooms = Table("rooms", key("number:N"), encryption="AWS_OWNED", recovery=True)


class Book(Entity, table=library):
    isbn: Id
    title: str
    year: int
    building: str
    room: str
    shelf: str
    language: str = "en"
    meaning: list[float] | None = None

    primary = key("BOOK#{isbn}", "BOOK")
    all = library.GSI1("BOOKS", "{isbn}")
    by_year = library.ByYear("{year}")


class Reader(Entity, table=readers):
    id: Id
    name: str

    primary = key("{id}")
    by_name = readers.ByName("{name}")


class Room(Entity, table=rooms):
    number: int

    primary = key("{number}")


class Library(Design):
    """A library with "every" word: ${it}, %{it} and \\ stand for themselves."""

    tables = (library, readers, rooms)
    entities = (Book, Reader, Room)
    regions = ("us-east-1", "eu-central-1")

    @pattern("Books of a year")
    def books_of(self, year: int) -> Query[Book]:
        return query(Book.by_year, year=year)

    @pattern("Readers by name")
    def readers_called(self, name: str) -> Query[Reader]:
        return query(Reader.by_name, name=name)

    @pattern("All rooms")
    def all_rooms(self) -> Scan[Room]:
        return scan(Room)
