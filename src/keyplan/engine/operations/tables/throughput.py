"""What a table and its indexes can take: billing mode, provisioned, on-demand and warm throughput.

Nothing is throttled here; the figures are checked, kept and described as AWS does it.
"""

from typing import Literal, TypedDict, cast

from keyplan.engine.errors import DynamoError, invalid_parameter, validation_error
from keyplan.engine.storage.catalog import IndexDescription, TableDescription

MAXIMUM_UNITS = 1_000_000_000_000
ON_DEMAND_WARM = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000}
"""What a table or index that is paid by request can take from the start."""
SECONDS_OF_A_DAY = 86_400.0

_UNITS = ("ReadCapacityUnits", "WriteCapacityUnits")
_MOST = ("MaxReadRequestUnits", "MaxWriteRequestUnits")
_WARM = ("ReadUnitsPerSecond", "WriteUnitsPerSecond")


class Figures(TypedDict, total=False):
    """The members about throughput that tables and indexes have in common in requests."""

    ProvisionedThroughput: dict[str, int]
    OnDemandThroughput: dict[str, int]
    WarmThroughput: dict[str, int]


def billing_of(description: TableDescription) -> str:
    """PROVISIONED or PAY_PER_REQUEST. A table that was never the latter says nothing about it."""
    return cast(str, description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED"))


def check_units(given: Figures, index: str | None = None) -> None:
    """Refuse provisioned units that no table could ever have."""
    for name in _UNITS:
        units = given.get("ProvisionedThroughput", {}).get(name, 1)
        if units > MAXIMUM_UNITS:
            place = f" for index {index}" if index else ""
            raise validation_error(f"Given value {units} for {name} is out of bounds{place}")


def not_with_requests(index: str | None = None) -> DynamoError:
    """Provisioned units where requests are paid one by one."""
    place = f" for index: {index}" if index else ""
    return invalid_parameter(
        f"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified{place} when BillingMode is PAY_PER_REQUEST"
    )


def units_missing() -> DynamoError:
    return invalid_parameter(
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
    )


def check_on_demand(given: Figures, billing: str, *, index: str | None = None, create: bool) -> None:
    """Ceilings belong to tables that are paid by request; in an update -1 takes one away."""
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


def check_change(
    current: dict[str, object], wanted: dict[str, int], kind: Literal["table", "index"], name: str
) -> None:
    """Refuse provisioned units that are what is provisioned already."""
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
    """Provisioned throughput as it is described; zeros where requests are paid one by one."""
    units = given or {}
    return {"NumberOfDecreasesToday": 0, **{name: units.get(name, 0) for name in _UNITS}}


def change_provisioned(described: TableDescription | IndexDescription, wanted: dict[str, int], now: float) -> None:
    """Other provisioned units, with the times of the last changes in both directions."""
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
    """Set ceilings, or take away those that are given as -1; one that is not mentioned stays."""
    stored = {**described.get("OnDemandThroughput", {}), **given.get("OnDemandThroughput", {})}
    kept: dict[str, object] = {name: units for name, units in stored.items() if units != -1}
    if kept:
        described["OnDemandThroughput"] = kept
    else:
        described.pop("OnDemandThroughput", None)


def warm_up(
    described: TableDescription | IndexDescription, given: Figures, billing: str, index: str | None = None
) -> None:
    """What can be taken at once: it grows with what is provisioned or asked for, and never shrinks."""
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


def by_request(described: TableDescription | IndexDescription) -> None:
    """No provisioned units any more."""
    described["ProvisionedThroughput"] = provisioned(None)
