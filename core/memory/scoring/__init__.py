"""What votes are worth, and what they make of a pair."""
