"""A valid request for every operation on backups, exports, imports, replicas and settings of tables."""

from typing import Any

from tests.engine.durability.support import GSI, TABLE, definition

REGION = "arn:aws:dynamodb:us-east-1:000000000000:"
ARN = f"{REGION}table/{TABLE}"
BACKUP = f"{ARN}/backup/01735689600000-0a1b2c3d"
EXPORT = f"{ARN}/export/01735689600000-0a1b2c3d"
IMPORT = f"{ARN}/import/01735689600000-0a1b2c3d"
BULK = f"{ARN}/bulk-operation/01735689600000-0a1b2c3d"
KINESIS = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
POLICY = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "000000000000"}, '
    f'"Action": ["dynamodb:GetItem", "dynamodb:PutResourcePolicy"], "Resource": "{ARN}"}}]}}'
)
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
INDEX = {
    "IndexName": GSI,
    "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}, {"AttributeName": "weight", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "ALL"},
}
SCALING = {
    "MinimumUnits": 1,
    "MaximumUnits": 10,
    "ScalingPolicyUpdate": {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.0}},
}

BACKUPS: list[tuple[str, dict[str, Any]]] = [
    ("CreateBackup", {"TableName": TABLE, "BackupName": "before-release"}),
    ("DescribeBackup", {"BackupArn": BACKUP}),
    (
        "ListBackups",
        {
            "TableName": ARN,
            "Limit": 3,
            "TimeRangeLowerBound": 0,
            "TimeRangeUpperBound": 4102444800,
            "ExclusiveStartBackupArn": BACKUP,
            "BackupType": "ALL",
        },
    ),
    ("DeleteBackup", {"BackupArn": BACKUP}),
    (
        "RestoreTableFromBackup",
        {
            "TargetTableName": "Restored",
            "BackupArn": BACKUP,
            "BillingModeOverride": "PROVISIONED",
            "ProvisionedThroughputOverride": UNITS,
            "GlobalSecondaryIndexOverride": [{**INDEX, "ProvisionedThroughput": UNITS}],
            "LocalSecondaryIndexOverride": [],
        },
    ),
    (
        "UpdateContinuousBackups",
        {
            "TableName": TABLE,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7},
        },
    ),
    (
        "RestoreTableToPointInTime",
        {
            "SourceTableName": TABLE,
            "TargetTableName": "Recovered",
            "UseLatestRestorableTime": True,
            "BillingModeOverride": "PAY_PER_REQUEST",
            "GlobalSecondaryIndexOverride": [INDEX],
        },
    ),
    (
        "ExportTableToPointInTime",
        {
            "TableArn": ARN,
            "S3Bucket": "bucket",
            "S3Prefix": "a/b",
            "ExportFormat": "ION",
            "ExportType": "INCREMENTAL_EXPORT",
            "IncrementalExportSpecification": {"ExportFromTime": 0, "ExportToTime": 900},
            "ClientToken": "export",
        },
    ),
    ("DescribeExport", {"ExportArn": EXPORT}),
    ("ListExports", {"TableArn": ARN, "MaxResults": 3, "NextToken": "0" * 112}),
    (
        "ImportTable",
        {
            "S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": "a/"},
            "InputFormat": "CSV",
            "InputFormatOptions": {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "sk"]}},
            "InputCompressionType": "GZIP",
            "TableCreationParameters": {
                name: value
                for name, value in definition("Imported").items()
                if name in ("TableName", "AttributeDefinitions", "KeySchema", "BillingMode", "GlobalSecondaryIndexes")
            },
            "ClientToken": "import",
        },
    ),
    ("DescribeImport", {"ImportArn": IMPORT}),
    ("ListImports", {"TableArn": ARN, "PageSize": 3, "NextToken": "0" * 112}),
    (
        "StartBulkPutItems",
        {
            "TableName": TABLE,
            "InputS3Configuration": {"S3Bucket": "bucket", "S3KeyPrefix": "a/", "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {"S3Bucket": "bucket", "S3KeyPrefix": "b/", "OutputType": ["ERROR"]},
            "MaxWriteRequestUnits": 100,
            "ClientToken": "bulk",
        },
    ),
    ("DescribeBulkOperation", {"BulkOperationArn": BULK}),
    ("CancelBulkOperation", {"BulkOperationArn": BULK}),
    ("ListBulkOperations", {"MaxResults": 3, "NextToken": "0" * 112}),
]

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("PutResourcePolicy", {"ResourceArn": ARN, "Policy": POLICY, "ExpectedRevisionId": "NO_POLICY"}),
    ("GetResourcePolicy", {"ResourceArn": ARN}),
    ("DeleteResourcePolicy", {"ResourceArn": ARN, "ExpectedRevisionId": "1"}),
    (
        "UpdateContributorInsights",
        {"TableName": TABLE, "IndexName": GSI, "ContributorInsightsAction": "ENABLE"},
    ),
    ("DescribeContributorInsights", {"TableName": TABLE, "IndexName": GSI}),
    ("ListContributorInsights", {"TableName": TABLE, "NextToken": "0" * 112, "MaxResults": 3}),
    (
        "EnableKinesisStreamingDestination",
        {
            "TableName": TABLE,
            "StreamArn": KINESIS,
            "EnableKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": "MILLISECOND"},
        },
    ),
    (
        "UpdateKinesisStreamingDestination",
        {
            "TableName": TABLE,
            "StreamArn": KINESIS,
            "UpdateKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": "MICROSECOND"},
        },
    ),
    ("DescribeKinesisStreamingDestination", {"TableName": TABLE}),
    ("DisableKinesisStreamingDestination", {"TableName": TABLE, "StreamArn": KINESIS}),
]

REPLICAS: list[tuple[str, dict[str, Any]]] = [
    ("CreateGlobalTable", {"GlobalTableName": TABLE, "ReplicationGroup": [{"RegionName": "us-east-1"}]}),
    ("DescribeGlobalTable", {"GlobalTableName": TABLE}),
    ("ListGlobalTables", {"ExclusiveStartGlobalTableName": "Oth", "Limit": 3, "RegionName": "us-east-1"}),
    (
        "UpdateGlobalTable",
        {"GlobalTableName": TABLE, "ReplicaUpdates": [{"Create": {"RegionName": "eu-central-1"}}]},
    ),
    ("DescribeGlobalTableSettings", {"GlobalTableName": TABLE}),
    (
        "UpdateGlobalTableSettings",
        {
            "GlobalTableName": TABLE,
            "GlobalTableBillingMode": "PROVISIONED",
            "GlobalTableProvisionedWriteCapacityUnits": 10,
            "ReplicaSettingsUpdate": [{"RegionName": "us-east-1", "ReplicaProvisionedReadCapacityUnits": 5}],
        },
    ),
    (
        "UpdateTable",
        {
            "TableName": TABLE,
            "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1", "TableClassOverride": "STANDARD"}}],
        },
    ),
    ("DescribeTableReplicaAutoScaling", {"TableName": TABLE}),
    (
        "UpdateTableReplicaAutoScaling",
        {
            "TableName": TABLE,
            "ProvisionedWriteCapacityAutoScalingUpdate": SCALING,
            "ReplicaUpdates": [{"RegionName": "us-east-1", "ReplicaProvisionedReadCapacityAutoScalingUpdate": SCALING}],
        },
    ),
]

VECTORS: list[tuple[str, dict[str, Any]]] = [
    (
        "SearchVectors",
        {
            "TableName": TABLE,
            "IndexName": "near",
            "SearchVector": [{"N": "1"}, {"N": "-0.5"}],
            "TopK": 3,
            "SearchConditionExpression": "colour = :c",
            "ProjectionExpression": "pk, #d",
            "ExpressionAttributeNames": {"#d": "doc"},
            "ExpressionAttributeValues": {":c": {"S": "red"}},
            "ReturnConsumedCapacity": "INDEXES",
        },
    ),
]

ADMINISTRATION = [*BACKUPS, *SETTINGS, *REPLICAS, *VECTORS]
