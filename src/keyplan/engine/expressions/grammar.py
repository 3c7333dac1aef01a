"""The three grammars: conditions (including filters and key conditions), projections, updates. Results are cached."""

from functools import lru_cache

from keyplan.engine.expressions.functions import CONDITION, OPERAND, UPDATE
from keyplan.engine.expressions.lexer import END
from keyplan.engine.expressions.nodes import (
    Action,
    Arithmetic,
    CallNode,
    Comparison,
    Operand,
    ParsedCondition,
    ParsedProjection,
    ParsedUpdate,
    Step,
)
from keyplan.engine.expressions.parser import Fault, Parser

CACHE_SIZE = 1024
COMPARATORS = frozenset({"=", "<>", "<", "<=", ">", ">="})
MAXIMUM_CHOICES = 100
SECTIONS = frozenset({"SET", "REMOVE", "ADD", "DELETE"})
_PRECEDENCE = {"(": 0, "OR": 1, "AND": 2, "NOT": 3}


@lru_cache(maxsize=CACHE_SIZE)
def parse_condition(kind: str, text: str) -> ParsedCondition:
    """Parse a condition of the given kind into postfix order."""
    parser = _ConditionParser(kind, text)
    steps = parser.condition()
    return ParsedCondition(kind, tuple(parser.names), tuple(parser.values), steps)


@lru_cache(maxsize=CACHE_SIZE)
def parse_projection(text: str) -> ParsedProjection:
    """Parse the paths of a projection."""
    parser = Parser("ProjectionExpression", text)
    paths = [parser.path()]
    while parser.accept(","):
        paths.append(parser.path())
    parser.finish()
    return ParsedProjection(parser.kind, tuple(parser.names), tuple(parser.values), tuple(paths))


@lru_cache(maxsize=CACHE_SIZE)
def parse_update(text: str) -> ParsedUpdate:
    """Parse the actions of an update, in the order of the text."""
    parser = _UpdateParser("UpdateExpression", text)
    actions = parser.update()
    return ParsedUpdate(parser.kind, tuple(parser.names), tuple(parser.values), actions)


class _ConditionParser(Parser):
    """An operator-precedence parser: conditions go to the output; AND, OR, NOT and `(` wait on a stack."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(kind, text)
        self._steps: list[Step] = []
        self._stack: list[tuple[str, int]] = []

    def condition(self) -> tuple[Step, ...]:
        """Parse the whole text as one condition."""
        while True:
            self._prefixes()
            self._leaf()
            while self.token.symbol == ")" and self._stack:
                self._close_group()
            symbol = self.token.symbol
            if symbol not in ("AND", "OR"):
                break
            self._push(symbol)
        self._unwind(1)
        if self._stack:
            raise self.syntax_error()
        self.finish()
        return tuple(self._steps)

    def _prefixes(self) -> None:
        while self.token.symbol in ("NOT", "("):
            symbol = self.token.symbol
            self._stack.append((symbol, self.position))
            self.operators += symbol == "NOT"
            self.position += 1

    def _push(self, symbol: str) -> None:
        self._unwind(_PRECEDENCE[symbol])
        self._stack.append((symbol, self.position))
        self.operators += 1
        self.position += 1

    def _unwind(self, precedence: int) -> None:
        while self._stack and _PRECEDENCE[self._stack[-1][0]] >= precedence:
            self._steps.append(self._stack.pop()[0])

    def _close_group(self) -> None:
        self._unwind(1)
        if not self._stack:
            raise self.syntax_error()
        self.close(self._stack.pop()[1])

    def _leaf(self) -> None:
        """Parse a comparison, or a function that is a condition; parentheses before it may belong to its operand."""
        left = self.operand()
        while self.token.symbol == ")" and self._stack and self._stack[-1][0] == "(":
            self.close(self._stack.pop()[1])
        operator = self.token.symbol
        if operator in COMPARATORS:
            self._comparison(operator, left)
        elif operator == "BETWEEN":
            self._between(left)
        elif operator == "IN":
            self._in(left)
        elif isinstance(left, CallNode):
            self.check_role(left, CONDITION)
            self._steps.append(left)
        else:
            raise self.syntax_error()

    def _comparison(self, operator: str, left: Operand) -> None:
        self.position += 1
        self._add(operator, left, self.operand())

    def _between(self, left: Operand) -> None:
        self.position += 1
        low = self.operand()
        self.expect("AND")
        self._add("BETWEEN", left, low, self.operand())

    def _in(self, left: Operand) -> None:
        self.position += 1
        self.expect("(")
        choices = [self.operand()]
        while self.accept(","):
            choices.append(self.operand())
        self.expect(")")
        if len(choices) > MAXIMUM_CHOICES:
            problem = f"The IN operator is provided with too many operands; number of operands: {len(choices)}"
            self.add_fault(Fault.OPERAND_COUNT, problem)
        self._add("IN", left, *choices)

    def _add(self, operator: str, *operands: Operand) -> None:
        self.operators += 1
        for operand in operands:
            self.check_role(operand, OPERAND)
        self._steps.append(Comparison(operator, operands))


class _UpdateParser(Parser):
    argument_role = UPDATE
    language = "an update"

    def update(self) -> tuple[Action, ...]:
        """Parse all sections of the text."""
        actions: list[Action] = []
        seen: set[str] = set()
        while self.token.kind is not END:
            section = self.token.symbol
            if section not in SECTIONS:
                raise self.syntax_error()
            if section in seen:
                problem = f'The "{section}" section can only be used once in an update expression;'
                self.add_fault(Fault.SECTION, problem)
            seen.add(section)
            self.position += 1
            actions.append(self._action(section))
            while self.accept(","):
                actions.append(self._action(section))
        self.finish()
        return tuple(actions)

    def _action(self, section: str) -> Action:
        path = self.path()
        if section == "REMOVE":
            return Action(section, path, None)
        if section != "SET":
            return Action(section, path, self.value())
        self.expect("=")
        return Action(section, path, self._right_side())

    def _right_side(self) -> Operand | Arithmetic:
        """Parse an operand, or two with + or - between them; each of them and both may be in parentheses."""
        opened: list[int] = []
        while self.accept("("):
            opened.append(self.position - 1)
        left = self._set_operand()
        result: Operand | Arithmetic = left
        self._close_all(opened)
        operator = self.token.symbol
        if operator in ("+", "-"):
            self.operators += 1
            self.position += 1
            result = Arithmetic(operator, left, self._set_operand())
            self._close_all(opened)
        if opened:
            raise self.syntax_error()
        return result

    def _close_all(self, opened: list[int]) -> None:
        while opened and self.token.symbol == ")":
            self.close(opened.pop())

    def _set_operand(self) -> Operand:
        operand = self.operand()
        self.check_role(operand, UPDATE)
        return operand


def parse_key_condition(text: str) -> ParsedCondition:
    """Parse a key condition; raise AWS's error for a wrong expression, before the table is known."""
    return parse_condition("KeyConditionExpression", text)
