"""What the bot is built of: known vulnerabilities, licences, the bill of materials, the lock."""
