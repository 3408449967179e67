"""Commands that another program carries out: `init`, `doctor`, `serve`, `mcp`, `chat`, backups."""

from __future__ import annotations

from bot.commands.command import Option, at_terminal
from bot.ports.platforms import setups, titles

INIT = at_terminal(
    "init",
    "home",
    "set up a bot: asks what it needs, writes corpora.toml, .env and Slack's manifest",
    options=(
        Option("folder", "Folder to write to; created if missing (default: here)", kind="path"),
        Option("force", "Overwrite files that are already there", kind="flag"),
        Option("product", "Its name; with --docs nothing is asked", named=True),
        Option(
            "docs",
            "Once a release, old to new: an address, a folder, a PDF, repository.git@tag:folder, "
            "package==version:folder",
            named=True,
            repeated=True,
            metavar="RELEASE=WHERE",
        ),
        Option(
            "link",
            "Where its pages are published, with {page}",
            named=True,
            repeated=True,
            metavar="RELEASE=URL",
        ),
        Option("ollama", "Where Ollama serves, or off (http://127.0.0.1:11434)", named=True, metavar="URL"),
        Option("model", "The model that writes (qwen3:8b)", named=True),
        *(Option(**setup.OPTION) for setup in setups().values()),
        Option("admins", "Such as slack:U0123,discord:456", named=True),
    ),
    program="bot.cli.setup.wizard:run",
    needs_settings=False,
    rank=80,
)
DOCTOR = at_terminal(
    "doctor",
    "home",
    "check everything a bot needs, and say how to fix problems",
    options=(
        Option(
            "fix",
            "Close files that others on this machine may read; offer to pull missing models of Ollama",
            kind="flag",
            named=True,
        ),
        Option("yes", "With --fix: pull them without asking", kind="flag", named=True),
    ),
    program="bot.cli.doctor.examination:doctor",
    rank=81,
)
SERVE = at_terminal(
    "serve",
    "home",
    f"serve the playground, and {titles()} where their tokens are set",
    options=(Option("port", "Port of the playground (THREADLORE_PORT, 8080)", kind="number", named=True),),
    program="bot.app.starting:serve",
    rank=82,
)
MCP = at_terminal(
    "mcp",
    "home",
    "answer editors over the Model Context Protocol (stdio or HTTP)",
    options=(
        Option(
            "http",
            "Serve many over HTTP on this port; who has a token of MCP_TOKENS may ask",
            kind="number",
            named=True,
            metavar="PORT",
        ),
    ),
    program="bot.cli.editors.server:run",
    rank=83,
)
CHAT = at_terminal(
    "chat",
    "ask",
    "chat with the bot in the terminal",
    program="bot.cli.terminal_chat:chat",
    rank=3,
)
_PASSPHRASE = Option(
    "passphrase-file",
    "File with the passphrase; BACKUP_PASSPHRASE where it is not named",
    named=True,
    kind="path",
)

BACKUP = at_terminal(
    "backup",
    "home",
    "write a backup to a file, also while the bot serves",
    options=(
        Option("file", "File to write; it must not be there yet", required=True, kind="path"),
        Option("encrypt", "Encrypt it with the passphrase", kind="flag", named=True),
        _PASSPHRASE,
    ),
    program="bot.cli.backups.copies:backup",
    rank=84,
)

RESTORE = at_terminal(
    "restore",
    "home",
    "bring a backup into an empty home",
    options=(Option("file", "File that `backup` wrote", required=True, kind="path"), _PASSPHRASE),
    program="bot.cli.backups.copies:restore",
    rank=85,
)
