"""What each command does, whoever gives it."""
