"""Keys as text: templates such as `POSTS_BY_USER#{author_id}`, and how values are written in them.

| module | what it is |
| --- | --- |
| `formats` | how values of each type are written, so that the text sorts like the values and can be read back |
| `buckets` | date buckets: the month of a time, `{created_at:%Y-%m}` |
| `shards` | hash shards: a number that spreads items over partitions, `{shard(user_id, 16)}` |
| `templates` | `Template`: writes keys from values, and reads values from keys |
"""
