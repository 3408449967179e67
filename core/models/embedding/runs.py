"""The two ways to run an embedding model: the exported one in ONNX Runtime, the model itself in PyTorch."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import EncoderError
from core.ports import Matrix

CUDA = "CUDAExecutionProvider"


class FileTokens:
    """What a model reads of texts, by the `tokenizer.json` that is kept with its export."""

    def __init__(self, facts: Mapping[str, Any], folder: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder.resolve() / "tokenizer.json"))
        self._tokenizer.enable_truncation(facts["max_tokens"])
        self._tokenizer.enable_padding(pad_id=facts["pad_id"], pad_token=facts["pad_token"])

    def __call__(self, texts: list[str]) -> dict[str, NDArray[np.int64]]:
        """Return `input_ids` and `attention_mask`, each of shape (len(texts), tokens of the longest)."""
        encoded = self._tokenizer.encode_batch_fast(texts)
        return {
            "input_ids": np.array([e.ids for e in encoded], np.int64),
            "attention_mask": np.array([e.attention_mask for e in encoded], np.int64),
        }


class OnnxRun:
    """Embeds by the exported model; raises EncoderError where the provider cannot be had."""

    def __init__(
        self, facts: Mapping[str, Any], folder: Path, provider: str = "CPUExecutionProvider"
    ) -> None:
        import onnxruntime

        self._tokens = FileTokens(facts, folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # two threads are slower than one beside other work
        precise = {"use_tf32": "0"} if provider == CUDA else {}
        file = str(folder / "model.onnx")
        self._session = onnxruntime.InferenceSession(file, options, providers=[(provider, precise)])
        if self._session.get_providers()[0] != provider:
            raise EncoderError(f"onnxruntime cannot use its {provider}")

    def __call__(self, texts: list[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        return np.asarray(self._session.run(["embedding"], self._tokens(texts))[0], np.float32)

    def with_tokens(self, texts: list[str]) -> tuple[Matrix, list[Matrix]]:
        """Return the same, and the unit vectors of each text's tokens."""
        inputs = self._tokens(texts)
        vectors, states = self._session.run(["embedding", "tokens"], inputs)
        ends = inputs["attention_mask"].sum(axis=1)
        return np.asarray(vectors, np.float32), [
            _units(rows[:end]) for rows, end in zip(states, ends, strict=True)
        ]


class TorchRun:
    """Embeds by the model itself, in PyTorch, where the model lies; may be called from several threads.

    `tokens` cuts texts as the export does; without it the model does so itself, which takes longer. No more
    than `at_once` batches are computed at once, while others are cut into tokens.
    """

    def __init__(self, transformer: Any, tokens: FileTokens | None = None, at_once: int = 64) -> None:
        self._transformer = transformer.eval()
        self._tokens = tokens
        self._prompt = transformer.prompts.get(transformer.default_prompt_name or "") or None
        self._places = threading.BoundedSemaphore(at_once)

    def __call__(self, texts: list[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        return self._made(texts, ())[0]

    def with_tokens(self, texts: list[str]) -> tuple[Matrix, list[Matrix]]:
        """Return the same, and the unit vectors of each text's tokens."""
        vectors, states, mask = self._made(texts, ("token_embeddings", "attention_mask"))
        return vectors, [
            _units(rows[:end]) for rows, end in zip(states, mask.sum(axis=1).astype(int), strict=True)
        ]

    def _made(self, texts: list[str], more: tuple[str, ...]) -> list[Matrix]:
        """Return the unit vectors of texts, and what else the model gives that is asked for."""
        import torch

        with torch.inference_mode():
            given = self._read(texts)
            with self._places:
                made = self._transformer(
                    {
                        name: value.to(self._transformer.device) if torch.is_tensor(value) else value
                        for name, value in given.items()
                    }
                )
                unit = torch.nn.functional.normalize(made["sentence_embedding"].float(), dim=1)
                return [one.float().cpu().numpy() for one in (unit, *(made[name] for name in more))]

    def _read(self, texts: list[str]) -> Mapping[str, Any]:
        import torch

        if self._tokens is None:
            read: Mapping[str, Any] = self._transformer.preprocess(texts, prompt=self._prompt)
            return read
        return {name: torch.from_numpy(rows) for name, rows in self._tokens(texts).items()}


def _units(states: Matrix) -> Matrix:
    """Return the tokens' vectors, of unit length, without those of the signs for beginning and end."""
    rows: Matrix = np.asarray(states[1:-1], np.float32)
    lengths: Matrix = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return np.asarray(rows / lengths, np.float32)
