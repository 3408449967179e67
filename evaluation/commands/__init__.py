"""The commands that measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.home.control_socket import Send
    from bot.operations.application import Application


async def carry_out(app: Application, request: dict[str, Any], send: Send) -> None:
    """Carry out `evaluate`, `check`, `tune`, `embedder try`, `finetune export` or `train-attributes`."""
    from evaluation.commands.evaluate import answers, compare, evaluate, followups, promoted_command, unasked
    from evaluation.commands.tune import tune

    if request["command"] == "embedder":
        from evaluation.commands.embedder import try_embedder

        await try_embedder(app, request, send)
    elif request["command"] == "train-attributes":
        from evaluation.commands.tune import train_attributes

        await train_attributes(app, request, send)
    elif request["command"] == "finetune":
        from evaluation.commands.finetune import export

        await export(app, request, send)
    elif request["command"] == "check":
        from evaluation.commands.check import check

        await check(app, request, send)
    elif request["command"] == "tune":
        await tune(app, request, send)
    elif request.get("followups"):
        await followups(app, request, send)
    elif request.get("unasked"):
        await unasked(app, request, send)
    elif request.get("answers"):
        await answers(app, request, send)
    elif request.get("compare"):
        await compare(app, request, send)
    elif request.get("promoted"):
        await promoted_command(app, request, send)
    else:
        await evaluate(app, request, send)
