"""What directives take from the code: autodoc's, and autosummary's lists of what is documented elsewhere."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from core.ingestion import autodoc
from core.ingestion.docstrings import as_rst
from core.ingestion.formats._shared import location, read_within
from core.ingestion.formats.rst.call import Call
from core.ingestion.formats.rst.sphinx import object_id

MAX_LISTED = 1_500
"""Objects that autosummary may list in one document; ours: pandas' longest page has 300."""


def module(call: Call, *, with_body: bool = True) -> list[Any]:
    """Let what follows be of a module."""
    name = call.argument.strip()
    call.session.module = "" if name == "None" else name
    call.session.classes.clear()
    return call.body() if with_body else []


def documented(call: Call) -> list[Any]:
    """Return what an autodoc directive documents, from the code; its content where there is none."""
    session = call.session
    # `:no-members:` takes back a project-wide default.
    defaults = {
        k: "" if v in (True, None) else str(v)
        for k, v in session.conf.autodoc_options.items()
        if v is not False
    }
    options = {**defaults, **call.options}
    options = {k: v for k, v in options.items() if f"no-{k}" not in call.options}
    kind = call.name.removeprefix("auto")
    inside = ".".join(filter(None, [session.module, *session.classes[-1:]]))
    # a method is named by itself, as `Bot.check` within its class, or from the current module
    entries: tuple[autodoc.Documented, ...] = ()
    for place in dict.fromkeys((inside, inside.rpartition(".")[0], session.module)):
        entries = entries or autodoc.documented(session.raw.root, kind, call.argument, place, options)
    outer = session.module
    if kind == "module":  # as Sphinx has it, names below the directive are those of the module, too
        module(call, with_body=False)
    hidden = {"noindex", "no-index"} & call.options.keys()
    made = [_node(call, entry, "" if hidden else object_id(entry.name)) for entry in entries]
    if not made:
        return call.body()
    is_class = kind in ("class", "exception")
    if is_class:
        session.classes.append(entries[0].name.removeprefix(f"{outer}."))
    made[0] += call.body()
    if is_class:
        session.classes.pop()
    return made


def _node(call: Call, entry: autodoc.Documented, anchor: str, page: str = "") -> Any:
    call.session.texts.append(entry.docstring)
    lines = type(call.content)(as_rst(entry.docstring).splitlines(), source=call.session.raw.path)
    if not entry.signature:
        node = call.make("passage")
    else:
        node = call.make(
            "desc", heading=entry.heading, signatures=[entry.signature], anchor=anchor, page=page
        )
    node += call.parsed(lines)
    return node


def summary(call: Call) -> list[Any]:
    """Return what autosummary lists: whole where it would make pages of it, else in a line each.

    The pages that it makes (`:toctree:`) are in no source, but what they tell has their address; where one is
    in the source, a line is enough here.
    """
    session = call.session
    lines, made = [], []
    for line in call.content:
        name = line.strip().partition(" ")[0].rstrip(",").lstrip("~!")
        if not name or name.startswith(":") or session.listed >= MAX_LISTED:
            continue
        session.listed += 1
        entries = _listed(call, name)
        if entries and "toctree" in call.options and not _has_page(call, entries[0].name):
            page = _page_of(call, entries[0].name)
            made += [_node(call, entry, object_id(entry.name) if page else "", page) for entry in entries]
            continue
        first = re.split(r"\n\s*\n", entries[0].docstring.strip(), maxsplit=1)[0] if entries else ""
        said = " ".join(first.split())
        lines.append(f"- ``{name}``" + (f": {said}" if said else ""))
    listed = call.parsed(type(call.content)(lines, source=session.raw.path)) if lines else []
    return [*listed, *made]


def _listed(call: Call, name: str) -> tuple[autodoc.Documented, ...]:
    session = call.session
    inside = ".".join(filter(None, [session.module, *session.classes[-1:]]))
    for place in dict.fromkeys((inside, session.module, "")):
        full = f"{place}.{name}" if place else name
        if kind := autodoc.kind_of(session.raw.root, full):
            # where the page lists a class's methods itself, they are not told twice
            whole = kind == "class" and f"{name}." not in session.texts[0]
            options = {"members": ""} if whole or "recursive" in call.options else {}
            return autodoc.documented(session.raw.root, kind, full, "", options)
    return ()


def _page_of(call: Call, name: str) -> str:
    """Return the address of the page that autosummary makes, as seen from this one's; "" if none is known.

    A site names its pages alike: `api.html`, `api/` and `api` each say how those beside them end.
    """
    path = PurePosixPath(call.session.raw.path)
    url = call.session.raw.url.split("#", 1)[0]
    made = quote(str(PurePosixPath(call.options["toctree"].strip() or ".") / name))
    if not url or "?" in url or made.startswith("/"):
        return ""
    if url.endswith("/"):
        return f"{made}/" if path.stem == "index" else f"../{made}/"
    last = unquote(url.rsplit("/", 1)[-1])
    ending = last.removeprefix(path.stem) if last.startswith(path.stem) else None
    return f"{made}{ending}" if ending in ("", ".html", ".htm") else ""


def _has_page(call: Call, name: str) -> bool:
    base = location(call.session.raw)
    place = PurePosixPath(call.options["toctree"].strip() or ".") / f"{name}.rst"
    return base is not None and read_within(call.session.raw.root, base.parent, str(place)) is not None
