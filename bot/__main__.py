"""`python -m bot` is `threadlore`."""

from bot.cli import main

main()
