"""Parses expressions: an operator-precedence parser with the rules and messages of AWS's PartiQL parser."""

from dataclasses import replace

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.expressions.paths import MAXIMUM_DEPTH, MAXIMUM_INDEX, Path
from keyplan.engine.partiql.keywords import FUNCTION_NAMES, TYPES
from keyplan.engine.partiql.lexer import (
    BOOLEAN,
    EOF,
    IDENTIFIER,
    KEYWORD,
    MISSING,
    NULL,
    NUMBER,
    OPERATOR,
    PARAMETER,
    QUOTED_IDENTIFIER,
    STRING,
    Token,
    tokens,
)
from keyplan.engine.partiql.nodes import (
    BagNode,
    CallNode,
    ListNode,
    LiteralNode,
    MissingNode,
    Node,
    OperationNode,
    ParameterNode,
    PathNode,
    StructNode,
    TypeNode,
)
from keyplan.engine.partiql.statement_errors import malformed, unexpected_component
from keyplan.engine.values.attribute_values import name_size

DEEPEST = 100
"""How deep expressions may nest: deeper than any value, and far from the end of Python's stack."""

# The operators of a row bind more tightly than those of the rows above it.
_ROWS = (
    ("union", "except", "intersect"),
    ("or",),
    ("and",),
    ("not",),
    ("=", "<>", "is", "is not", "in", "not in"),
    ("<", "<=", ">", ">=", "between", "not between", "like", "not like"),
    ("+", "-", "||"),
    ("*", "/", "%"),
)
_PRECEDENCE = {operator: precedence for precedence, row in enumerate(_ROWS, 1) for operator in row}
_INFIX = frozenset(_PRECEDENCE) - {"not"}
CLAUSE = _PRECEDENCE["union"]
"""The precedence in the clauses of a SELECT: UNION ends them."""

_NAMES = (IDENTIFIER, QUOTED_IDENTIFIER)


class ExpressionParser:
    """One pass over the tokens of a statement."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._position = 0
        self._depth = 0
        self.parameters = 0
        """How many parameters there are before the next token."""

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._position]

    @property
    def following(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Return the next token and go on to the one after it."""
        token = self.token
        if token.kind != EOF:
            self._position += 1
        return token

    def accept(self, kind: str) -> bool:
        """Skip a token of this kind if it is next; return whether it was."""
        if self.token.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str) -> None:
        """Skip a token of this kind; raise AWS's error if it isn't next."""
        if not self.accept(kind):
            raise malformed(f"Expected {kind}")

    def accept_word(self, *words: str) -> str | None:
        """Skip one of these keywords if it is next, and return it."""
        if self.token.kind in (KEYWORD, OPERATOR) and self.token.text in words:
            return self.advance().text
        return None

    def statement(self, token: Token) -> Node:
        """Parse the statement that begins with this keyword, which was skipped."""
        raise NotImplementedError

    def expression(self, precedence: int = 0) -> Node:
        """Parse an expression up to an operator that doesn't bind more tightly than the given precedence."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise too_deep()
        left = self._unary()
        while (operator := self.token).text in _INFIX and operator.kind in (OPERATOR, "STAR"):
            if _PRECEDENCE[operator.text] <= precedence:
                break
            self.advance()
            left = self._infix(left, operator)
        self._depth -= 1
        return left

    def _infix(self, left: Node, operator: Token) -> Node:
        binding = _PRECEDENCE[operator.text]
        match operator.text:
            case "is" | "is not":
                test = TypeNode(left, self._type(), operator.span)
                return test if operator.text == "is" else OperationNode("not", (test,), operator.span)
            case "in" | "not in" if self.token.kind == "LEFT_PAREN" and self.following.text not in ("select", "values"):
                opened = self.advance()
                right: Node = ListNode(self._members("RIGHT_PAREN"), opened.span)
            case _:
                right = self._right_side(binding)
        operands: tuple[Node, ...] = (left, right)
        if operator.text.endswith("between"):
            if self.accept_word("and") is None:
                raise malformed("Expected AND keyword")
            if self.token.kind == EOF:
                raise malformed("Expected expression after AND")
            operands = (left, right, self.expression(binding))
        if isinstance(left, OperationNode) and left.operator == operator.text and operator.text in ("and", "or"):
            return replace(left, operands=(*left.operands, right))  # a chain of any length isn't nested
        if operator.text.startswith("not "):
            return OperationNode("not", (OperationNode(operator.text[4:], operands, operator.span),), operator.span)
        return OperationNode(operator.text, operands, operator.span)

    def _right_side(self, binding: int) -> Node:
        if self.token.kind == EOF:
            raise malformed("Missing right-hand side expression of infix operator")
        return self.expression(binding)

    def _type(self) -> str:
        """Parse the name of a type after IS."""
        if self.token.kind in (KEYWORD, NULL, MISSING) and (self.token.text in TYPES or self.token.kind == MISSING):
            return self.advance().text
        raise malformed("Expected type name")

    def _unary(self) -> Node:
        token = self.token
        if token.kind != OPERATOR or token.text not in ("+", "-", "not"):
            return self._path_term()
        self.advance()
        if token.text == "not":
            return OperationNode("not", (self.expression(_PRECEDENCE["not"]),), token.span)
        self._depth += 1
        if self._depth > DEEPEST:
            raise too_deep()
        operand = self._unary()
        self._depth -= 1
        if isinstance(operand, LiteralNode) and "N" in operand.value:
            return LiteralNode({"N": _signed(token.text, operand.value["N"])}, token.span)
        return OperationNode(token.text, (operand,), token.span)

    def _path_term(self) -> Node:
        root = self.term()
        if self.token.kind not in ("DOT", "LEFT_BRACKET"):
            return root
        if not isinstance(root, PathNode):
            raise unexpected_component(root.span)
        return self._path(root)

    def simple_path(self) -> PathNode:
        """Parse a path that a statement writes to, or a table with or without an index."""
        if self.token.kind not in _NAMES:
            raise malformed("Expected identifier for simple path")
        return self._path(self._name())

    def _name(self) -> PathNode:
        token = self.advance()
        name_size(token.text)
        return PathNode((token.text,), token.span)

    def _path(self, root: PathNode) -> PathNode:
        parts = list(root.path)
        while True:
            if self.accept("DOT"):
                if self.token.kind == "STAR":
                    raise unexpected_component(self.token.span)
                if self.token.kind not in _NAMES:
                    raise malformed("Invalid path dot component")
                parts += self._name().path
            elif self.accept("LEFT_BRACKET"):
                parts.append(self._index())
            else:
                return PathNode(_checked(tuple(parts)), root.span)

    def _index(self) -> int:
        if self.token.kind == "STAR":
            raise unexpected_component(self.token.span)
        node = self.expression()
        self.expect("RIGHT_BRACKET")
        text = node.value.get("N", "") if isinstance(node, LiteralNode) else ""
        if not text.isdigit():
            raise unexpected_component(node.span)
        digits = text.lstrip("0") or "0"
        if len(digits) > len(str(MAXIMUM_INDEX)) or int(digits) > MAXIMUM_INDEX:
            raise validation_error(f"List index is not within the allowable range; index: [{digits}]")
        return int(digits)

    def term(self) -> Node:
        """Parse a literal, a parameter, a name, a call, a list, a set, a map, or an expression in parentheses."""
        token = self.token
        match token.kind:
            case "IDENTIFIER" | "QUOTED_IDENTIFIER":
                return self._call() if self.following.kind == "LEFT_PAREN" else self._name()
            case "KEYWORD":
                return self._keyword()
            case "LEFT_PAREN":
                self.advance()
                members = self._members("RIGHT_PAREN")
                return members[0] if len(members) == 1 else ListNode(members, token.span)
            case "LEFT_BRACKET":
                self.advance()
                return ListNode(self._members("RIGHT_BRACKET", may_be_empty=True), token.span)
            case "LEFT_DOUBLE_ANGLE_BRACKET":
                self.advance()
                return BagNode(self._members("RIGHT_DOUBLE_ANGLE_BRACKET", may_be_empty=True), token.span)
            case "LEFT_CURLY":
                self.advance()
                return StructNode(self._fields(), token.span)
            case "OPERATOR":
                raise malformed("Unexpected operator")
        return self._atom()

    def _atom(self) -> Node:
        token = self.token
        if token.kind == PARAMETER:
            self.advance()
            self.parameters += 1
            return ParameterNode(self.parameters - 1, token.span)
        if token.kind == MISSING:
            return MissingNode(self.advance().span)
        if token.kind not in (STRING, NUMBER, BOOLEAN, NULL):
            raise malformed("Unexpected term")
        self.advance()
        match token.kind:
            case "STRING":
                return LiteralNode({"S": token.text}, token.span)
            case "NUMBER":
                return LiteralNode({"N": token.text}, token.span)
            case "BOOLEAN":
                return LiteralNode({"BOOL": token.text == "true"}, token.span)
        return LiteralNode({"NULL": True}, token.span)

    def _keyword(self) -> Node:
        if self.token.text in FUNCTION_NAMES:
            if self.following.kind != "LEFT_PAREN":
                raise malformed("Unexpected keyword")
            return self._call()
        return self.statement(self.advance())

    def _call(self) -> Node:
        name = self.advance()
        self.advance()
        if self.token.kind == "STAR" and name.text != "count":
            raise malformed(f"{name.text}(*) is not allowed")
        self.accept("STAR")
        return CallNode(name.text.lower(), self._members("RIGHT_PAREN", may_be_empty=True), name.span)

    def _members(self, close: str, *, may_be_empty: bool = False) -> tuple[Node, ...]:
        """Parse expressions with commas between them, and the token that closes them."""
        if may_be_empty and self.accept(close):
            return ()
        members = [self.expression()]
        while self.accept("COMMA"):
            members.append(self.expression())
        self.expect(close)
        return tuple(members)

    def _fields(self) -> tuple[tuple[Node, Node], ...]:
        if self.accept("RIGHT_CURLY"):
            return ()
        fields = [self._field()]
        while self.accept("COMMA"):
            fields.append(self._field())
        self.expect("RIGHT_CURLY")
        return tuple(fields)

    def _field(self) -> tuple[Node, Node]:
        name = self.expression()
        self.expect("COLON")
        return name, self.expression()


def _signed(sign: str, number: str) -> str:
    if sign == "+":
        return number
    return number[1:] if number.startswith("-") else f"-{number}"


def _checked(path: Path) -> Path:
    if len(path) > MAXIMUM_DEPTH:
        problem = f"The document path has too many nesting elements; nesting levels: {len(path)}"
        raise validation_error(problem)
    return path


def too_deep() -> DynamoError:
    """Return the error for a statement that nests too deep to be parsed."""
    return malformed(f"Expressions are nested in more than {DEEPEST} levels")
