"""The same random operations, and PartiQL statements."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.durability import model
from tests.engine.durability.comparison import bodies, code, item, keys, partitions
from tests.engine.durability.legacy_comparison import LegacyComparison
from tests.engine.durability.model import (
    STATEMENT_CONDITIONS,
    STATEMENT_UPDATES,
    Condition,
    Item,
    Key,
    Table,
    Update,
    canonical,
    canonical_or_none,
    key_item,
)

conditions = st.none() | st.sampled_from(STATEMENT_CONDITIONS)
updates = st.sampled_from(STATEMENT_UPDATES)
FAILED = "ConditionalCheckFailed"


@dataclass(frozen=True)
class Statement:
    """A statement that writes one item: what it does in the model, and which error it has there."""

    kind: str
    key: Key
    body: Item
    update: Update
    condition: Condition | None

    def request(self, name: str) -> Any:
        """The statement and its parameters, for a table."""
        if self.kind == "INSERT":
            return {"Statement": f'INSERT INTO "{name}" VALUE ?', "Parameters": [{"M": item(self.key, self.body)}]}
        where = "pk = ? AND sk = ?" + ("" if self.condition is None else f" AND ({self.condition.text})")
        text = {
            "UPDATE": f'UPDATE "{name}" {self.update.text} WHERE {where}',
            "DELETE": f'DELETE FROM "{name}" WHERE {where}',
            "EXISTS": f'EXISTS(SELECT * FROM "{name}" WHERE {where})',
        }[self.kind]
        return {"Statement": text, "Parameters": list(key_item(self.key).values())}

    def error(self, table: Table) -> str | None:
        old = table.get(self.key)
        if self.kind == "INSERT":
            return None if old is None else "DuplicateItem"
        if old is None:
            return None if self.kind == "DELETE" else FAILED
        if not table.holds(self.key, self.condition):
            return FAILED
        return "ValidationError" if self.kind == "UPDATE" and not self.update.fits(old) else None

    def write(self, table: Table) -> None:
        if self.kind == "INSERT":
            table.write(self.key, item(self.key, self.body))
        elif self.kind == "UPDATE":
            table.write(self.key, table.updated(self.key, self.update))
        elif self.kind == "DELETE":
            table.write(self.key, None)


def statements(*kinds: str) -> st.SearchStrategy[Statement]:
    return st.builds(Statement, st.sampled_from(kinds), keys, bodies, updates, conditions)


WRITES = ("INSERT", "UPDATE", "DELETE")
CODES = {None: None, FAILED: "ConditionalCheckFailedException", "DuplicateItem": "DuplicateItemException"}


class StatementComparison(LegacyComparison):
    """Also compares ExecuteStatement, BatchExecuteStatement and ExecuteTransaction."""

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), statement=statements(*WRITES))
    def execute(self, data: st.DataObject, statement: Statement) -> None:
        name, table = self.some_table(data)
        request = statement.request(name)
        expected = statement.error(table)
        if expected is not None:
            found = code(lambda: self.engine.execute_statement(**request))
            assert found == CODES.get(expected, "ValidationException")
            return
        returning = {"UPDATE": " RETURNING ALL NEW *", "DELETE": " RETURNING ALL OLD *"}.get(statement.kind, "")
        old = table.get(statement.key)
        statement.write(table)
        request["Statement"] += returning
        returned = {"UPDATE": table.get(statement.key), "DELETE": old}.get(statement.kind)
        answer = self.engine.execute_statement(**request)
        assert canonical(answer["Items"]) == canonical([] if returned is None else [returned])

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), chosen=st.lists(statements(*WRITES), min_size=1, max_size=6))
    def execute_batch(self, data: st.DataObject, chosen: list[Statement]) -> None:
        name, table = self.some_table(data)
        answer = self.engine.batch_execute_statement(Statements=[statement.request(name) for statement in chosen])
        for statement, response in zip(chosen, answer["Responses"], strict=True):
            expected = statement.error(table)
            assert response.get("Error", {}).get("Code") == expected
            if expected is None:
                statement.write(table)

    @precondition(lambda self: self.tables)
    @rule(
        data=st.data(),
        chosen=st.lists(
            statements(*WRITES, "EXISTS"), min_size=1, max_size=5, unique_by=lambda statement: statement.key
        ),
        repeat=st.booleans(),
    )
    def execute_transaction(self, data: st.DataObject, chosen: list[Statement], repeat: bool) -> None:
        """All statements or none; and only once, however often it is sent."""
        name, table = self.some_table(data)
        self.tokens += 1
        request: Any = {
            "TransactStatements": [statement.request(name) for statement in chosen],
            "ClientRequestToken": f"token-{self.tokens}",
        }
        if any(statement.error(table) for statement in chosen):
            assert code(lambda: self.engine.execute_transaction(**request)) == "TransactionCanceledException"
            return
        self.engine.execute_transaction(**request)
        for statement in chosen:
            statement.write(table)
        if repeat:
            self.engine.execute_transaction(**request)

    @precondition(lambda self: self.tables)
    @rule(
        data=st.data(),
        wanted=st.lists(partitions, min_size=1, max_size=2, unique=True),
        low=st.integers(-2, 4),
        condition=conditions,
        limit=st.none() | st.integers(1, 3),
    )
    def select(
        self, data: st.DataObject, wanted: list[str], low: int, condition: Condition | None, limit: int | None
    ) -> None:
        name, table = self.some_table(data)
        listed = ", ".join([f"'{pk}'" for pk in wanted])
        where = f"pk IN [{listed}] AND sk >= {low}" + ("" if condition is None else f" AND ({condition.text})")
        request: Any = {"Statement": f'SELECT * FROM "{name}" WHERE {where}', **({"Limit": limit} if limit else {})}
        found: list[Any] = []
        while True:
            page = self.engine.execute_statement(**request)
            found += page["Items"]
            if "NextToken" not in page:
                break
            request["NextToken"] = page["NextToken"]
        expected = [
            it
            for pk in wanted
            for it in table.partition(pk)
            if model.key_of(it)[1] >= low and table.holds(model.key_of(it), condition)
        ]
        assert [canonical_or_none(it) for it in found] == [canonical_or_none(it) for it in expected]
