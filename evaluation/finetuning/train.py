"""LoRA on a causal language model as in GraphContextGen. The one door to peft (extra `finetune`)."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.errors import ConfigurationError, UsageError
from core.system.json_parts import lines_of

ADAPTER, MERGED, MODELFILE = "adapter", "merged", "Modelfile"
IGNORED = -100
"""Label of a token that is not learned: the question's, and what fills a batch up."""
_END = "[/INST]"
_TEMPLATE = '"""[INST]{{ .Prompt }}[/INST] """'


@dataclass(frozen=True, slots=True)
class Lora:
    """The paper's settings (section 5); in 4 bits where a GPU and bitsandbytes are there."""

    rank: int = 64
    alpha: int = 16
    dropout: float = 0.1
    rate: float = 2e-4
    batch: int = 4
    epochs: int = 10
    warm_up: float = 0.03
    decay: float = 0.001
    largest_gradient: float = 0.3
    longest: int = 1024
    """Tokens of a pair; ours."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Trained:
    """Mean loss of each epoch, the loss on the test before and after, and how many weights were trained."""

    losses: tuple[float, ...]
    test_before: float | None
    test_after: float | None
    trained: int
    weights: int
    four_bits: bool


def train(
    data: Path, base: str, out: Path, lora: Lora, tell: Callable[[str], None] = lambda line: None
) -> Trained:
    """Train an adapter of `base` on `train.inst.jsonl`, merge it, and write a Modelfile; blocking.

    Raises UsageError for data that are not there or broken, ConfigurationError where a package is missing.
    """
    peft, transformers, torch = _modules()
    lines = read_texts(data / "train.inst.jsonl")
    held = read_texts(data / "test.inst.jsonl", must=False)
    torch.manual_seed(lora.seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model, four_bits = _loaded(transformers, torch, base)
    if four_bits:
        model = peft.prepare_model_for_kbit_training(model)
    model = peft.get_peft_model(model, _adapter(peft, lora))
    trained, weights = model.get_nb_trainable_parameters()
    examples = [_example(tokenizer, line, lora.longest) for line in lines]
    tests = [_example(tokenizer, line, lora.longest) for line in held]
    before = _loss(model, torch, tokenizer, tests, lora.batch)
    losses: list[float] = []
    for loss in _epochs(transformers, torch, model, tokenizer, examples, lora):
        losses.append(loss)
        tell(f"epoch {len(losses)} of {lora.epochs}: loss {loss:.4f}")
    after = _loss(model, torch, tokenizer, tests, lora.batch)
    told = Trained(tuple(losses), before, after, int(trained), int(weights), four_bits)
    _save(peft, transformers, torch, model, tokenizer, base, out, four_bits)
    (out / "training.json").write_text(
        json.dumps({"base": base, "lora": asdict(lora), **asdict(told)}, indent=2) + "\n", "utf-8"
    )
    return told


def _adapter(peft: Any, lora: Lora) -> Any:
    return peft.LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def _epochs(
    transformers: Any, torch: Any, model: Any, tokenizer: Any, examples: Sequence[Any], lora: Lora
) -> Iterator[float]:
    """Train a model on examples, and yield the mean loss of each epoch."""
    steps = math.ceil(len(examples) / lora.batch) * lora.epochs
    weighed = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weighed, lr=lora.rate, weight_decay=lora.decay)
    schedule = transformers.get_cosine_schedule_with_warmup(optimizer, round(lora.warm_up * steps), steps)
    for _ in range(lora.epochs):
        model.train()
        order = torch.randperm(len(examples)).tolist()
        total = 0.0
        for start in range(0, len(order), lora.batch):
            some = [examples[at] for at in order[start : start + lora.batch]]
            loss = model(**_batch(torch, tokenizer, some, model.device)).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weighed, lora.largest_gradient)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            total += float(loss.detach()) * len(some)
        yield round(total / len(order), 4)


def modelfile(context_tokens: int) -> str:
    """Return an Ollama Modelfile for the merged model beside it, which asks in the form it was taught."""
    return (
        f"FROM ./{MERGED}\nTEMPLATE {_TEMPLATE}\nPARAMETER stop [INST]\n"
        f"PARAMETER temperature 0.7\nPARAMETER num_ctx {context_tokens}\n"
    )


def _modules() -> tuple[Any, Any, Any]:
    try:
        return tuple(importlib.import_module(name) for name in ("peft", "transformers", "torch"))  # type: ignore[return-value]
    except ImportError as error:
        raise ConfigurationError(
            f"{error.name} is not installed; `pip install threadlore[finetune]` brings it."
        ) from error


def read_texts(path: Path, must: bool = True) -> list[str]:
    """Read what is to be learned, a JSON object a line; raises UsageError that names the line."""
    try:
        lines = lines_of(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        lines = []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read ({error}); `threadlore finetune export {path.parent}` writes it again."
        ) from None
    texts = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry: Any = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        text = entry.get("text") if isinstance(entry, dict) else None
        if not isinstance(text, str) or _END not in text:
            raise UsageError(
                f'{path}:{number}: no pair to learn; write {{"text": "[INST]question[/INST] answer"}}, '
                f"or run `threadlore finetune export {path.parent}` again."
            )
        texts.append(text)
    if must and not texts:
        raise UsageError(f"{path} has no pairs; `threadlore finetune export {path.parent}` writes them.")
    return texts


def _loaded(transformers: Any, torch: Any, base: str) -> tuple[Any, bool]:
    """Load the base: in 4 bits on a GPU with bitsandbytes, else as it is."""
    has_gpu = torch.cuda.is_available()
    if has_gpu and find_spec("bitsandbytes"):
        few = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float16
        )
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            base, quantization_config=few, device_map={"": 0}
        )
        return loaded, True
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    return model.to("cuda" if has_gpu else "cpu"), False


def _example(tokenizer: Any, text: str, longest: int) -> tuple[list[int], list[int]]:
    """Return the tokens of a pair, and its labels: the answer's alone are learned (ours)."""
    asked, end, answer = text.partition(_END)
    first = tokenizer(asked + end)["input_ids"]
    if first and first[-1] == tokenizer.eos_token_id:
        first = first[:-1]
    rest = tokenizer(answer, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    tokens = (first + rest)[:longest]
    return tokens, ([IGNORED] * len(first) + rest)[:longest]


def _batch(
    torch: Any, tokenizer: Any, some: Sequence[tuple[list[int], list[int]]], device: Any
) -> dict[str, Any]:
    width = max(len(tokens) for tokens, _ in some)

    def filled(rows: list[list[int]], value: int) -> Any:
        return torch.tensor([row + [value] * (width - len(row)) for row in rows], device=device)

    return {
        "input_ids": filled([tokens for tokens, _ in some], tokenizer.pad_token_id),
        "labels": filled([labels for _, labels in some], IGNORED),
        "attention_mask": filled([[1] * len(tokens) for tokens, _ in some], 0),
    }


def _loss(model: Any, torch: Any, tokenizer: Any, examples: Sequence[Any], batch: int) -> float | None:
    """Return the mean loss of held-out pairs; None where there are none."""
    if not examples:
        return None
    model.eval()
    total = 0.0
    with torch.no_grad():
        for start in range(0, len(examples), batch):
            some = examples[start : start + batch]
            total += float(model(**_batch(torch, tokenizer, some, model.device)).loss) * len(some)
    return round(total / len(examples), 4)


def _save(
    peft: Any,
    transformers: Any,
    torch: Any,
    model: Any,
    tokenizer: Any,
    base: str,
    out: Path,
    four_bits: bool,
) -> None:
    """Write the adapter, the merged model and the Modelfile."""
    model.save_pretrained(out / ADAPTER)
    if four_bits:  # what is merged into 4 bits loses its precision
        whole = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float16)
        model = peft.PeftModel.from_pretrained(whole, out / ADAPTER)
    merged = model.merge_and_unload()
    merged.save_pretrained(out / MERGED)
    tokenizer.save_pretrained(out / MERGED)
    context = int(getattr(merged.config, "max_position_embeddings", 0) or 4096)
    (out / MODELFILE).write_text(modelfile(min(context, 8192)), "utf-8")
