"""What a database does between requests: delete expired items, trim streams, fill new indexes.

`maintenance` is the thread that does it and decides when; `expiry` deletes the items whose time to live is over. It
knows storage and operations, and is known only by the database.

The main type is `Maintenance`.
"""
