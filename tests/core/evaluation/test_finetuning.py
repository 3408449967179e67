"""Good answers as instruction data, and an adapter trained on them: a tiny random model, on the processor."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.errors import UsageError
from core.models.openai.client import OpenAIModel
from core.ports import Matrix, Prompt, Remembered
from evaluation.finetuning.data import CARD, card, chosen, split, write
from evaluation.finetuning.train import ADAPTER, MERGED, MODELFILE, Lora, read_texts, train
from tests.contracts.samples import pair
from tests.effort import thorough

THINGS = ("lid", "timer", "filter", "plate", "spout", "button", "cable", "handle", "base", "lamp")
FACTS = {"product": "Kettle", "encoder": "fake", "near": 0.6, "left_out": {"by somebody who opted out": 1}}


def remembered(number: int, question: str = "", **given: Any) -> Remembered:
    thing = THINGS[number % len(THINGS)]
    made = pair(f"p{number}", topic=question or f"how do I clean the {thing}?", release="2.0")
    text = {
        "question": made.topic,
        "answer": f"Wipe the {thing} with vinegar [1].",
        "created_at": 100.0 + number,
    }
    return replace(made, **(text | given))


def test_only_what_everybody_may_hear_and_nobody_took_back_is_taught() -> None:
    pairs = [
        remembered(0),
        remembered(1, scope="private:slack:C1"),
        remembered(2, asker="slack:UOUT"),
        remembered(3, others=("slack:UOUT",)),
        remembered(4, stale=True),
        remembered(5, aside="retired"),
        remembered(6),
    ]
    some = chosen(pairs, {one.id for one in pairs[:6]}, lambda account: account == "slack:UOUT")
    assert [one.id for one in some.pairs] == ["p0"]
    assert some.left_out == {
        "by somebody who opted out": 2,
        "from a private channel": 1,
        "not in the high store": 2,
        "the pages it cites have changed": 1,
    }


def test_a_topic_is_on_one_side_and_the_last_ones_are_the_test() -> None:
    pairs = [remembered(number) for number in range(20)]  # of ten things, each asked about twice
    vectors: Matrix = np.repeat(np.eye(10, dtype=np.float32)[None], 2, 0).reshape(20, 10)
    halves = split(pairs, vectors, 0.6)
    assert [one.id for one in halves["test"]] == ["p9", "p19"], "a tenth, whole, and asked last"
    assert len(halves["train"]) == 18
    assert split(pairs, np.ones((20, 1), np.float32), 0.6)["test"] == [], "one topic is all for training"
    assert split([], np.zeros((0, 1), np.float32), 0.6) == {"train": [], "test": []}


def test_both_forms_and_the_card_are_written(tmp_path: Path) -> None:
    files = write(tmp_path, {"train": [remembered(0), remembered(1)], "test": [remembered(2)]}, FACTS)
    assert {path.name for path in files} == {
        "train.inst.jsonl",
        "train.chat.jsonl",
        "test.inst.jsonl",
        "test.chat.jsonl",
        CARD,
    }
    first = json.loads((tmp_path / "train.inst.jsonl").read_text().splitlines()[0])
    assert first == {
        "id": "p0",
        "text": "[INST]how do I clean the lid? (Kettle 2.0)[/INST] Wipe the lid with vinegar.",
    }
    (told,) = [json.loads(line) for line in (tmp_path / "test.chat.jsonl").read_text().splitlines()]
    assert [turn["role"] for turn in told["messages"]] == ["system", "user", "assistant"]
    assert told["messages"][0]["content"] == "You answer questions about Kettle 2.0."
    text = (tmp_path / CARD).read_text()
    assert "**Pairs**: 3; train 2, test 1." in text and "1 by somebody who opted out" in text
    assert "**Time**: none." in card({"train": [], "test": []}, FACTS)


@pytest.fixture
def tools() -> Any:
    """The packages of the extra `finetune`; without them the test is skipped, but not where nothing is."""
    if importlib.util.find_spec("peft") is None:
        if os.environ.get("THREADLORE_CI") == "1":
            pytest.fail("peft is not installed; the extra `test` brings it")
        pytest.skip("needs peft: pip install 'threadlore[finetune]'")
    import tokenizers
    import transformers

    return tokenizers, transformers


def tiny(tools: Any, folder: Path, texts: list[str]) -> str:
    """Write a random model of two small layers, whose words are those of the texts."""
    tokenizers, transformers = tools
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.WordLevelTrainer(special_tokens=["<unk>", "</s>"])
    words.train_from_iterator([text.replace("[/INST]", " [/INST] ") for text in texts] + texts, trainer)
    told = transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="</s>")
    told.save_pretrained(folder)
    transformers.set_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(told),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=128,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=1,
        initializer_range=0.3,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


def generated(model: Any, tokenizer: Any, asked: str) -> str:
    """Have a model answer in the form that the Modelfile gives a question."""
    given = tokenizer(f"[INST]{asked}[/INST]", return_tensors="pt")["input_ids"]
    made = model.generate(input_ids=given, max_new_tokens=12, do_sample=False)
    text: str = tokenizer.decode(made[0][given.shape[1] :], skip_special_tokens=True)
    return text


def plain_again(base: str, transformers: Any) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(base).eval()


def served(model: Any, tokenizer: Any) -> web.Application:
    """Answer by a model over OpenAI's wire."""

    async def complete(request: web.Request) -> web.Response:
        asked = (await request.json())["messages"][-1]["content"]
        text = generated(model, tokenizer, asked)
        choices = [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]
        ends = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "own"}
        lines = [json.dumps(chunk | {"choices": one}) for one in (choices, ends)]
        body = "".join(f"data: {line}\n\n" for line in (*lines, "[DONE]"))
        return web.Response(text=body, content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    return app


@thorough("test_both_forms_and_the_card_are_written")
async def test_an_adapter_is_trained_merged_and_answers_through_the_port(tools: Any, tmp_path: Path) -> None:
    pairs = [remembered(number) for number in range(10)]
    data, out = tmp_path / "data", tmp_path / "out"
    write(data, {"train": pairs[:8], "test": pairs[8:]}, FACTS)
    texts = [json.loads(line)["text"] for line in (data / "train.inst.jsonl").read_text().splitlines()]
    base = tiny(tools, tmp_path / "base", texts)
    heard: list[str] = []
    told = train(data, base, out, Lora(rate=3e-2, epochs=20, dropout=0.0), heard.append)
    assert told.losses[-1] < 0.5 * told.losses[0] and len(heard) == 20
    assert told.test_before is not None and told.test_after is not None and told.test_after < told.test_before
    assert 0 < told.trained < told.weights and not told.four_bits
    assert json.loads((out / "training.json").read_text())["lora"]["rank"] == 64
    assert (out / MODELFILE).read_text().startswith(f"FROM ./{MERGED}\nTEMPLATE")

    import peft

    _, transformers = tools
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    adapted = peft.PeftModel.from_pretrained(plain, out / ADAPTER).eval()
    merged = transformers.AutoModelForCausalLM.from_pretrained(out / MERGED).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(out / MERGED)
    given = tokenizer(texts[0], return_tensors="pt")["input_ids"]
    both = [model(input_ids=given).logits.detach().numpy() for model in (adapted, merged)]
    assert np.allclose(*both, atol=1e-3), "the merged model says what the adapter says"

    async with TestServer(served(merged, tokenizer)) as server:
        model = OpenAIModel(str(server.make_url("/v1")), "own", context_tokens=128, retries=0)
        asked = texts[0].removeprefix("[INST]").partition("[/INST]")[0]
        pieces = model.stream([Prompt("user", asked)], temperature=0.0, max_tokens=12)
        said = "".join([piece async for piece in pieces])
        await model.close()
    assert said == generated(merged, tokenizer, asked) and said.startswith("Wipe the")
    assert not generated(plain_again(base, transformers), tokenizer, asked).startswith("Wipe the")


def test_a_folder_without_pairs_says_what_to_do(tools: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="finetune export"):
        train(tmp_path, "nowhere", tmp_path / "out", Lora())


@pytest.mark.parametrize("broken", ['{"text": "[INST]q', "[1]", '{"text": 5}', '{"text": "no question"}'])
def test_a_broken_line_is_named_with_what_to_do(broken: str, tmp_path: Path) -> None:
    path = tmp_path / "train.inst.jsonl"
    path.write_text('{"text": "[INST]q[/INST] a"}\n\n' + broken + "\n")
    with pytest.raises(UsageError, match=r"train\.inst\.jsonl:3: no pair to learn; write"):
        read_texts(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"cannot be read .* writes it again"):
        read_texts(path)
