"""BERTScore (Zhang et al., 2020) of an answer against its evidence; the door to the bert-score package."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from core.errors import ConfigurationError


def load_bertscore(name: str) -> Callable[[str, str], float]:
    """Return a function that scores a text against a reference by F1, 0 to 1; blocking.

    `name` is a model that bert-score knows, or a folder with one, and after a `#` the layer to take. Raises
    ConfigurationError where the package or the model is missing.
    """
    try:
        package = importlib.import_module("bert_score")
    except ImportError:
        raise ConfigurationError(
            "BERTSCORE_MODEL needs the package bert-score: pip install threadlore[evaluate], or unset it."
        ) from None
    model, _, layer = name.partition("#")
    if layer and not layer.isdigit():
        raise ConfigurationError(f"BERTSCORE_MODEL={name}: after the # stands the number of a layer.")
    try:
        scorer = package.BERTScorer(
            model_type=model, num_layers=int(layer) if layer else None, lang=None if layer else "en"
        )
    except (OSError, KeyError, ValueError) as error:
        raise ConfigurationError(
            f"BERTSCORE_MODEL={name} cannot be loaded ({error}); name a model that is here."
        ) from None

    def score(text: str, reference: str) -> float:
        _, _, f = scorer.score([text], [reference])
        return min(1.0, max(0.0, float(f[0])))

    return score
