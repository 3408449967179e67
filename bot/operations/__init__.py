"""What the bot does unasked: the schedule, alerts, the digest, the audit log."""
