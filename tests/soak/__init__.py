"""A real process under a steady load for an hour: memory, handles and times."""
