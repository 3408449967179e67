"""`python -m bot` is `threadlore`."""

from bot.cli.main import main

main()
