"""Where other servers answer differently from the engine, by rule, and which side AWS agrees with.

`test_differences.py` reads this list: a difference that no rule explains fails it. The first rule that fits counts.
A server that reports another one of several mistakes in a request falls under the rule of the mistake that we report.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

API = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/"
GUIDE = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
REWORDED = "https://martinhicks.dev/articles/dynamodb-changed-its-validation-errors"
NOT_FOUND = "No measurement on AWS was found for exactly this."


@dataclass(frozen=True)
class Rule:
    """Differences with one reason. `ours` and `theirs` are patterns for outcomes, found anywhere in them.

    An outcome is `<code>: <message>`, `accepted: <answer>` or `stored: <item>`. `both` is a pattern for the two
    outcomes, on a line each.
    """

    what: str
    aws: Literal["ours", "theirs", "unknown"]
    source: str
    ours: str
    theirs: str = ""
    operations: str = ""
    both: str = ""

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(pattern, re.DOTALL) for pattern in (self.operations, self.ours, self.theirs, self.both)]

    def explains(self, operation: str, ours: str, theirs: str) -> bool:
        """Return whether the rule is about such a difference."""
        texts = (operation, ours, theirs, f"{ours}\n{theirs}")
        return all(pattern.search(text) for pattern, text in zip(self._patterns, texts, strict=True))


RULES = (
    Rule(
        "An update that only removes attributes makes no item",
        "ours",
        "https://github.com/scylladb/scylladb/issues/5862",
        r"^stored: null",
        r'^stored: \{"pk": \{[^}]*\}, "sk": \{[^}]*\}\}$',
        "UpdateItem|TransactWriteItems",
    ),
    Rule(
        "ALL_OLD returns nothing if there was no item",
        "ours",
        GUIDE + "WorkingWithItems.html#WorkingWithItems.ReturnValues",
        r"^accepted: \{\}$",
        r'^accepted: \{"Attributes"',
        "UpdateItem",
    ),
    Rule(
        "A local index fetches attributes that it doesn't hold from the table",
        "ours",
        GUIDE + "LSI.html#LSI.Projections",
        "^accepted: ",
        "^accepted: ",
        "Query|Scan",
    ),
    Rule(
        "TransactGetItems returns the attributes of the projection, and no others",
        "ours",
        API + "API_TransactGetItems.html",
        "^accepted: ",
        "^accepted: ",
        "TransactGetItems",
    ),
    Rule(
        "Placeholders of an action without an expression mean nothing in a transaction",
        "ours",
        "https://github.com/ExtendDB/extenddb/pull/169",
        "^accepted: ",
        "^TransactionCanceledException: .*ValidationError Value provided in ExpressionAttribute.* unused",
        "TransactWriteItems|TransactGetItems",
    ),
    Rule(
        "Members that an operation doesn't have are ignored",
        "unknown",
        NOT_FOUND,
        "^accepted: ",
        "^SerializationException: .*unknown field",
    ),
    Rule(
        "A prefix that is an attribute of another type matches nothing; only a constant of another type is an error",
        "ours",
        "https://github.com/scylladb/scylladb/issues/6640",
        "^accepted: ",
        "^ValidationException: .*operator or function: begins_with, operand type",
    ),
    Rule(
        "ADD to an element after the end of a list appends",
        "unknown",
        NOT_FOUND,
        "^accepted: ",
        "^ValidationException: The document path provided",
        "UpdateItem",
    ),
    Rule(
        "PutItem, UpdateItem, DeleteItem, and Query for Select, announce errors in a request",
        "ours",
        REWORDED + " and https://github.com/ministackorg/ministack/issues/1038",
        "^ValidationException: 1 validation error detected: ",
        operations="PutItem|UpdateItem|DeleteItem|Query",
        both=r"^ValidationException: 1 validation error detected: (.*)\nValidationException: \1$",
    ),
    Rule(
        "Members that break a constraint are named as in the model, without their value, by the operations that AWS "
        "moved in 2026",
        "ours",
        REWORDED,
        "Value( '[^']*')? at '",
    ),
    Rule(
        "The types of operands are checked before an item is read",
        "ours",
        "https://github.com/aws/aws-sdk-js-v3/issues/7171",
        "Incorrect operand type for operator or function|The BETWEEN operator requires",
    ),
    Rule(
        "An operand that is compared with itself is refused",
        "ours",
        "https://github.com/floci-io/floci/pull/1442",
        "The first operand must be distinct",
    ),
    Rule(
        "The paths of an update or projection must not overlap or conflict",
        "ours",
        "https://github.com/HENNGE/aiodynamo/issues/2",
        "Two document paths (overlap|conflict)",
    ),
    Rule(
        "Reserved words are refused in every part of a path",
        "ours",
        GUIDE + "Expressions.ExpressionAttributeNames.html",
        "Attribute name is a reserved keyword",
    ),
    Rule(
        "attribute_type knows ten types",
        "ours",
        GUIDE + "Expressions.OperatorsAndFunctions.html",
        "Invalid attribute type name found",
    ),
    Rule(
        "A syntax error names the token and its neighbors",
        "ours",
        "https://github.com/aws/aws-sdk-js-v3/issues/2079",
        "Syntax error; token:|The expression can not be empty|redundant parentheses",
    ),
    Rule(
        "Placeholders must be defined, used, and go with an expression",
        "ours",
        "https://github.com/ExtendDB/extenddb/pull/162",
        "unused in expressions|is not defined; attribute|can only be specified when using expressions",
    ),
    Rule(
        "Errors in key conditions begin with the name of the parameter",
        "ours",
        "https://github.com/aws-amplify/amplify-category-api/pull/3531",
        "^ValidationException: Invalid KeyConditionExpression: ",
    ),
    Rule(
        "The conditions of a Query have the types of the key",
        "ours",
        "https://github.com/ministackorg/ministack/issues/1432",
        "Condition parameter type does not match schema type|Query key condition not supported",
    ),
    Rule(
        "The filter of a Query can't use the key, or what the index doesn't hold",
        "ours",
        GUIDE + "Query.FilterExpression.html",
        "Filter Expression can only contain non-primary key attributes|does not project one or more filter attributes",
    ),
    Rule(
        "Sets aren't empty and have no duplicates, and NULL is true",
        "ours",
        "https://github.com/ministackorg/ministack/issues/1038",
        "may not be empty|contains duplicates|Null attribute value types must",
    ),
    Rule(
        "Numbers are in range, also a zero by its exponent",
        "ours",
        GUIDE + "HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number",
        "Number overflow|Number underflow|significant digits|numeric value",
    ),
    Rule(
        "A value has exactly one type",
        "ours",
        "https://github.com/aws/aws-sdk-js/issues/381",
        "Supplied AttributeValue",
    ),
    Rule(
        "The path of an update leads through what exists",
        "ours",
        "https://github.com/scylladb/scylladb/issues/10043",
        "The document path provided in the update expression is invalid",
    ),
    Rule(
        "A wrong type for the key of an index is named",
        "ours",
        "https://github.com/nubo-db/dynoxide/issues/92",
        "Type mismatch for Index Key|Key attributes must be scalars|secondary index key",
    ),
    Rule(
        "Wrong keys, duplicate items and wrong operands are reported in AWS's order",
        "unknown",
        NOT_FOUND,
        "key element does not match|Type mismatch for key|Missing the key|cannot contain an empty|multiple operations"
        "|contains duplicates|does not exist in the item|incorrect data type|conditional request failed",
        "Exception: ",
    ),
    Rule(
        "ReturnValues of PutItem and DeleteItem, and Select, have their own errors",
        "ours",
        "https://github.com/boto/boto3/issues/4339 and https://github.com/nubo-db/dynoxide/issues/121",
        "ReturnValues can only be|choosing to get|can be used only when Querying",
    ),
)


def rule_for(operation: str, ours: str, theirs: str) -> Rule | None:
    """Return the rule that explains a difference."""
    return next((rule for rule in RULES if rule.explains(operation, ours, theirs)), None)
