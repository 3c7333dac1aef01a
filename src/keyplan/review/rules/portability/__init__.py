"""What other engines do differently, and what is unfinished."""
