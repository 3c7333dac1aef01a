"""How the tables of a design are run: as the traffic says, otherwise as the design declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.naming import named_design
from keyplan.capacity.traffic.model import Reserved, TableUse, Traffic
from keyplan.design import Design, Table


@dataclass(frozen=True)
class RunTable:
    """A table, and how it is run."""

    name: str
    table: Table
    use: TableUse
    mode: Literal["on-demand", "auto scaling", "fixed"]
    infrequent: bool
    recovery: bool

    @property
    def reserved(self) -> Reserved:
        """For how long capacity is reserved."""
        return self.use.reserved

    def payer(self, place: TableOrIndex) -> TableOrIndex:
        """Where capacity is provisioned for a place: a local index uses that of its table."""
        index = self.table.by_name.get(place.index) if place.index else None
        return TableOrIndex(place.table) if index is not None and index.local else place

    def local(self, place: TableOrIndex) -> bool:
        """Whether a place is the table itself or a local index, which are backed up."""
        return self.payer(place).index is None


def run_tables(design: type[Design], traffic: Traffic) -> Mapping[str, RunTable]:
    """All tables of a design by name, and how they are run."""
    named = named_design(design)
    tables = {}
    for table in named.all_tables:
        name = named.table_name(table)
        use = traffic.tables.get(name, TableUse())
        provisioned = use.capacity == "provisioned"
        fixed = use.capacity is None and table.billing == "PROVISIONED"
        infrequent = table.table_class != "STANDARD" if use.infrequent is None else use.infrequent
        recovery = bool(table.recovery) if use.recovery is None else use.recovery
        mode: Literal["on-demand", "auto scaling", "fixed"] = "fixed" if fixed else "on-demand"
        tables[name] = RunTable(name, table, use, "auto scaling" if provisioned else mode, infrequent, recovery)
    return tables
