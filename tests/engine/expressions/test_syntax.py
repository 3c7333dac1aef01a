"""What is refused in the text of any expression, whatever the values and the item are."""

import pytest

from keyplan.engine.errors import DynamoError
from keyplan.engine.expressions.reserved import RESERVED_WORDS
from tests.engine.expressions.support import a_condition, a_projection, an_update, n, refused


def syntax(token: str, near: str) -> str:
    return f'Syntax error; token: "{token}", near: "{near}"'


CONDITIONS = {
    "a": syntax("<EOF>", "a"),
    "a =": syntax("<EOF>", "="),
    "a = :n b": syntax("b", ":n b"),
    "a = :n AND": syntax("<EOF>", "AND"),
    "a = :n OR OR b = :n": syntax("OR", "OR OR b"),
    "= :n": syntax("=", "= :n"),
    "a == :n": syntax("=", "== :n"),
    "a ! :n": syntax("!", "a ! :n"),
    "(a = :n": syntax("<EOF>", ":n"),
    "a = :n)": syntax(")", ":n)"),
    "NOT a = :n)": syntax(")", ":n)"),
    "()": syntax(")", "()"),
    "(a) AND b = :n": syntax("AND", ") AND b"),
    "_a = :n": syntax("_", "_a"),
    "__a <> :n": syntax("_", "__"),
    "a-b = :n": syntax("-", "a-b"),
    "a : n": syntax(":", "a : n"),
    "a# = :n": syntax("#", "a# ="),
    "a. = :n": syntax("=", ". = :n"),
    "a[x] = :n": syntax("x", "[x]"),
    "a[0 = :n": syntax("=", "0 = :n"),
    "a[-1] = :n": syntax("-", "[-1"),
    "a[:n] = :n": syntax(":n", "[:n]"),
    "a BETWEEN :n": syntax("<EOF>", ":n"),
    "a BETWEEN :n OR :m": syntax("OR", ":n OR :m"),
    "a IN :n": syntax(":n", "IN :n"),
    "a IN ()": syntax(")", "()"),
    "a IN (:n, )": syntax(")", ", )"),
    "a IN (:n": syntax("<EOF>", ":n"),
    "attribute_exists()": syntax(")", "()"),
    "attribute_exists(a": syntax("<EOF>", "a"),
    "a = 5": syntax("5", "= 5"),
    "a = 'x'": syntax("'", "= 'x"),
    "a = :n AND (b = :n OR c = :n": syntax("<EOF>", ":n"),
    "between = :n": syntax("between", "between ="),
    "": "The expression can not be empty;",
    " \t\n": "The expression can not be empty;",
    "size = :n": "Attribute name is a reserved keyword; reserved keyword: size",
    "a.Status = :n": "Attribute name is a reserved keyword; reserved keyword: Status",
    "foo(a)": "Invalid function name; function: foo",
    "Begins_With(a, :s)": "Invalid function name; function: Begins_With",
    "if_not_exists(a, :s)": "The function is not allowed in a condition expression; function: if_not_exists",
    "a = list_append(a, :l)": "The function is not allowed in a condition expression; function: list_append",
    "size(a)": "The function is not allowed to be used this way in an expression; function: size",
    "NOT (size(a))": "The function is not allowed to be used this way in an expression; function: size",
    "contains(a, :s) = :t": ("The function is not allowed to be used this way in an expression; function: contains"),
    "size(size(a)) = :n": (
        "Incorrect operand type for operator or function; operator or function: size, operand type: N"
    ),
    "((a = :n))": "The expression has redundant parentheses;",
    "b = :n AND ((a = :n))": "The expression has redundant parentheses;",
    "((a)) = :n": "The expression has redundant parentheses;",
    "a = ((:n))": "The expression has redundant parentheses;",
    "((attribute_exists(a)))": "The expression has redundant parentheses;",
    "begins_with(a)": (
        "Incorrect number of operands for operator or function; "
        "operator or function: begins_with, number of operands: 1"
    ),
    "attribute_exists(a, b)": (
        "Incorrect number of operands for operator or function; "
        "operator or function: attribute_exists, number of operands: 2"
    ),
    "size(a, b) = :n": (
        "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2"
    ),
    "attribute_exists(:s)": ("Operator or function requires a document path; operator or function: attribute_exists"),
    "#zz = :n": "An expression attribute name used in the document path is not defined; attribute name: #zz",
    "a.#zz = :n": "An expression attribute name used in the document path is not defined; attribute name: #zz",
    "a = :zz": "An expression attribute value used in expression is not defined; attribute value: :zz",
    # As in the grammar of AWS's clients for DAX (amazon-dax-client, grammar/DynamoDbGrammarLexer.py).
    "a[01] = :n": 'Syntax error; token: "1", near: "01]"',
    # Measured on AWS, in September 2026: https://github.com/floci-io/floci/issues/3073.
    "a[4294967295] = :n": "List index is not within the allowable range; index: [4294967295]",
    "a[99999999999] = :n": "List index is not within the allowable range; index: [99999999999]",
    ".".join(["a"] * 33) + " = :n": "The document path has too many nesting elements; nesting levels: 33",
    # The most severe error is reported, not the first.
    "foo(a) AND size = :zz": "Attribute name is a reserved keyword; reserved keyword: size",
    "#zz = :n AND foo(b)": "Invalid function name; function: foo",
    "a = :zz AND #zz = :n": (
        "An expression attribute name used in the document path is not defined; attribute name: #zz"
    ),
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_refused_conditions(text: str) -> None:
    refused(f"Invalid ConditionExpression: {CONDITIONS[text]}", lambda: a_condition(text))


USED_WRONGLY = "The function is not allowed to be used this way in an expression; function: "

UPDATES = {
    "": "The expression can not be empty;",
    "INVALID SYNTAX HERE": syntax("INVALID", "INVALID SYNTAX"),
    "SET": syntax("<EOF>", "SET"),
    "SET a": syntax("<EOF>", "a"),
    "SET a = ": syntax("<EOF>", "="),
    "SET a = :n,": syntax("<EOF>", ","),
    "SET a :n": syntax(":n", "a :n"),
    "SET :n = a": syntax(":n", "SET :n ="),
    "set _something = :s": syntax("_", "set _something"),
    "SET a = :n + :n + :n": syntax("+", ":n + :n"),
    "SET a = :n * :n": syntax("*", ":n * :n"),
    "SET a = (:n + :n": syntax("<EOF>", ":n"),
    "SET a = if_not_exists(a, :n + :n)": syntax("+", ":n + :n"),
    "REMOVE a = :n": syntax("=", "a = :n"),
    "ADD hits : incr": syntax(":", "hits : incr"),
    "ADD a b": syntax("b", "a b"),
    "DELETE a": syntax("<EOF>", "a"),
    "SET delete = :n": syntax("delete", "SET delete ="),
    "SET a = :n SET b = :n": 'The "SET" section can only be used once in an update expression;',
    "remove a remove b": 'The "REMOVE" section can only be used once in an update expression;',
    "SET status = :n": "Attribute name is a reserved keyword; reserved keyword: status",
    "SET a = nope(b)": "Invalid function name; function: nope",
    "SET a = size(b)": "The function is not allowed in an update expression; function: size",
    "SET a = attribute_exists(b)": ("The function is not allowed in an update expression; function: attribute_exists"),
    "SET a = if_not_exists(a)": (
        "Incorrect number of operands for operator or function; "
        "operator or function: if_not_exists, number of operands: 1"
    ),
    "SET a = if_not_exists(:n, :n)": (
        "Operator or function requires a document path; operator or function: if_not_exists"
    ),
    "SET a = list_append(list_append(b, c), d)": f"{USED_WRONGLY}list_append",
    "SET a = list_append(b, list_append(c, d))": f"{USED_WRONGLY}list_append",
    "SET a = list_append(b, if_not_exists(c, list_append(d, e)))": f"{USED_WRONGLY}list_append",
    "SET a = ((:n))": "The expression has redundant parentheses;",
    "SET a = ((b + :n))": "The expression has redundant parentheses;",
    "SET a = :zz": "An expression attribute value used in expression is not defined; attribute value: :zz",
    "REMOVE #zz": "An expression attribute name used in the document path is not defined; attribute name: #zz",
}


@pytest.mark.parametrize("text", UPDATES)
def test_refused_updates(text: str) -> None:
    refused(f"Invalid UpdateExpression: {UPDATES[text]}", lambda: an_update(text))


PROJECTIONS = {
    "": "The expression can not be empty;",
    "a,": syntax("<EOF>", ","),
    "a b": syntax("b", "a b"),
    "a-type": syntax("-", "a-type"),
    ":n": syntax(":n", ":n"),
    "size(a)": syntax("(", "size(a"),
    "a[0": syntax("<EOF>", "0"),
    "a, name": "Attribute name is a reserved keyword; reserved keyword: name",
    "#zz": "An expression attribute name used in the document path is not defined; attribute name: #zz",
}


@pytest.mark.parametrize("text", PROJECTIONS)
def test_refused_projections(text: str) -> None:
    refused(f"Invalid ProjectionExpression: {PROJECTIONS[text]}", lambda: a_projection(text))


def test_there_are_573_reserved_words() -> None:
    assert len(RESERVED_WORDS) == 573


@pytest.mark.parametrize("word", ["Year", "NAME", "ttl"])
def test_reserved_words_in_any_case(word: str) -> None:
    refused(
        f"Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: {word}",
        lambda: a_projection(word),
    )


def test_a_placeholder_may_stand_for_a_reserved_word() -> None:
    assert a_condition("#status = :s").matches({"status": {"S": "text"}})


def test_size_of_the_text_in_bytes() -> None:
    fits = "a = :n" + " " * 4090
    assert a_condition(fits).matches({"a": n(5)})
    # https://github.com/aws/aws-sdk-java-v2/issues/4597
    problem = "Expression size has exceeded the maximum allowed size;"
    refused(f"Invalid ConditionExpression: {problem}", lambda: a_condition(fits + " "))
    refused(f"Invalid ConditionExpression: {problem}", lambda: a_condition("ä" * 2049))


def test_number_of_operators() -> None:
    # 150 comparisons, 149 ANDs and one NOT.
    fits = "NOT " + " AND ".join(["a = :n"] * 150)
    assert a_condition(fits).attributes == {"a"}
    problem = "The expression contains too many operators; operator count: 301"
    refused(f"Invalid ConditionExpression: {problem}", lambda: a_condition("NOT " + fits))


def test_number_of_choices() -> None:
    assert a_condition(f"a IN ({', '.join([':n'] * 100)})").matches({"a": n(5)})
    problem = "The IN operator is provided with too many operands; number of operands: 101"
    refused(f"Invalid ConditionExpression: {problem}", lambda: a_condition(f"a IN ({', '.join([':n'] * 101)})"))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 4000,
        "(" * 2000 + "a = :n" + ")" * 2000,
        "NOT " * 1000 + "a = :n",
        "(NOT " * 600 + "a = :n" + ")" * 600,
        "size(" * 800,
        "size(" * 600 + "a" + ")" * 600 + " = :n",
        "a" + ".a" * 2000,
        "a" + "[0]" * 1300,
        "a = " + "(" * 1500 + ":n" + ")" * 1500,
    ],
    ids=lambda text: text[:12],
)
def test_nesting_thousands_deep_is_an_answer(text: str) -> None:
    for call in (a_condition, a_projection):
        with pytest.raises(DynamoError):
            call(text)
    with pytest.raises(DynamoError):
        an_update("SET x = " + text[:4000])


def test_as_deep_as_the_operators_reach() -> None:
    deep = a_condition("NOT (" * 298 + "a = :n" + ")" * 298)
    assert deep.matches({"a": n(5)})
    alternating = "(b = :n OR (a = :n AND " * 74 + "a = :n" + "))" * 74
    assert a_condition(alternating).matches({"a": n(5)})
    nested = an_update("SET a = " + "if_not_exists(b," * 230 + ":n" + ")" * 230)
    assert nested.apply({}) == {"a": n(5)}
