"""What runs is built here, a part a file: stores, models, the core, and what concerns chats."""
