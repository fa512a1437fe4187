"""What to ask next, and when to stop."""
