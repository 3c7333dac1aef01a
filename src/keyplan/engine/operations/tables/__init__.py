"""The operations on tables and the account.

`create_table`, `update_table` and `delete_table` have the operation of their name; `describe_table` has DescribeTable
and ListTables; `time_to_live`, `tags`, `resource_policies`, `contributor_insights` and `kinesis_destinations` have the
operations of those settings, and `account` those with the same answer for everybody.

`replicas` is the part of UpdateTable that is about global tables, `replication` how they are described, `auto_scaling`
their auto scaling settings and `replica_auto_scaling` the operations on these. `global_tables` and
`global_table_settings` have the operations of the older version of global tables.

They share `resources` (what an ARN names), `policy_documents` (what makes a legal policy), `definitions` (what makes a
legal table), `update_kinds` (updates that are of one kind each), `throughput` (billing mode and capacity figures) and
`index_backfill` (filling an index that was added to a table with items). `vector_indexes` has the rules of vector
indexes, and `vector_index_updates` adds and removes them.

The main types are `TableRequest` and `IndexRequest`.
"""
