"""The script: every scenario with what is expected, in groups.

A function is a journey test where one says the same on every platform already; the others stand in the
modules beside this one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.journeys import (
    test_controls,
    test_forgetting,
    test_people,
    test_questions,
    test_share,
    test_slash,
    test_talk,
    test_votes,
)
from tests.scenarios import asking, memory, model, once
from tests.scenarios.scenario import Scenario

Play = Callable[..., Awaitable[None]]

# fmt: off
_SCRIPT: dict[str, tuple[tuple[str, Play, str], ...]] = {
    "Ways to ask": (
        ("mention", test_questions.test_a_mention_is_answered_in_its_thread_for_the_latest_release,
         "one cited answer in the thread, for the latest release, with boxes for votes"),
        ("thread reply without a mention", test_talk.test_the_asker_follows_up_without_a_mention,
         "who asked is answered on; the release named in the thread holds on"),
        ("direct message", test_talk.test_direct_messages_are_answered_without_a_mention_and_not_remembered,
         "answered without a mention, follow-up too; votes leave nothing in memory"),
        ("/ask", test_slash.test_ask_is_answered_to_the_caller_alone, "only the caller sees the answer"),
        ("/ask and Share", test_share.test_an_answer_to_one_person_is_shared_once_with_its_question,
         "everybody sees question and answer, once however often it is pressed"),
        ("vote under a private answer", test_share.test_a_vote_under_an_answer_to_one_person_counts,
         "it counts as any vote does"),
        ("Answer this", asking.answer_this,
         "the message's words are asked, for one person; Share puts it below"),
        ("channel mode off", asking.mode_off, "even a mention is left alone; other places are served"),
        ("channel mode mentions", asking.mode_mentions, "a question without a mention is left alone"),
        ("channel mode questions", asking.mode_questions,
         "questions are answered; other words and threads not"),
        ("channel mode forum", asking.mode_forum, "every new post is answered"),
        ("empty mention", asking.empty_mention, "nothing is said, and the next question is answered"),
        ("unicode and emoji", asking.unicode_and_emoji, "answered like any other, and no sign is lost"),
    ),
    "Releases and honesty": (
        ("named release", test_questions.test_a_named_release_is_the_one_that_answers,
         "its pages answer, and no other's"),
        ("comparison of two releases", test_questions.test_a_comparison_is_answered_from_both_releases,
         "both values, both named"),
        ("unknown release", test_questions.test_an_unknown_release_is_refused_with_those_there_are,
         "refused, with those there are"),
        ("abstention",
         test_questions.test_what_the_pages_do_not_hold_is_the_fixed_phrase_with_the_nearest_pages,
         "\"I don't know.\" with the nearest pages"),
        ("another release by menu",
         test_controls.test_the_menu_asks_again_for_another_release_in_a_reply_of_its_own,
         "a reply of its own, votes of its own, once"),
        ("another release than the one named",
         test_controls.test_another_release_replaces_the_one_that_was_named,
         "the chosen release answers"),
        ("why", test_controls.test_why_tells_one_person_what_led_to_an_answer,
         "route, release and pages, to who pressed alone"),
    ),
    "Talk": (
        ("pronoun in a follow-up", asking.pronoun, "\"it\" is what was asked about before"),
        ("people among themselves", test_talk.test_the_bot_stays_out_of_talk_between_people,
         "the bot stays out until it is called"),
        ("a message that only thanks", asking.thanks, "nothing is said; what asks on is answered"),
        ("somebody else's press", test_controls.test_a_press_of_somebody_else_does_not_take_the_thread_over,
         "who asked goes on being heard"),
        ("two questions at once in a thread", asking.two_at_once,
         "each is answered once, for its own release"),
        ("four people at once", asking.at_once_in_a_crowd, "each gets one answer"),
    ),
    "Once, whatever happens": (
        ("one event comes four times", once.retries, "one answer"),
        ("two events for one mention", once.two_events, "one answer, one call of the model"),
        ("messages of bots", asking.bots_are_not_answered, "never answered, not even in a forum"),
        ("the bot's own words", asking.own_messages, "an answer that asks the bot starts no loop"),
        ("question edited within a minute", test_talk.test_an_edited_question_is_answered_anew_in_place,
         "answered anew in the same message"),
        ("question edited later", once.edited_late, "its answer stays"),
        ("question deleted", test_talk.test_a_deleted_question_takes_its_answer_with_it, "the answer goes"),
        ("answer deleted", test_controls.test_the_asker_and_admins_delete_an_answer_and_nobody_else,
         "by who asked and by admins; others are refused"),
        ("rate limit", once.rate_limit, "told once to slow down; others are served"),
        ("restart in mid-answer", once.restarted, "says so, then answers in the same message"),
        ("buttons after a restart", once.controls_after_restart, "they work"),
    ),
    "Votes and memory": (
        ("👍 by reaction", test_votes.test_an_up_voted_answer_is_reused_without_the_model,
         "reused for the same release with no call of the model"),
        ("👍 taken back", test_votes.test_a_vote_that_is_taken_back_makes_the_answer_neutral_again,
         "neither good nor bad"),
        ("👎 by reaction", test_votes.test_a_down_voted_answer_is_named_as_what_not_to_repeat,
         "the model is told not to repeat it; taken off, no more"),
        ("vote changed", test_votes.test_a_second_vote_of_the_same_person_replaces_the_first,
         "the last counts"),
        ("votes by button", test_controls.test_a_pressed_thumb_is_a_vote_and_the_latest_counts,
         "👍, 👎, 👍: each replaces the one before"),
        ("button and reaction", test_controls.test_a_button_and_a_reaction_of_one_person_are_one_opinion,
         "one opinion"),
        ("vote of somebody else", memory.vote_of_somebody_else, "it counts, and who asked weighs more"),
        ("flood of votes", memory.flood_of_votes, "beyond the limit they are kept but move nothing"),
        ("private channel", test_votes.test_what_was_learnt_in_private_is_recalled_only_there,
         "what was learnt there is told there alone"),
        ("direct message is not remembered", memory.direct_is_never_remembered,
         "neither reaction nor button leaves anything"),
        ("channel made private", memory.channel_made_private, "it takes what it taught along"),
        ("forget me", test_forgetting.test_everybody_may_be_forgotten_and_is_asked_to_confirm,
         "asks to confirm, forgets; others only by admins"),
    ),
    "People's answers": (
        ("form without a better answer",
         test_controls.test_a_pressed_thumb_down_counts_at_once_and_opens_the_form,
         "👎 counts at once; Why? tells what was wrong"),
        ("better answer of anybody", test_controls.test_a_better_answer_of_anybody_is_kept_for_admins,
         "kept for admins, not told"),
        ("better answer of a helper", test_controls.test_a_better_answer_of_a_helper_is_reused_in_their_name,
         "reused in their name"),
        ("helper's ✅", test_people.test_what_a_helper_accepts_is_reused_in_its_authors_name,
         "the message is the answer from then on, with name and link"),
        ("✅ of anybody else", test_people.test_a_mark_of_anybody_else_does_nothing, "does nothing"),
        ("helper's ✅ taken off", test_people.test_it_is_forgotten_when_the_last_helper_takes_the_mark_off,
         "forgotten; put on again, remembered again"),
        ("❌ by the author", test_people.test_an_author_who_objects_is_not_remembered_now_or_later,
         "forgotten for good"),
        ("accepted message edited and deleted",
         test_people.test_a_remembered_message_follows_its_edits_and_goes_when_deleted,
         "memory follows"),
        ("helper's ✅ on the bot's answer", test_people.test_a_helpers_mark_on_the_bots_answer_is_their_vote,
         "their vote"),
    ),
    "Model and messages": (
        ("model down", model.model_down, "a whole answer that quotes and says so"),
        ("model dies in mid-stream", model.model_dies, "nothing of the torn words is left"),
        ("model hangs", model.model_hangs, "given up in time; a whole answer that quotes"),
        ("model slow", model.signs_of_work, "a sign at once, then the pages, then the words"),
        ("long answer", model.long_answer, "several messages, nothing lost, controls under the last"),
        ("code fences", model.code_fences, "no message leaves one open; the language is said again"),
        ("no ping", model.no_ping, "neither a page nor the model can call anybody"),
    ),
    "Commands": (
        ("status and releases for admins", test_slash.test_admins_see_status_and_releases,
         "told to them alone"),
        ("commands of others", test_slash.test_others_are_refused, "refused, nothing is begun"),
        ("reindex", test_slash.test_reindex_answers_at_once_and_shows_its_progress_in_one_message,
         "progress in one message; the old pages answer meanwhile"),
        ("reindex of an unknown release", test_slash.test_an_unknown_release_is_not_reindexed,
         "told which there are"),
    ),
}
# fmt: on

GROUPS = {
    group: tuple(Scenario(name, expects, play) for name, play, expects in members)
    for group, members in _SCRIPT.items()
}
SCENARIOS = tuple(scenario for members in GROUPS.values() for scenario in members)
