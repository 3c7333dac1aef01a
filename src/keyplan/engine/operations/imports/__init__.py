"""Imports of a new table from S3, and bulk puts into an existing one.

Both are jobs: files are read between transactions (`background/importing.py`), and their items are written in batches.
A transaction writes a batch together with its counts and with the position in the files, so that after a restart each
item is counted once. Items are checked by the rules of PutItem.

`import_table` and `bulk_put_items` have the operations; `batches` has what both do with a batch.
"""
