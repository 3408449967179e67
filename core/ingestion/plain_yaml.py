"""YAML that others wrote: read, never run, and refused where its references unfold to more than its text."""

from __future__ import annotations

from typing import Any

import yaml

MAX_NODES = 100_000
"""Values that a text stands for with its references written out; ours: a configuration has some hundreds."""


class NotPlain(ValueError):
    """Report YAML that is broken, or that unfolds to too much."""


def load(text: str, loader: type[yaml.SafeLoader] = yaml.SafeLoader) -> Any:
    """Return what a text says; raises NotPlain."""
    reading = loader(text)
    try:
        node = reading.get_single_node()
        if node is None:
            return None
        _unfolded(node, {}, set())
        return reading.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotPlain(str(error)) from None
    finally:
        reading.dispose()


def _unfolded(node: yaml.Node, known: dict[int, int], open_: set[int]) -> int:
    """Return how many values a node stands for; raises NotPlain for too many, and where it holds itself."""
    if not isinstance(node, yaml.CollectionNode):
        return 1
    if id(node) in known:
        return known[id(node)]
    if id(node) in open_:
        raise NotPlain("it holds itself")
    open_.add(id(node))
    count = 1
    for entry in node.value:
        for inner in entry if isinstance(entry, tuple) else (entry,):
            count += _unfolded(inner, known, open_)
            if count > MAX_NODES:
                raise NotPlain(f"it unfolds to more than {MAX_NODES:,} values")
    open_.discard(id(node))
    known[id(node)] = count
    return count
