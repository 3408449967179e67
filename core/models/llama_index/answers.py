"""What is asked of a model of llama-index for output by schema, and what its responses say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.models.completion import Finish
from core.ports import Prompt

_CUT = ("length", "max_tokens", "max_output_tokens")
_AGAIN = (
    "That does not fit the schema: {problem}. Reply with the corrected JSON object, and with nothing else."
)


def output_class(schema: Mapping[str, Any]) -> type[BaseModel]:
    """Return a class that shows a schema to llama-index and takes any object, to be checked afterwards."""
    shown = {"title": "Output", "description": "What is asked for.", **schema}

    class Output(BaseModel):
        """What is asked for."""

        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            """Return the schema."""
            copied: dict[str, Any] = json.loads(json.dumps(shown))
            return copied

    return Output


def by_schema(prompts: Sequence[Prompt], said: str, problem: str) -> tuple[Prompt, ...]:
    """Return prompts that go on with what the model said, and what is wrong with it."""
    return (*prompts, Prompt("assistant", said), Prompt("user", _AGAIN.format(problem=problem)))


def object_in(text: str) -> str:
    """Return the object in a text that may say more than that."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def piece_of(response: Any, written: str) -> tuple[str, str]:
    """Return what a response adds, and all that was written with it; some classes give only the whole."""
    delta = getattr(response, "delta", None)
    if delta is None:
        whole = response.message.content or ""
        delta = whole[len(written) :] if whole.startswith(written) else whole
    return delta, written + delta


def finish_of(response: Any) -> Finish:
    """Tell how an answer ended, where the response says so; services say it in many ways."""
    raw = getattr(response, "raw", None)
    choices = _get(raw, "choices")
    first = choices[0] if isinstance(choices, (list, tuple)) and choices else None
    reasons = (_get(first, "finish_reason"), _get(raw, "done_reason"), _get(raw, "stop_reason"))
    said = next((str(reason).lower() for reason in reasons if reason), "")
    return "" if not said else "length" if said in _CUT else "stop"


def _get(holder: Any, name: str) -> Any:
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, name, None)
