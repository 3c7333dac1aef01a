"""What a database does between requests: delete expired items, trim streams, fill new indexes, run jobs.

`maintenance` is the thread that does it and decides when; `expiry` deletes the items whose time to live is over;
`jobs` continues jobs step by step and removes what got too old, with `exporting` and `importing` for the jobs that read
or write files. It knows storage and operations, and is known only by the database.

The main type is `Maintenance`.
"""
