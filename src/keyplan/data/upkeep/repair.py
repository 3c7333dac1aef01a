"""Repairs: each finding that can be repaired, as one conditional write."""

from typing import Any

from keyplan.data.expressions.conditions import all_of, attribute_not_exists, equals
from keyplan.data.expressions.texts import Expression
from keyplan.data.steps import ClientFailure, Steps, call
from keyplan.data.upkeep.findings import VerifyFinding
from keyplan.design import Design, Table


def repair(design: Design, findings: list[VerifyFinding]) -> Steps[int]:
    """Repair findings, each only if its item hasn't changed since; returns how many were repaired."""
    tables = {design.table_name(table): table for table in design.all_tables}
    repaired = 0
    for finding in findings:
        if not finding.repairable:
            continue
        try:
            yield from call(*_repair_request(design, tables[finding.table], finding))
            repaired += 1
        except ClientFailure as failure:
            if failure.code != "ConditionalCheckFailedException":
                raise
    return repaired


def _repair_request(design: Design, table: Table, finding: VerifyFinding) -> tuple[str, dict[str, Any]]:
    expression = Expression()
    request: dict[str, Any] = {"TableName": design.table_name(table)}
    if finding.seen is None:
        nodes = [attribute_not_exists(table.hash[0].name)]
        request["Item"] = finding.sets
        operation = "put_item"
    else:
        touched = [*finding.sets, *finding.removes] if not finding.deletes else list(finding.seen)
        keys = set(table.key_names)
        nodes = [equals(name, finding.seen.get(name)) for name in touched if name not in keys]
        request["Key"] = finding.key
        operation = "delete_item" if finding.deletes else "update_item"
        if not finding.deletes:
            request["UpdateExpression"] = _update_text(finding, expression)
    condition = all_of(nodes)
    if condition is not None:
        request["ConditionExpression"] = expression.condition(condition)
    return operation, request | expression.parameters()


def _update_text(finding: VerifyFinding, expression: Expression) -> str:
    sections = []
    if finding.sets:
        pairs = (f"{expression.name(name)} = {expression.value(value)}" for name, value in finding.sets.items())
        sections.append("SET " + ", ".join(pairs))
    if finding.removes:
        sections.append("REMOVE " + ", ".join(expression.name(name) for name in finding.removes))
    return " ".join(sections)
