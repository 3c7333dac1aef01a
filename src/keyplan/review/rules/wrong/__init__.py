"""What answers wrongly, or loses data."""
