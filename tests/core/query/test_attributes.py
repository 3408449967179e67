"""The predictor of questions whose answer changes soon: its shipped weights, and new questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import UsageError
from core.models.embedding.encoder import Encoders
from core.query.attributes import ENCODER, WEIGHTS, load, save, shipped
from evaluation.tuning.attributes import fitted, labelled, measured

STATIC = """How do I read a file in chunks?|What does the strict flag change?
Which port does the web interface use?|Why is the second argument ignored?
How do I list all routes?|Can I call a command from another command?
What is the longest allowed name?|How do I stop the server from a test?|Where is the cache kept?
What is the default time-out of a session?|How do I add a header to each response?
What replaced the old API in 3.0?|How do I undo the last commit?|Which option turns off colours?
How do I show a progress bar?
Is the configuration read at import?|What does error E1101 mean?|How do I pass a list as an option?
How do I serve static files?|Does the parser keep comments?
And for the second argument?|How do I nest two menus?|What is a webhook?
Which signal is sent when a worker stops?
Why does the page flicker on load?|How do I round to two digits?|Can I override the favicon?
What about the old syntax?
What is the difference between a cookie and a session?|Where does pip keep its cache?"""
DYNAMIC = """Is the forum down today?|Which version is the latest one right now?
When does the next version come out?|Has issue 88 been fixed yet?|How much is the enterprise plan these days?
Are there any outages at the moment?
Who maintains the project currently?|How many people starred it this month?|Is the new dashboard live yet?
What is the dollar at today?|Did the release go out last night?|When is the next meetup?
Is the mirror back up?|How busy is the cluster right now?|Is the registry slow for everybody today?
What is the newest security advisory?|How many issues are open at present?|Will the patch ship this week?
Who won yesterday's match?|What is the weather in Oslo today?
Is search broken at the moment?|When will my account be unlocked?|What is the newest build number?
Has the incident been closed?|Which version did you deploy yesterday?|How many jobs are waiting now?
Is the sale still on?|Who has the most commits this week?|Is the nightly delayed?
What is the latest on the merger?"""

LATER_STATIC = """how do i make flask reload templates without restarting
why does my blueprint 404 when i set url_prefix|can click read an option from an env var
whats the diff between app.run and flask run|my decorator eats the return value, what did i miss
is there a limit on upload size by default|does session.permanent survive a browser restart
how would I mock a database in a fixture|which python versions does 2.3 support
where do the logs go when i run it under systemd
what happens if two plugins register the same hook|can I use async views with gunicorn
how to turn a csv into json with this|Should I commit the lock file?|what does exit code 137 mean
is it safe to call this from several threads
I get "working outside of application context", how come
how do you spell the setting for samesite cookies|When was the old router removed?
what is the maximum length of a channel name|does it work behind a corporate proxy
how can i tell which config file was loaded|rename a column without losing data?
what's the recommended folder layout|why use a factory instead of a global app
why does the test client forget my cookies|in which order do middlewares run
do I need to close the session myself|and how would that look with a class based view
can I get the current user inside a template"""
LATER_DYNAMIC = """is github having problems or is it just me|did anyone get the 3.2 beta yet
when is the code freeze for this release|is CI red for everyone this morning
what's the newest stable version|who is on call this weekend
how long is the waiting list for the beta at the moment|any news on the memory leak ticket?
has the fix for #4512 been merged|is the staging server up again|which sprint are we in
what does the pro plan cost now|how many open PRs do we have|is the docs site down
when's the next community call|are there still tickets for the conference
who is the current release manager|is pypi slow today or is it my network
what is trending on the forum this week|has the maintainer answered yet
what's the ETA for python 3.14 support|is the rate limit lowered because of the incident still
how far along is the migration|what was decided in yesterday's meeting
which job is blocking the queue right now|is the discount still valid|did the nightly build pass
how many people are online|what's bitcoin trading at|is the new logo out already"""
"""Written a day after the weights, in the words of chats, without a look at what these learned from."""


def listed(lines: str) -> list[str]:
    return [question for line in lines.split("\n") for question in line.split("|")]


async def test_the_weights_are_those_of_the_shipped_questions_and_tell_new_ones_apart(tmp_path: Path) -> None:
    encoders = Encoders(ENCODER, tmp_path)
    encoder = await encoders.current()
    questions, labels = labelled()
    static, dynamic = listed(STATIC), listed(DYNAMIC)
    assert not {*static, *dynamic} & {*questions} and len(static) == len(dynamic) == 30
    vectors = await encoder.encode([*questions, *static, *dynamic])
    seen, new = vectors[: len(questions)], vectors[len(questions) :]
    kept = json.loads(WEIGHTS.read_text("utf-8"))
    again = fitted(seen, labels)
    assert kept["weights"] == pytest.approx(again["weights"], abs=0.02)
    accuracy, f1 = measured(seen, labels)
    assert accuracy > 0.96 and f1 > 0.96
    assert shipped().knows(encoder.name) and not shipped().knows("another@1")
    said = [shipped().is_dynamic(vector) for vector in new]
    right = sum(answer == (place >= 30) for place, answer in enumerate(said))
    assert right >= 57
    later = [*listed(LATER_STATIC), *listed(LATER_DYNAMIC)]
    assert len(later) == 60 and not {*later} & {*questions, *static, *dynamic}
    said = [shipped().is_dynamic(vector) for vector in await encoder.encode(later)]
    assert sum(answer == (place >= 30) for place, answer in enumerate(said)) >= 57, (
        "58 when they were written"
    )
    encoders.close()


def test_a_home_s_own_predictor_is_used_and_a_broken_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "attributes.json"
    assert load(path) == (shipped(), "")
    save(path, "other@2", {"weights": [1.0, 0.0], "bias": -0.5})
    own, problem = load(path)
    assert own.knows("other@2") and not problem
    assert [own.is_dynamic(np.array(row, np.float32)) for row in ([1, 0], [0, 1])] == [True, False]
    for broken in ("{", "[]", '{"encoder": "x", "bias": 0, "weights": [null]}', '{"weights": []}'):
        path.write_text(broken)
        kept, problem = load(path)
        assert kept is shipped() and "train-attributes" in problem


@pytest.mark.parametrize("text", ["static = [", 'static = ["a"]', "", 'static = ["a"]\ndynamic = ["b"]'])
def test_a_file_with_too_little_says_what_it_needs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"own\.toml"):
        labelled(path)
