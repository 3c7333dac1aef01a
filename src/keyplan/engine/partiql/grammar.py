"""Parses statements: SELECT, INSERT, UPDATE and DELETE, with the rules and messages of AWS's PartiQL parser."""

from keyplan.engine.errors import validation_error
from keyplan.engine.partiql.expression_parser import CLAUSE, ExpressionParser
from keyplan.engine.partiql.keywords import JOINS
from keyplan.engine.partiql.lexer import EOF, IDENTIFIER, KEYWORD, QUOTED_IDENTIFIER, Token
from keyplan.engine.partiql.nodes import (
    Assignment,
    DeleteNode,
    InsertNode,
    Node,
    Order,
    PathNode,
    SelectNode,
    UpdateNode,
)
from keyplan.engine.partiql.statement_errors import malformed, unsupported

_RETURNING = ("all old", "all new", "modified old", "modified new")


class StatementParser(ExpressionParser):
    """Adds the statements to the expressions."""

    def whole(self) -> Node:
        """Parse the whole text as one statement, which may end with a semicolon."""
        node = self.expression()
        if self.accept("SEMICOLON") and self.token.kind != EOF:
            raise malformed("Unexpected token after semicolon. (Only one query is allowed.)")
        if self.token.kind != EOF:
            raise malformed("Unexpected token after expression")
        return node

    def statement(self, token: Token) -> Node:
        match token.text:
            case "select":
                return self._select(token)
            case "insert into":
                return self._insert(token)
            case "update":
                return self._update(token)
            case "delete":
                return self._delete(token)
            case "set" | "remove" | "from":
                raise malformed("Expected data manipulation")
        raise malformed("Unexpected keyword")

    def _select(self, token: Token) -> SelectNode:
        for word in ("distinct", "value"):
            if self.accept_word(word):
                raise unsupported("clause", word.upper(), token.span)
        self.accept_word("all")
        columns = self._columns()
        if self.accept_word("from") is None:
            raise malformed("Expected FROM after SELECT list")
        source = self._source()
        where = self.expression(CLAUSE) if self.accept_word("where") else None
        order = self._order() if self.accept_word("order") else ()
        self._refuse_clauses()
        return SelectNode(columns, source.path, source.span, where, order, token.span)

    def _columns(self) -> tuple[Node, ...] | None:
        """Parse the columns of a SELECT; None stands for `*`."""
        columns = [self._column()]
        while self.accept("COMMA"):
            columns.append(self._column())
        if None not in columns:
            return tuple([column for column in columns if column is not None])
        if len(columns) > 1:
            raise malformed(
                "Other expressions may not be present in the select list when '*' is used without dot notation."
            )
        return None

    def _column(self) -> Node | None:
        if self.accept("STAR"):
            return None
        column = self.expression()
        self._refuse_alias()
        return column

    def _source(self) -> PathNode:
        """Parse the table of a SELECT, with or without an index."""
        source = self.expression(CLAUSE)
        self._refuse_alias()
        if self.token.kind == "COMMA" or (self.token.kind == KEYWORD and self.token.text in JOINS):
            raise validation_error("Only select from a single table or index is supported.")
        if not isinstance(source, PathNode):
            raise unsupported("expression in FROM clause", self.text_of(source), source.span)
        return source

    def text_of(self, node: Node) -> str:
        """Return the token at which a node is, to name it in an error."""
        return next((token.text for token in self._tokens if token.span == node.span), "")

    def _refuse_alias(self) -> None:
        if self.token.kind in ("AS", "AT", "BY", IDENTIFIER, QUOTED_IDENTIFIER):
            name = self.token.kind if self.token.kind in ("AT", "BY") else "AS"
            raise unsupported("clause", name, self.token.span)

    def _order(self) -> tuple[Order, ...]:
        self.expect("BY")
        keys = [self._order_key()]
        while self.accept("COMMA"):
            keys.append(self._order_key())
        return tuple(keys)

    def _order_key(self) -> Order:
        key = self.expression(CLAUSE)
        return Order(key, not self.accept("ASC") and self.accept("DESC"))

    def _refuse_clauses(self) -> None:
        """Refuse the clauses that DynamoDB doesn't have, with the place of their first expression."""
        for clause in ("let", "group", "having", "limit"):
            if self.accept_word(clause):
                if clause == "group":
                    self.accept_word("partial")
                    self.expect("BY")
                name = "GROUP BY" if clause == "group" else clause.upper()
                raise unsupported("clause", name, self.expression(CLAUSE).span)

    def _insert(self, token: Token) -> InsertNode:
        source = self.simple_path()
        if self.accept_word("value"):
            item = self.expression()
            for clause in ("at", "on", "returning"):
                if self.token.text == clause and self.token.kind in (KEYWORD, "AT"):
                    raise unsupported("clause", "ON CONFLICT" if clause == "on" else clause.upper(), self.token.span)
            return InsertNode(source.path, source.span, item, token.span)
        if not self.accept_word("values"):
            self.expression()
        raise validation_error(
            "Unsupported operation: Inserting multiple items in a single statement is not supported, "
            'use "INSERT INTO tableName VALUE item" instead'
        )

    def _update(self, token: Token) -> UpdateNode:
        source = self.simple_path()
        self._refuse_alias()
        assignments: list[Assignment] = []
        while section := self.accept_word("set", "remove"):
            assignments.append(self._assignment() if section == "set" else self._removal())
            while section == "set" and self.accept("COMMA"):
                assignments.append(self._assignment())
        if not assignments:
            raise malformed("Expected data manipulation")
        where = self.expression() if self.accept_word("where") else None
        returning = self._returning()
        return UpdateNode(source.path, source.span, tuple(assignments), where, returning, token.span)

    def _assignment(self) -> Assignment:
        target = self.simple_path()
        if not (self.token.text == "=" and self.accept("OPERATOR")):
            raise malformed("Expected '='")
        return Assignment(target.path, target.span, self.expression())

    def _removal(self) -> Assignment:
        target = self.simple_path()
        return Assignment(target.path, target.span, None)

    def _delete(self, token: Token) -> DeleteNode:
        if self.accept_word("from") is None:
            raise malformed("Expected FROM after DELETE")
        source = self.simple_path()
        self._refuse_alias()
        where = self.expression() if self.accept_word("where") else None
        return DeleteNode(source.path, source.span, where, self._returning(), token.span)

    def _returning(self) -> str | None:
        """Parse a RETURNING clause, of which DynamoDB has only the form with `*`."""
        if self.accept_word("returning") is None:
            return None
        mapping = self.accept_word(*_RETURNING)
        if mapping is None:
            raise malformed("Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.")
        if not self.accept("STAR"):
            column = self.expression()
            raise unsupported("column in RETURNING clause", self.text_of(column), column.span)
        if self.token.kind == "COMMA":
            raise validation_error("Only one element is supported in the RETURNING clause.")
        return mapping
