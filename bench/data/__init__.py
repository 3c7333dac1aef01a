"""`python -m bench.data`: the data layer beside raw boto3 and the libraries that people would pick instead."""
