"""The database: opened, checked, held by one process or shared by a cluster."""
