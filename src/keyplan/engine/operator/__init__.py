"""What the operator of a database file does with it: back up, restore, compact, check, and move tables in and out.

`file_copies` writes whole files: backups, restored and compacted files. `file_check` reads everything and compares it.
`table_files` exports a table to a file of lines, and imports one. `outcomes` has what they share. They use the storage
and the database as a request does, so all of it works on a file that is in use; only what replaces the file needs it
for itself.

DynamoDB's own operations for exports and imports are something else: they run inside the engine, leave a record that
can be described, and write to a folder that stands for S3, in the layout of AWS. The functions here write one file
where the operator wants it, of the table as it is now, and leave no record.

The main types are `Progress` (what a command shows), `Findings` and `TableImport`, and the error `OperatorError`.
"""

from keyplan.engine.operator.file_check import Findings, check_file
from keyplan.engine.operator.file_copies import back_up, compact, restore
from keyplan.engine.operator.outcomes import OperatorError, Progress
from keyplan.engine.operator.table_files import TableImport, export_table, import_table

__all__ = [
    "Findings",
    "OperatorError",
    "Progress",
    "TableImport",
    "back_up",
    "check_file",
    "compact",
    "export_table",
    "import_table",
    "restore",
]
