"""Small words of other languages: by them rules tell that a message only names a release, without a model."""

from __future__ import annotations

import re

_SMALL = frozenset(
    """und oder auch aber in im für mit bei von der die das dem den was ist geht gilt es noch immer wie sieht
    aus version versionen release dann jetzt nun bitte
    y e o también pero en la el los las para con qué que tal hay es funciona vale versión entonces ahora de
    et ou aussi mais dans le les pour avec est ça marche versions alors maintenant du
    ou também mas na no em a o os as com isso vale versão então agora do da
    а и в во на для версии версия тоже""".split()  # noqa: SIM905
)
_SIGNS = re.compile(r"[那在里中呢吗嗎也的版本用是又里面下上还還では版はの]+")


def says_little(word: str) -> bool:
    """Return True if a lower-case word only leads to a release: `und`, `en`, `dans la`, `那`, `呢`."""
    return word in _SMALL or bool(_SIGNS.fullmatch(word))
