"""Posts that ask for help, and those that only look like it."""

from __future__ import annotations

import pytest

from core.query.asking import asks_default, asks_for_help, asks_price, is_of_the_moment, versus


@pytest.mark.parametrize(
    "text",
    [
        "Which port does the dashboard listen on?",
        "how do I change the number of retries",
        "Hi all! How do I return JSON with a status code?",
        "Does anyone know how to protect the dashboard with a password?",
        "can somebody explain what a worker does?",
        "is there a way to run a job every night",
        "So, where do workers write their log to?",
        "How do you nest blueprints?",
        "I read the docs twice. What does `retry_limit` do?",
        "I have this:\n```python\nopen = a ? b : c\n```\nWhy do I get an error there?",
    ],
)
def test_what_a_manual_could_say_is_asked_for(text: str) -> None:
    assert asks_for_help(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have moved the dashboard behind the proxy.",
        "How was everybody's weekend?",
        "who is going to the meetup on Friday?",
        "Who needs an ORM when you have raw SQL, right?",
        "What could possibly go wrong with debug mode?",
        "isn't it lovely how small a job can be?",
        "What do you think about async views?",
        "Which editor do you prefer for this?",
        "Is there a good book on job queues?",
        "Want to speak at our meetup? Write to me.",
        'Meetup on Thursday: "How do workers really work?" Doors open at 18:30.',
        "Did I just spend all night on a comma? Yes, I did.",
        "How we cut our deploy time by 80 %: https://example.org/deploys",
        "SELECT * FROM users WHERE id = ?;",
        "https://example.org/search?q=how+does+it+work&page=2",
        "```python\n# what does this do? see the docs\nrun()\n```",
        "> How do I open the dashboard?\n\nThat was asked before.",
        "Can anyone help me?",
        "Could somebody review my pull request?",
        "why?",
    ],
)
def test_other_posts_are_left_alone(text: str) -> None:
    assert not asks_for_help(text)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("is github down right now? push hangs", True),
        ("how many people downloaded it last week", True),
        ("can someone look at my pull request, its waiting since monday", True),
        ("how much is the pro plan per year", False),
        ("how many people upgraded last week", True),
        ("is the registry ok today", True),
        ("is it working again today", True),
        ("it worked before. is the server down today?", True),
        ("was a new version deployed yesterday?", True),
        ("who updated the registry last week", True),
        ("do we get a new release this week", True),
        ("is kettle.dev down at the moment i get nothing", True),
        ("same code ran fine last year", False),
        ("file is not a database. i can swear it worked yesterday", False),
        ("a user that can read every table, also the ones we create next month", False),
        ("delete his addresses too, right now it just sets the id to null", False),
        ("run a task every monday at 7:30", False),
        ("how do I get the current request?", False),
        ("```\nprint('right now')\n```\nwhy is it empty?", False),
    ],
)
def test_what_is_so_just_now_is_told_by_its_words(text: str, is_so: bool) -> None:
    assert is_of_the_moment(text) is is_so


def test_a_price_is_asked_for_that_no_page_tells() -> None:
    asked = "what does the hosted cloud cost a month for 2 units"
    assert asks_price(asked, ["The cloud is hosted.", "It needs 2 units."])
    assert not asks_price(asked, ["A unit is $9 a month."])
    for other in (
        "how much memory does a spider cost per request",
        "how do I charge customers a fee per month",
    ):
        assert not asks_price(other, [])


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("USE_TZ isnt in my settings at all. so is it on or off", True),
        ("how often does it try again b4 it gives up if i dont set anything", True),
        ("does it care about robots txt by itself or do i have to switch that on", True),
        ("what is the timeout by default", True),
        ("cache.set('x', 1) and no time given, how long will that stay", True),
        ("what does it do without any extra arguments", True),
        ("can I run it without any database", False),
        ("how do I set the timeout", False),
        ("it fails if the file is not set up", False),
    ],
)
def test_what_holds_where_nobody_set_it_is_told_by_its_words(text: str, is_so: bool) -> None:
    assert asks_default(text) is is_so


@pytest.mark.parametrize(
    ("text", "two"),
    [
        (
            "whats the difference between cache.get and cache.get_many() in kettle",
            ("cache.get", "cache.get_many()"),
        ),
        ("boil vs warm whats the difference", ("boil", "warm")),
        ("what's the diff boil vs warm", ("boil", "warm")),
        ("what is the difference boil vs warm", ("boil", "warm")),
        ("difference of a spout and a lid?", ("spout", "lid")),
        ("how is a spout different from the lid", ("spout", "lid")),
        ("left.right vs. right.left, which one when", ("left.right", "right.left")),
        ("the panel in vs code is empty although it is on", None),
        ("what differs between kettles", None),
        ("boil or warm?", None),
        ("boil or warm, whats the diff? which one at night", ("boil", "warm")),
        ("kettle.boil or kettle.warm - which one do i want", ("kettle.boil", "kettle.warm")),
        ("should i boil or warm it, which is better", None),
    ],
)
def test_two_things_that_are_set_against_each_other_are_known(text: str, two: tuple[str, str] | None) -> None:
    assert versus(text) == two
