"""Sphinx's autodoc directives, answered from source code that is read and never run (griffe)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any

import griffe

from core.ingestion.signatures import comment, signature

# griffe tells about every annotation it cannot read; a documentation index is not its linter.
logging.getLogger("griffe").setLevel(logging.CRITICAL)

CACHE_SECONDS = 300
"""How long read code is kept: one indexing run reads it once or twice, the next run again."""
_LITERAL = re.compile(r"""(?:[\w.+-]+|'[^']*'|"[^"]*"|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\})\Z""")
_LOCK = RLock()  # griffe resolves names lazily inside shared trees


@dataclass(frozen=True, slots=True)
class Documented:
    """One object of the code: its full name (the anchor), a short one (the heading), signature, docstring."""

    name: str
    heading: str
    signature: str
    docstring: str


def documented(
    root: str, kind: str, target: str, module: str, options: Mapping[str, Any]
) -> tuple[Documented, ...]:
    """Resolve one autodoc directive to the object and the members it lists, in the order of the source.

    `kind` is the directive's name without `auto` (`class`, `function`, `module` …), `module` the
    current module; `options` are those of the directive. Returns nothing where the code is not
    under `root`.
    """
    target = target.split("(", 1)[0].strip().replace("::", ".").strip(".")
    if not root or not re.fullmatch(r"\w+(\.\w+)*", target):
        return ()
    candidates = [f"{module}.{target}", target] if module and kind != "module" else [target]
    with _LOCK:
        for name in candidates:
            found = _find(root, name)
            if found is not None:
                return tuple(_described(root, found, name, kind, options))
    return ()


def kind_of(root: str, target: str) -> str:
    """Return what a dotted name under `root` is: `module`, `class`, `function`, `data`, or empty."""
    if not root or not re.fullmatch(r"\w+(\.\w+)*", target):
        return ""
    with _LOCK:
        found = _find(root, target)
    if found is None:
        return ""
    return next((kind for kind in ("module", "class", "function") if getattr(found, f"is_{kind}")), "data")


def _described(
    root: str, found: Any, name: str, kind: str, options: Mapping[str, Any]
) -> Iterator[Documented]:
    module, told = _module_of(found, name), str(options.get("class-doc-from", ""))
    yield _entry(root, found, name, module, told)
    if kind in ("class", "exception", "module") and "members" in options:
        for member_name, member in _members(root, found, options, is_module=kind == "module"):
            entry = _entry(root, member, f"{name}.{member_name}", module, told)
            if _shown(entry, options):
                yield entry
                if kind == "module" and member.is_class:
                    for inner_name, inner in _members(
                        root, member, {**options, "members": ""}, is_module=False
                    ):
                        described = _entry(root, inner, f"{entry.name}.{inner_name}", module, told)
                        if _shown(described, options):
                            yield described


def _shown(entry: Documented, options: Mapping[str, Any]) -> bool:
    return ":meta private:" not in entry.docstring and bool(entry.docstring or "undoc-members" in options)


def _members(
    root: str, owner: Any, options: Mapping[str, Any], *, is_module: bool
) -> Iterator[tuple[str, Any]]:
    wanted = _names(options.get("members"))
    excluded = _names(options.get("exclude-members"))
    private, special = options.get("private-members"), options.get("special-members")
    members = dict(owner.members)
    if not is_module and "inherited-members" in options:
        for base in _bases(root, owner):
            for name, member in base.members.items():
                members.setdefault(name, member)
    exports = owner.exports if is_module and owner.exports else None
    for name, member in members.items():
        if name in excluded or (wanted and name not in wanted):
            continue
        if not wanted:
            dunder = name.startswith("__") and name.endswith("__")
            listed = special if dunder else private if name.startswith("_") else ""
            if listed is None or (listed and name not in _names(listed)):
                continue
            if exports is not None and name not in [str(export) for export in exports]:
                continue
        target = _final(root, member)
        # A module's imported names are documented where they are defined, unless it exports them.
        if target is None or target.is_module or (is_module and member.is_alias and exports is None):
            continue
        yield name, target


def _bases(root: str, owner: Any, seen: frozenset[str] = frozenset()) -> Iterator[Any]:
    """Yield the base classes whose code is here, nearest first."""
    if not getattr(owner, "is_class", False):
        return
    for base in owner.bases:
        path = getattr(base, "canonical_path", "") or str(base)
        path = path.partition("[")[0]
        if path in seen:
            continue
        seen |= {path}
        found = _find(root, path)
        if found is not None and found.is_class:
            yield found
            yield from _bases(root, found, seen)


def _entry(root: str, found: Any, name: str, module: str, told: str = "") -> Documented:
    """Describe one object; `told` says what tells of a class: `both`, `init`, or `class`, the default."""
    short = name[len(module) + 1 :] if name.startswith(module + ".") else name
    # nobody imports from a private module, and pages of such projects show the bare name
    label = short if any(part.startswith("_") for part in module.split(".")) else name
    docstring = found.docstring.value if found.docstring else ""
    if not docstring and found.parent is not None and found.parent.is_class:
        # What overrides without a docstring is documented by what it overrides, as in autodoc.
        inherited = (_final(root, base.members.get(found.name)) for base in _bases(root, found.parent))
        docstring = next((m.docstring.value for m in inherited if m is not None and m.docstring), "")
    if found.is_function and any("property" in str(decorator.value) for decorator in found.decorators):
        return Documented(name, short, label, docstring)
    if found.is_function:
        shown = f"{label}{signature(found, bound=found.parent is not None and found.parent.is_class)}"
        return Documented(name, f"{short}()", shown, docstring)
    if found.is_class:
        init = next(
            (
                i
                for c in (found, *_bases(root, found))
                if (i := _final(root, c.members.get("__init__"))) is not None and i.is_function
            ),
            None,
        )
        exception = found.name.endswith(("Error", "Exception", "Warning"))
        called = signature(init, bound=True).removesuffix(" -> None") if init else ""
        shown = f"{'exception' if exception else 'class'} {label}{called}"
        made = init.docstring.value if init is not None and init.docstring else ""
        ways = {"both": f"{docstring}\n\n{made}".strip(), "init": made or docstring}
        return Documented(name, short, shown, ways.get(told, docstring or made))
    if found.is_attribute:
        value = str(found.value) if found.value is not None else ""
        # A call or an expression says how the code is written, not what the value is.
        value = value if len(value) <= 60 and _LITERAL.match(value) else ""
        shown = f"{label} = {value}" if value and "property" not in found.labels else label
        return Documented(name, short, shown, docstring or comment(found))
    return Documented(name, name, "", docstring)


# --- finding -----------------------------------------------------------------------------------------


def _find(root: str, name: str) -> Any | None:
    """Return the object of that dotted name with aliases followed, None where it is not under root."""
    package, *rest = name.split(".")
    found: Any = _loaded(root, package)
    for position, part in enumerate(rest):
        if found is None:
            return None
        member = found.members.get(part)
        if member is None and found.is_class and position:
            member = next((b.members[part] for b in _bases(root, found) if part in b.members), None)
        found = _final(root, member)
    return found


def _final(root: str, member: Any, hops: int = 0) -> Any | None:
    if member is None:
        return None
    if not member.is_alias:
        # A link inside the package may lead out of the root, where nothing may be read from.
        return member if _is_inside(root, str(member.filepath)) else None
    return None if hops > 20 else _find_alias(root, member.target_path, hops)


@lru_cache(maxsize=4096)
def _is_inside(root: str, file: str) -> bool:
    return file.startswith("[") or Path(file).resolve().is_relative_to(Path(root).resolve())


def _find_alias(root: str, path: str, hops: int) -> Any | None:
    package, *rest = path.split(".")
    found: Any = _loaded(root, package)
    for part in rest:
        found = None if found is None else _final(root, found.members.get(part), hops + 1)
    return found


def _module_of(found: Any, name: str) -> str:
    """Return the part of a documented name that is a module: what the heading leaves out."""
    if found.is_module:
        return name
    depth = 1
    parent = found.parent
    while parent is not None and parent.is_class:
        depth += 1
        parent = parent.parent
    return ".".join(name.split(".")[:-depth])


def _names(value: Any) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", value)) if isinstance(value, str) else frozenset()


def _loaded(root: str, package: str) -> Any | None:
    folder = Path(root)
    for parent in (folder / "src", folder, folder / "lib"):
        for place in (parent / package / "__init__.py", parent / f"{package}.py", parent / f"{package}.pyi"):
            try:
                if place.is_file() and place.resolve().is_relative_to(folder.resolve()):
                    period = int(monotonic() // CACHE_SECONDS)
                    return _load(str(parent), package, place.stat().st_mtime_ns, period)
            except OSError:
                continue
    return None


@lru_cache(maxsize=8)
def _load(parent: str, package: str, _modified: int, _period: int) -> Any | None:
    loader = _loader(parent)
    try:
        found = loader.load(package, try_relative_path=False)
        if (Path(parent) / package).is_dir():  # else it is a module of one file
            found = _with_init(loader, Path(parent) / package, found)
            _add_plain_folders(Path(parent) / package, found)
        # `from .channel import *` brings names that documentation calls by the package
        loader.expand_exports(found)
        loader.expand_wildcards(found, external=True)  # of what lies beside it
        _add_from_stub(Path(parent) / package / "__init__.pyi", found)
    except (ImportError, griffe.GriffeError, OSError, SyntaxError, ValueError, RecursionError):
        return None
    return found


class _Finder(griffe.ModuleFinder):  # type: ignore[misc]
    """Passes over the stubs of modules that are here: they hide names that only the code gives."""

    def find_package(self, module_name: str) -> Any:
        found = super().find_package(module_name)
        return replace(found, stubs=None) if getattr(found, "stubs", None) else found

    def iter_submodules(self, path: Any, seen: set[Any] | None = None) -> Iterator[Any]:
        for names, file in super().iter_submodules(path, seen):
            if file.suffix != ".pyi" or not file.with_suffix(".py").exists():
                yield names, file


def _loader(parent: str) -> griffe.GriffeLoader:
    # Only this folder is searched and nothing is ever imported, compiled modules included.
    loader = griffe.GriffeLoader(search_paths=[parent], allow_inspection=False)
    loader.finder = _Finder([parent])
    return loader


def _with_init(loader: griffe.GriffeLoader, folder: Path, package: Any) -> Any:
    """Read the `__init__.py` of a package that others may extend (discord.py), which griffe passes over."""
    file = folder / "__init__.py"
    if not isinstance(package.filepath, list) or not file.is_file():
        return package
    modules = loader.modules_collection
    code = file.read_text("utf-8", "replace")
    whole = griffe.visit(package.name, filepath=file, code=code, modules_collection=modules)
    for name, member in list(package.members.items()):
        whole.set_member(name, member)
    modules.set_member(package.name, whole)
    return whole


def _add_from_stub(file: Path, package: Any) -> None:
    """Add what only the stub of a package has, for its code is compiled (NumPy's `int8`)."""
    if not file.is_file() or not isinstance(package.filepath, Path):
        return
    modules = package.modules_collection
    code = file.read_text("utf-8", "replace")
    stub = griffe.visit(package.name, filepath=file, code=code, modules_collection=modules)
    for name, member in stub.members.items():
        own = package.members.get(name)
        if not member.is_alias and (own is None or (own.is_alias and _leads_nowhere(own, package.name))):
            package.set_member(name, member)


def _leads_nowhere(alias: Any, package: str) -> bool:
    if not alias.target_path.startswith(f"{package}."):
        return False
    try:
        return alias.final_target is None
    except griffe.GriffeError:
        return True


def _add_plain_folders(folder: Path, package: Any) -> None:
    """Add the folders without `__init__.py` (Flask 3's `sansio`), which griffe passes over."""
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and path.name.isidentifier()):
        modules = sorted(inner.glob("*.py"))
        if inner.is_symlink() or inner.name in package.members or not modules:
            continue
        plain = griffe.Module(inner.name, filepath=[inner], parent=package)
        package.set_member(inner.name, plain)
        for module in modules:
            code = module.read_text("utf-8", "replace")
            plain.set_member(module.stem, griffe.visit(module.stem, filepath=module, code=code, parent=plain))
