"""The names of a design's tables where nobody chose an environment."""

import re

from keyplan.design import Design

_WITHOUT_DEFAULT = re.compile(r"\{([a-z_]+)\}")


def named_design(kind: type[Design]) -> Design:
    """A design with the default for each name in its table names; one without a default stands for itself."""
    names = {name for table in kind.tables for name in _WITHOUT_DEFAULT.findall(table.name)}
    return kind({name: name for name in names})


def table_names(kind: type[Design]) -> list[str]:
    """The names of all tables, as traffic files and costs name them: `WavyBlog`, not `{dynamodb_table=WavyBlog}`."""
    design = named_design(kind)
    return [design.table_name(table) for table in design.all_tables]
