"""The parser that all grammars share: paths, operands, parentheses, and the order in which faults are reported.

A syntax error ends the parse immediately. Other faults of the text are collected, and the most severe kind is reported
at the end, as AWS does: it checks the whole tree once for each kind. Nothing here is recursive, so that nesting needs
no stack.
"""

from enum import IntEnum

from keyplan.engine.errors import DynamoError
from keyplan.engine.expressions.expression_errors import ExpressionTooLong, invalid
from keyplan.engine.expressions.functions import FUNCTIONS, NEEDS_PATH, NOT_NESTED, OPERAND, UPDATE
from keyplan.engine.expressions.lexer import END, NAME, NAME_PLACEHOLDER, NUMBER, VALUE_PLACEHOLDER, Token, tokens
from keyplan.engine.expressions.nodes import CallNode, Operand, PathNode, ValueNode
from keyplan.engine.expressions.paths import MAXIMUM_DEPTH, MAXIMUM_INDEX, Path
from keyplan.engine.expressions.reserved import is_reserved

MAXIMUM_SIZE = 4096
MAXIMUM_OPERATORS = 300
# An index with more digits is out of range; converting it would only take time.
_INDEX_DIGITS = 10


class Fault(IntEnum):
    """The kinds of faults, most severe first."""

    SECTION = 0
    OPERATOR_COUNT = 1
    RESERVED_WORD = 2
    PATH = 3
    FUNCTION_NAME = 4
    FUNCTION_USE = 5
    PARENTHESES = 6
    OPERAND_COUNT = 7
    DOCUMENT_PATH = 8


class Parser:
    """One pass over the tokens of a text; the base class of the grammars."""

    argument_role = OPERAND
    language = "a condition"

    def __init__(self, kind: str, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MAXIMUM_SIZE:
            raise ExpressionTooLong(kind, size)
        self.kind = kind
        self.text = text
        self.tokens = tokens(text)
        if len(self.tokens) == 1:
            raise invalid(kind, "The expression can not be empty;")
        self.position = 0
        self.operators = 0
        # Dicts keep the order.
        self.names: dict[str, None] = {}
        self.values: dict[str, None] = {}
        self._faults: dict[Fault, str] = {}
        self._last_closed = (-1, -1)

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    def add_fault(self, fault: Fault, problem: str) -> None:
        """Record the first fault of each kind."""
        self._faults.setdefault(fault, problem)

    def finish(self) -> None:
        """Raise a syntax error if there are tokens left, or AWS's error for the most severe fault."""
        if self.token.kind is not END:
            raise self.syntax_error()
        if self.operators > MAXIMUM_OPERATORS:
            problem = f"The expression contains too many operators; operator count: {self.operators}"
            self.add_fault(Fault.OPERATOR_COUNT, problem)
        if self._faults:
            raise invalid(self.kind, self._faults[min(self._faults)])

    def syntax_error(self) -> DynamoError:
        """Return AWS's error for an unexpected token, which shows it with its neighbors."""
        token = self.token
        before = self.tokens[max(self.position - 1, 0)]
        after = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        end = before.end if token.kind is END else (token.end if after.kind is END else after.end)
        near = self.text[before.start : end]
        return invalid(self.kind, f'Syntax error; token: "{token.text}", near: "{near}"')

    def accept(self, symbol: str) -> bool:
        """Skip the symbol if it is next; return whether it was."""
        if self.token.symbol != symbol:
            return False
        self.position += 1
        return True

    def expect(self, symbol: str) -> None:
        """Skip the symbol; raise a syntax error if it isn't next."""
        if not self.accept(symbol):
            raise self.syntax_error()

    def close(self, opened: int) -> None:
        """Skip the `)` that closes the `(` at this position; a pair directly around another pair is redundant."""
        self.expect(")")
        closed = self.position - 1
        if self._last_closed == (opened + 1, closed - 1):
            self.add_fault(Fault.PARENTHESES, "The expression has redundant parentheses;")
        self._last_closed = (opened, closed)

    def path(self) -> Path:
        """Parse a document path: a name, then any number of `.name` and `[index]`."""
        parts: list[str | int] = [self._name()]
        while True:
            if self.accept("."):
                parts.append(self._name())
            elif self.accept("["):
                parts.append(self._index())
                self.expect("]")
            else:
                break
        if len(parts) > MAXIMUM_DEPTH:
            problem = f"The document path has too many nesting elements; nesting levels: {len(parts)}"
            self.add_fault(Fault.PATH, problem)
        return tuple(parts)

    def _name(self) -> str:
        kind, text = self.token[:2]
        if kind is NAME_PLACEHOLDER:
            self.names[text] = None
        elif kind is not NAME:
            raise self.syntax_error()
        elif is_reserved(text):
            self.add_fault(Fault.RESERVED_WORD, f"Attribute name is a reserved keyword; reserved keyword: {text}")
        self.position += 1
        return text

    def _index(self) -> int:
        kind, text = self.token[:2]
        if kind is not NUMBER:
            raise self.syntax_error()
        self.position += 1
        if len(text) > _INDEX_DIGITS or int(text) > MAXIMUM_INDEX:
            self.add_fault(Fault.PATH, f"List index is not within the allowable range; index: [{text}]")
            return 0
        return int(text)

    def value(self) -> ValueNode:
        """Parse the placeholder of a value."""
        kind, text = self.token[:2]
        if kind is not VALUE_PLACEHOLDER:
            raise self.syntax_error()
        self.values[text] = None
        self.position += 1
        return ValueNode(text)

    def operand(self) -> Operand:
        """Parse a path, a value or a function call, possibly in parentheses; open calls wait on a stack."""
        waiting: list[tuple[int, str, list[Operand]]] = []
        while True:
            if self.token.symbol == "(":
                waiting.append((self.position, "", []))
                self.position += 1
                continue
            if self.token.kind is NAME and self.tokens[self.position + 1].symbol == "(":
                waiting.append((self.position, self.token.text, []))
                self.position += 2
                continue
            node: Operand = self.value() if self.token.kind is VALUE_PLACEHOLDER else PathNode(self.path())
            complete = self._closed(node, waiting)
            if complete is not None:
                return complete

    def _closed(self, node: Operand, waiting: list[tuple[int, str, list[Operand]]]) -> Operand | None:
        """Complete the calls that wait for this operand; return None if one of them expects another operand."""
        while waiting:
            opened, function, arguments = waiting[-1]
            if not function:
                self.close(opened)
            else:
                self.check_role(node, self.argument_role)
                arguments.append(node)
                if self.accept(","):
                    return None
                self.expect(")")
                node = self._call(function, arguments)
            waiting.pop()
            if function in NOT_NESTED and any(outer == function for _, outer, _ in waiting):
                self._misused(function)
        return node

    def _call(self, function: str, arguments: list[Operand]) -> CallNode:
        self.operators += 1
        known = FUNCTIONS.get(function)
        if known is None:
            self.add_fault(Fault.FUNCTION_NAME, f"Invalid function name; function: {function}")
        elif known.operands != len(arguments):
            self.wrong_count(function, len(arguments))
        elif function in NEEDS_PATH and not isinstance(arguments[0], PathNode):
            problem = f"Operator or function requires a document path; operator or function: {function}"
            self.add_fault(Fault.DOCUMENT_PATH, problem)
        return CallNode(function, tuple(arguments))

    def wrong_count(self, operator: str, count: int) -> None:
        """Record that an operator or function has too few or too many operands."""
        self.add_fault(
            Fault.OPERAND_COUNT,
            "Incorrect number of operands for operator or function; "
            f"operator or function: {operator}, number of operands: {count}",
        )

    def check_role(self, node: Operand, role: str) -> None:
        """Record a function that isn't allowed in this place."""
        if not isinstance(node, CallNode):
            return
        known = FUNCTIONS.get(node.function)
        if known is None or known.role == role:
            return
        if UPDATE in (known.role, role):
            problem = f"The function is not allowed in {self.language} expression; function: {node.function}"
            self.add_fault(Fault.FUNCTION_USE, problem)
        else:
            self._misused(node.function)

    def _misused(self, function: str) -> None:
        problem = f"The function is not allowed to be used this way in an expression; function: {function}"
        self.add_fault(Fault.FUNCTION_USE, problem)
