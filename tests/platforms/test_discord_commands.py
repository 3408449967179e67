"""Slash commands: who may call them, who sees the reply, and what happens after 15 minutes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import discord

from bot.ports.chat import Reply
from core.domain import MessageRef, Scope
from core.errors import PlatformError, ThreadloreError

pytest_plugins = ["tests.platforms.discord_world"]


async def test_ask_is_answered_to_the_caller_alone(world, recorder):
    async def answer(command, responder):
        await responder.reply(Reply("Looking …", final=False))
        await responder.reply(Reply("See [the docs](https://example.org/a). " + "word " * 500))
        await responder.reply(Reply("See [the docs](https://example.org/a)."))

    recorder.on_command = answer
    result = await world.alice.slash(world.help, "ask", question="how do I start?")
    assert result.acknowledged and result.ephemeral
    assert result.response.content == "See [the docs](<https://example.org/a>)."
    assert result.followups == []
    [command] = recorder.of("command")
    assert (command.name, command.text) == ("ask", "how do I start?")
    assert command.person.id == f"discord:{world.alice.id}" and not command.person.admin
    assert command.where.channel == str(world.help.id) and command.scope == Scope() and command.event


async def test_threadlore_is_there_for_all_and_tells_who_is_an_admin(world, recorder):
    managers = world.guild.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
    carol = world.guild.add_member(world.env.create_user("carol"), roles=[managers])
    await carol.slash(world.help, "threadlore status")
    await carol.slash(world.help, "threadlore releases")
    await carol.slash(world.help, "threadlore reindex")
    await carol.slash(world.help, "threadlore reindex", release="2.3")
    await carol.slash(world.help, "threadlore help")
    commands = recorder.of("command")
    assert [c.text for c in commands] == ["status", "releases", "reindex", "reindex 2.3", "help"]
    assert all(c.name == "threadlore" and c.person.admin for c in commands)
    await world.alice.slash(world.help, "threadlore status")
    assert not recorder.of("command")[-1].person.admin


async def test_discord_offers_every_command_that_help_lists(world, recorder):
    offered = set(world.alice.available_commands(world.help))
    for subcommand in recorder.slash.subcommands:
        words = f"threadlore {subcommand.name}"
        assert {words, words.rpartition(" ")[0]} & offered, words
    await world.alice.slash(world.help, "threadlore memory corrections")
    assert recorder.of("command")[-1].text == "memory corrections"


async def test_the_documentation_has_every_command(recorder):
    said = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    for subcommand in recorder.slash.subcommands:
        assert f"`/threadlore {subcommand.name}" in said, subcommand.name


async def test_forget(world, recorder):
    async def forgotten(**given) -> str:
        await world.alice.slash(world.help, "threadlore forget", **given)
        return recorder.of("command")[-1].text

    assert await forgotten() == "forget"
    assert await forgotten(confirm=True) == "forget --confirm"
    assert await forgotten(person=world.bob) == f"forget <@{world.bob.id}>"
    assert await forgotten(account="slack:U123", confirm=True) == "forget --account slack:U123 --confirm"
    await world.alice.user.slash("threadlore forget", confirm=True)
    command = recorder.of("command")[-1]
    assert (command.text, command.scope.kind) == ("forget --confirm", "direct")


async def test_fields_become_words_in_any_combination(world, recorder):
    async def said(name: str, **given) -> str:
        await world.alice.slash(world.help, f"threadlore {name}", **given)
        return recorder.of("command")[-1].text

    assert await said("reindex", release="2.3", dry_run=True) == "reindex 2.3 --dry-run"
    assert await said("pause", time="2h", reason="we move house") == 'pause 2h "we move house"'
    assert await said("pause", here=True, reason="it's late") == 'pause --here --reason "it\'s late"'
    assert await said("mode", channel=world.help, mode="questions") == f"mode <#{world.help.id}> questions"
    assert await said("mode", mode="off") == "mode --mode off"
    assert await said("memory list", store="high", page="2") == "memory list --store high --page 2"
    assert await said("why", answer="https://discord.com/channels/1/2/3") == (
        "why https://discord.com/channels/1/2/3"
    )


async def test_the_callers_roles_are_told_with_a_command(world, recorder):
    tamers = world.guild.create_role("Tamers")
    dana = world.guild.add_member(world.env.create_user("dana"), roles=[tamers])
    await dana.slash(world.help, "threadlore status")
    assert f"discord:role:{tamers.id}" in recorder.of("command")[-1].person.roles
    await dana.send(world.help, f"{world.bot} how do I start?")
    assert recorder.of("message")[-1].author.roles == (), "which are kept with no question"


async def test_answer_this_asks_with_a_message_and_stands_on_it(world, recorder):
    async def answer(command, responder):
        await responder.reply(Reply("See the docs of 1970-01-02 00:01 UTC.", has_times=True))
        await responder.progress(Reply("Shared."))

    recorder.on_command = answer
    trace = [("message.txt", b"Error: Could not locate a Flask application.")]
    words = "why does **flask run** not find my app?"
    said = await world.bob.send(world.help, words, attachments=trace)
    result = await world.alice.context_menu(world.help, "Answer this", said)
    assert result.ephemeral and result.response.content == "See the docs of <t:86460:f>."
    [command] = recorder.of("command")
    assert command.name == "ask"
    assert command.text == f"{words}\n\nError: Could not locate a Flask application."
    assert command.person.id == f"discord:{world.alice.id}" and command.scope == Scope()
    assert command.where == MessageRef("discord", str(world.help.id), str(said.id), str(said.id))
    thread = world.thread_of(said)
    assert thread.last_message.content == "Shared."
    assert thread.name.startswith("why does flask run not find my app?")


async def test_answer_this_on_a_post_has_its_title_and_stays_in_it(world, recorder):
    forum, thread = await world.forum_post("Deploying behind nginx", "it says 502")
    await world.alice.context_menu(thread, "Answer this", thread.history()[0])
    [command] = recorder.of("command")
    assert command.text == "Deploying behind nginx\n\nit says 502"
    assert command.where == MessageRef("discord", str(forum.id), str(thread.id), str(thread.id))


async def test_reindex_replies_at_once_and_shows_progress_in_one_message(world, recorder):
    async def reindex(command, responder):
        await responder.reply(Reply("Reindexing 2.3."))
        for percent in (10, 60, 100):
            await responder.progress(Reply(f"{percent} %"))

    recorder.on_command = reindex
    managers = world.guild.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
    carol = world.guild.add_member(world.env.create_user("carol"), roles=[managers])
    result = await carol.slash(world.help, "threadlore reindex", release="2.3")
    assert result.response.content == "Reindexing 2.3." and result.ephemeral
    shown = [m.content for m in world.help.history() if not m.flags.ephemeral]
    assert shown == ["100 %"]


async def test_progress_outlives_the_token_and_a_late_reply_says_so(world, recorder):
    failures = []

    async def long(command, responder):
        await responder.reply(Reply("Working."))
        await responder.progress(Reply("0 %"))
        await asyncio.sleep(16 * 60)
        await responder.progress(Reply("100 %"))
        try:
            await responder.reply(Reply("Done."))
        except PlatformError as error:
            failures.append(str(error))

    recorder.on_command = long
    result = await world.alice.slash(world.help, "ask", question="?")
    await world.env.advance_time(17 * 60)
    assert [m.content for m in world.help.history() if not m.flags.ephemeral] == ["100 %"]
    assert result.response.content == "Working." and "again" in failures[0]


async def test_where_the_bot_may_not_speak_progress_goes_to_the_caller(world, recorder):
    async def work(command, responder):
        await responder.progress(Reply("50 %"))
        await responder.progress(Reply("100 %"))

    recorder.on_command = work
    denied = discord.PermissionOverwrite(send_messages=False)
    quiet = world.guild.create_text_channel("quiet", overwrites={world.env.bot.user: denied})
    result = await world.alice.slash(quiet, "ask", question="?")
    assert result.response.content == "100 %"
    assert [m for m in quiet.history() if not m.flags.ephemeral] == []


async def test_progress_goes_on_when_somebody_deletes_it(world, recorder):
    async def work(command, responder):
        await responder.progress(Reply("50 %"))
        for message in world.help.history():
            if not message.flags.ephemeral:
                world.env.backend.delete_message(world.help.id, message.id)
        await responder.progress(Reply("100 %"))

    recorder.on_command = work
    await world.alice.slash(world.help, "ask", question="?")
    assert [m.content for m in world.help.history() if not m.flags.ephemeral] == ["100 %"]


async def test_a_command_that_breaks_is_told_to_the_caller(world, recorder, caplog):
    async def broken(command, responder):
        raise RuntimeError("no engine today")

    recorder.on_command = broken
    result = await world.alice.slash(world.help, "ask", question="?")
    assert result.response.content == ThreadloreError.told and "no engine today" in caplog.text


async def test_a_command_without_reply_leaves_no_waiting_sign(world, recorder):
    result = await world.alice.slash(world.help, "ask", question="?")
    assert result.response is None


async def test_ask_in_a_direct_message(world, recorder):
    await world.alice.user.slash("ask", question="where is the config?")
    [command] = recorder.of("command")
    assert command.scope.kind == "direct" and command.where.thread == ""


async def test_what_was_left_unanswered_is_taken_up_once(world, recorder, platform):
    assert recorder.of("resume") == [platform.chat]
    await platform.on_ready()
    assert recorder.of("resume") == [platform.chat]


async def test_releases_are_offered_while_one_types(world, recorder, platform):
    ann = world.alice
    offered = await ann.autocomplete(world.help, "ask", "release", "", question="How do I start?")
    assert [choice["value"] for choice in offered] == ["2.0", "1.0"], "the newest first, those that answer"
    assert [c["value"] for c in await ann.autocomplete(world.help, "ask", "release", "1")] == ["1.0"]
    await ann.slash(world.help, "ask", question="How do I start?", release="1.0")
    await ann.slash(world.help, "ask", question="How do I start?", release="9.9")
    told = [(command.text, command.release) for command in recorder.of("command")]
    assert told == [("How do I start?", "1.0"), ("How do I start? (9.9)", "")]


async def test_releases_are_offered_for_ones_own_and_a_channels_too(world, recorder, platform):
    for command in ("me", "default-release"):
        offered = await world.alice.autocomplete(world.help, f"threadlore {command}", "release", "2")
        assert [choice["value"] for choice in offered] == ["2.0"]
    await world.alice.slash(world.help, "threadlore me", release="1.0")
    await world.alice.slash(world.help, "threadlore default-release", release="1.0")
    assert [c.text for c in recorder.of("command")] == ["me 1.0", "default-release --release 1.0"]


async def test_a_command_that_discord_acknowledged_unheard_is_carried_out(world, recorder):
    """After a 5xx discord.py asks again, and hears that the interaction is acknowledged already."""
    world.env.inject_error("POST", "/interactions/*", status=400, code=40060, message="acknowledged")
    await world.alice.slash(world.help, "ask", question="how?")
    assert [command.text for command in recorder.of("command")] == ["how?"]
