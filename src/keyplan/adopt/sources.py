"""Tables that are in files: exports, CloudFormation templates, models of NoSQL Workbench, descriptions of tables.

An export has items, but doesn't say which attributes are keys: a template or a description beside it does.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import yaml

from keyplan.adopt.errors import AdoptError
from keyplan.adopt.files import item_from_json, items_in
from keyplan.adopt.finding import SampledTable
from keyplan.adopt.model import Json
from keyplan.adopt.tables import table_of
from keyplan.data import Item
from keyplan.design import DesignError, Table, key

_REFERENCE = re.compile(r"\$\{(\w+)\}")
_DATA = (".json", ".json.gz", ".jsonl", ".jsonl.gz")


@dataclass
class _Files:
    """What was found in files: tables, and items by the name of their table."""

    tables: dict[str, Table] = field(default_factory=dict)
    items: dict[str, Iterator[Item]] = field(default_factory=dict)


def tables_in(paths: Sequence[Path], wanted: Sequence[str], keys: str | None, most: int) -> list[SampledTable]:
    """The tables in these files, with up to `most` items of each. Raises `AdoptError`.

    `wanted` are the names of tables, or empty for all. `keys` are the key attributes of a table without a description.
    """
    files = _Files()
    for path in paths:
        _read(path, files)
    if len(wanted) == len(files.items) == 1 and not files.items.keys() & files.tables.keys():
        (items,) = files.items.values()
        files.items = {wanted[0]: items}  # an export doesn't say of which table it is
    _describe(files, keys)
    unknown = [name for name in wanted if name not in files.tables]
    if unknown:
        there = ", ".join(files.tables) or "none"
        raise AdoptError("no-table", unknown[0], "no file has such a table", f"Their tables are: {there}.")
    return [_sampled(files, name, most) for name in wanted or files.tables]


def _sampled(files: _Files, name: str, most: int) -> SampledTable:
    table, items = files.tables[name], files.items.get(name, iter(()))
    found: list[Item] = []
    for item in islice(items, most):
        missing = [each for each, type_ in table.key_types if type_ not in item.get(each, {})]
        if missing:
            problem = f"item {len(found) + 1} has no {missing[0]} of the type that is in the key"
            raise AdoptError("bad-item", name, problem, "Check the description of the table, or --key.")
        found.append(item)
    return SampledTable(table, found, next(items, None) is None)


def _describe(files: _Files, keys: str | None) -> None:
    """Find the description of each table that only has items."""
    for name in [name for name in files.items if name not in files.tables]:
        others = [each for each in files.tables if each not in files.items]
        if keys is not None:
            try:
                files.tables[name] = Table(name, key(*keys.split(",", 1)))
            except DesignError as error:
                raise AdoptError("unusable-table", name, error.problem, error.remedy) from error
        elif len(others) == 1:
            files.items[others[0]] = files.items.pop(name)
        elif others:
            remedy = f"Name the table to adopt. The descriptions are of {', '.join(others)}."
            raise AdoptError("which-table", name, "it isn't clear of which table its items are", remedy)
        else:
            raise AdoptError(
                "no-description",
                name,
                "an export doesn't say which attributes are keys",
                "Add --from with the table's CloudFormation template or the output of `aws dynamodb describe-table`, "
                "or --key PK,SK.",
            )


def _read(path: Path, files: _Files) -> None:
    if path.is_dir():
        name, data = _export(path)
        files.items[name] = (item for file in data for item in items_in(file))
        return
    if not path.is_file():
        raise AdoptError("no-file", str(path), "there is no such file or folder", "Check the path.")
    document = None if path.name.endswith(".gz") or ".jsonl" in path.name else _document(path)
    if not isinstance(document, dict) or "Item" in document:
        files.items[path.name.partition(".")[0]] = items_in(path)
    elif "DataModel" in document:
        _read_workbench(path, document, files)
    elif "Resources" in document:
        _read_template(path, document, files)
    else:
        described = document.get("Table", document)
        if "KeySchema" not in described:
            raise AdoptError(
                "bad-file",
                str(path),
                "it is neither a template, a model, an export nor a description of a table",
                "Give a CloudFormation template, a NoSQL Workbench model, an export, or a DescribeTable answer.",
            )
        table = table_of(described, None)
        files.tables[table.name] = table


def _export(folder: Path) -> tuple[str, list[Path]]:
    """The table's name and the files with items of an export."""
    manifests = sorted(folder.rglob("manifest-summary.json"))
    if len(manifests) > 1:
        there = ", ".join(str(each.parent) for each in manifests)
        raise AdoptError("several-exports", str(folder), "it has more than one export", f"Give one of: {there}.")
    name = folder.resolve().name
    if manifests:
        summary = _document(manifests[0])
        if not isinstance(summary, dict) or not isinstance(summary.get("tableArn"), str):
            raise AdoptError("bad-file", str(manifests[0]), "it has no tableArn", "Download the export again.")
        name = summary["tableArn"].rpartition("/")[2]
        if summary.get("outputFormat") == "ION":
            raise AdoptError("ion", str(folder), "the export is in Ion", "Export the table as DYNAMODB_JSON.")
    data = sorted(
        each
        for each in folder.rglob("*")
        if each.name.endswith(_DATA) and not each.name.startswith("manifest-") and each.is_file()
    )
    if not data:
        raise AdoptError("no-items", str(folder), "the folder has no files with items", "Check the path.")
    return name, data


class _Loader(yaml.SafeLoader):
    """Reads templates: what CloudFormation computes (`!Ref`, `!Sub`) is not a value yet."""


def _computed(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Json:
    if isinstance(node, yaml.ScalarNode):
        return {suffix: loader.construct_scalar(node)}
    if isinstance(node, yaml.SequenceNode):
        return {suffix: loader.construct_sequence(node, deep=True)}
    return {suffix: "..."}


_Loader.add_multi_constructor("!", _computed)


def _document(path: Path) -> Json:
    """The content of a JSON or YAML file; None if it has one JSON value per line."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AdoptError("bad-file", str(path), f"it can't be read: {error}", "Check the file.") from error
    if path.suffix == ".json" or text.startswith("{"):
        try:
            return json.loads(text)
        except ValueError as error:
            first = text.partition("\n")[0]
            if _is_json(first):
                return None
            line = getattr(error, "lineno", 1)
            raise AdoptError(
                "bad-file", f"{path}, line {line}", f"it isn't JSON: {error}", "Check the file."
            ) from error
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = f"it isn't YAML: {getattr(error, 'problem', None) or error}"
        raise AdoptError("bad-file", place, problem, "Check the file.") from error


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _read_template(path: Path, document: Mapping[str, Json], files: _Files) -> None:
    """The tables of a CloudFormation template, with the defaults of its parameters."""
    defaults = {
        name: str(each["Default"])
        for name, each in (document.get("Parameters") or {}).items()
        if isinstance(each, dict) and "Default" in each
    }
    for logical, resource in document["Resources"].items():
        kind = resource.get("Type") if isinstance(resource, dict) else None
        if kind not in ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable", "AWS::Serverless::SimpleTable"):
            continue
        properties = dict(_resolved(resource.get("Properties") or {}, defaults))
        if kind == "AWS::Serverless::SimpleTable":
            properties = _simple(properties)
        name = properties.get("TableName")
        properties["TableName"] = name if isinstance(name, str) else logical
        properties.setdefault("BillingMode", "PAY_PER_REQUEST" if kind == "AWS::DynamoDB::GlobalTable" else None)
        ttl = properties.get("TimeToLiveSpecification") or {}
        on = str(ttl.get("Enabled", "")).lower() != "false"  # also if a condition says it
        table = table_of(properties, ttl.get("AttributeName") if on else None)
        files.tables[table.name] = table
    if not files.tables:
        raise AdoptError("no-table", str(path), "the template has no DynamoDB table", "Give the template that has it.")


def _resolved(value: Json, defaults: Mapping[str, str]) -> Json:
    """A part of a template with the values of `Ref` and `Sub` that parameters have by default."""
    if isinstance(value, list):
        return [_resolved(each, defaults) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((function, argument),) = value.items()
        if function == "Ref" and argument in defaults:
            return defaults[argument]
        if function in ("Sub", "Fn::Sub") and isinstance(argument, str):
            text = _REFERENCE.sub(lambda match: defaults.get(match[1], match[0]), argument)
            return value if "${" in text else text
    return {name: _resolved(each, defaults) for name, each in value.items()}


def _simple(properties: Mapping[str, Json]) -> dict[str, Json]:
    primary = properties.get("PrimaryKey") or {"Name": "id", "Type": "String"}
    return {
        **properties,
        "AttributeDefinitions": [{"AttributeName": primary["Name"], "AttributeType": str(primary["Type"])[0]}],
        "KeySchema": [{"AttributeName": primary["Name"], "KeyType": "HASH"}],
    }


def _read_workbench(path: Path, document: Mapping[str, Json], files: _Files) -> None:
    """The tables of a model of NoSQL Workbench, with its items."""
    for number, model in enumerate(document["DataModel"], start=1):
        place = f"{path}, table {number}"
        try:
            name = model["TableName"]
            description = {
                **_workbench_keys([model, *model.get("GlobalSecondaryIndexes", ())]),
                "TableName": name,
                "BillingMode": "PAY_PER_REQUEST",
            }
            items = [item_from_json(item) for item in model.get("TableData", ())]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            problem = f"it isn't a table of NoSQL Workbench: {type(error).__name__}: {error}"
            raise AdoptError("bad-file", place, problem, "Export the data model again.") from error
        files.tables[name] = table_of(description, None)
        if items:
            files.items[name] = iter(items)


def _workbench_keys(parts: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """The keys of a table and its indexes, as DynamoDB describes them."""
    types: dict[str, str] = {}
    schemas = []
    for part in parts:
        schema = []
        for name, kind in (("PartitionKey", "HASH"), ("SortKey", "RANGE")):
            attribute = part["KeyAttributes"].get(name)
            if attribute:
                types[attribute["AttributeName"]] = attribute["AttributeType"]
                schema.append({"AttributeName": attribute["AttributeName"], "KeyType": kind})
        schemas.append(schema)
    indexes = [
        {
            "IndexName": part["IndexName"],
            "KeySchema": schema,
            "Projection": part.get("Projection") or {"ProjectionType": "ALL"},
        }
        for part, schema in zip(parts[1:], schemas[1:], strict=True)
    ]
    return {
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in types.items()],
        "KeySchema": schemas[0],
        "GlobalSecondaryIndexes": indexes,
    }
