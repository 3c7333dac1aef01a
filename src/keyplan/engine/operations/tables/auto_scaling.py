"""Auto scaling settings of tables and indexes, as requests give them and as they are described.

They are checked, stored and described; capacity isn't changed, because nothing is throttled.
"""

from typing import Literal, NamedTuple, TypeAlias, TypedDict, cast

from keyplan.engine.errors import DynamoError, invalid_parameter
from keyplan.engine.storage.catalog import Definition
from keyplan.engine.storage.scopes import scope_of
from keyplan.engine.storage.table_settings import AutoScaling

LOWEST_TARGET, HIGHEST_TARGET = 20.0, 90.0
"""The limits of a target utilization in percent."""

Capacity: TypeAlias = Literal["Read", "Write"]

_DISABLED: AutoScaling = {"AutoScalingDisabled": True, "ScalingPolicies": []}
_ROLE = (
    "aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)


class PolicyUpdate(TypedDict, total=False):
    PolicyName: str
    TargetTrackingScalingPolicyConfiguration: dict[str, object]


class ScalingUpdate(TypedDict, total=False):
    """New auto scaling settings in a request."""

    MinimumUnits: int
    MaximumUnits: int
    AutoScalingDisabled: bool
    AutoScalingRoleArn: str
    ScalingPolicyUpdate: PolicyUpdate


class ScalingTarget(NamedTuple):
    """What is scaled: read capacity in one region, or write capacity in all; of a table, or of one of its indexes."""

    capacity: Capacity
    region: str = ""
    index_name: str = ""

    @property
    def key(self) -> str:
        """The name under which the settings are stored."""
        return "/".join(self)


def scaling_of(definition: Definition, target: ScalingTarget) -> AutoScaling:
    """Return the settings as they are described."""
    return definition.get("auto_scaling", {}).get(target.key, _DISABLED)


def is_scaled(definition: Definition, target: ScalingTarget) -> bool:
    return not scaling_of(definition, target).get("AutoScalingDisabled")


def change_scaling(definition: Definition, target: ScalingTarget, update: ScalingUpdate) -> None:
    """Check new settings and store them in a definition; what isn't given stays as it is."""
    stored = definition.setdefault("auto_scaling", {})
    if update.get("AutoScalingDisabled"):
        stored.pop(target.key, None)
        return
    before = stored.get(target.key, {})
    place = f"index {target.index_name}" if target.index_name else "table"
    lowest, highest = (
        update.get("MinimumUnits", before.get("MinimumUnits")),
        update.get("MaximumUnits", before.get("MaximumUnits")),
    )
    if lowest is None or highest is None:
        raise invalid_parameter(f"MinimumUnits and MaximumUnits must be specified for auto scaling of the {place}")
    role = f"arn:aws:iam::{scope_of(definition['description']['TableArn']).account}:role/{_ROLE}"
    if lowest > highest:
        raise _outside(f"MinimumUnits {lowest} is greater than MaximumUnits {highest}", place)
    stored[target.key] = {
        "MinimumUnits": lowest,
        "MaximumUnits": highest,
        "AutoScalingRoleArn": update.get("AutoScalingRoleArn", before.get("AutoScalingRoleArn", role)),
        "ScalingPolicies": before.get("ScalingPolicies", []),
    }
    if "ScalingPolicyUpdate" in update:
        _change_policy(stored[target.key], update["ScalingPolicyUpdate"], target, definition, place)


def _change_policy(
    settings: AutoScaling, update: PolicyUpdate, target: ScalingTarget, definition: Definition, place: str
) -> None:
    tracking = update["TargetTrackingScalingPolicyConfiguration"]
    utilization = cast(float, tracking["TargetValue"])
    if not LOWEST_TARGET <= utilization <= HIGHEST_TARGET:
        raise _outside(f"TargetValue {utilization} is not between {LOWEST_TARGET} and {HIGHEST_TARGET}", place)
    table = f"table/{definition['description']['TableName']}"
    resource = f"{table}/index/{target.index_name}" if target.index_name else table
    name = update.get("PolicyName", f"DynamoDB{target.capacity}CapacityUtilization:{resource}")
    settings["ScalingPolicies"] = [
        {
            "PolicyName": name,
            "TargetTrackingScalingPolicyConfiguration": {**tracking, "TargetValue": float(utilization)},
        }
    ]


def forget_index(definition: Definition, index: str) -> None:
    """Remove the settings of an index that is deleted."""
    stored = definition.get("auto_scaling", {})
    for key in [key for key in stored if key.endswith(f"/{index}")]:
        del stored[key]


def _outside(problem: str, place: str) -> DynamoError:
    return invalid_parameter(f"{problem} for auto scaling of the {place}")
