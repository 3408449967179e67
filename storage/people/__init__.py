"""Where people stand in the tables, and how they are taken out."""
