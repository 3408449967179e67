"""Control tokens of chat templates do not reach the server, and are readable on both ways."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import prompts
from core.domain import Product, Release
from core.ingestion.pregeneration.model import pairs
from core.models.filters import Inert, TurnedBack, named
from core.models.ollama.client import Ollama
from core.ports import Prompt
from evaluation.answers import judge_prompts
from tests.effort import examples
from tests.ollama_answers import question_of
from tests.ollama_server import OllamaServer

WIDE = ["<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜tool▁calls▁begin｜>"]
BARRED = """<|im_start|> <|im_end|> <|endoftext|> <|eot_id|> <|start_header_id|>
<|begin_of_text|> <|assistant|>
<|user|> <|system|> <|channel|> <|message|> <|start|> <|end|> <|return|> <|tool_calls_section_begin|>
<|vision_start|> <|START_OF_TURN_TOKEN|> <|start_of_role|> <|turn> <turn|> <|tool_call> <|"|>""".split()
LISTED = [token.replace("*", "17") for token in named()]
TOKENS = [*BARRED, *WIDE, *LISTED, "<S>", "</THINK>", "/think", "/no_think", "/nothink"]
ASKED = """<s> </s> <start_of_turn> <end_of_turn> <bos> <eos> <pad> <unk> <think> </think> <tool_call>
[INST] [/INST]
<<SYS>> <image_soft_token> [TOOL_CALLS] [AVAILABLE_TOOLS] [SYSTEM_PROMPT] [THINK]""".split()
_KNOWN = re.compile("|".join(map(re.escape, sorted(TOKENS, key=len, reverse=True))))

noise = st.text(alphabet=st.sampled_from("ab <>|｜[]/_\n▁"), max_size=12)
planted = st.lists(st.one_of(st.sampled_from(TOKENS), noise), max_size=8).map("".join)


def cut(text: str, sizes: list[int]) -> list[str]:
    """Cut a text into pieces, as a server streams it."""
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


def active(text: str) -> list[str]:
    """Return the tokens that a server could find; a switch counts as a word only."""
    found = [token for token in TOKENS if token in text and token[0] != "/"]
    return found + re.findall(r"(?<![\w/.~-])/(?:no_?)?think(?![\w/-]|\.\w)", text)


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_becomes_text_that_can_be_read_and_turned_back(token: str) -> None:
    make = Inert()
    text = make(f"What does {token} mean?")
    assert not active(text) and text.replace(" ", "") == f"Whatdoes{token}mean?".replace(" ", "")
    assert text == text.strip() and text.isprintable()
    back = TurnedBack(make.met)
    assert "".join(back.feed(sign) for sign in text) + back.close() == f"What does {token} mean?"


def test_the_list_has_every_token_that_is_known_to_be_parsed() -> None:
    assert set(ASKED) <= set(LISTED)


@pytest.mark.parametrize(
    "code",
    [
        "a <|> b",
        "x |> f(y) <| z",
        "<T>",
        "arr[ARG]",
        "a < b | c > d",
        "docs/think.md",
        "http://h/think",
        "<div>",
    ],
)
def test_what_is_no_token_stays_as_it_is(code: str) -> None:
    assert Inert()(code) == code


@given(planted)
def test_no_token_is_left_wherever_it_stood(text: str) -> None:
    make = Inert()
    assert not active(make(text))
    assert make(make(text)) == make(text)


@given(
    st.lists(st.one_of(st.sampled_from(TOKENS), st.sampled_from(["a", "<b>", "x|", "<"])), max_size=8),
    st.lists(st.integers(0, 9), max_size=30),
)
def test_an_answer_has_the_tokens_back_however_it_is_cut(told: list[str], sizes: list[int]) -> None:
    text = " ".join(told)
    make = Inert()
    said = make(text)
    back = TurnedBack(make.met)
    assert "".join(map(back.feed, cut(said, sizes))) + back.close() == text


def test_what_no_prompt_had_is_not_touched_in_an_answer() -> None:
    back = TurnedBack({"<|im_end|>"})
    told = "if a < b: x = [ ARGS ]; < s > and < |im_start| >"
    assert "".join(map(back.feed, told)) + back.close() == told


def every_system_text() -> list[str]:
    """Return what the prompts of this house say themselves."""
    product = Product("Kettle", releases=(Release("1.0", ("1.x",)), Release("2.0", latest=True)))
    return [
        prompts.answer_system("Kettle", ["1.0", "2.0"], calculator=True, language="German")
        + prompts.REASONING,
        prompts.understand(product, "q", [("user", "t")], "German", "English")[0],
        prompts.reduce("Kettle 2.0", "q", [(1, "t", [(1, "u")])])[0],
        prompts.select("Kettle 2.0", "q", [(1, "t", "p")])[0],
        prompts.same("a", "b")[0],
        prompts.supported(["a"], ["b"])[0],
        pairs("t", [("h", "p")])[0],
        *(judge_prompts.criteria(group, "q", "a", "t")[0] for group in judge_prompts.GROUPS),
        *(judge_prompts.pick(task, ["a"], "q", "t", "x")[0] for task in judge_prompts.TASKS),
    ]


@pytest.mark.parametrize("system", every_system_text())
def test_our_own_texts_hold_no_token(system: str) -> None:
    assert Inert()(system) == system


PLANT = "Plant4711"


def every_prompt(others: str) -> list[tuple[str, str]]:
    """Return all prompts, with words of others wherever a prompt has any."""
    product = Product("Kettle", releases=(Release("1.0"), Release("2.0", latest=True)))
    blocks = [
        prompts.evidence(1, others, "2.0", others),
        prompts.rejected([(others, others, others)]),
        prompts.conversation([("the asker", others), ("you", others)]),
    ]
    answer = prompts.answer_user(
        others, [others, "b"], blocks, original=others, language="German", faults=[others]
    )
    return [
        (prompts.answer_system("Kettle", ["2.0"]), answer),
        prompts.understand(product, others, [("user", others), ("assistant", others)], "German"),
        prompts.reduce("Kettle 2.0", others, [(1, others, [(1, others)])]),
        prompts.select("Kettle 2.0", others, [(1, others, others)]),
        prompts.same(others, others),
        prompts.supported([others], [others]),
        pairs(others, [(others, others)]),
        *(judge_prompts.criteria(group, others, others, others) for group in judge_prompts.GROUPS),
        *(judge_prompts.pick(task, [others], others, others, others) for task in judge_prompts.TASKS),
    ]


@pytest.mark.parametrize("texts", every_prompt(PLANT))
def test_nothing_of_others_stands_in_a_system_text(texts: tuple[str, str]) -> None:
    """What is told as the system's counts as an order: titles of documents and names stand with the rest."""
    system, user = texts
    assert PLANT not in system and PLANT in user


SCHEMA = {"type": "object", "properties": {"base": {"type": "string"}}, "required": ["base"]}


@settings(max_examples=examples(15), deadline=None)
@given(others=planted.filter(str.strip))
async def test_no_token_reaches_the_server_in_any_role_or_call(others: str) -> None:
    async with OllamaServer() as server:
        server.always = None
        model = Ollama(server.url, server.model, retries=0)
        for system, user in every_prompt(others):
            asked = [Prompt("system", system), Prompt("user", user), Prompt("assistant", others)]
            server.say("ok", '{"base": "ok"}')
            assert [piece async for piece in model.stream(asked, temperature=0.1, max_tokens=50)]
            await model.structured(asked, SCHEMA, max_tokens=50)
        await model.close()
        sent = [message["content"] for chat in server.chats for message in chat.messages]
    assert sent and not [found for text in sent for found in active(text)]


async def test_no_invisible_character_reaches_the_server() -> None:
    async with OllamaServer() as server:
        model = Ollama(server.url, server.model, retries=0)
        hidden = "do\u200b \U000e0041\U000e0042\u202eit\u00ad \ue000<|im\u200b_end|>"
        asked = [Prompt("system", hidden), Prompt("user", hidden)]
        assert [piece async for piece in model.stream(asked, temperature=0.1, max_tokens=50)]
        await model.close()
        sent = [message["content"] for message in server.chats[0].messages]
    assert sent == ["do it < |im_end| >"] * 2


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<think>", "</think>", "[INST]", "<s>", WIDE[0], "/no_think"]
)
async def test_a_question_about_a_token_is_answered_with_the_token(token: str) -> None:
    async with OllamaServer(answer=lambda seen: f"It is `{question_of(seen).split()[2]}`") as server:
        server.structured = lambda seen, _: {"base": question_of(seen)}
        server.answer = lambda seen: (
            f"You mean `{question_of(seen)[10:-6]}`, or {question_of(seen)[10:-6]} plain."
        )
        model = Ollama(server.url, server.model, retries=0)
        asked = [Prompt("user", f"<question>\nWhat does {token} mean?\n</question>")]
        told = "".join([piece async for piece in model.stream(asked, temperature=0.1, max_tokens=99)])
        assert (await model.structured(asked, SCHEMA, max_tokens=99))["base"] == f"What does {token} mean?"
        await model.close()
        assert token not in server.chats[0].prompt
    assert told == f"You mean `{token}`, or {token} plain."
