"""A class of llama-index, or anybody's, by one line: its dotted path, and its options in parentheses.

    llama_index.embeddings.ollama.OllamaEmbedding(model_name="nomic-embed-text")
    llama_index.llms.openai_like.OpenAILike(model="m", api_base="http://gpu:8000/v1", api_key=GPU_KEY)
    my_package.models:MyEmbedding

Options are Python literals with names. A bare name stands for a variable of the environment or `.env`, so
that keys are written nowhere else; a path with parentheses is an object that an option takes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from core.env_file import variable
from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
    ThreadloreError,
)

_LINE = re.compile(r"\s*(?P<path>[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*)?)\s*+(?P<options>\(.*\))?\s*", re.DOTALL)
_OWN = r"\s*[A-Za-z_][\w.]*:[A-Z]"
_SECRET = re.compile(r"(?:^|_)(?:key|token|secret|password)$", re.IGNORECASE)
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_REASON = 300
"""Characters of somebody else's error that are repeated."""


def is_integration(value: str) -> bool:
    """Return True if a setting names a class instead of a model or a folder."""
    return value.lstrip().startswith("llama_index.") or re.match(_OWN, value) is not None


@dataclass(frozen=True, slots=True)
class Integration:
    """An object of a class that a setting names."""

    setting: str
    path: str
    made: Any
    secrets: dict[str, str] = field(repr=False)
    """Names of variables by their values, which no message may tell."""

    def told(self, error: object) -> str:
        """Write down what somebody else's code raised, without secrets."""
        return _reason(error, self.secrets)


def build(line: str, setting: str, kind: str, error: type[ThreadloreError]) -> Integration:
    """Make the object that a line names; `kind` is the class it must be of, as `module:Class`.

    Blocking: imports the package, and may load a model. Raises `error`, which says what to do.
    """
    found = _LINE.fullmatch(line)
    if found is None:
        raise error(f'{setting} is no class with options, such as llama_index.x.y.Class(model="z").')
    making = _Making(setting, error)
    options = making.parsed(found["options"] or "()")
    made = making.called(found["path"], options)
    module, _, name = kind.partition(":")
    if not isinstance(made, getattr(import_module(module), name)):
        raise error(f"{setting}: {found['path']} gives no {name} of llama-index; name a class that is one.")
    return Integration(setting, found["path"], made, making.secrets)


class _Making:
    """Turns one line into an object, and remembers the secrets in it."""

    def __init__(self, setting: str, error: Callable[[str], ThreadloreError]) -> None:
        self.secrets: dict[str, str] = {}
        self._setting = setting
        self._error = error

    def wrong(self, text: str) -> ThreadloreError:
        """Return the error for a line that cannot be."""
        return self._error(f"{self._setting}: {text}")

    def parsed(self, options: str) -> ast.Call:
        """Parse the parentheses with options."""
        try:
            call = ast.parse(f"_{options}", mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            call = None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise self.wrong('the options cannot be read; write (name="text", other=1).')
        return call

    def called(self, path: str, call: ast.Call) -> Any:
        """Call what a path names with the options."""
        callee = self.resolved(path)
        if call.args or any(keyword.arg is None for keyword in call.keywords):
            raise self.wrong('every option of a class has a name; write (name="text").')
        options = {
            str(keyword.arg): self.option(str(keyword.arg), keyword.value) for keyword in call.keywords
        }
        try:
            return callee(**options)
        except Exception as error:  # noqa: BLE001  an integration is anybody's code and raises whatever it likes
            why = _reason(error, self.secrets)
            needs = error.name if isinstance(error, ImportError) else ""
            advice = (
                f"pip install what has {needs}" if needs else "correct its options, or start what it asks"
            )
            told = f"{path} cannot be made ({why}); {advice}."
            raise self.wrong(told) from None  # the error itself would tell secrets

    def option(self, name: str, node: ast.expr) -> Any:
        """Return the value of an option; keys in plain sight are refused."""
        if _SECRET.search(name) and isinstance(node, ast.Constant) and isinstance(node.value, str):
            variable_ = f"MY_{name.upper()}"
            raise self.wrong(
                f"{name} would be told in logs and in `status`; write {name}={variable_}, without quotes,"
                f" and {variable_}=… in .env."
            )
        return self.value(node)

    def value(self, node: ast.expr) -> Any:
        """Return what an expression stands for."""
        match node:
            case ast.Constant():
                return node.value
            case ast.List() | ast.Tuple():
                return [self.value(inner) for inner in node.elts]
            case ast.Dict() if all(key is not None for key in node.keys):
                pairs = zip(node.keys, node.values, strict=True)
                return {self.value(key): self.value(inner) for key, inner in pairs if key is not None}
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.Name(id=name) if name in _WORDS:
                return _WORDS[name]
            case ast.Name(id=name):
                return self.variable(name)
            case ast.Call():
                return self.called(self.dotted(node.func), node)
            case ast.Attribute():
                return self.resolved(self.dotted(node))
        raise self.wrong(
            f"{ast.unparse(node)} is no value; write text in quotes, a number, a list or a table."
        )

    def variable(self, name: str) -> str:
        """Return a variable of the environment or `.env`, and note that nobody may be told its value."""
        value = variable(name)
        if not value:
            raise self.wrong(f"{name} is not set; write it to .env, or put text in quotes.")
        self.secrets[value] = name
        return value

    def dotted(self, node: ast.expr) -> str:
        """Return the path that an expression writes."""
        path = ast.unparse(node)
        if not re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", path):
            raise self.wrong(f"{path} is no path of a class.")
        return path

    def resolved(self, path: str) -> Any:
        """Import what a path names: a class, or something of a class."""
        module, mark, rest = path.partition(":")
        names = rest.split(".")
        if not mark:
            parts = path.split(".")
            first = next(
                (at for at, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), len(parts) - 1
            )
            module, names = ".".join(parts[:first]), parts[first:]
        try:
            found: Any = import_module(module)
        except ImportError as error:
            raise self.wrong(
                f"{path} cannot be loaded ({error}); pip install {_package(error, module)}."
            ) from None
        except Exception as error:  # noqa: BLE001  a package may fail in any way while it is imported
            raise self.wrong(f"{path} cannot be loaded ({_reason(error, self.secrets)}).") from None
        for name in names:
            if not hasattr(found, name):
                raise self.wrong(f"there is no {name} in {module}; correct its name.")
            found = getattr(found, name)
        return found


def _package(error: ImportError, module: str) -> str:
    """Name the package to install; a module of llama-index is named as its package is."""
    missing = error.name or module
    missing = module if f"{module}.".startswith(f"{missing}.") else missing
    package = re.match(r"llama_index\.(?!core\b)\w+\.\w+", missing)
    return package[0].replace(".", "-").replace("_", "-") if package else f"the package that has {missing}"


def _reason(error: object, secrets: dict[str, str]) -> str:
    said = " ".join(f"{type(error).__name__}: {error}".split())
    for value, name in secrets.items():
        said = said.replace(value, name)
    return said[:_REASON]


_AWAY = ("Timeout", "Connect", "TransportError", "RemoteProtocolError", "ServiceUnavailable")
"""What stands in the names of clients' errors where nothing answers."""


def failure(error: Exception, words: str, model: str, setting: str, begun: bool) -> ModelError:
    """Return the error for what a client raised; `words` are its own, `begun` once a first piece has come."""
    if isinstance(error, ModelError):
        return error
    if begun:
        return ModelInterrupted(f"{model} broke off its answer ({words}). Ask again.")
    match _status(error):
        case 401 | 403:
            return ModelRefused(f"{model} wants a login ({words}). Correct the key in {setting}.")
        case 404:
            return ModelMissing(
                f"{model} is not there ({words}). Correct the model or the address in {setting}."
            )
        case 429 | 503 | 529:
            return ModelBusy(f"What serves {model} has too much to do ({words}). Try later.")
        case int(status) if status in (408, 409) or status >= 500:
            return ModelUnavailable(f"What serves {model} fails ({words}). Look at its log, or try later.")
        case int():
            return ModelRefused(f"{model} rejects the request ({words}). Correct the options in {setting}.")
    if isinstance(error, (ConnectionError, TimeoutError)) or _is_away(error):
        return ModelUnavailable(
            f"{model} does not answer ({words}). Start what serves it, or correct its address in {setting}."
        )
    return ModelRefused(f"{model} cannot be asked ({words}). Correct its options in {setting}.")


def _status(error: Exception) -> int | None:
    """Return the HTTP status that clients put at different places."""
    response = getattr(error, "response", None)
    for holder, name in ((error, "status_code"), (response, "status_code"), (error, "code")):
        status = getattr(holder, name, None)
        if isinstance(status, int) and 400 <= status < 600:
            return status
    return None


def _is_away(error: Exception) -> bool:
    return any(sign in kind.__name__ for kind in type(error).__mro__ for sign in _AWAY)
