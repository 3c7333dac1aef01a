"""What hurts when the tables are run."""
