"""The predictor of questions whose answer changes soon: its shipped weights, and new questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import UsageError
from core.query.attributes import ENCODER, WEIGHTS, load, save, shipped
from evaluation.tuning.attributes import (
    fitted,
    fitted_domains,
    labelled,
    labelled_by_domain,
    measured,
    measured_domains,
)
from tests.shared_vectors import one_for_all

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


async def test_the_weights_are_those_of_the_shipped_questions_and_tell_new_ones_apart(
    encoder_cache: Path,
) -> None:
    encoder = one_for_all(ENCODER, encoder_cache)
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


def test_a_home_s_own_predictor_is_used_and_a_broken_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "attributes.json"
    assert load(path) == (shipped(), "")
    save(path, "other@2", {"weights": [1.0, 0.0], "bias": -0.5})
    own, problem = load(path)
    assert own.knows("other@2") and not problem
    assert [own.is_dynamic(np.array(row, np.float32)) for row in ([1, 0], [0, 1])] == [True, False]
    for broken in (
        '{"encoder": "x", "bias": 0, "weights": [1], "domains": {"a": {}}}',
        "{",
        "[]",
        '{"encoder": "x", "bias": 0, "weights": [null]}',
        '{"weights": []}',
    ):
        path.write_text(broken)
        kept, problem = load(path)
        assert kept is shipped() and "train-attributes" in problem


DOMAINS = {
    "deployment": """how do i run it behind nginx|which ports must the container open
does it work on kubernetes|how many gunicorn workers do I need|how is the service restarted after a reboot
can the docker image run without root|where does systemd write the logs
how do I roll back a release on the server
is there a health check for the load balancer|how do i set environment variables in production
how much memory does the host need|how do I terminate TLS at the proxy""",
    "testing": """how do I write a fixture for the database|can a test client keep cookies
how do i mock the clock in unit tests|why does pytest not find my tests
how is coverage measured for subprocesses
can tests run in parallel|how do I assert that an exception is raised|how do I skip a slow test
what is the scope of a fixture|how to parametrize a test case|why is my test flaky
how do I capture output in a test""",
    "licensing": """may I use it in a commercial product|which licence has the logo
do I have to publish my changes|is the GPL compatible with this|who holds the copyright
must I mention the authors|what does the Apache licence say about patents|can I relicense a fork
do contributors sign an agreement|is there a fee for companies|may we redistribute the binaries
which licences do the dependencies have""",
}


async def test_domains_of_a_labelled_file_are_learned_and_told_of_new_questions(
    tmp_path: Path, encoder_cache: Path
) -> None:
    path = tmp_path / "own.toml"
    rows = [f"{name} = {json.dumps(listed(lines))}" for name, lines in DOMAINS.items()]
    path.write_text("\n".join(["[domains]", *rows]))
    questions, domains = labelled_by_domain(path)
    assert len(questions) == 36 and domains[0] == "deployment" and domains[-1] == "licensing"
    encoder = one_for_all(ENCODER, encoder_cache)
    vectors = await encoder.encode([*questions, "how do I deploy it to a server", "may companies sell it"])
    accuracy, f1 = measured_domains(vectors[:36], domains)
    assert accuracy > 0.85 and f1 > 0.85, "both .944 when they were written"
    home = tmp_path / "attributes.json"
    save(home, encoder.name, {"weights": [0.0], "bias": 0, "domains": fitted_domains(vectors[:36], domains)})
    own, problem = load(home)
    assert not problem and [own.domain(vector) for vector in vectors[36:]] == ["deployment", "licensing"]
    assert shipped().domain(vectors[0]) == "", "none are shipped"
    shuffled = [domains[at * 7 % 36] for at in range(36)]
    assert measured_domains(vectors[:36], shuffled)[0] < 0.6, "labels without sense are not learned"


@pytest.mark.parametrize(
    "text", ["domains = 1", "[domains]", '[domains]\na = ["q"]\nb = ["q"]', "[domains]\na = 1\nb = 2", "x ="]
)
def test_domains_that_cannot_be_learned_say_what_they_need(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"own\.toml"):
        labelled_by_domain(path)
    path.write_text("static = []")
    assert labelled_by_domain(path) == ([], [])


@pytest.mark.parametrize("text", ["static = [", 'static = ["a"]', "", 'static = ["a"]\ndynamic = ["b"]'])
def test_a_file_with_too_little_says_what_it_needs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"own\.toml"):
        labelled(path)


@pytest.mark.parametrize("text", ["static = 3", "static = 'abcdefghijkl'", "static = [1,2,3,4,5,6,7,8,9,10]"])
def test_lists_of_anything_but_texts_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "labelled.toml"
    many = json.dumps([f"q{number}" for number in range(10)])
    path.write_text(f"{text}\ndynamic = {many}\n", "utf-8")
    with pytest.raises(UsageError, match="needs lists `static` and `dynamic`"):
        labelled(path)
    path.write_text(f"\ufeffstatic = {many}\ndynamic = {many}\n", "utf-8")
    assert len(labelled(path)[0]) == 20
