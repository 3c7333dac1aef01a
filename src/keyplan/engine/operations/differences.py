"""Where answers differ from AWS's, by operation and parameter, each with the difference and its reason in a line.

The documentation has them in its table of all operations. The name "" stands for an operation as a whole, and
`EVERYWHERE` has parameters that differ in the same way in all operations.
"""

REFUSED_OPERATIONS: dict[str, str] = {}
"""Why an operation isn't answered; it is refused with AWS's UnknownOperationException."""
NOT_BUILT = "It isn't built yet."

EVERYWHERE: dict[str, str] = {
    "ConsistentRead": "Reads without it see the latest data too, because there is one copy; they are charged half.",
    "ProvisionedThroughput": "Described; nothing is throttled.",
    "OnDemandThroughput": "Described; nothing is throttled.",
    "WarmThroughput": "Described; there is nothing to warm up.",
    "SSESpecification": "Described; the file isn't encrypted. Keys aren't looked up.",
    "TableClass": "Described; it has no effect.",
}

_NO_REPLICATION = "A replica is the table itself under another region's name, so it shares items and settings."
_NO_SCALING = "Described; capacity doesn't change, because nothing is throttled."
_NO_RECORDS = "No records are sent, and the stream isn't looked up: there is no Kinesis."
_NOT_ENCRYPTED = "Described; files are as the folder or the bucket makes them."
_NO_OWNERS = "Described; buckets have no owners."
_ONE_SHARD = "A stream has one shard, without children."

DIFFERENCES: dict[str, dict[str, str]] = {
    "CreateGlobalTable": {"": f"{_NO_REPLICATION} Refused where regions are separate."},
    "CreateTable": {
        "": "The table is ACTIVE when the call returns, although the answer says CREATING, as on AWS.",
        "GlobalTableSourceArn": "Refused: a multi-account global table needs a second account.",
        "GlobalTableSettingsReplicationMode": "Described; it has no effect.",
        "ResourcePolicy": "Checked and stored, not enforced: the engine has no users.",
    },
    "DeleteTable": {"": "The table is deleted when the call returns; with all replicas, unless regions are separate."},
    "DescribeContributorInsights": {"": "Rules are named, but nothing is measured: there is no CloudWatch."},
    "DescribeLimits": {"": "The quotas of a new account; they aren't enforced."},
    "DescribeStream": {"ShardFilter": _ONE_SHARD},
    "DescribeTable": {"": "Counts and sizes are those of the moment; AWS updates them every six hours."},
    "EnableKinesisStreamingDestination": {"": _NO_RECORDS},
    "ExportTableToPointInTime": {
        "": "Needs a folder or an S3 endpoint, see Exports and imports. The latest moment is the current second.",
        "S3SseAlgorithm": _NOT_ENCRYPTED,
        "S3SseKmsKeyId": _NOT_ENCRYPTED,
        "S3BucketOwner": _NO_OWNERS,
    },
    "ImportTable": {
        "": "Needs a folder or an S3 endpoint. Errors are logged by the process: there is no CloudWatch.",
    },
    "PutResourcePolicy": {
        "": "Not enforced: the engine has no users. A policy can be changed again at once, on AWS after 15 seconds.",
        "Policy": "Whether its principals and resources exist isn't checked.",
    },
    "RestoreTableToPointInTime": {"": "The latest moment is the current second, on AWS it is five minutes ago."},
    "SearchVectors": {
        "": "Exact, and as of the latest write; AWS's is approximate. Messages that AWS doesn't document are ours.",
        "ReturnConsumedCapacity": "An estimate: the bytes that AWS counts depend on the inside of its index.",
    },
    "StartBulkPutItems": {
        "": "Needs a folder or an S3 endpoint. The layout of the report isn't known to be AWS's.",
        "MaxWriteRequestUnits": "Described; nothing is throttled.",
        "PerformanceTier": "Described; it has no effect.",
    },
    "UpdateContributorInsights": {"": "Nothing is measured: there is no CloudWatch."},
    "UpdateGlobalTable": {"": _NO_REPLICATION},
    "UpdateGlobalTableSettings": {
        "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate": _NO_SCALING,
        "ReplicaSettingsUpdate": "Read capacity of other regions is described, without an effect.",
    },
    "UpdateTable": {
        "": "The table is ACTIVE when the call returns; a new index is filled in steps.",
        "GlobalTableSettingsReplicationMode": "Described; it has no effect.",
        "GlobalTableWitnessUpdates": "Described; a witness stores nothing.",
        "MultiRegionConsistency": "Described; all reads are strongly consistent.",
        "ReplicaUpdates": f"{_NO_REPLICATION} Overrides are described, without an effect. "
        "Disassociate is refused where regions are separate.",
    },
    "UpdateTableReplicaAutoScaling": {"": _NO_SCALING},
    "UpdateTimeToLive": {"": "Expired items are deleted by sweeps, as often as `ttl_interval` says."},
}
