"""What the bot says in its own words, in the language of whoever reads it.

`_("Sentence with {a_place}.").format(a_place=…)` marks a sentence for the catalogues and looks it up in the
language of the moment; `N_` only marks one, for a constant that is looked up where it is said. Sentences are
marked where *people who ask* see them: admin commands and the command line are in English.
"""

from __future__ import annotations

from core.languages.catalogues import (
    DEFAULT,
    N_,
    _,
    available,
    name_of,
    ngettext,
    plain,
    speaking,
    spoken,
    told_name,
    translations_of,
)

__all__ = [
    "DEFAULT",
    "N_",
    "_",
    "available",
    "name_of",
    "ngettext",
    "plain",
    "speaking",
    "spoken",
    "told_name",
    "translations_of",
]
