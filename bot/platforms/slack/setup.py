"""What `threadlore init` asks and writes for Slack: the app's manifest, and two tokens."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from bot.platforms.slack import TOKENS
from bot.ports.platforms import Terminal

NAME, RANK, ACCOUNT = "Slack", 1, "slack:U012AB3CD"
OPTION = {
    "name": "slack",
    "help": "Write Slack's manifest; tokens are taken from the environment",
    "kind": "flag",
}
BEGINNINGS = ("xoxb-", "xapp-")
"""What each of the tokens begins with."""
MANIFEST = "slack-manifest.yaml"
STEPS = """
Make the app now, in a browser (the file {manifest} has every scope, event and command):
  1. https://api.slack.com/apps, Create New App, From a manifest, choose the workspace, paste the file
  2. Install App, Install to Workspace: copy the Bot User OAuth Token (xoxb-…)
  3. Basic Information, App-Level Tokens, Generate, with the scope connections:write: copy it (xapp-…)
"""


def asked(folder: Path, terminal: Terminal) -> tuple[str, dict[str, str]]:
    """Explain how the app is made, and ask for its tokens."""
    write(folder)
    print(STEPS.format(manifest=folder / MANIFEST))
    bot = terminal.token("Bot User OAuth Token [not now]: ", BEGINNINGS[0])
    app = terminal.token("App-Level Token [not now]: ", BEGINNINGS[1])
    return "yes", dict(zip(TOKENS, (bot, app), strict=True))


def wrong(chosen: str, tokens: Mapping[str, str]) -> str:
    """Say which token begins as another one does."""
    for name, beginning in zip(TOKENS, BEGINNINGS, strict=True):
        token = tokens.get(name, "")
        if token and not token.startswith(beginning):
            return (
                f"{name} begins with {token[:5]}… instead of {beginning}; copy the other token: "
                f"the two are easily mixed up."
            )
    return ""


def write(folder: Path) -> tuple[str, ...]:
    """Write the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = files(__package__).joinpath(MANIFEST).read_text(encoding="utf-8")
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")
    return (MANIFEST,)


def then(chosen: str) -> str:
    """Say how the bot comes into a channel."""
    return "On Slack, write /invite @Threadlore in a channel, then @Threadlore and a question."
