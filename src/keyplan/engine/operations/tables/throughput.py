"""The throughput of tables and indexes: billing mode, provisioned, on-demand and warm throughput.

Nothing is throttled; the figures are checked, stored and described as on AWS.
"""

from typing import Literal, TypedDict, cast

from keyplan.engine.errors import DynamoError, invalid_parameter, validation_error
from keyplan.engine.storage.descriptions import IndexDescription, TableDescription

MAXIMUM_UNITS = 1_000_000_000_000
ON_DEMAND_WARM = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000}
"""The warm throughput of a new on-demand table or index."""
SECONDS_OF_A_DAY = 86_400.0

_UNITS = ("ReadCapacityUnits", "WriteCapacityUnits")
_MOST = ("MaxReadRequestUnits", "MaxWriteRequestUnits")
_WARM = ("ReadUnitsPerSecond", "WriteUnitsPerSecond")


class Figures(TypedDict, total=False):
    """The throughput members that tables and indexes share in requests."""

    ProvisionedThroughput: dict[str, int]
    OnDemandThroughput: dict[str, int]
    WarmThroughput: dict[str, int]


def billing_of(description: TableDescription) -> str:
    """Return PROVISIONED or PAY_PER_REQUEST; a table that was never on-demand has no BillingModeSummary."""
    return cast(str, description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED"))


def check_units(given: Figures, index: str | None = None) -> None:
    """Refuse provisioned units beyond any limit."""
    for name in _UNITS:
        units = given.get("ProvisionedThroughput", {}).get(name, 1)
        if units > MAXIMUM_UNITS:
            place = f" for index {index}" if index else ""
            raise validation_error(f"Given value {units} for {name} is out of bounds{place}")


def units_not_allowed(index: str | None = None) -> DynamoError:
    """AWS's error for provisioned units of an on-demand table or index."""
    place = f" for index: {index}" if index else ""
    return invalid_parameter(
        f"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified{place} when BillingMode is PAY_PER_REQUEST"
    )


def units_missing() -> DynamoError:
    """AWS's error for a provisioned table without units."""
    return invalid_parameter(
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
    )


def check_on_demand(given: Figures, billing: str, *, index: str | None = None, create: bool) -> None:
    """Refuse on-demand limits for a provisioned table, or out of range; in an update, -1 removes a limit."""
    wanted = given.get("OnDemandThroughput", {})
    where = f"index {index}" if index else "table"
    for name in _MOST:
        if name in wanted and billing == "PROVISIONED":
            when = "table BillingMode is PROVISIONED." if create else "the table BillingMode is PROVISIONED"
            raise invalid_parameter(f"{name} for OnDemandThroughput cannot be specified when {when}")
    for name in _MOST:
        units = wanted.get(name, 1)
        if units < 1 and (create or units != -1):
            raise invalid_parameter(f"Requested {name} for OnDemandThroughput for {where} is outside of valid range")


def check_units_change(
    current: dict[str, object], wanted: dict[str, int], kind: Literal["table", "index"], name: str
) -> None:
    """Refuse provisioned units that equal the current ones."""
    if all(current[unit] == wanted[unit] for unit in _UNITS):
        what = "table" if kind == "table" else f"index {name}"
        read, write = wanted["ReadCapacityUnits"], wanted["WriteCapacityUnits"]
        raise validation_error(
            f"The provisioned throughput for the {what} will not change. The requested value equals the current "
            f"value. Current ReadCapacityUnits provisioned for the {kind}: {read}. Requested ReadCapacityUnits: "
            f"{read}. Current WriteCapacityUnits provisioned for the {kind}: {write}. Requested WriteCapacityUnits: "
            f"{write}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher "
            "limits."
        )


def provisioned(given: dict[str, int] | None) -> dict[str, object]:
    """Return provisioned throughput as it is described; zeros for an on-demand table."""
    units = given or {}
    return {"NumberOfDecreasesToday": 0, **{name: units.get(name, 0) for name in _UNITS}}


def change_provisioned(described: TableDescription | IndexDescription, wanted: dict[str, int], now: float) -> None:
    """Set the provisioned units and the times of the last increase and decrease."""
    before = described["ProvisionedThroughput"]
    after = {**before, **{name: wanted[name] for name in _UNITS}}
    old, new = [cast(int, before[name]) for name in _UNITS], [wanted[name] for name in _UNITS]
    if any(more > less for more, less in zip(new, old, strict=True)):
        after["LastIncreaseDateTime"] = now
    if any(more < less for more, less in zip(new, old, strict=True)):
        same_day = cast(float, before.get("LastDecreaseDateTime", 0.0)) // SECONDS_OF_A_DAY == now // SECONDS_OF_A_DAY
        today = cast(int, before["NumberOfDecreasesToday"]) if same_day else 0
        after |= {"NumberOfDecreasesToday": today + 1, "LastDecreaseDateTime": now}
    described["ProvisionedThroughput"] = after


def change_on_demand(described: TableDescription | IndexDescription, given: Figures) -> None:
    """Set on-demand limits, or remove those given as -1; others stay as they are."""
    stored = {**described.get("OnDemandThroughput", {}), **given.get("OnDemandThroughput", {})}
    kept: dict[str, object] = {name: units for name, units in stored.items() if units != -1}
    if kept:
        described["OnDemandThroughput"] = kept
    else:
        described.pop("OnDemandThroughput", None)


def set_warm_throughput(
    described: TableDescription | IndexDescription, given: Figures, billing: str, index: str | None = None
) -> None:
    """Set the warm throughput, which grows with provisioned and requested units and never shrinks."""
    floor = {name: cast(int, described.get("WarmThroughput", {}).get(name, 0)) for name in _WARM}
    units = described["ProvisionedThroughput"]
    least = (
        ON_DEMAND_WARM
        if billing == "PAY_PER_REQUEST"
        else {warm: cast(int, units[unit]) for warm, unit in zip(_WARM, _UNITS, strict=True)}
    )
    after: dict[str, object] = {}
    where = f"index {index}" if index else "table"
    for name in _WARM:
        lowest = max(floor[name], least[name])
        wanted = given.get("WarmThroughput", {}).get(name, lowest)
        if wanted < lowest:
            raise invalid_parameter(
                f"Requested {name} for WarmThroughput for {where} is lower than current WarmThroughput, decreasing "
                "WarmThroughput is not supported"
            )
        after[name] = wanted
    described["WarmThroughput"] = {**after, "Status": "ACTIVE"}


def remove_provisioned_units(described: TableDescription | IndexDescription) -> None:
    """Set the provisioned units to zero, for an on-demand table."""
    described["ProvisionedThroughput"] = provisioned(None)
