"""`threadlore init`: asks the few questions there are, and writes what a bot needs into a folder."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from getpass import getpass
from importlib.resources import files
from pathlib import Path

from bot.cli.setup.sources import Unclear, located
from bot.cli.setup.texts import DISCORD, INVITE, NEXT, SLACK, WHERE
from bot.home.exposure import exposed
from bot.home.findings import Finding
from core.catalogue import load_catalogue
from core.errors import ThreadloreError, UsageError
from core.ingestion.sources import Kinds
from core.settings import load_settings
from core.system.private_files import private

Ask = Callable[[str], str]
OLLAMA = "http://127.0.0.1:11434"
MODEL = "qwen3:8b"
MANIFEST = "slack-manifest.yaml"


@dataclass(frozen=True, slots=True)
class Given:
    """What was said on the command line; with a product and its documentation nothing is asked.

    `docs` and `links` are `RELEASE=…`. Tokens are never given there: others may see how a process was called.
    """

    product: str = ""
    docs: Sequence[str] = ()
    links: Sequence[str] = ()
    ollama: str = ""
    model: str = ""
    slack: bool = False
    discord: str = ""
    admins: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    """Tokens that stand in the environment, by the name of their variable."""


@dataclass(slots=True)
class Plan:
    """What is to be written."""

    product: str = ""
    docs: dict[str, str] = field(default_factory=dict)
    """Lines of the source of each release, old to new."""
    settings: dict[str, str] = field(default_factory=dict)
    slack: bool = False
    discord: str = ""


def init(
    folder: Path,
    force: bool = False,
    ask: Ask = input,
    secret: Ask = getpass,
    given: Given | None = None,
    invitation: Callable[[str], str] = str,
) -> str:
    """Ask, write `corpora.toml`, `.env` and Slack's manifest into a folder, and return what to do next.

    `invitation` makes Discord's link from an application id. Raises UsageError where a file is there already
    and `force` is not given, or where what was said cannot be; then nothing is changed but the manifest.
    """
    folder = folder.absolute()
    for name in ("corpora.toml", ".env"):
        if (folder / name).exists() and not force:
            raise UsageError(
                f"There is a {name} in {folder} already; name another folder (`threadlore init my-bot`), or "
                f"say --force to write it anew."
            )
    made = not folder.exists()
    given = given or Given()
    try:
        if given.product and given.docs:
            plan = _planned(given)
        else:
            plan = _asked(folder, given, ask, secret, invitation)
    except EOFError:
        raise UsageError("There is nobody to ask; nothing was written.") from None
    try:
        _write(folder, plan)
    except UsageError:
        if made and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()
        raise
    return _next(folder, plan, invitation)


def run(settings: None, options: argparse.Namespace) -> int:
    """Carry out the command; returns the exit status. Raises UsageError."""
    from bot.platforms.discord.doctor import invitation

    around = load_settings(None)
    tokens = {
        name: value
        for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "DISCORD_TOKEN")
        if (value := getattr(around, name.lower()).get_secret_value().strip())
    }
    given = Given(
        product=options.product or "",
        docs=options.docs or (),
        links=options.link or (),
        ollama=options.ollama or "",
        model=options.model or "",
        slack=options.slack or "SLACK_BOT_TOKEN" in tokens,
        discord=options.discord or "",
        admins=options.admins or "",
        tokens=tokens,
    )
    folder = options.folder or Path.cwd()
    print(init(folder, options.force, given=given, invitation=invitation))
    return 0


def _planned(given: Given) -> Plan:
    """Return what the command line says, without a question."""
    docs, links = _pairs(given.docs, "--docs"), _pairs(given.links, "--link")
    if unknown := [release for release in links if release not in docs]:
        raise UsageError(f"--link names {unknown[0]}, of which there is no --docs.")
    try:
        lines = {release: located(where, links.get(release, "")) for release, where in docs.items()}
    except Unclear as error:
        raise UsageError(str(error)) from None
    plan = Plan(given.product, lines, _model(given.ollama or OLLAMA, given.model or MODEL))
    plan.slack, plan.discord = given.slack, given.discord
    plan.settings |= dict.fromkeys(_tokens(plan), "") | given.tokens | {"THREADLORE_ADMINS": given.admins}
    return plan


def _pairs(said: Sequence[str], flag: str) -> dict[str, str]:
    found = {}
    for entry in said:
        release, equals, value = entry.partition("=")
        if not (release.strip() and equals and value.strip()):
            raise UsageError(f"{flag} {entry} names no release and place; write it as {flag} 2.0=…")
        found[release.strip()] = value.strip()
    return found


def _asked(folder: Path, given: Given, ask: Ask, secret: Ask, invitation: Callable[[str], str]) -> Plan:
    plan = Plan(given.product or _needed(ask, "What is the product called? "))
    said = _needed(ask, "Its releases, old to new, such as 2.0, 2.3, 3.1: ")
    print(WHERE)
    for release in dict.fromkeys(name for name in re.split(r"[,\s]+", said) if name):
        plan.docs[release] = _source(ask, release)
    host = ask(f"\nWhere does Ollama serve? `off` to quote pages without a model [{OLLAMA}]: ").strip()
    off = host.lower() in ("off", "none")
    plan.settings = _model(host or OLLAMA, "" if off else ask(f"Which model? [{MODEL}]: ").strip() or MODEL)
    if _yes(ask, "\nWill people ask on Slack? [y/N] "):
        plan.slack = True
        _write_manifest(folder)
        print(SLACK.format(manifest=folder / MANIFEST))
        plan.settings["SLACK_BOT_TOKEN"] = _token(secret, "Bot User OAuth Token [not now]: ", "xoxb-")
        plan.settings["SLACK_APP_TOKEN"] = _token(secret, "App-Level Token [not now]: ", "xapp-")
    if _yes(ask, "\nWill people ask on Discord? [y/N] "):
        print(DISCORD)
        plan.discord = _number(ask, "Application ID: ")
        print(INVITE.format(link=invitation(plan.discord)))
        plan.settings["DISCORD_TOKEN"] = _token(secret, "Bot token [not now]: ", "")
    if plan.slack or plan.discord:
        asked = "\nAdmins beside those of the platform, such as slack:U012AB3CD, discord:123 [none]: "
        plan.settings["THREADLORE_ADMINS"] = ask(asked).strip()
    return plan


def _source(ask: Ask, release: str) -> str:
    """Ask where the documentation of a release is, until that can be understood."""
    while True:
        where = _needed(ask, f"{release}: ")
        try:
            lines = located(where)
        except Unclear as error:
            print(error, file=sys.stderr)
            continue
        if 'kind = "website"' in lines:
            return lines
        link = ask("   published at, with {page} for a page's path, to cite it [nowhere]: ").strip()
        return located(where, link)


def _model(host: str, name: str) -> dict[str, str]:
    if host.lower() in ("off", "none"):
        return {"OLLAMA_HOST": "off"}
    return {"OLLAMA_HOST": host, "OLLAMA_MODEL": name}


def _write(folder: Path, plan: Plan) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    half = folder / "corpora.toml.part"
    half.write_text(_catalogue(plan), encoding="utf-8")
    try:
        load_catalogue(half, Kinds())
    except ThreadloreError as error:
        half.unlink()
        raise UsageError(f"These answers do not fit together: {error} Nothing was written.") from None
    os.replace(half, folder / "corpora.toml")
    if plan.slack:
        _write_manifest(folder)
    lines = ["# Everything else that can be set: .env.example in Threadlore's folder."]
    lines += [f"{name}={value}" for name, value in (_home(folder) | plan.settings).items()]
    with open(folder / ".env", "w", encoding="utf-8", opener=private) as file:
        file.write("\n".join(lines) + "\n")


def _home(folder: Path) -> dict[str, str]:
    return {"THREADLORE_HOME": f'"{folder / "home"}"'}


def _catalogue(plan: Plan) -> str:
    parts = [f"[product]\nname = {json.dumps(plan.product)}\n"]
    latest = list(plan.docs)[-1] if plan.docs else ""
    for release, lines in plan.docs.items():
        mark = "latest = true\n" if release == latest else ""
        parts.append(f"[[release]]\nname = {json.dumps(release)}\n{mark}\n[[release.source]]\n{lines}")
    return "\n".join(parts)


def _write_manifest(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    manifest = files("bot.platforms.slack").joinpath(MANIFEST).read_text(encoding="utf-8")
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")


def _next(folder: Path, plan: Plan, invitation: Callable[[str], str]) -> str:
    go = "" if folder == Path.cwd() else f"cd {folder}\n  "
    written = "corpora.toml, .env" + (f", {MANIFEST}" if plan.slack else "")
    told = []
    if plan.slack:
        told.append("On Slack, write /invite @Threadlore in a channel, then @Threadlore and a question.")
    if plan.discord:
        told.append(f"On Discord, {invitation(plan.discord)} invites the bot to a server.")
    if not told:
        told.append("Slack and Discord can be added later: README.md says how.")
    missing = [name for name in _tokens(plan) if not plan.settings.get(name)]
    if missing:
        told.append(f"Still to be put into .env: {', '.join(missing)}.")
    reach = "\n".join(f"  {found.what}: {found.said}" for found in _exposed(folder, plan))
    return NEXT.format(folder=folder, files=written, go=go, platforms="\n".join(told), exposed=reach)


def _exposed(folder: Path, plan: Plan) -> list[Finding]:
    """Return who will reach what, with the tokens that are still to be put into `.env`."""
    coming = {name.lower(): plan.settings.get(name) or "later" for name in _tokens(plan)}
    return exposed(load_settings(str(folder / ".env"), **coming))


def _tokens(plan: Plan) -> tuple[str, ...]:
    slack = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN") if plan.slack else ()
    return (*slack, *(("DISCORD_TOKEN",) if plan.discord else ()))


def _needed(ask: Ask, question: str) -> str:
    while not (answer := ask(question).strip()):
        print("Please answer this one.", file=sys.stderr)
    return answer


def _number(ask: Ask, question: str) -> str:
    while not (answer := _needed(ask, question)).isdigit():
        print("An application's id is a number of 17 to 20 digits.", file=sys.stderr)
    return answer


def _yes(ask: Ask, question: str) -> bool:
    return ask(question).strip().lower() in ("y", "yes")


def _token(secret: Ask, question: str, prefix: str) -> str:
    while (token := secret(question).strip()) and not token.startswith(prefix):
        print(f"That one begins with {token[:5]}…, the one that is asked for with {prefix}", file=sys.stderr)
    return token
