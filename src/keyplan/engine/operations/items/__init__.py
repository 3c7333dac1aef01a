"""The operations on items.

Most are in the module of their name: `put_item`, `get_item`, `update_item`, `delete_item`, `query`, `scan` and
`search_vectors`.
`batch_items` has BatchGetItem and BatchWriteItem, `transact_items` TransactGetItems and TransactWriteItems. PartiQL's
are `execute_statement`, `batch_execute_statement` and `execute_transaction`, based on `statement_reads` and
`statement_writes`. They share `item_requests` (the members of requests), `parameters` (rules between members),
`legacy_parameters` (conditions and projections from before expressions), `item_changes` (the steps of every write),
`transactions` (all of them or none), `paged_reads` (the pages of Query and Scan), `key_ranges` (what they read) and
`consumed_capacity` (what AWS would charge).

The main types are `ItemRequest` and `Change`, a write that was decided and not yet applied.
"""
