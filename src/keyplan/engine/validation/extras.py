"""Rules that the service enforces and that botocore's model lacks.

Keys are names from the model, so that a rule can be found from both sides. Rules between members (a projection
expression next to AttributesToGet, a segment without a total) aren't here: they belong to the operations.
"""

from typing import TypedDict


class Constraints(TypedDict, total=False):
    """The constraints that a shape can have in the model."""

    min: int
    max: int
    pattern: str
    enum: list[str]


# (structure, member): constraints on this member in addition to those of its shape.
MEMBERS: dict[tuple[str, str], Constraints] = {
    ("CreateTableInput", "KeySchema"): {"max": 2},
    ("LocalSecondaryIndex", "KeySchema"): {"max": 2},
    ("DescribeStreamInput", "Limit"): {"max": 100},
    ("ListContributorInsightsInput", "MaxResults"): {"min": 1},
    ("OutputS3Configuration", "OutputType"): {"min": 1},
    ("ListStreamsInput", "Limit"): {"max": 100},
    ("GetRecordsInput", "Limit"): {"max": 1000},
}

# Members that the service requires, of structures in which the model has them optional.
REQUIRED: dict[str, list[str]] = {
    "OutputS3Configuration": ["S3Bucket"],
    "ShardFilter": ["Type", "ShardId"],
}

# The constraints of a shape in every place, instead of the model's.
SHAPES: dict[str, Constraints] = {
    # Measured in bytes, and with its own message: see `name_size` in attribute_values.py.
    "AttributeName": {},
}

# The values of an enumeration in the order in which the service lists them in its error message.
# For an enumeration that isn't here, that is the order of the model.
ENUMERATIONS: dict[str, list[str]] = {
    "AttributeAction": ["ADD", "DELETE", "PUT"],
    "ComparisonOperator": [
        "IN",
        "NULL",
        "BETWEEN",
        "LT",
        "NOT_CONTAINS",
        "EQ",
        "GT",
        "NOT_NULL",
        "NE",
        "LE",
        "BEGINS_WITH",
        "GE",
        "CONTAINS",
    ],
    "ConditionalOperator": ["OR", "AND"],
    "ProjectionType": ["ALL", "INCLUDE", "KEYS_ONLY"],
    "ReturnValue": ["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"],
    "ScalarAttributeType": ["B", "N", "S"],
    "Select": ["SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"],
}

# Operations on a table itself, which have their own message for a request without a table name.
TABLE_OPERATIONS = frozenset({"CreateTable", "DeleteTable", "DescribeTable", "UpdateTable"})
NO_TABLE_NAME = "The parameter 'TableName' is required but was not present in the request"

# A member that must not be empty, for which an operation has its own message.
EMPTY = {"BatchWriteItem": ("RequestItems", "The requestItems parameter is required for BatchWriteItem")}

# The model allows an ARN in place of this shape's value; a name must follow the rules for names.
TABLE_NAME_OR_ARN = "TableArn"
ARN_PREFIX = "arn:"
TABLE_NAME_LENGTHS = (3, 255)
TABLE_NAME_PATTERN = "[a-zA-Z0-9_.-]+"
TABLE_NAME: Constraints = {
    "min": TABLE_NAME_LENGTHS[0],
    "max": TABLE_NAME_LENGTHS[1],
    "pattern": TABLE_NAME_PATTERN,
}

# The service reports at most this many errors in one answer.
MAXIMUM_ERRORS = 10
