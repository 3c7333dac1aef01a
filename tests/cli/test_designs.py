"""`keyplan tables`, `keyplan patterns` and `keyplan verify` as a user runs them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from keyplan import apps
from keyplan.cli import main
from keyplan.cli.designs import _summaries
from keyplan.cli.opening import settings_from, system_names
from keyplan.data import Store, create
from keyplan.design import Design, Entity, Id, Query, Table, key, pattern, query
from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread

SMALL = """
from collections.abc import Sequence

from keyplan.design import *
from keyplan.design import ItemCount as Counted
from keyplan.design.operations.item_reads import Exists

shelf = Table(
    "shelf-{stage}",
    key("PK", "SK"),
    indexes={"ByYear": index(key("year:N", "PK"), include("name", "title")), "ByTitle": local("title")},
    ttl="gone",
    stream="NEW_IMAGE",
)


class Author(Entity, table=shelf):
    name: Id
    email: str
    books: Count = 0
    primary = key("AUTHOR#{name}", "AUTHOR")
    email_guard = unique("EMAIL#{email.lower}", carries="name")


class Book(Entity, table=shelf):
    name: Id
    title: str
    year: int
    primary = key("AUTHOR#{name}", "BOOK#{title}")
    by_year = shelf.ByYear("{year}")

    @counts("books")
    def written_by(self) -> Ref[Author]:
        return ref(Author, name=self.name)


class Title(Entity, table=shelf):
    number: int
    name: Id
    title: str
    primary = key("TITLE#{number:04}", "TITLE")


class Print(Entity, table=shelf):
    number: int
    name: Id
    title: str
    primary = key("AUTHOR#{name}", "PRINT#{title}")

    @mirror
    def by_number(self) -> Title:
        return Title(number=self.number, name=self.name, title=self.title)


class Shelf(Design):
    tables = [shelf]
    entities = [Author, Book, Title, Print]

    @pattern("An author by name")
    def author(self, name: str) -> Get[Author]:
        return get(Author, name=name)

    @pattern("An author by e-mail")
    def author_by_email(self, email: str) -> Lookup[Author]:
        return lookup(Author.email_guard, email=email)

    @pattern("A print by number")
    def print_by_number(self, number: int) -> Lookup[Print]:
        return lookup(Print.by_number, number=number)

    @pattern("Is an e-mail taken?")
    def taken(self, email: str) -> GuardTaken:
        return taken(Author.email_guard, email=email)

    @pattern("Is an author there?")
    def known(self, name: str) -> Exists:
        return there(Author, name=name)

    @pattern("Books of a year")
    def of_year(self, year: int) -> Query[Book]:
        return query(Book.by_year, year=year)

    @pattern("An author with all books")
    def everything(self, name: str) -> "Query[Author | Book]":
        return collection(Author, Book, name=name)

    @pattern("Authors of a year")
    def authors_of_year(self, year: int) -> Follow[Author]:
        return follow(query(Book.by_year, year=year), lambda book: ref(Author, name=book.name), Author)

    @pattern("Books of two years")
    def two_years(self, first: int, second: int) -> Merge[Book]:
        years = [query(Book.by_year, year=first), query(Book.by_year, year=second)]
        return merge(years, lambda book: book.title)

    @pattern("How many books in a year")
    def how_many(self, year: int) -> Counted:
        return count(query(Book.by_year, year=year))

    @pattern("Authors by their names")
    def authors(self, names: Sequence[str]) -> BatchGet[Author]:
        return batch_get(Author, names)

    @pattern("Authors and titles")
    def both(self, names: Sequence[str], numbers: Sequence[int]) -> Together[object]:
        return together(batch_get(Author, names), batch_get(Title, numbers))

    @pattern("Every book")
    def books(self) -> Scan[Book]:
        return scan(Book)


DESIGN = Shelf
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which the commands run, with one more system: `shelf`."""
    package = tmp_path / "apps" / "shelf"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "design.py").write_text(SMALL)
    monkeypatch.setattr(apps, "__path__", [*apps.__path__, str(package.parent)])
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("keyplan.apps.shelf")]:
        del sys.modules[name]
    if hasattr(apps, "shelf"):
        del apps.shelf


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def answer(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def shelf_store(engine: Engine) -> Store[Any]:
    from keyplan.cli.designs import design_named

    store = Store(design_named("shelf", None, settings_from({})), engine)
    store.create_tables()
    return store


def filled(store: Store[Any]) -> None:
    design = sys.modules["keyplan.apps.shelf.design"]
    store.run(create(design.Author(name="ann", email="ann@example.org")))
    store.run(create(design.Book(name="ann", title="One", year=2001)))


# Tables


def test_tables_are_requests(small: Path) -> None:
    shelf, housekeeping = answer("tables", "shelf", "--environment", "stage=live")
    assert shelf["CreateTable"]["TableName"] == "shelf-live"
    assert shelf["CreateTable"]["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    assert [index["IndexName"] for index in shelf["CreateTable"]["GlobalSecondaryIndexes"]] == ["ByYear"]
    assert shelf["UpdateTimeToLive"] == {
        "TableName": "shelf-live",
        "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "gone"},
    }
    assert housekeeping["CreateTable"]["TableName"] == "shelf-live-keyplan"


def test_tables_for_people(small: Path) -> None:
    output = run("tables", "shelf").stdout
    for text in ("shelf-dev ", "PK (S) + SK (S)", "ByYear: year (N) + PK (S), name, title", "NEW_IMAGE", "gone"):
        assert text in output


@pytest.mark.parametrize("system", system_names())
def test_the_requests_for_tables_are_accepted(system: str) -> None:
    with Engine() as engine:
        made = {each["CreateTable"]["TableName"]: each for each in answer("tables", system)}
        for request in made.values():
            engine.create_table(**request["CreateTable"])
            if "UpdateTimeToLive" in request:
                engine.update_time_to_live(**request["UpdateTimeToLive"])
        assert set(engine.list_tables()["TableNames"]) == made.keys()


# Patterns


def test_patterns_say_what_they_do(small: Path) -> None:
    shown = {
        each["name"]: (each["operation"], each["table"], each["index"], each["example"]["action"], each["scans"])
        for each in answer("patterns", "shelf")
    }
    assert shown == {
        "author": ("get", "shelf-dev", None, "GetItem", False),
        "author_by_email": ("lookup: guard, then get", "shelf-dev", None, "GetItem", False),
        "print_by_number": ("lookup: mirror, then get", "shelf-dev", None, "GetItem", False),
        "taken": ("taken: guard", "shelf-dev", None, "GetItem", False),
        "known": ("exists", "shelf-dev", None, "GetItem", False),
        "of_year": ("query", "shelf-dev", "ByYear", "Query", False),
        "everything": ("collection", "shelf-dev", None, "Query", False),
        "authors_of_year": ("follow: query, then batch get", "shelf-dev", "ByYear", "Query", False),
        "two_years": ("merge of 2 queries", "shelf-dev", "ByYear", "Query", False),
        "how_many": ("count of a query", "shelf-dev", "ByYear", "Query", False),
        "authors": ("batch get", "shelf-dev", None, "BatchGetItem", False),
        "both": ("batch get of 2 entities", "shelf-dev", None, "BatchGetItem", False),
        "books": ("scan", "shelf-dev", None, "Scan", True),
    }


def test_a_pattern_has_its_wording_and_an_example(small: Path) -> None:
    assert answer("patterns", "shelf")[0] == {
        "name": "author",
        "wording": "An author by name",
        "operation": "get",
        "table": "shelf-dev",
        "index": None,
        "scans": False,
        "requests": 1,
        "example": {
            "call": 'author(name="author-1")',
            "action": "GetItem",
            "request": {"TableName": "shelf-dev", "Key": {"PK": {"S": "AUTHOR#author-1"}, "SK": {"S": "AUTHOR"}}},
        },
    }


def test_patterns_for_people(small: Path) -> None:
    output = run("patterns", "shelf").stdout
    assert "Authors by their names" in output
    assert 'authors(names=["author-1"])\n    BatchGetItem {"RequestItems": {"shelf-dev": ' in output


@pytest.mark.parametrize("system", system_names())
def test_the_example_requests_are_accepted(system: str) -> None:
    listed = answer("patterns", system)
    assert listed
    with Engine() as engine:
        for each in {each["CreateTable"]["TableName"]: each for each in answer("tables", system)}.values():
            engine.create_table(**each["CreateTable"])
        methods = {"GetItem": engine.get_item, "Query": engine.query, "Scan": engine.scan}
        for each in listed:
            method: Any = methods.get(each["example"]["action"], engine.batch_get_item)
            method(**each["example"]["request"])


# Verify


def test_verify_finds_nothing_in_good_data(small: Path) -> None:
    with Engine("keyplan.db") as engine:
        filled(shelf_store(engine))
    result = run("verify", "shelf")
    assert (result.exit_code, result.stdout) == (0, "shelf: 0 found, 0 left.\n")


def damage(store: Store[Any]) -> None:
    """A wrong number and a guard without its item, which can be repaired, and an item of no entity, which can't."""
    filled(store)
    engine = store.client
    key = {"PK": {"S": "AUTHOR#ann"}, "SK": {"S": "AUTHOR"}}
    changes = {"UpdateExpression": "SET books = :n", "ExpressionAttributeValues": {":n": {"N": "7"}}}
    engine.update_item(TableName="shelf-dev", Key=key, **changes)  # type: ignore[attr-defined]  # an engine
    for name in ("EMAIL#nobody@example.org", "STRANGER"):
        item = {"PK": {"S": name}, "SK": {"S": name}}
        engine.put_item(TableName="shelf-dev", Item=item)  # type: ignore[attr-defined]


def test_verify_lists_what_is_wrong(small: Path) -> None:
    with Engine("other.db") as engine:
        damage(shelf_store(engine))
    result = run("verify", "shelf", "--path", "other.db")
    assert result.exit_code == 1
    for text in ("wrong-count", "Author.books is 7 and should be 1", "PK = EMAIL#nobody@example.org", "unknown"):
        assert text in result.stdout
    assert result.stdout.endswith("shelf: 3 found, 3 left.\n")


def test_verify_repairs_what_can_be(small: Path) -> None:
    with Engine("keyplan.db") as engine:
        damage(shelf_store(engine))
    result = run("verify", "shelf", "--repair", "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["found"] == 3
    assert [(each["kind"], each["key"]["PK"], each["repairable"]) for each in report["left"]] == [
        ("unknown", {"S": "STRANGER"}, False)
    ]
    with Engine("keyplan.db") as engine:
        engine.delete_item(TableName="shelf-dev", Key={"PK": {"S": "STRANGER"}, "SK": {"S": "STRANGER"}})
    assert run("verify", "shelf").exit_code == 0


def test_verify_and_repair_over_the_wire(small: Path) -> None:
    with Engine() as engine, serve_in_thread(engine.database) as url:
        damage(shelf_store(engine))
        assert "3 found, 3 left." in run("verify", "shelf", "--endpoint-url", url).stdout
        assert "3 found, 1 left." in run("verify", "shelf", "--endpoint-url", url, "--repair").stdout


# Errors


@pytest.mark.parametrize("command", ["tables", "patterns", "verify"])
def test_an_unknown_system_is_answered_with_the_known(command: str) -> None:
    result = run(command, "nonesuch")
    assert result.exit_code == 2
    said = " ".join(result.output.replace("│", " ").split())
    assert "Unknown system: nonesuch." in said
    assert all(system in said for system in system_names())


@pytest.mark.parametrize("command", ["tables", "patterns", "verify"])
def test_what_is_no_design_is_refused(command: str) -> None:
    result = run(command, "json:loads")
    assert result.exit_code == 2
    assert result.output == (
        "keyplan: json:loads is neither a system nor a design. Name a System, or a class that inherits from Design.\n"
    )


def test_verify_needs_the_file(tmp_path: Path) -> None:
    result = run("verify", system_names()[0], "--path", str(tmp_path / "none.db"))
    assert result.exit_code == 2
    assert "file not found" in result.output
    assert not (tmp_path / "none.db").exists()


def test_verify_refuses_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("not a database " * 100)
    result = run("verify", system_names()[0], "--path", str(tmp_path / "notes.db"))
    assert result.exit_code == 2
    assert "Can't open" in result.output


def test_verify_needs_the_tables(small: Path) -> None:
    Engine("keyplan.db").close()
    result = run("verify", "shelf")
    assert result.exit_code == 2
    output = " ".join(result.output.split())
    assert "Can't verify shelf: file keyplan.db has no table" in output
    assert "Create the tables with: keyplan tables shelf --create --path keyplan.db" in output
    Engine("my own.db").close()
    output = " ".join(run("verify", "shelf", "--path", "my own.db", "--environment", "stage=test").output.split())
    assert "keyplan tables shelf --create --path 'my own.db' --environment stage=test" in output


def test_verify_needs_an_endpoint_that_answers(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPLAN_DYNAMODB_TIMEOUT", "0.2")
    result = run("verify", "shelf", "--endpoint-url", "http://127.0.0.1:1")
    assert result.exit_code == 2
    assert "Can't verify shelf" in result.output
    assert 'Could not connect to the endpoint URL: "http://127.0.0.1:1/"' in result.output
    assert "Can't use nonsense" in run("verify", "shelf", "--endpoint-url", "nonsense").output


@pytest.mark.parametrize("given", ["stage", "=x", "stage=", "place=x"])
def test_a_wrong_environment_is_refused(small: Path, given: str) -> None:
    assert run("tables", "shelf", "--environment", given).exit_code == 2


def test_the_command_itself() -> None:
    command = [sys.executable, "-m", "keyplan.cli", "patterns", system_names()[0], "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)


def test_a_pattern_that_is_spread_over_shards_says_how_many_requests_it_is() -> None:
    table = Table("Votes", key("PK", "SK"))

    class Vote(Entity, table=table):
        poll: Id
        voter: Id

        primary = key("POLL#{poll}#{shard(voter, 4)}", "VOTE#{voter}")

    class Polls(Design):
        tables, entities = (table,), (Vote,)

        @pattern("Votes of a poll")
        def votes(self, poll: str) -> Query[Vote]:
            return query(Vote.primary, poll=poll)

    (summary,) = _summaries(Polls())
    assert summary.row()[2] == "query of 4 shards, 4 requests"
    assert summary.as_json()["requests"] == 4
