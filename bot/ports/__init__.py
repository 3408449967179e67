"""What a chat platform must be able to do, and what it tells the bot."""
