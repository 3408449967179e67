"""Where pairs are kept in memory, and found."""
