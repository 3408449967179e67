"""What runs: built once from the settings, with its home, its logs and the socket for commands."""
