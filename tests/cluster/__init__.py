"""Several processes on one PostgreSQL and one loopback Slack."""
