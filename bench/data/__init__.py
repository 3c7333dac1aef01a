"""`python -m bench.data`: the data layer compared with raw boto3 and other libraries."""
