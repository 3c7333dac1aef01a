"""The forms in which settings of a table are stored in its definition."""

from typing import TypedDict

from keyplan.engine.storage.descriptions import ReplicaDescription


class ContributorInsights(TypedDict):
    """The contributor insights of a table or an index."""

    enabled: bool
    mode: str
    created: float
    updated: float


class KinesisDestination(TypedDict):
    """A Kinesis data stream to which the changes of a table would be sent."""

    stream: str
    status: str
    precision: str
    updated: float


class Replication(TypedDict):
    """What makes a table a global table (version 2019.11.21)."""

    replicas: dict[str, ReplicaDescription]
    """The replicas in other regions than the table's own, with their overrides, by region."""
    consistency: str
    witness: str | None
    protected: bool
    """Whether the replica in the table's own region is protected against disassociation."""
    overrides: ReplicaDescription
    """The overrides of the replica in the table's own region."""


class ScalingPolicy(TypedDict):
    PolicyName: str
    TargetTrackingScalingPolicyConfiguration: dict[str, object]


class AutoScaling(TypedDict, total=False):
    """The auto scaling of the read or write capacity of a table or index."""

    MinimumUnits: int
    MaximumUnits: int
    AutoScalingDisabled: bool
    AutoScalingRoleArn: str
    ScalingPolicies: list[ScalingPolicy]
