from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.filters import Unthought


def shown(pieces: list[str], held: bool = False) -> str:
    filter_ = Unthought(held=held)
    return "".join([filter_.feed(piece) for piece in pieces]) + filter_.close()


def cut(text: str, at: list[int]) -> list[str]:
    marks = [0, *sorted({a % (len(text) + 1) for a in at}), len(text)]
    return [text[a:b] for a, b in pairwise(marks)]


TEXTS = [
    ("<think>a <b> c</think>\n\nThe answer.", "The answer."),
    ("\n <think></think>\n\nThe answer <i>.", "The answer <i>."),
    ("The answer about `<think>` tags.", "The answer about `<think>` tags."),
    ("<thinking is hard", "<thinking is hard"),
    ("<thi", "<thi"),
    ("<think>never closed", ""),
    ("<think>one</think><think>two</think>Done", "Done"),
    ("a < b </ c", "a < b </ c"),
    ("[THINK]The user asks.[/THINK]Use it [1].", "Use it [1]."),
    ("[1] says so.", "[1] says so."),
    ("[TH", "[TH"),
    ("<|channel>thought\nHm.\n<channel|>Use it.", "Use it."),
    ("<|channel>thought\n<channel|>\nUse it.", "Use it."),
    ("<|channel|>analysis<|message|>Hm.<|end|>Use it.", "Use it."),
    (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Use it.",
        "Use it.",
    ),
    ("<|channel|>final<|message|>Use it.", "Use it."),
    ("<|channel|>analysis<|message|>Hm, never", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "wanted"), TEXTS)
@given(at=st.lists(st.integers(0, 60), max_size=12))
def test_the_answer_is_the_same_wherever_it_is_cut(text: str, wanted: str, at: list[int]) -> None:
    assert shown(cut(text, at)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("thought</think>\nYes.", "Yes."), ("<think>x</think>Yes.", "Yes."), ("Yes.", "Yes."), ("<think>x", "")],
)
@given(at=st.lists(st.integers(0, 30), max_size=8))
def test_held_back_thinking_needs_no_opening_tag(text: str, wanted: str, at: list[int]) -> None:
    assert shown(cut(text, at), held=True) == wanted


@given(at=st.lists(st.integers(0, 30), max_size=8))
def test_a_closing_tag_that_nothing_opened_is_noticed(at: list[int]) -> None:
    filter_ = Unthought()
    for piece in cut("thought</think>Yes.", at):
        filter_.feed(piece)
    filter_.close()
    assert filter_.leaked
