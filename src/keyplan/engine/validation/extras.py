"""What the service enforces and botocore's model does not say: one table, read together with the model.

Keys are names of the model, so that a rule can be found from either side. Rules between members (a projection
expression next to AttributesToGet, a segment without a total) are not here: they belong to the operations.
"""

from typing import TypedDict


class Constraints(TypedDict, total=False):
    """The constraints that a shape can have in the model."""

    min: int
    max: int
    pattern: str
    enum: list[str]


# (structure, member): what holds for this member besides the constraints of its shape.
MEMBERS: dict[tuple[str, str], Constraints] = {
    ("CreateTableInput", "KeySchema"): {"max": 2},
    ("LocalSecondaryIndex", "KeySchema"): {"max": 2},
    ("DescribeStreamInput", "Limit"): {"max": 100},
    ("ListStreamsInput", "Limit"): {"max": 100},
    ("GetRecordsInput", "Limit"): {"max": 1000},
}

# What holds for a shape wherever it stands, in place of the model's constraints.
SHAPES: dict[str, Constraints] = {
    # Counted in bytes, and with a sentence of its own: see `name_size` in attribute_values.py.
    "AttributeName": {},
}

# The values of an enumeration in the order in which the service lists them when it refuses another one.
# An enumeration that is not here is listed in the order of the model.
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

# Operations on a table as such, which have a sentence of their own for a request that names none.
TABLE_OPERATIONS = frozenset({"CreateTable", "DeleteTable", "DescribeTable", "UpdateTable"})
NO_TABLE_NAME = "The parameter 'TableName' is required but was not present in the request"

# Where this shape stands, the model has room for an ARN; a name is held to the rules for names.
TABLE_NAME_OR_ARN = "TableArn"
ARN_PREFIX = "arn:"
TABLE_NAME_LENGTHS = (3, 255)
TABLE_NAME_PATTERN = "[a-zA-Z0-9_.-]+"
TABLE_NAME: Constraints = {
    "min": TABLE_NAME_LENGTHS[0],
    "max": TABLE_NAME_LENGTHS[1],
    "pattern": TABLE_NAME_PATTERN,
}

# The service names no more than this many errors in one answer.
MOST_ERRORS = 10
