"""Exports are read by what reads real ones: pandas, PyArrow and amazon.ion. `make test-exports` has them."""

import gzip
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.backups.support import contents, item, make_indexed_table, put_items, set_recovery, wait
from tests.engine.exports.support import export
from tests.engine.support import Clock

ITEMS = 300


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    folder = tmp_path / "s3" / "bucket"
    folder.mkdir(parents=True)
    return folder


def exported(bucket: Path, kind: str, **request: Any) -> tuple[list[bytes], list[dict[str, Any]]]:
    """The data files of an export, and the items of the table."""
    clock = Clock()
    with Engine(clock=clock, s3=bucket.parent) as engine:
        table = make_indexed_table(engine)
        set_recovery(engine, table)
        put_items(engine, table, range(ITEMS))
        numbers = {"N": "600"}, {"N": "-0.001"}, {"N": "12345678901234567890.123"}
        more = {"L": [*numbers, {"NULL": True}, {"BOOL": True}]}
        sets = {"strings": {"SS": ["a", "é"]}, "numbers": {"NS": ["1", "200"]}, "we ird": {"S": "\"'\\\n\u2028"}}
        engine.put_item(TableName=table, Item=item(ITEMS, more=more, binary={"B": b"\x00\xff"}, **sets))
        clock.now += 3_600
        export(engine, table, ExportFormat=kind, **request)
        wait(lambda: bool(list(bucket.rglob("*.gz"))))
        return [path.read_bytes() for path in sorted(bucket.rglob("*.gz"))], contents(engine, table)


def test_pandas(bucket: Path) -> None:
    pandas = pytest.importorskip("pandas")
    files, items = exported(bucket, "DYNAMODB_JSON")
    frames = [pandas.read_json(io.BytesIO(file), lines=True, compression="gzip") for file in files]
    found = list(pandas.concat(frames)["Item"])
    plain = [{name: value for name, value in each.items() if name != "binary"} for each in items]
    kept = [{name: value for name, value in each.items() if name != "binary"} for each in found]
    assert sorted(kept, key=repr) == plain


def test_pyarrow(bucket: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow.json")
    files, items = exported(bucket, "DYNAMODB_JSON")
    found = [row["Item"] for file in files for row in pyarrow.read_json(io.BytesIO(gzip.decompress(file))).to_pylist()]
    assert sorted(each["sk"]["N"] for each in found) == sorted(each["sk"]["N"] for each in items)


def test_amazon_ion(bucket: Path) -> None:
    simpleion = pytest.importorskip("amazon.ion.simpleion")
    files, items = exported(bucket, "ION")
    found = {}
    for file in files:
        for line in gzip.decompress(file).splitlines():
            read = simpleion.loads(line)["Item"]
            found[int(read["sk"])] = read
    assert len(found) == len(items) == ITEMS + 1
    for each in items:
        check(found[int(each["sk"]["N"])], {"M": each})


def test_amazon_ion_reads_incremental_exports(bucket: Path) -> None:
    simpleion = pytest.importorskip("amazon.ion.simpleion")
    period = {"ExportFromTime": 1_700_000_000, "ExportToTime": 1_700_003_600}
    files, items = exported(bucket, "ION", ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=period)
    records = [simpleion.loads(line)["Record"] for file in files for line in gzip.decompress(file).splitlines()]
    assert len(records) == len(items)
    assert {int(record["Metadata"]["WriteTimestampMicros"]) for record in records} == {1_700_000_000_000_000}
    for each in items:
        (record,) = [found for found in records if int(found["NewImage"]["sk"]) == int(each["sk"]["N"])]
        check(record["NewImage"], {"M": each})


def check(found: Any, value: dict[str, Any]) -> None:
    """An Ion value is an attribute value, by AWS's table of types."""
    ((kind, content),) = value.items()
    match kind:
        case "M":
            assert set(found.keys()) == set(content)
            for name, each in content.items():
                check(found[name], each)
        case "L":
            for one, each in zip(found, content, strict=True):
                check(one, each)
        case "SS" | "NS" | "BS":
            assert [annotation.text for annotation in found.ion_annotations] == [f"$dynamodb_{kind}"]
            assert sorted(Decimal(str(each)) if kind == "NS" else each for each in found) == sorted(
                Decimal(each) if kind == "NS" else each for each in content
            )
        case "N":
            assert isinstance(found, Decimal)
            assert Decimal(found) == Decimal(content)
        case "NULL":
            assert found is None or json.dumps(bool(found)) == "false"
        case _:
            assert found == content
