"""`python -m bench.data`: the data layer side by side with raw boto3 and the libraries that people would pick instead."""
