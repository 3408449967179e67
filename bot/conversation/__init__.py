"""A question on its way through the bot: heard, claimed, answered, edited, taken back."""
