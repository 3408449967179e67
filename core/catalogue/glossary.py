"""The product's glossary: acronyms and synonyms that questions and pages may use for one another.

[acronyms]                          # a short form, and what it stands for
PM = "performance monitoring"
AP = ["access point", "access provider"]

[synonyms]                          # a row of words that mean the same
"log in" = ["sign in", "authenticate"]
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from core.catalogue.toml_file import TomlFile, keys_of
from core.catalogue.toml_lines import Place


class _Glossary(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    acronyms: dict[str, str | list[str]] = {}
    synonyms: dict[str, str | list[str]] = {}


def load_glossary(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a glossary: each word, spelt as in the file, with all that may stand for it.

    It works in every direction: `PM` leads to "performance monitoring" and back.
    Raises ConfigurationError with line, key and what is allowed there.
    """
    file = TomlFile(path, "or take `glossary` out of [product]")
    try:
        tables = _Glossary.model_validate(file.data)
    except ValidationError as error:
        first = error.errors()[0]
        place: Place = first["loc"][:2]
        if first["type"] == "extra_forbidden" or len(place) < 2:
            raise file.invalid(error, (), keys_of(_Glossary)) from None
        raise file.mistake(
            place, f'"{place[1]}" in [{place[0]}] is neither text nor a list', '"…" or ["…", "…"]'
        ) from None
    words: dict[str, dict[str, None]] = {}
    for table, rows in (("acronyms", tables.acronyms), ("synonyms", tables.synonyms)):
        for key, given in rows.items():
            others = [given] if isinstance(given, str) else given
            row = [" ".join(word.split()) for word in (key, *others)]
            if len(row) < 2 or not all(row):
                raise file.mistake(
                    (table, key), f'"{key}" in [{table}] has an empty text', '"…" or ["…", "…"]'
                )
            # two meanings of one acronym are no synonyms of each other
            pairs = (
                ((row[0], word) for word in row[1:])
                if table == "acronyms"
                else ((a, b) for a in row for b in row)
            )
            for one, other in pairs:
                if one != other:
                    words.setdefault(one, {})[other] = None
                    words.setdefault(other, {})[one] = None
    return {word: tuple(others) for word, others in words.items()}
