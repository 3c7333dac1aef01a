"""Everything between an operation and the SQLite file.

`storage` owns the connections and runs transactions, for which threads take `turns`; `transaction` is what an operation
sees: items and index entries by row key; `catalog` is the set of tables and indexes, `descriptions` how AWS shows them,
and `table_settings` what else is stored of them; `scopes` and `regional_tables` say who sees which tables; `stream_log`
keeps the records of streams and `ttl_index` finds expired items; `records` keeps JSON documents beside the tables.
`history` has what items were before each change (a `numbered_log`, as streams are), `copies` copies a table as of one
moment, and `disposal` frees what is no longer used.

Below them, `file_creation` makes a new file, `file_checks` checks one that is opened and `file_upgrade` upgrades an old
one, `damage` detects a damaged one, `file_watch` one that was moved or that others can read, and `log_binding` a
write-ahead log that belongs to another file; `wal_checkpoints` copies the log into the main file, `page_cache` decides
how much of the file stays in memory, and `limits` has the limits of memory and disk. The package knows values and
errors; it doesn't know operations or requests.

The main types are `Storage`, `Transaction`, `Row` (a stored item) and `Catalog` with its `Table`s and `Index`es.
"""
