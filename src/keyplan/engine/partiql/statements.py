"""Statements: what a text means, apart from its table and its parameters. Results are cached by text."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.expressions.grammar import CACHE_SIZE
from keyplan.engine.expressions.paths import Path
from keyplan.engine.partiql import nodes
from keyplan.engine.partiql.access import Where
from keyplan.engine.partiql.assignments import Assignments
from keyplan.engine.partiql.columns import Columns, columns
from keyplan.engine.partiql.grammar import StatementParser
from keyplan.engine.partiql.literals import Parameters, written_fields
from keyplan.engine.partiql.nodes import Node
from keyplan.engine.partiql.statement_errors import Span, malformed, unexpected_component, unsupported
from keyplan.engine.partiql.where import Placed, condition_tree
from keyplan.engine.values.attribute_values import AttributeValue, Item
from keyplan.engine.values.normal_form import normalize


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """A SELECT. `columns` is None for `*`; `order` has the names of attributes, and whether each is descending."""

    table: str
    index: str | None
    columns: Columns | None
    where: Where | None
    order: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Insert:
    """An INSERT of one item."""

    table: str
    node: nodes.StructNode | nodes.ParameterNode

    def item(self, parameters: Parameters) -> Item:
        """Return the item as it is written: not normalized and not checked."""
        if isinstance(self.node, nodes.StructNode):
            return written_fields(self.node, parameters)
        given = parameters[self.node.position].get("M")
        if given is None:
            raise _no_map(self.node)
        return given


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """An UPDATE of one item; `returning` is a value of ReturnValues."""

    table: str
    assignments: Assignments
    where: Where | None
    returning: str


@dataclass(frozen=True, slots=True, eq=False)
class Delete:
    """A DELETE of one item; `returning` is a value of ReturnValues."""

    table: str
    where: Where | None
    returning: str


@dataclass(frozen=True, slots=True, eq=False)
class Exists:
    """EXISTS(SELECT ...), which checks an item in a transaction."""

    table: str
    where: Where | None


Statement: TypeAlias = Select | Insert | Update | Delete | Exists

_RETURN_VALUES = {
    None: "NONE",
    "all old": "ALL_OLD",
    "all new": "ALL_NEW",
    "modified old": "UPDATED_OLD",
    "modified new": "UPDATED_NEW",
}


def statement(text: str, given: Sequence[AttributeValue] | None) -> tuple[Statement, Parameters]:
    """Return the statement in a text, and the parameters in normal form; raise AWS's error if something is wrong."""
    parsed, count = parse_statement(text)
    parameters = [] if given is None else [normalize(parameter) for parameter in given]
    if len(parameters) != count:
        raise validation_error("Number of parameters in request and statement don't match.")
    return parsed, parameters


def only_reads(text: str) -> bool:
    """Return whether a text can only read: it is a SELECT, or it has an error."""
    try:
        return isinstance(parse_statement(text)[0], Select)
    except DynamoError:
        return True


@lru_cache(maxsize=CACHE_SIZE)
def parse_statement(text: str) -> tuple[Statement, int]:
    """Parse a statement; return it and the number of its parameters."""
    parser = StatementParser(text)
    node = parser.whole()
    return _statement(node), parser.parameters


def _statement(node: Node) -> Statement:
    match node:
        case nodes.SelectNode():
            return _select(node)
        case nodes.InsertNode(source, span, item):
            if isinstance(item, nodes.StructNode | nodes.ParameterNode):
                return Insert(_table(source, span), item)
            raise _no_map(item)
        case nodes.UpdateNode(source, span, assignments, where, returning):
            changes = Assignments(assignments)
            return Update(_table(source, span), changes, _condition(where), _RETURN_VALUES[returning])
        case nodes.DeleteNode(source, span, where, returning):
            if returning not in (None, "all old"):
                raise unsupported("clause", f"RETURNING {returning.upper()}", node.span)
            return Delete(_table(source, span), _condition(where), _RETURN_VALUES[returning])
        case nodes.CallNode("exists", (nodes.SelectNode() as select,)):
            return Exists(_table(select.source, select.source_span), _condition(select.where))
    raise malformed("Expected data manipulation")


def _no_map(node: Node) -> DynamoError:
    return unsupported("item", "a map is needed", node.span)


def _select(node: nodes.SelectNode) -> Select:
    table, index = _table_and_index(node.source, node.source_span)
    chosen = None if node.columns is None else columns(node.columns)
    order = tuple([(_order_name(each.key), each.descending) for each in node.order])
    return Select(table, index, chosen, _where("FilterExpression", node.where), order)


def _order_name(key: Node) -> str:
    if isinstance(key, nodes.PathNode) and len(key.path) == 1:
        return str(key.path[0])
    raise unsupported("key in ORDER BY clause", "an attribute is needed", key.span)


def _condition(node: Node | None) -> Where | None:
    return _where("ConditionExpression", node)


def _where(kind: str, node: Node | None) -> Where | None:
    if node is None:
        return None
    placed = Placed()
    tree = condition_tree(node, placed)
    return Where(kind, tree, placed.placeholders())


def _table(source: Path, span: Span) -> str:
    table, index = _table_and_index(source, span)
    if index is not None:
        raise validation_error("Only a SELECT can use an index.")
    return table


def _table_and_index(source: Path, span: Span) -> tuple[str, str | None]:
    match source:
        case (str(table),):
            return table, None
        case (str(table), str(index)):
            return table, index
    raise unexpected_component(span)
