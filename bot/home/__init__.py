"""A home and the process that has it: folder, configuration, logs, and the socket for commands."""
