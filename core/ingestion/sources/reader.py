"""Documents from any reader of llama-index, by the name of its class."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field

from core.catalogue import SourceOptions, SourceSpec
from core.domain import RawDocument, content_hash
from core.env_file import variable
from core.ingestion.formats import MAX_DOCUMENT_BYTES, format_of
from core.ingestion.sources import page_url
from core.ingestion.sources._files import Patterns
from core.ports import Unread, Workers
from core.settings import Settings
from core.text.words import one_line

_URL_KEYS = ("url", "URL", "source_url", "link", "html_url", "page_url", "source")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_NAME_KEYS = ("file_name", "filename", "path", "title", "name", "id")
_TITLED: Mapping[str, str] = {
    "markdown": "# {title}\n\n{text}",
    "text": "{title}\n\n{text}",
    "rst": "{title}\n{rule}\n\n{text}",
}


def _class(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", value):
        raise ValueError('a class as module and name, "llama_index.core.readers:SimpleDirectoryReader"')
    return value


class Options(SourceOptions):
    """`reader` is a class; `arguments` go to it, `load` to its `load_data`.

    Texts in them that start with `./` or `../` are paths from the folder of `corpora.toml`; `${NAME}` stands
    for a variable of the environment or of `.env`, so that tokens need not be written here.
    """

    reader: Annotated[str, AfterValidator(_class)]
    arguments: dict[str, Any] = Field(default_factory=dict)
    load: dict[str, Any] = Field(default_factory=dict)


class ReaderSource:
    """Load what a llama-index reader gives."""

    def __init__(self, spec: SourceSpec, max_bytes: int = MAX_DOCUMENT_BYTES) -> None:
        self._options = cast(Options, spec.options)
        given = [self._options.arguments, self._options.load]
        digest = f"#{content_hash(json.dumps(given, sort_keys=True, default=str))[:8]}" if any(given) else ""
        self.name = f"reader:{self._options.reader}{digest}{spec.suffix}"
        self._spec = spec
        self._max_bytes = max_bytes
        self.skipped: list[tuple[str, str]] = []

    def documents(self) -> Iterator[RawDocument]:
        """Yield each document that the reader gives; raises SourceError."""
        self.skipped = []
        loaded = [
            (str(getattr(d, "text", "") or ""), dict(getattr(d, "metadata", None) or {}))
            for d in self._load()
        ]
        include = Patterns(self._spec.include or ("**",))
        exclude = Patterns(self._spec.exclude)
        found = False
        for path, text, metadata in _named(loaded):
            if not include.match(path) or exclude.match(path):
                continue
            problem = self._problem(text)
            if problem:
                self.skipped.append((path, problem))
                continue
            found = True
            yield self._document(path, text, metadata)
        if not found:
            raise self._spec.error(
                f"{self._options.reader} gives no document that can be read;"
                " correct `arguments`, `load` or `include`"
            )

    def _load(self) -> Sequence[Any]:
        module, _, name = self._options.reader.partition(":")
        try:
            reader_class = getattr(import_module(module), name)
        except ImportError as error:
            missing = error.name or module
            missing = module if f"{module}.".startswith(f"{missing}.") else missing
            package = re.match(r"llama_index\.readers\.\w+", missing)
            what = (
                package[0].replace(".", "-").replace("_", "-")
                if package
                else f"the package that has {missing}"
            )
            raise self._spec.error(
                f"{self._options.reader} cannot be loaded: {error}; pip install {what}"
            ) from None
        except AttributeError:
            raise self._spec.error(f"There is no {name} in {module}; correct `reader`") from None
        secrets: dict[str, str] = {}
        arguments, load = (
            self._local(given, secrets) for given in (self._options.arguments, self._options.load)
        )
        try:
            reader = reader_class(**arguments)
            return list(reader.load_data(**load))
        except Exception as error:  # noqa: BLE001  a reader is anybody's code and raises whatever it likes
            what = f"{type(error).__name__}: {error}"
            for value, name in secrets.items():
                what = what.replace(value, f"${{{name}}}")
            told = f"{self._options.reader} fails with {what}; correct `arguments` or `load`"
            raise self._spec.error(told) from None  # a log of the error itself would tell secrets

    def _local(self, value: Any, secrets: dict[str, str]) -> Any:
        """Let paths in arguments start at the folder of the file; fill in variables, noting their values."""
        if isinstance(value, dict):
            return {key: self._local(inner, secrets) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._local(inner, secrets) for inner in value]
        if isinstance(value, str) and value.startswith(("./", "../")):
            return str(self._spec.resolve(value))
        if isinstance(value, str):
            return _VARIABLE.sub(lambda found: self._given(found[1], secrets), value)
        return value

    def _given(self, name: str, secrets: dict[str, str]) -> str:
        value = variable(name)
        if not value:
            raise self._spec.error(f"{name} is not set; write it to .env")
        secrets[value] = name
        return value

    def _problem(self, text: str) -> str:
        if not text.strip():
            return "empty"
        if "\0" in text:
            return Unread("binary")
        size = len(text.encode("utf-8", "replace"))
        most = self._max_bytes
        return Unread(f"too large: {size:,} bytes, at most {most:,}") if size > most else ""

    def _document(self, path: str, text: str, metadata: Mapping[str, Any]) -> RawDocument:
        document_format = self._spec.format or format_of(path) or "markdown"
        title = one_line(str(metadata.get("title") or ""))
        if title and document_format in _TITLED and title not in text[: 2 * len(title) + 200]:
            text = _TITLED[document_format].format(title=title, rule="=" * len(title), text=text)
        links = (str(metadata.get(key) or "") for key in _URL_KEYS)
        link = next((link for link in links if link.startswith(("https://", "http://"))), "")
        bare, mark, part = path.partition("#")
        url = link or page_url(self._spec.url, bare) + (mark + part if part.startswith("page=") else "")
        return RawDocument(
            path, url if link or self._spec.url else "", text.encode("utf-8", "replace"), document_format
        )


def _named(
    documents: Sequence[tuple[str, dict[str, Any]]],
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give each document a path that is its own, and the same at every run."""
    files = [os.path.abspath(str(m["file_path"])) for _, m in documents if m.get("file_path")]
    top = os.path.commonpath([os.path.dirname(file) for file in files]) if files else ""
    seen: Counter[str] = Counter()
    for number, (text, metadata) in enumerate(documents, 1):
        if metadata.get("file_path"):
            path = os.path.relpath(os.path.abspath(str(metadata["file_path"])), top).replace(os.sep, "/")
        else:
            keys = (*_NAME_KEYS[:3], *_URL_KEYS, *_NAME_KEYS[3:])
            path = next((str(metadata[key]) for key in keys if metadata.get(key)), f"{number}")
            path = re.sub(r"^\w+://", "", path).strip("/").replace("#", "-") or f"{number}"
        if page := metadata.get("page_label"):
            path = f"{path}#page={page}"
        seen[path] += 1
        yield (path if seen[path] == 1 else f"{path}#{seen[path]}"), text, metadata


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> ReaderSource:
    """Build the source of a llama-index reader; it runs in this process, as code of whoever set it up."""
    return ReaderSource(spec)
