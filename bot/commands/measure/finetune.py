"""What is trained: a model on memory's good answers (`finetune`), and what tells of what changes soon."""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING

from bot.commands.command import Option, at_terminal
from bot.commands.measure.evaluate import run

if TYPE_CHECKING:
    from core.settings import Settings

EXPORT = at_terminal(
    "finetune export",
    "measure",
    "write remembered good answers as instruction data for a model of your own",
    run,
    options=(Option("folder", "Folder to write to", required=True, kind="path", metavar="DIR"),),
    has_json=False,
    rank=75,
)


def here(settings: Settings, options: Namespace) -> int:
    """Train in this process; return the exit status. Raises UsageError and ConfigurationError."""
    return int(import_module("evaluation.commands.finetune").run_training(options))


TRAIN = at_terminal(
    "finetune train",
    "measure",
    "train an adapter (LoRA) on exported data; needs the extra `finetune`",
    options=(
        Option("data", "Folder that `finetune export` wrote", required=True, kind="path", metavar="DATA"),
        Option(
            "base",
            "Model to train, as transformers names it, or its folder",
            required=True,
            named=True,
            metavar="MODEL",
        ),
        Option(
            "out",
            "Where adapter, merged model and Modelfile go",
            required=True,
            kind="path",
            named=True,
            metavar="DIR",
        ),
        Option("epochs", "Times that all pairs are seen", kind="number", named=True, default=10),
    ),
    here=here,
    has_json=False,
    rank=76,
)


ATTRIBUTES = at_terminal(
    "train-attributes",
    "measure",
    "learn from labelled questions which answers change soon",
    run,
    options=(
        Option(
            "file",
            "TOML with lists `static` and `dynamic`, and maybe a table `domains`",
            required=True,
            kind="path",
            metavar="FILE",
        ),
        Option("model", "ask the model, too, five samples a question, and print its figures", kind="flag"),
    ),
    changes=True,
    has_json=False,
    rank=77,
)
