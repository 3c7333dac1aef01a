"""`python -m bench.lines`: a slice of a shop with Keyplan, boto3, PynamoDB and ElectroDB, run and counted."""
