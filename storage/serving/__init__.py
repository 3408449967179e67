"""Claims, tickets, channels and what is counted."""
