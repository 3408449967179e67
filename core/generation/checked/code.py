"""Which names, options and values of a block of code stand nowhere in what an answer is written from."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
import textwrap
from collections.abc import Collection, Iterator

from core.generation.calculator import follows
from core.generation.checked.material import Material, bare, numbers_of
from core.text.words import last_of
from core.vocabulary import word_list

_SHELLS = frozenset({"sh", "bash", "shell", "console", "zsh", "powershell", "cmd", "bat", "fish", "terminal"})
_SETTINGS = frozenset({"toml", "yaml", "yml", "ini", "cfg", "json", "env", "dotenv", "properties"})
_COMMANDS = frozenset(
    word_list(
        """cd mkdir python python3 py pip pip3 source export set echo touch sudo curl cat ls rm cp mv git"""
    )
)
_KNOWN = (
    frozenset(keyword.kwlist)
    | frozenset(dir(builtins))
    | frozenset(name for kind in (str, bytes, list, dict, set, int) for name in dir(kind))
    | frozenset(
        word_list("""self cls args kwargs const let var function new null undefined true false this async""")
    )
    | frozenset(
        word_list("""read write close readlines seek href class type name value id action method main""")
    )
)
"""What every program may say: the language's own words and what its plain values can do."""
_PLAIN = frozenset(
    word_list("""add append clear copy count extend get index insert items join keys pop remove setdefault
    startswith strip values""")
)
"""What plain values can do takes no options by name; something else of that name may."""
_STRING = re.compile(r"[rbf]{0,2}(\"\"\"|'''|\"|')((?:(?!\1)[^\\\n]|\\.){0,300}+)\1", re.IGNORECASE)
_NAMES = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z_]\w*(?:\.\w+)*\.[A-Z]\w*")
"""A string that is a key of a configuration, or the path of a class."""
_COMMENT = re.compile(r"(?<!\S)(?:#|//)(?=\s).*$")
_LOCAL = re.compile(
    r"\b(?:def|class|function)\s+(\w+)|\b(?:as|for|const|let|var|global|nonlocal)\s(\w+)"
    r"|^\s*(\w+)\s*(?::[^=]+)?=(?!=)"
    r"|^\s*for\s([\w, ]{1,80}?)\sin\b|\blambda\s{1,3}+([\w, ]{1,80}+):"
)
_DEFINED = re.compile(r"^\s{0,40}(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)
_PARAMETERS = re.compile(r"\bdef\s+\w+\(([^()]*)\)|<(\w+:)?(\w+)>")
_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+)?import\s+(.+)$")
_ATTRIBUTE = re.compile(r"\.([A-Za-z_]\w*)")
_CALL = re.compile(r"(?<![\w.])@?([A-Za-z_]\w*)\(")
_DECORATOR = re.compile(r"^\s*@([A-Za-z_][\w.]*)")
_NAMED = re.compile(r"(?<![\w.])([A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z][a-z0-9]+(?:[A-Z]\w*)?)\b")
_KEYWORDS = re.compile(r"(?<![\w.])([\w.]{1,80}+)\(([^()]{0,200}+(?:\([^()]{0,200}+\)[^()]{0,200}+){0,6}+)\)")
_KEYWORD = re.compile(r"(?:^|,)\s{0,40}+([a-z_]\w{0,60}+)\s?=(?!=)\s?([\"']?[\w.-]*[\"']?)")
_CHOSEN = re.compile(r"(?<=\w)\(\s?(?:[\w.]{1,60},\s?)?(?:\w{1,60}\s?=\s?)?(?:100|\d{1,2})(?=\s?[,)])")
"""A small number that is given to a call: in an example everybody puts their own there."""
_AWAITED = re.compile(r"\bawait\s{1,3}+([A-Za-z_][\w.]{0,80}+)\(")
_PROMPT = re.compile(r"^[ \t]{0,40}(?:>>>|\.\.\.) ", re.MULTILINE)
_READERS = re.compile(r"(?:my|your)[_-][\w-]+|(?:My|Your)[A-Z]\w*")
"""A name for what the readers have of their own; nobody takes it for the product's."""
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z](?:[\w-]*\w)?")
_VARIABLE = re.compile(r"\A\s*(?:export\s+|set\s+|\$env:)?([A-Z][A-Z0-9_]+)\s*=")
PATH = re.compile(r"(?<![\w./:~-])[A-Za-z][\w.-]*(?:/[\w.-]+)+")
"""What a setting takes from elsewhere, as `actions/cache`; no path from a root, a home or a place here."""
_SETTING = re.compile(r"\A\s*(?:-\s)?[\"']?([A-Za-z][\w.-]*)[\"']?\s*[:=]")
_VALUE = re.compile(
    r"(?:\]|\.\w{1,60}+|(?<![A-Z_])[A-Z_]{3,60}+)[\"']?\]?\s{0,3}+=\s{0,3}+[\"']([A-Za-z][\w-]{0,60}+)[\"']\s{0,3}+$"
)
_INSTALLED = re.compile(r"\b(?:pip3?|uv|poetry|conda|npm|apt|apt-get|brew)\s+(?:install|add)\s+(.+)$")


def defined(text: str) -> frozenset[str]:
    """Return the names of what code in a text defines."""
    return frozenset(_DEFINED.findall(text))


def unsaid(code: str, language: str, material: Material, own: frozenset[str] = frozenset()) -> list[str]:
    """Return what in a block of code stands nowhere in the material: names, options, values.

    A line that stands there as it is needs no more. Names that the block itself gives are its own, and so are
    those that other blocks of its answer give, `own`.
    """
    lines = code.split("\n")
    local = _local(code) | own
    found: list[str] = []
    new = {at for at, line in enumerate(lines) if line.strip() and bare(line) not in material.lines}
    for at in sorted(new):
        line = lines[at]
        is_shell = language in _SHELLS or re.match(r"\s*\$\s", line)
        found += _of_shell(line, material) if is_shell else _of_line(line, language, local, material)
    if language not in _SHELLS | _SETTINGS:
        found += _of_calls(code, new, local, material)
    return [name for name in dict.fromkeys(found) if not _READERS.fullmatch(name)]


def _local(code: str) -> frozenset[str]:
    found: set[str] = set()
    for line in code.split("\n"):
        for match in _LOCAL.finditer(line):
            found |= set(re.findall(r"\w+", " ".join(filter(None, match.groups()))))
    for match in _PARAMETERS.finditer(code):
        found |= set(re.findall(r"[A-Za-z_]\w*", " ".join(filter(None, match.groups()))))
    return frozenset(name for name in found if not name.isupper() or len(name) < 3)


def _of_line(line: str, language: str, local: frozenset[str], material: Material) -> Iterator[str]:
    line = _COMMENT.sub("", line)
    if imported := _IMPORT.match(line):
        yield from _of_import(imported, material)
        return
    plain = _STRING.sub('""', line)
    free = local | _KNOWN
    names = [*_ATTRIBUTE.findall(plain), *_CALL.findall(plain), *_NAMED.findall(plain)]
    names += [part for name in _DECORATOR.findall(plain) for part in name.split(".")]
    if language in _SETTINGS:
        names += _SETTING.findall(line)
        yield from (path for path in PATH.findall(line) if not material.holds(path))
    names += _FLAG.findall(line) if language not in ("", "python", "py") or " --" in plain else []
    for name in dict.fromkeys(names):
        if name not in free and not material.has(name):
            yield name
    for _, said in _STRING.findall(line):
        if _NAMES.fullmatch(said) and not material.has(said):
            yield said
    if (value := _VALUE.search(line)) and not (material.has(value[1]) or material.marks(value[1])):
        yield value[1]
    yield from _of_numbers(_CHOSEN.sub("(", plain), material)
    yield from _of_await(plain, material)


def _of_import(imported: re.Match[str], material: Material) -> Iterator[str]:
    module, names = imported[1] or "", re.sub(r"\bas\s+\w+|[()]", "", imported[2])
    every = [*filter(None, module.split(".")), *re.findall(r"[A-Za-z_]\w*", names)]
    for name in every:
        is_standard = name in sys.stdlib_module_names and name in (module.split(".")[0] or names)
        if not is_standard and not material.has(name):
            yield name


def _of_numbers(plain: str, material: Material) -> Iterator[str]:
    for value, _ in numbers_of(plain):
        is_told = value in ("0", "1") or material.units(value) is not None
        if not is_told and not follows(value, plain, material.numbers):
            yield value


def _of_await(plain: str, material: Material) -> Iterator[str]:
    """Return what is awaited although the material calls it without that, and calls it no coroutine."""
    for called in _AWAITED.findall(plain):
        name = last_of(called)
        calls = [line for line in material.lines if f"{name}(" in line]
        is_async = any("await" in line for line in calls) or any(
            material.together(word, name.lower()) for word in ("coroutine", "asynchronous", "awaitable")
        )
        if calls and not is_async:
            yield f"await {name}()"


def _of_calls(code: str, new: Collection[int], local: frozenset[str], material: Material) -> Iterator[str]:
    """Return options that are given to something which the material never gives them to."""
    for called, option, value, at in _keywords(code, local):
        name = last_of(called)
        if at not in new or name in local or name in _KNOWN - _PLAIN or name.lower().startswith("your"):
            continue  # what stands for something of the reader's own takes what that takes
        is_code = option.lower() in material.code or option.lower() in material.asked.names
        if not is_code or not material.together(option.lower(), name.lower()):
            yield f"{name}({option}=)"
        elif value and not material.has(value):
            yield value


def _keywords(code: str, local: frozenset[str]) -> list[tuple[str, str, str, int]]:
    """Return what is called, an option, its text where that is one, and its line, of every call.

    Python is read as Python, so that a call may go over several lines; what is none, line by line.
    """
    try:
        tree = ast.parse(textwrap.dedent(_PROMPT.sub("", code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [
            (called, option, value.strip("\"'") if value[:1] in "\"'" else "", at)
            for at, line in enumerate(code.split("\n"))
            for called, inside in _KEYWORDS.findall(_COMMENT.sub("", line))
            for option, value in _KEYWORD.findall(inside)
            if option not in local
        ]
    own = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    found: list[tuple[str, str, str, int]] = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        for given in call.keywords:
            if given.arg and given.arg not in own:
                value = given.value.value if isinstance(given.value, ast.Constant) else ""
                said = value if isinstance(value, str) and re.fullmatch(r"[\w.-]+", value) else ""
                name = getattr(call.func, "attr", getattr(call.func, "id", ""))
                found.append((name, given.arg, said, given.lineno - 1))
    return found


def _of_shell(line: str, material: Material) -> Iterator[str]:
    line = _COMMENT.sub("", re.sub(r"^\s*[$>]\s", "", line))
    for part in re.split(r"&&|\|\||;|\|", line):
        words = part.split()
        if not words:
            continue
        for name in _VARIABLE.findall(part):
            if not material.has(name):
                yield name
        command = next((word for word in words if "=" not in word), "")
        if re.fullmatch(r"[A-Za-z][\w-]*", command) and not (command in _COMMANDS or material.has(command)):
            yield command
        if installed := _INSTALLED.search(part):
            for package in re.findall(r"(?<![\w-])[A-Za-z][\w.-]*", installed[1]):
                if not material.has(package):
                    yield package
        for flag in _FLAG.findall(part):
            if not material.has(flag) and flag not in ("-m", "-r", "-U", "-p"):
                yield flag
    yield from _of_numbers(_STRING.sub('""', line), material)
