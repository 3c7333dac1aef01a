"""Commands for the operator of a database file, run as commands on files that are in use, damaged, or in the way."""

import errno
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from keyplan.cli import files, main
from keyplan.cli import table_files as cli_table_files
from keyplan.engine import Engine
from keyplan.engine.operator import file_copies, table_files
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.damage import PAGE_SIZE, log_of
from keyplan.engine.storage.transaction import Transaction
from tests.engine.durability.support import GSI, LSI, TABLE, definition, server
from tests.engine.durability.wire import Wire

LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def path(folder: Path) -> Path:
    """A file with 100 items."""
    file = folder / "data.db"
    with Engine(str(file)) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        put(engine, 0, 100)
    return file


def item(number: int) -> dict[str, dict[str, str]]:
    return {
        "pk": {"S": f"a{number % 7}"},
        "sk": {"N": str(number)},
        "colour": {"S": "red"},
        "weight": {"N": "1"},
        "text": {"S": "é" * 300},
    }


def put(engine: Engine, first: int, count: int) -> None:
    for number in range(first, first + count):
        engine.put_item(TableName=TABLE, Item=item(number))


def count(path: Path) -> int:
    with Engine(str(path)) as engine:
        return counted(engine)


def counted(engine: Engine, **request: str) -> int:
    pages = engine.get_paginator("scan").paginate(TableName=TABLE, Select="COUNT", **request)  # type: ignore[arg-type]
    return sum(page["Count"] for page in pages)


def said(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(each) for each in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def test_backup_and_restore(path: Path, folder: Path) -> None:
    code, text = said("backup", "b.db", "--path", path)
    assert (code, text) == (0, f"Wrote b.db ({(folder / 'b.db').stat().st_size:,} bytes).\n")
    assert (folder / "b.db").stat().st_mode & 0o777 == 0o600
    with Engine(str(path)) as engine:
        put(engine, 100, 50)
    assert said("restore", "b.db", "--path", path) == (
        2,
        f"keyplan: {path} exists. Use --force to replace it, or give another path.\n",
    )
    assert count(path) == 150
    code, text = said("restore", "b.db", "--path", path, "--force")
    assert (code, text) == (0, f"Restored {path} ({path.stat().st_size:,} bytes).\n")
    assert count(path) == 100
    assert count(folder / "b.db") == 100
    assert names(folder) == {"data.db", "b.db"}


def test_nothing_is_overwritten(path: Path, folder: Path) -> None:
    (folder / "there").write_bytes(b"mine")
    refused = (2, "keyplan: there exists. Use --force to replace it, or give another path.\n")
    assert said("backup", "there", "--path", path) == refused
    assert said("export", TABLE, "--output", "there", "--path", path) == refused
    assert (folder / "there").read_bytes() == b"mine"
    assert said("backup", "there", "--path", path, "--force")[0] == 0
    assert count(folder / "there") == 100


def test_wrong_settings_of_memory_and_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPLAN_LOG_LIMIT_MIB", "2")
    sentence = "KEYPLAN_LOG_LIMIT_MIB is '2'. Set it to a number of MiB, at least 64.\n"
    assert said("check", "--path", path) == (2, f"keyplan: {sentence}")
    assert said("dynamodb", "--path", path) == (2, f"keyplan: Can't open {path}: {sentence}")


def test_what_cannot_be_done(path: Path, folder: Path) -> None:
    for command in (("backup", "b.db"), ("check",), ("compact",), ("export", "T"), ("import", "T", "x.json")):
        assert said(*command, "--path", "none.db") == (2, "keyplan: Can't open none.db: file not found\n")
    assert said("backup", folder / "no" / "b.db", "--path", path) == (
        2,
        f"keyplan: The folder {folder / 'no'} doesn't exist. Create it first.\n",
    )
    assert said("restore", "none.db", "--path", "new.db") == (
        2,
        "keyplan: none.db doesn't exist. Give the path of a backup.\n",
    )
    (folder / "other").write_bytes(b"x" * 10_000)
    code, text = said("restore", "other", "--path", "new.db")
    assert code == 2
    assert text.startswith("keyplan: other can't be restored: ")
    assert "is not a Keyplan database" in text
    assert str(folder) not in text
    assert said("check", "--path", ":memory:") == (
        2,
        "keyplan: This command works on a database file. Give its path with --path.\n",
    )
    assert said("export", "None", "--path", path) == (
        2,
        f"keyplan: There is no table None in {path}. It has {TABLE}.\n",
    )
    assert said("import", TABLE, "x.json", "--path", path) == (2, "keyplan: Can't read x.json: file not found\n")
    assert names(folder) == {"data.db", "other"}


@pytest.mark.parametrize("_", range(25 if LONG else 1))
def test_file_in_use(path: Path, folder: Path, _: int) -> None:
    """It can be backed up, checked and exported, but not replaced. Each file has a few rounds, because it grows."""
    assert said("backup", "b.db", "--path", path)[0] == 0
    with server(path) as running, Wire(running.port) as wire:
        stop = threading.Event()
        written = [100]

        def write() -> None:
            while not stop.is_set():
                wire.call("PutItem", TableName=TABLE, Item=item(written[0]))
                written[0] += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(4 if LONG else 3):
                before = written[0]
                assert said("backup", f"{number}.db", "--path", path)[0] == 0
                after = written[0]
                assert said("check", "--path", folder / f"{number}.db")[0] == 0
                with Engine(str(folder / f"{number}.db")) as engine:
                    found = counted(engine)
                    assert before <= found <= after + 1
                    assert counted(engine, IndexName=GSI) == found
            code, text = said("check", "--path", path)
            assert (code, text.startswith(f"No damage found in {path}: ")) == (0, True), text
            assert said("export", TABLE, "--output", "t.json", "--path", path)[0] == 0
            in_use = (
                f"keyplan: {path} is in use, and can't be {{}} now. Stop the processes that use it, and try again.\n"
            )
            assert said("compact", "--path", path) == (2, in_use.format("compacted"))
            assert said("restore", "b.db", "--path", path, "--force") == (2, in_use.format("replaced"))
            assert said("restore", path, "--path", "new.db") == (
                2,
                f"keyplan: {path} is in use. Restore a backup of it, which `keyplan backup` makes.\n",
            )
        finally:
            stop.set()
            thread.join()
        assert counted_over(wire) == written[0]


def counted_over(wire: Wire) -> int:
    found = 0
    request: dict[str, object] = {"TableName": TABLE, "Select": "COUNT"}
    while True:
        answer = wire.call("Scan", **request)
        found += int(answer["Count"])
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def test_check_finds_what_is_damaged(path: Path) -> None:
    code, text = said("check", "--path", path)
    assert code == 0
    assert text.endswith(
        "1 table with 100 items, 200 index entries, 100 stream records, 0 backups, 0 changes of history (0 bytes).\n"
    )
    right = path.read_bytes()
    for at in random.Random(1).sample(range(2 * PAGE_SIZE, len(right), PAGE_SIZE), 6):
        path.write_bytes(right[: at + 50] + bytes([right[at + 50] ^ 1]) + right[at + 51 :])
        code, text = said("check", "--path", path)
        assert code == 1
        if not text.startswith(f"keyplan: {path} is damaged ("):  # as the file is opened, if that needs the page
            assert f"page {at // PAGE_SIZE + 1}: its checksum is wrong\n" in text
            assert text.endswith(f"keyplan: {path} is damaged. Restore it from a backup (`keyplan restore`).\n")
        # Every command that reads the page says so, and writes nothing.
        for command in (("compact",), ("backup", "new.db"), ("export", TABLE, "--output", "new.db")):
            code, text = said(*command, "--path", path)
            refused = text.startswith(f"keyplan: {path} is damaged (") and text.endswith("Restore it from a backup.\n")
            assert (code, refused) == (2, True) or (code, command[0]) == (0, "export"), text
            Path("new.db").unlink(missing_ok=code == 2)
        assert said("restore", path, "--path", "new.db")[0] == 2
        assert not Path("new.db").exists()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM t1_1 WHERE id = 7", f"index {LSI}: row 7 has no entry"),
        ("UPDATE t1_1 SET id = 8 WHERE id = 7", f"index {LSI}: row 7 has the entry of another row"),
        ("INSERT INTO t1_1(key, id) VALUES (x'00', 3)", f"index {LSI}: 101 entries, but 100 items belong in it"),
        ("UPDATE t1 SET key = x'01' WHERE id = 5", "row 5: the key isn't that of the item"),
        ("UPDATE t1 SET size = 1 WHERE id = 5", "row 5: the size isn't that of the item"),
        ("UPDATE t1 SET item = x'7b22' WHERE id = 5", "row 5: the item is incomplete"),
        ("DELETE FROM s1 WHERE number = 50", "records are missing between 49 and 51"),
    ],
)
def test_check_compares_what_belongs_together(path: Path, damage: str, problem: str) -> None:
    """Every checksum is right here, as after a mistake of the engine itself."""
    with Engine(str(path)) as engine:
        engine.database._storage.write(lambda transaction: transaction.sql(damage))
    code, text = said("check", "--path", path)
    assert code == 1
    assert problem in text


@pytest.fixture
def rich(folder: Path) -> Path:
    """A file with a vector index, a history and a backup."""
    file = folder / "rich.db"
    with Engine(str(file)) as engine:
        engine.create_table(
            TableName="Vectors",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
            VectorIndexes=[
                {
                    "IndexName": "near",
                    "VectorAttribute": {"AttributeName": "v"},
                    "Dimensions": 2,
                    "DistanceFunction": "COSINE",
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )
        engine.update_continuous_backups(
            TableName="Vectors", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        for number in range(10):
            vector = {} if number == 9 else {"v": {"L": [{"N": str(number)}, {"N": "1"}]}}
            engine.put_item(TableName="Vectors", Item={"pk": {"S": str(number)}, **vector})
        engine.create_backup(TableName="Vectors", BackupName="made")
    return file


def test_check_reads_everything(rich: Path) -> None:
    code, text = said("check", "--path", rich)
    assert (code, text.partition("pages, ")[2]) == (
        0,
        "1 table with 10 items, 9 index entries, 0 stream records, 1 backup, 10 changes of history (70 bytes).\n",
    )


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM t1_1 WHERE id = 7", "table Vectors, index near: row 7 has no entry"),
        (
            "UPDATE t1_1 SET vector = x'0000803f0000803f' WHERE id = 7",
            "table Vectors, index near: row 7 has an entry that isn't that of its item",
        ),
        (
            "INSERT INTO t1_1(id, vector, keys) VALUES (99, x'0000803f0000803f', x'5b5d')",
            "table Vectors, index near: 10 entries, but 9 items belong in it",
        ),
        ("DELETE FROM h1_1 WHERE number = 5", "history of table Vectors: changes are missing between 4 and 6"),
        ("UPDATE h1_1 SET item = x'7b22' WHERE number = 5", "history of table Vectors: change 5 can't be read"),
        ("DELETE FROM t2 WHERE id = 5", ": 9 items, but it had 10"),
        ("UPDATE t2 SET size = 1 WHERE id = 5", ", row 5: the size isn't that of the item"),
    ],
)
def test_check_compares_what_only_some_tables_have(rich: Path, damage: str, problem: str) -> None:
    with Engine(str(rich)) as engine:
        engine.database._storage.write(lambda transaction: transaction.sql(damage))
    code, text = said("check", "--path", rich)
    assert code == 1
    assert problem in text


@pytest.mark.parametrize("target", ["data.db", "data.db-wal", "data.db-shm", "link.db", "there/../data.db"])
def test_a_database_is_not_written_over_itself(path: Path, folder: Path, target: str) -> None:
    (folder / "link.db").symlink_to(path)
    (folder / "there").mkdir()
    for command in (("backup", target), ("export", TABLE, "--output", target)):
        assert said(*command, "--path", path, "--force") == (
            2,
            f"keyplan: {target} belongs to the database itself. Give another path.\n",
        )
    assert count(path) == 100


def test_another_database_in_use_is_not_replaced(path: Path, folder: Path) -> None:
    other = folder / "other.db"
    with server(other) as running, Wire(running.port) as wire:
        for written in (False, True):
            if written:
                wire.call("CreateTable", **definition())
            for command in (("backup", other), ("export", TABLE, "--output", other)):
                code, text = said(*command, "--path", path, "--force")
                assert (code, "in use" in text) == (2, True), text
    # It was killed, so there is a log. It goes when the file is opened and closed.
    log = log_of(other)
    assert said("backup", other, "--path", path, "--force") == (
        2,
        f"keyplan: {other} has a log ({log}): it is a database in use, or one that was in use. Give another path.\n",
    )
    assert count(other) == 0
    assert said("backup", other, "--path", path, "--force")[0] == 0
    assert count(other) == 100


def test_a_link_to_a_database(path: Path, folder: Path) -> None:
    """What is replaced is the file that it leads to."""
    (folder / "elsewhere").mkdir()
    link = folder / "elsewhere" / "link.db"
    link.symlink_to(path)
    assert said("backup", "b.db", "--path", link)[0] == 0
    with Engine(str(path)) as engine:
        put(engine, 100, 10)
    assert said("compact", "--path", link)[0] == 0
    assert (link.is_symlink(), count(path)) == (True, 110)
    assert said("restore", "b.db", "--path", link, "--force")[0] == 0
    assert (link.is_symlink(), count(path)) == (True, 100)
    assert names(folder / "elsewhere") == {"link.db"}


def test_compact(path: Path, folder: Path) -> None:
    with Engine(str(path)) as engine:
        put(engine, 100, 1000)
        for number in range(1000):
            key = {name: value for name, value in item(number).items() if name in ("pk", "sk")}
            engine.delete_item(TableName=TABLE, Key=key)
        engine.update_table(TableName=TABLE, StreamSpecification={"StreamEnabled": False})
        engine.database._storage.write(lambda transaction: transaction.sql("DELETE FROM s1"))
    before = path.stat().st_size
    code, text = said("compact", "--path", path)
    after = path.stat().st_size
    assert (code, text) == (0, f"{path} has {after:,} bytes (before: {before:,}).\n")
    assert after < before / 4
    assert path.stat().st_mode & 0o777 == 0o600
    assert count(path) == 100
    assert said("check", "--path", path)[0] == 0
    assert names(folder) == {"data.db"}


def test_compact_needs_space_for_two_copies(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is what SQLite writes before it overwrites the other, beside them and not in /tmp."""
    size = path.stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2 * size))
    code, text = said("compact", "--path", path)
    assert (code, f"{2 * size + file_copies.SPARE_BYTES:,} bytes are needed" in text) == (2, True)


def test_file_whose_log_is_lost(path: Path, folder: Path) -> None:
    """After a kill, the main file alone is refused; without its log it is restored if it is whole."""
    with server(path) as running, Wire(running.port) as wire:
        wire.call("PutItem", TableName=TABLE, Item=item(100))
        before, deadline = path.read_bytes(), time.monotonic() + 10
        while path.read_bytes() == before and time.monotonic() < deadline:
            time.sleep(0.01)
    log_of(path).rename(folder / "lost")
    code, text = said("check", "--path", path)
    assert code == 1
    assert f"`keyplan restore {path.name} --without-log` checks the file and gives those writes up" in text
    assert said("restore", path, "--path", "new.db")[0] == 2
    assert said("restore", path, "--path", "new.db", "--without-log")[0] in (0, 2)
    if (folder / "new.db").exists():
        assert count(folder / "new.db") in (100, 101)


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_export_and_import(path: Path, folder: Path, name: str) -> None:
    assert said("export", TABLE, "--output", name, "--path", path) == (0, f"Wrote 100 items to {name}.\n")
    file = folder / name
    assert file.stat().st_mode & 0o777 == 0o600
    content = gzip.decompress(file.read_bytes()) if name.endswith(".gz") else file.read_bytes()
    items = [json.loads(line)["Item"] for line in content.splitlines()]
    assert sorted(items, key=lambda each: int(each["sk"]["N"])) == [item(number) for number in range(100)]
    with Engine("new.db") as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
    assert said("import", TABLE, name, "--path", "new.db") == (0, f"Imported 100 items to {TABLE}.\n")
    assert said("check", "--path", "new.db")[0] == 0


def test_import_reports_bad_lines(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "LONGEST_LINE", 10_000)
    lines = [
        json.dumps({"Item": item(200)}),
        "{",
        json.dumps({"Item": item(201)}),
        json.dumps({"item": {}}),
        "",
        json.dumps({"Item": {**item(202), "text": {"S": "x" * 30_000}}}),
        json.dumps({"Item": {"pk": {"S": "a"}}}),
        json.dumps({"Item": item(203)}),
    ]
    (folder / "t.json").write_text("\n".join(lines))
    code, text = said("import", TABLE, "t.json", "--path", path)
    assert code == 1
    reported = text.splitlines()
    assert [line.partition(":")[0] for line in reported[:4]] == ["line 2", "line 4", "line 6", "line 7"]
    assert reported[0] == "line 2: it isn't JSON: unexpected end of data (column 1)"
    assert 'line 4: it isn\'t an object with "Item"' in reported
    assert "line 6: it has more than 10,000 bytes" in reported
    assert reported[3] == "line 7: One or more parameter values were invalid: Missing the key sk in the item"
    assert reported[4:] == [
        f"Imported 3 items to {TABLE}.",
        "keyplan: 4 lines not imported. Fix what is reported, and import the file again.",
    ]
    assert count(path) == 103


def test_import_of_a_file_that_was_cut_off(path: Path, folder: Path) -> None:
    assert said("export", TABLE, "--output", "t.json.gz", "--path", path)[0] == 0
    content = (folder / "t.json.gz").read_bytes()
    (folder / "t.json.gz").write_bytes(content[: len(content) // 2])
    code, text = said("import", TABLE, "t.json.gz", "--path", path)
    assert code == 2
    assert text.startswith("keyplan: t.json.gz can't be read to its end: ")


def test_import_of_a_file_that_is_not_gzip(path: Path, folder: Path) -> None:
    """Its beginning may look like it. What was imported before is counted."""
    assert said("export", TABLE, "--output", "t.json.gz", "--path", path)[0] == 0
    content = (folder / "t.json.gz").read_bytes()
    for wrong in (content[:10] + b"\xff" * 100, content[:10] + b"garbage" * 10, content[:-6] + b"wrong!"):
        (folder / "w.json.gz").write_bytes(wrong)
        code, text = said("import", TABLE, "w.json.gz", "--path", path)
        assert code == 2
        assert text.startswith("keyplan: w.json.gz can't be read to its end: ")
    assert text.endswith(". 100 items were imported.\n")


def test_the_content_says_whether_a_file_is_compressed(path: Path, folder: Path) -> None:
    for name in ("t.json", "t.json.gz"):
        assert said("export", TABLE, "--output", name, "--path", path)[0] == 0
        renamed = (folder / name).rename(folder / "renamed.gz" if name == "t.json" else folder / "renamed")
        assert said("import", TABLE, renamed, "--path", path) == (0, f"Imported 100 items to {TABLE}.\n")


def test_import_into_one_of_many_tables(path: Path) -> None:
    with Engine(str(path)) as engine:
        for number in range(110):
            made = definition()
            engine.create_table(**{**made, "TableName": f"A{number:03d}"})  # type: ignore[arg-type]
    assert said("export", TABLE, "--output", "t.json", "--path", path)[0] == 0
    assert said("import", TABLE, "t.json", "--path", path) == (0, f"Imported 100 items to {TABLE}.\n")
    code, text = said("import", "None", "t.json", "--path", path)
    assert (code, TABLE in text) == (2, True)


def test_tables_of_other_regions_and_accounts(folder: Path) -> None:
    accounts = {"AKIDTEAM": "111122223333"}
    arn = "arn:aws:dynamodb:eu-west-1:111122223333:table/" + TABLE
    with Engine("many.db", regions="separate", accounts=accounts) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        put(engine, 0, 3)
        team = engine.boto3_session("eu-west-1").client(
            "dynamodb", aws_access_key_id="AKIDTEAM", aws_secret_access_key="any"
        )
        team.create_table(**definition())  # type: ignore[arg-type]
        team.put_item(TableName=TABLE, Item=item(7))
    assert said("export", arn, "--output", "team.json", "--path", "many.db") == (0, "Wrote 1 item to team.json.\n")
    assert json.loads((folder / "team.json").read_text())["Item"] == item(7)
    assert said("export", TABLE, "--output", "home.json", "--path", "many.db") == (0, "Wrote 3 items to home.json.\n")
    assert said("import", arn, "home.json", "--path", "many.db") == (0, f"Imported 3 items to {arn}.\n")
    assert said("import", "None", "home.json", "--path", "many.db") == (
        2,
        f"keyplan: There is no table None in many.db. It has {TABLE}, {arn}.\n",
    )
    with Engine("many.db", regions="separate", accounts=accounts) as engine:
        team = engine.boto3_session("eu-west-1").client(
            "dynamodb", aws_access_key_id="AKIDTEAM", aws_secret_access_key="any"
        )
        assert team.scan(TableName=TABLE, Select="COUNT")["Count"] == 4
        assert counted(engine) == 3


def test_a_table_that_is_still_restored(path: Path) -> None:
    with Engine(str(path)) as engine:
        table = engine.describe_table(TableName=TABLE)["Table"]
        assert table["TableStatus"] == "ACTIVE"
        engine.database._storage.write(_leave_unfinished)
    refused = (2, f"keyplan: The table {TABLE} is still being restored or imported. Try again later.\n")
    assert said("export", TABLE, "--output", "t.json", "--path", path) == refused
    Path("t.json").write_text("")
    assert said("import", TABLE, "t.json", "--path", path) == refused


def _leave_unfinished(transaction: Transaction) -> None:
    made = deepcopy(transaction.catalog.tables[TABLE].definition)
    made["description"]["TableStatus"] = "CREATING"
    transaction.save(Table(transaction.catalog.tables[TABLE].number, made))


def test_uploads_are_named(path: Path, folder: Path) -> None:
    media = folder / "data.db.media"
    media.mkdir()
    _, text = said("backup", "b.db", "--path", path)
    assert text.endswith(f"Not included: the uploaded files in {media}. Copy the folder as well.\n")


def test_endpoints_are_refused() -> None:
    done = CliRunner().invoke(main, ["check"], env={"KEYPLAN_ENDPOINT_URL": "http://127.0.0.1:1"})
    assert (done.exit_code, done.output) == (
        2,
        "keyplan: This command works on a database file. Give its path with --path.\n",
    )


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_stopped_commands(path: Path, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They delete what isn't complete, and an import says how far it came."""
    assert said("export", TABLE, "--output", "t.json", "--path", path)[0] == 0
    before = signal.getsignal(signal.SIGTERM)

    def stop(*_: object) -> None:
        signal.raise_signal(getattr(signal, name))

    @contextmanager
    def stopping(_: str) -> Iterator[Callable[[int, int], None]]:
        yield stop

    monkeypatch.setattr(files, "progress_bar", stopping)
    monkeypatch.setattr(cli_table_files, "progress_bar", stopping)
    monkeypatch.setattr(table_files, "SHOWN_EVERY", 10)
    for command in (("backup", "new.db"), ("export", TABLE, "-o", "new.json")):
        assert said(*command, "--path", path) == (130, "keyplan: Stopped.\n")
        assert names(folder) == {"data.db", "t.json"}
    code, text = said("import", TABLE, "t.json", "--path", path)
    assert (code, text) == (130, "keyplan: Stopped. At least 25 items were imported.\n")
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_full_disk(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is named is the file that can't be written."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(table_files, "sync", fail)
    assert said("export", TABLE, "--output", "t.json", "--path", path) == (
        2,
        "keyplan: t.json could not be written: No space left on device\n",
    )
    assert names(folder) == {"data.db"}


COMMANDS = {
    "backup": ("backup", "out", "--force"),
    "restore": ("restore", "b.db", "--force"),
    "export": ("export", TABLE, "--output", "out", "--force"),
    "compact": ("compact",),
    "import": ("import", TABLE, "t.json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_killed_commands(path: Path, folder: Path, command: str) -> None:
    """A killed command leaves what was there or what was to be there; what it left over is never in the way."""
    with Engine(str(path)) as engine:
        for first in range(0, 2000, 25):
            requests = [{"PutRequest": {"Item": item(number)}} for number in range(first, first + 25)]
            engine.batch_write_item(RequestItems={TABLE: requests})  # type: ignore[dict-item]
    assert said("backup", "b.db", "--path", path)[0] == 0
    assert said("export", TABLE, "--output", "t.json", "--path", path)[0] == 0
    exported = (folder / "t.json").read_bytes()
    run = [sys.executable, "-m", "keyplan.cli", *COMMANDS[command], "--path", str(path)]
    began = time.monotonic()
    subprocess.run(run, check=True, capture_output=True, cwd=folder)
    lasted = time.monotonic() - began
    chance = random.Random(command)
    killed = tried = 0
    while killed < (60 if LONG else 2):
        tried += 1
        assert tried < 200
        before = (folder / "out").read_bytes() if (folder / "out").exists() else b""
        with subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder) as process:
            time.sleep(lasted * chance.uniform(0.3, 1))
            process.send_signal(signal.SIGKILL)
        if process.returncode == -signal.SIGKILL:
            killed += 1
        else:
            lasted *= 0.8  # the machine does other things less often than when it was measured
        assert count(path) == 2000
        if command == "export":
            assert (folder / "out").read_bytes() in (before, exported)
        elif command == "backup":
            assert count(folder / "out") == 2000
    assert said("check", "--path", path)[0] == 0
    subprocess.run(run, check=True, capture_output=True, cwd=folder)
    assert count(path) == 2000
