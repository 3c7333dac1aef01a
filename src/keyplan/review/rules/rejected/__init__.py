"""What DynamoDB or the data layer refuses."""
