"""Tables as DynamoDB describes them, as tables of a design."""

from collections.abc import Mapping, Sequence

from keyplan.adopt.errors import AdoptError
from keyplan.adopt.model import Json
from keyplan.design import ALL, KEYS_ONLY, DesignError, Table, include, index, key, local

_PARTS = ("HASH", "RANGE")


def table_of(description: Mapping[str, Json], ttl: str | None) -> Table:
    """The table of a description, as in the answer of DescribeTable or the request of CreateTable."""
    name = str(description.get("TableName", "table"))
    try:
        return _table(name, description, ttl)
    except DesignError as error:
        raise AdoptError("unusable-table", name, error.problem, error.remedy) from error
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise AdoptError(
            "bad-description",
            name,
            f"its description isn't one of DynamoDB: {type(error).__name__}: {error}",
            "Check TableName, KeySchema, AttributeDefinitions and the indexes.",
        ) from error


def _table(name: str, description: Mapping[str, Json], ttl: str | None) -> Table:
    types = {each["AttributeName"]: each["AttributeType"] for each in description["AttributeDefinitions"]}
    globals_, locals_ = (description.get(f"{kind}SecondaryIndexes") or () for kind in ("Global", "Local"))
    projections = {
        each["IndexName"]: {"ALL": ALL, "KEYS_ONLY": KEYS_ONLY}.get(each["Projection"]["ProjectionType"])
        or include(*each["Projection"]["NonKeyAttributes"])
        for each in (*globals_, *locals_)
    }
    indexes = {
        each["IndexName"]: index(key(*_key(each["KeySchema"], types)), projections[each["IndexName"]])
        for each in globals_
    }
    indexes |= {
        each["IndexName"]: local(_range(each["KeySchema"], types), projections[each["IndexName"]]) for each in locals_
    }
    provisioned = _provisioned(name, description)
    stream = description.get("StreamSpecification") or {}
    return Table(
        name,
        key(*_key(description["KeySchema"], types)),
        indexes=indexes,
        ttl=ttl,
        stream=stream.get("StreamViewType") if stream.get("StreamEnabled", True) else None,
        billing="PROVISIONED" if provisioned else "PAY_PER_REQUEST",
        capacity=provisioned,
    )


def _key(
    schema: Sequence[Mapping[str, str]], types: Mapping[str, str]
) -> tuple[str | tuple[str, ...], str | tuple[str, ...] | None]:
    """The arguments of `key`: attributes with their types, a tuple where a part has several."""
    hashes, ranges = (
        [_typed(each["AttributeName"], types) for each in schema if each["KeyType"] == kind]
        for kind in ("HASH", "RANGE")
    )
    return (
        hashes[0] if len(hashes) == 1 else tuple(hashes),
        None if not ranges else ranges[0] if len(ranges) == 1 else tuple(ranges),
    )


def _range(schema: Sequence[Mapping[str, str]], types: Mapping[str, str]) -> str:
    (name,) = (each["AttributeName"] for each in schema if each["KeyType"] == "RANGE")
    return _typed(name, types)


def _typed(name: str, types: Mapping[str, str]) -> str:
    return name if types[name] == "S" else f"{name}:{types[name]}"


def _provisioned(name: str, description: Mapping[str, Json]) -> tuple[int, int] | None:
    """Read and write capacity units, for a table that isn't paid per request."""
    mode = (description.get("BillingModeSummary") or {}).get("BillingMode") or description.get("BillingMode")
    throughput = description.get("ProvisionedThroughput") or {}
    if mode == "PAY_PER_REQUEST":
        return None
    read, write = (throughput.get(f"{each}CapacityUnits", 0) for each in ("Read", "Write"))
    if isinstance(read, dict) or isinstance(write, dict):
        remedy = "Give its parameters a default, or the output of `aws dynamodb describe-table`."
        raise AdoptError("no-capacity", name, "the template doesn't say its capacity in numbers", remedy)
    units = (int(read), int(write))
    return units if all(units) else None
