"""`threadlore init`: asks the few questions there are, and writes `corpora.toml` and `.env`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from getpass import getpass
from pathlib import Path

from core.catalogue import load_catalogue
from core.errors import ThreadloreError, UsageError
from core.ingestion.sources import Kinds

Ask = Callable[[str], str]
_KINDS = {
    "website": "the address of the documentation",
    "git": "a git repository and a tag or branch",
    "folder": "a folder on this machine",
    "sdist": "a source distribution of the package index",
    "pdf": "a PDF, or a folder of them",
}
NEXT = """
Written: {files}
Next:
  threadlore doctor    looks at everything that is needed, and says what to do
  threadlore serve     reads the documentation and answers; the page says where to look
Slack and Discord are set up as README.md says: docs/slack-manifest.yaml has all that Slack needs at once.
"""


def init(folder: Path, force: bool = False, ask: Ask = input, secret: Ask = getpass) -> str:
    """Ask, write `corpora.toml` and `.env` into a folder, and return what to do next.

    Raises UsageError where one of the files is there already and `force` is not given.
    """
    for name in ("corpora.toml", ".env"):
        if (folder / name).exists() and not force:
            raise UsageError(f"There is a {name} in {folder} already; say --force to write it anew.")
    try:
        catalogue, settings = _catalogue(ask), _settings(ask, secret)
    except EOFError:
        raise UsageError("There is nobody to ask; nothing was written.") from None
    half = folder / "corpora.toml.part"
    half.write_text(catalogue, encoding="utf-8")
    try:
        load_catalogue(half, Kinds())
    except ThreadloreError as error:
        half.unlink()
        raise UsageError(f"These answers do not fit together: {error} Nothing was written.") from None
    os.replace(half, folder / "corpora.toml")
    with open(folder / ".env", "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as file:
        file.write(settings)
    return NEXT.format(files="corpora.toml, .env")


def _catalogue(ask: Ask) -> str:
    product = _needed(ask, "What is the product called? ")
    names = [n for n in re.split(r"[,\s]+", _needed(ask, "Its releases, old to new (2.0, 2.3, 3.1): ")) if n]
    kinds = "\n".join(f"  {kind:8} {what}" for kind, what in _KINDS.items())
    kind = _choice(ask, f"Where is the documentation?\n{kinds}\n[website] ", tuple(_KINDS))
    parts = [f"[product]\nname = {json.dumps(product)}\n"]
    latest = names[-1]
    for name in names:
        parts.append(
            f"[[release]]\nname = {json.dumps(name)}" + ("\nlatest = true" if name == latest else "")
        )
        parts.append(f"\n[[release.source]]\nkind = {json.dumps(kind)}\n" + _source(ask, kind, name))
    return "\n".join(parts)


def _source(ask: Ask, kind: str, release: str) -> str:
    """Ask where the documentation of a release is; return the lines of its source."""
    match kind:
        case "website":
            return f"start = [{json.dumps(_needed(ask, f'{release}: address of its first page: '))}]\n"
        case "git":
            lines = f"repository = {json.dumps(_needed(ask, f'{release}: repository: '))}\n"
            lines += f"ref = {json.dumps(_needed(ask, f'{release}: tag or branch: '))}\n"
        case "sdist":
            lines = f"package = {json.dumps(_needed(ask, f'{release}: name of the package: '))}\n"
            lines += f"version = {json.dumps(_needed(ask, f'{release}: its version, such as 3.1.0: '))}\n"
        case _:
            lines = f"path = {json.dumps(_needed(ask, f'{release}: path: '))}\n"
    if kind in ("git", "sdist") and (
        path := ask(f"{release}: folder of the documentation in it [all]: ").strip()
    ):
        lines += f"path = {json.dumps(path)}\n"
    url = ask(f"{release}: link of a page, with {{page}} for its path [none]: ").strip()
    return lines + (f"url = {json.dumps(url)}\n" if url else "")


def _settings(ask: Ask, secret: Ask) -> str:
    lines = ["# Everything else that can be set is in .env.example."]
    host = ask("Where does Ollama serve? `off` to do without a model [http://127.0.0.1:11434]: ").strip()
    lines.append(f"OLLAMA_HOST={host or 'http://127.0.0.1:11434'}")
    if host.lower() not in ("off", "none"):
        lines.append(f"OLLAMA_MODEL={ask('Which model? [qwen3:8b]: ').strip() or 'qwen3:8b'}")
    for name, variables in (
        ("Slack", ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")),
        ("Discord", ("DISCORD_TOKEN",)),
    ):
        for variable in variables:
            token = secret(f"{name}: {variable} [not now]: ").strip()
            lines.append(f"{variable}={token}")
            if not token:
                break
    admins = ask("Who are the admins, such as slack:U012AB3CD, discord:123 [those of the platform]: ").strip()
    lines.append(f"THREADLORE_ADMINS={admins}")
    return "\n".join(lines) + "\n"


def _needed(ask: Ask, question: str) -> str:
    while not (answer := ask(question).strip()):
        print("Please answer this one.", file=sys.stderr)
    return answer


def _choice(ask: Ask, question: str, choices: tuple[str, ...]) -> str:
    while (answer := ask(question).strip().lower() or choices[0]) not in choices:
        print(f"Please choose one of {', '.join(choices)}.", file=sys.stderr)
    return answer
