"""One script of what people live through with the bot, played on every platform: `make scenarios`."""
