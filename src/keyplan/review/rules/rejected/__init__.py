"""What DynamoDB or the data layer refuses.

| module | its rules are about |
| --- | --- |
| `tables` | tables and indexes that DynamoDB doesn't create |
| `replicas` | tables that can't be in several regions |
| `sizes` | keys and items that can become too large |
| `values` | values that DynamoDB doesn't store |
| `requests` | requests that DynamoDB refuses |
"""
