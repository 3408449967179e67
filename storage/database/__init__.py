"""The database: opened, checked, held by one process."""
