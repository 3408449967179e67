"""What `threadlore init` takes; only the standard library is imported for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path


def add_init(command: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the command; with a product and its documentation given it asks nothing."""
    init = command("init", "Ask what there is to know, and write corpora.toml, .env and Slack's manifest.")
    init.add_argument("folder", nargs="?", type=Path, help="where they go; made if need be (here)")
    init.add_argument("--force", action="store_true", help="write them anew where they are there already")
    init.add_argument("--product", help="its name; with --docs nothing is asked")
    init.add_argument(
        "--docs",
        action="append",
        metavar="RELEASE=WHERE",
        help="once a release, old to new: an address, a folder, a PDF, repository.git@tag:folder, "
        "package==version:folder",
    )
    init.add_argument(
        "--link", action="append", metavar="RELEASE=URL", help="where its pages are published, with {page}"
    )
    init.add_argument("--ollama", metavar="URL", help="where Ollama serves, or off (http://127.0.0.1:11434)")
    init.add_argument("--model", help="the model that writes (qwen3:8b)")
    init.add_argument(
        "--slack", action="store_true", help="write Slack's manifest; tokens are taken from the environment"
    )
    init.add_argument(
        "--discord", metavar="ID", help="the id of a Discord application: prints its invitation"
    )
    init.add_argument("--admins", help="such as slack:U0123,discord:456")
