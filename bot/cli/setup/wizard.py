"""`threadlore init`: asks the few questions there are, and writes what a bot needs into a folder."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from getpass import getpass
from pathlib import Path

from bot.cli.setup.asker import Ask, Asker
from bot.cli.setup.embedders import embedders_of, proposed
from bot.cli.setup.sources import WHERE, Unclear, linkless_word, located, private_word
from bot.home.exposure import exposed, keep_out_of_git
from bot.home.findings import Finding
from bot.ports.platforms import saying, setups
from core.catalogue import load_catalogue
from core.catalogue.toml_file import quoted
from core.errors import ThreadloreError, UsageError
from core.ingestion.sources import Kinds
from core.models.embedding.gpu import wanted
from core.settings import load_settings
from core.system.private_files import private

NEXT = """
Written into {folder}: {files}
Next:
  {go}threadlore doctor    looks at everything that is needed, and says what to do
  threadlore serve     reads the documentation and answers
{platforms}
Who can reach what, once it runs:
{exposed}
"""


OLLAMA = "http://127.0.0.1:11434"
MODEL = "qwen3:8b"
NO_MODEL = ("off", "none")
NOTHING_ANSWERS = "Nothing answers at {host} now. Until something does, answers quote the pages."


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
    platforms: Mapping[str, str] = field(default_factory=dict)
    """The value of the option of each platform that was chosen, by its name."""
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
    platforms: dict[str, str] = field(default_factory=dict)
    """The value of the option of each platform, by its name."""


def init(
    folder: Path,
    force: bool = False,
    ask: Ask = input,
    secret: Ask = getpass,
    given: Given | None = None,
    has_gpu: bool = False,
) -> str:
    """Ask, write `corpora.toml`, `.env` and what platforms need into a folder, and return what to do next.

    `has_gpu` says whether there seems to be a GPU, for which a larger embedder is proposed. Raises UsageError
    where a file is there already and `force` is not given, or where what was said cannot be; then nothing is
    changed but the files of platforms.
    """
    folder = folder.absolute()
    if given:
        _check(folder, given)
    for name in ("corpora.toml", ".env"):
        if (folder / name).exists() and not force:
            free = (it for it in ("my-bot", "my-other-bot") if it != folder.name and not Path(it).exists())
            other = next(free, "my-next-bot")
            raise UsageError(
                f"There is a {name} in {folder} already; name another folder (`threadlore init {other}`), or "
                f"pass --force to overwrite it."
            )
    made = not folder.exists()
    given = given or Given()
    try:
        is_said = bool(given.product and given.docs)
        plan = _planned(given) if is_said else _asked(folder, given, Asker(ask, secret), has_gpu)
    except EOFError:
        raise UsageError(
            "No terminal to prompt on. Pass --product NAME and --docs RELEASE=WHERE; "
            "`threadlore init --help` has the rest."
        ) from None
    try:
        _write(folder, plan)
    except UsageError:
        if made and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()
        raise
    return _next(folder, plan)


def run(settings: None, options: argparse.Namespace) -> int:
    """Carry out the command; returns the exit status. Raises UsageError."""
    around = load_settings(None)
    tokens: dict[str, str] = {}
    chosen: dict[str, str] = {}
    for name, setup in setups().items():
        own = {token: getattr(around, token.lower()).get_secret_value().strip() for token in setup.TOKENS}
        tokens |= {token: value for token, value in own.items() if value}
        said = getattr(options, name)
        if setup.OPTION.get("kind") == "flag":
            said = "yes" if said or own[setup.TOKENS[0]] else ""
        if said:
            chosen[name] = said
    given = Given(
        product=options.product or "",
        docs=options.docs or (),
        links=options.link or (),
        ollama=options.ollama or "",
        model=options.model or "",
        platforms=chosen,
        admins=options.admins or "",
        tokens=tokens,
    )
    folder = options.folder or Path.cwd()
    print(init(folder, options.force, given=given, has_gpu=wanted(around.embedding_device)))
    return 0


def _check(folder: Path, given: Given) -> None:
    """Raise UsageError for a token in the place of the folder, and for values of platforms that cannot be."""
    if any(pattern.search(folder.name) for pattern in saying("SECRETS").values()):
        raise UsageError(
            "That looks like a token, not like a folder. Put tokens into .env, or into the environment: "
            "others on this machine may read a command line."
        )
    every = setups()
    for name, chosen in given.platforms.items():
        if said := every[name].wrong(chosen, given.tokens):
            raise UsageError(said)


def _planned(given: Given) -> Plan:
    """Return what the command line says, without a question."""
    docs, links = _pairs(given.docs, "--docs"), _pairs(given.links, "--link")
    if unknown := [release for release in links if release not in docs]:
        raise UsageError(f"--link names {unknown[0]}, but there is no --docs for it.")
    try:
        lines = {release: located(where, links.get(release, "")) for release, where in docs.items()}
    except Unclear as error:
        raise UsageError(str(error)) from None
    # what nobody chose is not written: doctor calls a model that is missing a problem where one was chosen
    model = _model(given.ollama or OLLAMA, given.model or MODEL) if given.ollama or given.model else {}
    plan = Plan(given.product, lines, model)
    plan.platforms |= given.platforms
    load_settings(None, admins=given.admins)  # an account that is none is told before anything is written
    plan.settings |= dict.fromkeys(_tokens(plan), "") | given.tokens | {"THREADLORE_ADMINS": given.admins}
    return plan


def _pairs(said: Sequence[str], flag: str) -> dict[str, str]:
    found = {}
    for entry in said:
        release, equals, value = entry.partition("=")
        if not (release.strip() and equals and value.strip()):
            raise UsageError(f"{flag} {entry} is not RELEASE=WHERE; write it as {flag} 2.0=…")
        if release.strip() in found:
            raise UsageError(f"{flag} names {release.strip()} twice; add further sources to corpora.toml.")
        found[release.strip()] = value.strip()
    return found


def _asked(folder: Path, given: Given, terminal: Asker, has_gpu: bool) -> Plan:
    ask = terminal.ask
    plan = Plan(given.product or terminal.needed("What is the product called? "))
    releases = _releases(terminal)
    print(WHERE)
    for release in releases:
        plan.docs[release] = _source(terminal, release)
    host = ask(f"\nWhere does Ollama serve? `none` to quote pages without a model [{OLLAMA}]: ").strip()
    off = host.lower() in NO_MODEL
    there = None if off else embedders_of(host or OLLAMA)
    if there is None and not off:
        print(NOTHING_ANSWERS.format(host=host or OLLAMA), file=sys.stderr)
    model = "" if off else ask(f"Which model, or `none`? [{MODEL}]: ").strip() or MODEL
    plan.settings = _model(host or OLLAMA, model)
    found = proposed(there, has_gpu)
    if found and terminal.agrees(f"\n{found.question} [y/N] "):
        plan.settings["EMBEDDING_MODEL"] = found.model
    for name, setup in setups().items():
        if terminal.agrees(f"\nWill people ask on {setup.NAME}? [y/N] "):
            plan.platforms[name], tokens = setup.asked(folder, terminal)
            plan.settings |= tokens
    if plan.platforms:
        such = ", ".join(setup.ACCOUNT for setup in setups().values())
        asked = f"\nExtra admins, such as {such} (Enter for none): "
        plan.settings["THREADLORE_ADMINS"] = terminal.accounts(asked)
    return plan


def _releases(terminal: Asker) -> list[str]:
    """Ask for the names of releases, until there are no places among them."""
    while True:
        said = terminal.needed("Its releases, old to new, such as 2.0, 2.3, 3.1: ")
        names = list(dict.fromkeys(name for name in re.split(r"[,\s]+", said) if name))
        if not any(set(name) & set("=/:") for name in names):
            return names
        print("Write their names alone, such as 2.0 3.1: where each of them is comes next.", file=sys.stderr)


def _source(terminal: Asker, release: str) -> str:
    """Ask where the documentation of a release is, until that can be understood."""
    while True:
        where = terminal.needed(f"{release}: ")
        try:
            lines = located(where)
            if 'kind = "website"' in lines:
                return lines
            asked = "   Public URL for links, e.g. https://docs.example.org/{page}/ (Enter to skip): "
            return located(where, terminal.ask(asked).strip())
        except Unclear as error:
            print(error, file=sys.stderr)


def _model(host: str, name: str) -> dict[str, str]:
    if host.lower() in NO_MODEL or name.lower() in NO_MODEL:
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
        raise UsageError(f"These answers contradict each other: {error} Nothing was written.") from None
    os.replace(half, folder / "corpora.toml")
    lines = ["# Everything else that can be set: .env.example in Threadlore's folder."]
    lines += [f"{name}={value}" for name, value in (_home(folder) | plan.settings).items()]
    with open(folder / ".env", "w", encoding="utf-8", opener=private) as file:
        file.write("\n".join(lines) + "\n")
    keep_out_of_git(folder)


def _home(folder: Path) -> dict[str, str]:
    return {"THREADLORE_HOME": f'"{folder / "home"}"'}


def _catalogue(plan: Plan) -> str:
    parts = [f"[product]\nname = {quoted(plan.product)}\n"]
    latest = list(plan.docs)[-1] if plan.docs else ""
    for release, lines in plan.docs.items():
        mark = "latest = true\n" if release == latest else ""
        parts.append(f"[[release]]\nname = {quoted(release)}\n{mark}\n[[release.source]]\n{lines}")
    return "\n".join(parts)


def _next(folder: Path, plan: Plan) -> str:
    go = "" if folder == Path.cwd() else f"cd {shlex.quote(str(folder))}\n  "
    every = setups()
    chosen = {name: setup for name, setup in every.items() if name in plan.platforms}
    written = [
        "corpora.toml",
        ".env",
        ".gitignore",
        *(file for setup in chosen.values() for file in setup.write(folder)),
    ]
    told = [setup.then(plan.platforms[name]) for name, setup in chosen.items()]
    if not told:
        names = " and ".join(setup.NAME for setup in every.values())
        told.append(f"{names} can be added later: docs/setup.md says how.")
    told += [*private_word(plan.docs), *linkless_word(plan.docs)]
    missing = [name for name in _tokens(plan) if not plan.settings.get(name)]
    if missing:
        told.append(f"Still missing in .env: {', '.join(missing)}.")
    reach = "\n".join(f"  {found.what}: {found.said}" for found in _exposed(folder, plan))
    platforms = "\n".join(told)
    return NEXT.format(folder=folder, files=", ".join(written), go=go, platforms=platforms, exposed=reach)


def _exposed(folder: Path, plan: Plan) -> list[Finding]:
    """Return who will reach what, with the tokens that are still to be put into `.env`."""
    coming = {name.lower(): plan.settings.get(name) or "later" for name in _tokens(plan)}
    return exposed(load_settings(str(folder / ".env"), **coming))


def _tokens(plan: Plan) -> list[str]:
    every = setups()
    return [token for name in every if name in plan.platforms for token in every[name].TOKENS]
