"""All tables of a file, and what each account sees of them in each region."""

from collections.abc import Iterator
from copy import deepcopy

from keyplan.engine.storage.catalog import Catalog, Definition, Table
from keyplan.engine.storage.scopes import HOME, Scope, arn_in, scope_of


class Everything:
    """All tables of a file."""

    def __init__(self, tables: dict[int, Table]) -> None:
        self.tables = tables
        self._scopes: dict[Scope, dict[str, Table]] = {HOME: {}}
        for table in tables.values():
            for scope, seen in table_in_regions(table):
                self._scopes.setdefault(scope, {})[seen.name] = seen
        self._catalogs: dict[tuple[Scope, bool], Catalog] = {}

    def catalog(self, version: int, scope: Scope, *, separate: bool = False) -> Catalog:
        """Return the catalog of a scope. All callers of one object name the same version."""
        found = self._catalogs.get((scope, separate))
        if found is None:
            found = Catalog(version, self._scopes.get(scope, {}), scope, self, separate)
            if scope in self._scopes:  # others are empty, and a client could name any number of them
                self._catalogs[scope, separate] = found
        return found


def table_in_regions(table: Table) -> Iterator[tuple[Scope, Table]]:
    """Yield a table as each of its regions sees it: its own, and those of its replicas."""
    own = scope_of(table.arn)
    yield own, table
    replication = table.definition.get("replication")
    for region in replication["replicas"] if replication else ():
        yield Scope(own.account, region), Table(table.number, definition_in(table.definition, region))


def definition_in(definition: Definition, region: str) -> Definition:
    """Return the definition of a global table as the replica in another region sees it.

    It can be stored in place of the other one: nothing is lost on the way there and back.
    """
    seen = deepcopy(definition)
    description, replication = seen["description"], seen["replication"]
    own = scope_of(description["TableArn"]).region
    replicas = replication["replicas"]
    there = replicas.pop(region)
    replicas[own] = replication["overrides"]
    replication["overrides"] = there
    description["TableArn"] = arn_in(description["TableArn"], region)
    if "LatestStreamArn" in description:
        description["LatestStreamArn"] = arn_in(description["LatestStreamArn"], region)
    for index in [*description.get("LocalSecondaryIndexes", []), *description.get("GlobalSecondaryIndexes", [])]:
        index["IndexArn"] = arn_in(index["IndexArn"], region)
    for vectors in description.get("VectorIndexes", []):
        vectors["IndexArn"] = arn_in(vectors["IndexArn"], region)
    return seen
