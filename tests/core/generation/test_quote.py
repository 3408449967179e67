from dataclasses import replace

import pytest

from core.domain import Evidence
from core.errors import ModelBusy, ModelUnavailable
from core.generation.citations import uncited
from core.generation.quotes.blocks import Block, terms
from core.generation.quotes.quote import (
    _WHAT_IS,
    Quoted,
    introduction,
    quote,
    why_unwritten,
    without_introduction,
)
from core.generation.quotes.sections import Whole
from core.generation.quotes.stretches import Stretch, begun, stretches
from core.generation.quotes.weighing import Asked, Read
from core.generation.quotes.writing import Piece, written, written_all
from core.languages import speaking
from core.text.words import query_terms
from tests.core.generation.samples import SESSIONS, UPLOADS, evidence
from tests.processor import at_most

RARE = {"secret": 4.0, "key": 2.0, "session": 3.0, "upload": 4.0, "file": 2.0, "secret_key": 6.0}
DECORATOR = """\
A decorator wraps a function. Use `wraps()` to keep its name.

This example takes the name of the user from `g.user`.

```python
def login_required(f):
    return wraps(f)(f)
```

To use the decorator, put it under the route.

```python
@login_required
def secret(): ...
```"""


def weight(term: str) -> float:
    return RARE.get(term, 0.5)


def asked(question: str, *found: object, **given: object) -> Quoted:
    return quote(query_terms(question), found, weight, "Flask", "3.1", **given)


def ask(question: str, *found: object, **given: object) -> tuple[str, tuple]:
    quoted = asked(question, *found, **given)
    return quoted.text, quoted.citations


def near(*pages: tuple[Evidence, float]) -> dict[str, Whole]:
    return {item.chunk.id: Whole(item.chunk.page, [(item.chunk.page, cosine)]) for item, cosine in pages}


def test_what_is_read_once_tells_of_every_question_what_the_section_does() -> None:
    found = stretches(DECORATOR)
    for stretch in found:
        said = list(terms(stretch.said))
        for wanted in ({"us", "user", "decor", "nothing"}, {"g"}, set[str]()):
            assert Read.of(stretch).order(wanted) == [term for term in said if term in wanted]
    windows = ["To use the decorator, put it under the route.", "Something else."]
    (at,) = [n for n, one in enumerate(found) if "under the route" in one.said]
    assert begun(found, windows) == ((at,), ())


# --- a section, not fragments ---------------------------------------------------------------------


def test_the_best_section_is_quoted_from_its_beginning_with_its_code() -> None:
    first = evidence(1, DECORATOR, heading="Decorators > Login Required Decorator", score=17.0)
    second = evidence(2, "The `login_required` decorator is used by the blog.", heading="Create", score=16.0)
    text, citations = ask(
        "login required decorator", first, second, sections=near((first, 0.7), (second, 0.5))
    )
    assert text.startswith("**Quickstart › Login Required Decorator**\n> A decorator wraps a function.")
    assert text.count("```python") == 2 and text.endswith("def secret(): ...\n```")
    assert "> To use the decorator, put it under the route. [1]" in text and "> ```" not in text
    assert [(c.number, c.title) for c in citations] == [(1, "Quickstart › Login Required Decorator")]
    assert "There is more" not in text


LONG = "\n\n".join(
    [
        f"Uploads are a long story, and this is its paragraph number {n}. It goes on for a while." * 6
        for n in range(3)
    ]
    + [
        "Other words lead on.",
        "Set the limit of a form like this:",
        "```\nLIMIT = 16\n```",
        "It is in megabytes.",
    ]
    + [f"Nothing of interest stands in this paragraph {n}, which is long enough." * 8 for n in range(3)]
)


def test_of_a_long_section_the_part_is_quoted_that_holds_the_answer_and_says_that_there_is_more() -> None:
    text, _ = ask("limit form", evidence(1, LONG, heading="Uploads"))
    assert text == (
        "**Quickstart › Uploads**\n> Set the limit of a form like this:\n\n```\nLIMIT = 16\n```\n\n"
        "> It is in megabytes. [1]\n\nThere is more on this page. [1]"
    )


def test_a_section_that_was_cut_into_pages_is_read_whole() -> None:
    first, last = "You set the secret key like this:", "```\napp.secret_key = 1\n```"
    cut = evidence(1, last)
    text, _ = ask("secret key session", cut, sections={cut.chunk.id: Whole(f"{first}\n\n{last}")})
    assert text.startswith(f"**Quickstart › Sessions**\n> {first[:-1]} [1]:\n\n```")


FILLER = " ".join(["Nothing of this is about it, and it takes a good deal of room."] * 11)


def test_the_code_of_a_long_section_is_fetched_from_before_and_behind_what_answers() -> None:
    code = "```python\nsession['key'] = 1\n```"
    said = "The session keeps a secret key."
    lead = "\n\n".join([FILLER] * 5)
    behind = "\n\n".join([lead, said, FILLER, f"Here it is:\n\n{code}", FILLER])
    before = "\n\n".join([lead, f"Here it is:\n\n{code}", said, FILLER, FILLER])
    for section in (behind, before):
        text, _ = ask("secret key session", evidence(1, section, heading="Elsewhere"))
        assert said in text and code in text and FILLER not in text


def test_a_quote_begins_where_its_section_does_as_far_as_there_is_room() -> None:
    said = "Start the upload with a secret key, which takes the place of the password."
    section = "\n\n".join([FILLER, said, FILLER])
    assert ask("upload secret key", evidence(1, section))[0].count(FILLER) == 1
    far = "\n\n".join([FILLER, FILLER, said, FILLER])
    assert FILLER not in ask("upload secret key", evidence(1, far))[0]
    lent = "\n\n".join([FILLER, FILLER, f"Alternatively, s{said[1:]}", FILLER])
    assert ask("upload secret key", evidence(1, lent))[0].count(FILLER) == 1, "it leans on what stands before"


def test_what_explains_the_answer_goes_before_what_leads_there() -> None:
    leads = [f"Step {n}: the file is put where the upload looks for it, {'slowly ' * 60}." for n in range(3)]
    said = "Start the upload with a secret key:\n\n```\nupload --key 4\n```"
    told = "The key of the upload is as long as the secret, four being a good beginning for the file."
    text, _ = ask("upload secret key", evidence(1, "\n\n".join([*leads, said, told, FILLER, FILLER])))
    assert said.partition(":")[0] in text and told in text and "Step 0" not in text


def test_a_section_that_says_it_in_other_words_is_quoted_from_where_it_is_as_likely() -> None:
    parts = ["Look inside by `inspect()`.", FILLER, FILLER, "Press a key to end it and go on with the rest."]
    asked_for = "peek breakpoint halfway secret upload file key"
    for worth, begins in ((0.58, True), (0.3, False)):
        found = evidence(1, "\n\n".join(parts), heading="Elsewhere")
        whole = Whole(found.chunk.page, [(parts[0], worth), (parts[-1], 0.5)])
        assert ("inspect()" in ask(asked_for, found, sections={"c1": whole})[0]) is begins


def test_a_number_that_counts_weighs_less_than_one_that_names_something() -> None:
    for number, first in (("1000", "Splitting"), ("404", "Prices")):
        weights = {number: 3.2, "fil": 4.0}
        shown = evidence(1, f"It goes like this:\n\n```\nprice = {number}\n```", heading="Prices", score=10.0)
        told = evidence(2, "A file is split by its limit.", heading="Splitting", score=10.0)
        quoted = quote(query_terms(f"file {number}"), (shown, told), weights.__getitem__, "Flask", "3.1", 1)
        assert quoted.text.startswith(f"**Quickstart › {first}**")


def test_what_follows_a_pasted_error_is_quoted_with_it() -> None:
    error = "RuntimeError: the secret key of the session was lost before the upload of the file began"
    told = "Push a context first."
    section = "\n\n".join([FILLER, f"You may see this:\n\n```\n{error}\n```", told, FILLER, FILLER])
    text, _ = ask(error, evidence(1, section))
    assert error in text and told in text


def test_numbered_steps_stay_together_and_a_short_list_with_its_paragraph() -> None:
    steps = "1. Install it.\n2. Upload the secret file.\n3. Restart."
    text, _ = ask("upload secret file", evidence(1, f"{steps}\n\n{FILLER}"))
    assert "1. Install it." in text and "3. Restart." in text
    points = "Uploads go by name.\n\n- The key is kept.\n\n- But the secret file is not."
    text, _ = ask("upload secret file", evidence(1, f"{points}\n\n{FILLER}\n\n{FILLER}"))
    assert "The key is kept." in text and "But the secret file is not." in text


def test_the_beginning_of_a_section_is_quoted_where_its_heading_is_what_is_asked() -> None:
    last = "The upload of a file needs a secret."
    section = "\n\n".join(["It takes them in.", FILLER, FILLER, last])
    begins = ask("file upload", evidence(1, section, heading="File Upload"))[0]
    elsewhere = ask("file upload", evidence(1, section, heading="Various Other Things"))[0]
    assert last in begins and "It takes them in." in begins
    assert last in elsewhere and "It takes them in." not in elsewhere


def test_a_short_beginning_is_quoted_where_the_heading_has_a_word_of_the_question() -> None:
    last = "The upload of a file needs a secret."

    def quoted(begins: str, heading: str = "Various Upload Things") -> str:
        page = "\n\n".join([begins, FILLER, FILLER, last])
        return ask("file upload", evidence(1, page, heading=heading))[0]

    short = "It takes them in."
    assert quoted(short).index(short) < quoted(short).index(last) and FILLER not in quoted(short)
    assert short not in quoted(short, "Various Other Things")
    long = short + " Whoever has much to say says it slowly." * 8
    assert short not in quoted(long)
    assert "Do this" not in quoted("- Do this.") and short not in quoted(short, "Version 2.3: Upload")


def test_where_the_first_section_hardly_holds_the_question_others_are_shown_too() -> None:
    first = evidence(1, "The exit code is a number.", heading="Code", score=9.0)
    second = evidence(2, "An interrupted program says so.", heading="Where it ends", score=8.8)
    quoted = asked("exit secret upload session", first, second)
    assert [c.title.rpartition(" › ")[2] for c in quoted.citations] == ["Code", "Where it ends"]
    assert quoted.held == asked("exit secret upload session", first).held < 0.5
    far = evidence(2, "An interrupted program says so.", heading="Where it ends", score=5.0)
    assert len(asked("exit secret upload session", first, far).citations) == 1


def test_a_section_that_introduces_what_is_asked_shows_its_first_part_with_code() -> None:
    above = "Tools > Secret"
    first = evidence(1, "It tidies the secret of a file. It fights with others.", heading=above, score=9.0)
    told = evidence(2, "Why that is so has reasons.", heading=f"{above} > Why", score=9.0)
    shown = evidence(3, "Set it:\n\n```\nprofile = calm\n```", heading=f"{above} > Profile", score=9.0)
    again = evidence(4, "Set it, too:\n\n```\nprofile = old\n```", heading=f"{above} > Old", score=9.0)
    under = {first.chunk.id: (told, shown, again)}
    text, cited = ask("tidying secret", first, under=under)
    assert "It tidies" in text and "profile = calm" in text and "profile = old" not in text
    assert [one.title.rpartition(" › ")[2] for one in cited] == ["Secret", "Profile"]
    text, _ = ask("file fights", first, under=under)
    assert "profile" not in text, "another thing is asked"
    text, _ = ask("tidying secret", first, under={first.chunk.id: (told,)})
    assert "reasons" not in text


def test_the_entry_of_a_setting_in_the_question_goes_first_and_both_where_two_are_asked_for() -> None:
    story = evidence(1, "Raise upload_limit to take in a longer file, a session and a secret.", score=9.0)
    first = evidence(2, "Default: 16.\n\nThe largest there may be.", heading="upload_limit", score=8.5)
    second = evidence(3, "Default: 99.\n\nAll of them together.", heading="upload_total", score=8.5)
    text, cited = ask("upload_limit for a longer file", story, first)
    assert cited[0].title.endswith("upload_limit") and "Default: 16." in text
    text, cited = ask("upload_limit or upload_total", story, first, second)
    assert "Default: 16." in text and "Default: 99." in text
    _, cited = ask("upload_limit for a longer file since when", story, first, marks=True)
    assert not cited[0].title.endswith("upload_limit"), "an entry seldom tells"


def test_where_a_default_is_asked_for_the_entry_that_tells_it_goes_first() -> None:
    zones = "With USE_TZ on or off in the settings, USE_TZ tells at all which zone is in. " * 2
    entry = "Default: `False`\n\nA boolean that tells if datetimes are aware of their zone."
    pages = [evidence(1, zones, heading="Zones"), evidence(2, entry, heading="Settings > USE_TZ")]
    pages = [replace(pages[0], score=1.0), replace(pages[1], score=0.5)]
    question = "USE_TZ is not in my settings at all so is it on or off"
    first = [quote(query_terms(question), pages, weight, "", "3.1", defaults=on).text for on in (False, True)]
    assert first[0].index("tells at all") < (first[0] + "Default").index("Default")
    assert "Default: `False`" in first[1] and "tells at all" not in first[1].partition("Default")[0]


def test_where_a_default_is_asked_for_the_sentence_that_says_it_is_quoted() -> None:
    page = "\n\n".join(
        [
            "The secret key of an upload is kept for each session of the user.",
            FILLER,
            FILLER,
            "The default for a session is 0, and no secret key of an upload is kept.",
            FILLER,
        ]
    )
    question = "secret key of an upload kept for a session of the user"
    told = "The default for a session is 0"
    plain, wanted = (asked(question, evidence(1, page), defaults=on).text for on in (False, True))
    assert told not in plain and told in wanted
    since = asked(question, evidence(1, page), defaults=True, marks=True).text
    assert told not in since, "since when, it is asked"
    notes = asked(question, evidence(1, page, heading="Version 2.3"), defaults=True).text
    assert told not in notes


def test_where_a_version_of_other_software_is_asked_for_the_sentence_that_states_it_is_quoted() -> None:
    stated = "You will need Python. It works on Python 3.6 or later."
    by = "- On Debian type `apt-get install python-dev python-pip` to get python and the python tools."
    page = "\n\n".join([stated, FILLER, FILLER, by, FILLER])
    text = asked("still on python 2.7, can i upgrade to 1.6?", evidence(1, page)).text
    assert stated in text
    assert stated not in asked("install python with the python tools", evidence(1, page)).text
    assert Asked.of("which python do i need", (), product="kettle").needed == "python"
    assert Asked.of("which python do i need", (), product="Python").needed == "", "it is the product itself"


def test_a_label_goes_into_the_paragraph_that_introduces_the_same_code() -> None:
    code = "```python\nupload()\n```"
    text, _ = ask("upload", evidence(1, f"Upload with `upload()`:\n\nExample:\n\n{code}"))
    assert f"> Upload with `upload()` [1]:\n\n{code}" in text
    text, _ = ask("upload", evidence(1, f"Upload with `upload()`:\n\n`main.py`\n\n{code}"))
    assert f"> Upload with `upload()`: `main.py` [1]\n\n{code}" in text


def test_what_announces_a_list_that_stands_elsewhere_is_left_out() -> None:
    sign = "Each has a sign. You can use the following contracts:"
    page = f"What they are.\n\n{sign}\n\nRun them all by the `check` command."
    text, _ = ask("what are contracts for spiders", evidence(1, page, heading="Contracts"))
    assert "Each has a sign." in text and "Run them all" in text and "following" not in text
    page = page.replace("Run them all", "- `@url` names the page.\n\nRun them all")
    assert "following contracts:" in ask("what are contracts", evidence(1, page, heading="Contracts"))[0]
    for told in (
        "Never store the following secret values:\n\nPasswords and tokens and keys of any other service.",
        "It takes one of the following values:\n\n**json** - a format that most of the others read.",
        "To turn it on do the following:\n\nOpen the settings page and press the button called Save.",
    ):
        assert told.partition("\n")[0] in ask("values settings", evidence(1, told, heading="Values"))[0]


def test_a_number_stands_behind_words_and_not_behind_the_label_of_code() -> None:
    shells = "\n\n".join(f"**{shell}:**\n\n```\n$ upload --{shell}\n```" for shell in ("Bash", "Fish"))
    text, _ = ask("upload", evidence(1, f"You upload by a command of your shell.\n\n{shells}"))
    assert "of your shell. [1]\n\n> **Bash:**\n\n```" in text and "> **Fish:**\n\n```" in text


def test_what_leans_on_the_paragraph_before_brings_it_along() -> None:
    page = f"{LONG}\n\nThe client keeps a pool of them.\n\nIt needs a secret key to open one."
    text, _ = ask("secret key", evidence(1, page))
    assert "> The client keeps a pool of them.\n\n> It needs a secret key to open one. [1]" in text


def test_a_bare_example_brings_along_what_it_is_an_example_of() -> None:
    told, shown = "It is read once.", "Example:\n\n```\nsecret_key = upload(file)\n```"
    text, _ = ask("secret key upload", evidence(1, "\n\n".join([FILLER, told, shown, FILLER, FILLER])))
    assert f"> {told}\n\n> Example [1]:\n\n```" in text


def test_where_trouble_is_told_of_the_remedy_is_quoted_with_it() -> None:
    page = (
        f"{'Of something else. ' * 40}\n\nA common pitfall is a session without a secret key. For example:"
        "\n\n```python\napp = Flask()\n```\n\nThen it is not kept.\n\nA common solution is to draw one:\n\n"
        f"```python\napp.draw()\n```\n\n{'Of another thing. ' * 40}"
    )
    text, _ = ask("session without secret key", evidence(1, page))
    assert "A common pitfall" in text and "app.draw()" in text and "another thing" not in text


def test_the_remedy_of_an_error_is_quoted_where_the_question_holds_much_else() -> None:
    page = "\n\n".join(
        [
            "`KeyError: secret` errors indicate that a session has more uploads than it holds. " + FILLER,
            "If you see this, you can solve it by:\n\n- Drawing another one.\n- Uploading less.",
            *[FILLER] * 4,
        ]
    )
    sloppy = "KeyError: secret pops up since my scripts run twice a night on another machine upload session"
    assert "you can solve it by" in ask(sloppy, evidence(1, page, heading="Errors"))[0]
    assert (
        "Uploading less"
        not in ask(sloppy, evidence(1, page.replace("errors indicate", "tells"), heading="Errors"))[0]
    )


def test_an_error_is_quoted_with_how_it_should_be_written() -> None:
    page = (
        "This is an error that occurs when a session has no secret key. It mostly comes of a key that is set"
        f" too late. {'Of its causes. ' * 20}For example:\n\n```python\napp.late()\n```\n\nA session should"
        f" look like this:\n\n```python\napp.early()\n```\n\n{'Of another thing. ' * 40}"
    )
    text, _ = ask("session without secret key", evidence(1, page))
    assert "app.late()" in text and "app.early()" in text and "another thing" not in text


def test_what_a_section_announces_is_quoted_with_what_follows() -> None:
    page = (
        "This section describes what to do about a secret key.\n\nYou draw one at random and keep it.\n"
        f"\nNobody else may read that one.\n\n{FILLER}\n\n{FILLER}\n\n{FILLER}"
    )
    text, _ = ask("secret key", evidence(1, page))
    assert "You draw one" in text and "Nobody else may read" in text
    here, _ = ask("secret key", evidence(1, page.replace("This section describes", "Here we compare")))
    assert "You draw one" in here
    plain, _ = ask("secret key", evidence(1, page.replace("This section describes what", "It is plain what")))
    assert "You draw one" not in plain


def test_the_list_of_a_section_that_is_named_after_what_is_asked_comes_along_whole() -> None:
    points = "\n".join(
        f"- *({one})*: {'This is what it does then, and nothing else. ' * 4}" for one in "abcd"
    )
    tail = "**Tail**\n\nThis is now covered in index."
    more = "Nobody needs to know how that came. " * 16
    page = f"It says what is done with an upload that is there already.\n\n{points}\n\n{more}\n\n{tail}"
    text, _ = ask("upload mode", evidence(1, page, heading="Upload mode"))
    assert all(f"> - *({one})*" in text for one in "abcd") and "Tail" not in text
    elsewhere, _ = ask("upload mode", evidence(1, page, heading="Various other things of it"))
    assert "*(a)*" not in elsewhere and "Tail" not in elsewhere


def test_a_table_of_hundreds_of_lines_is_not_quoted() -> None:
    rows = "\n\n".join(f"```\n{'``OLD_SECRET_KEY``  :setting:`secret_key`' * 40}\n```" for _ in range(4))
    page = f"Old secret keys are read until 6.0.\n\nPlease migrate the secret keys now.\n\n{rows}"
    text, _ = ask("secret keys until", evidence(1, page))
    assert "until 6.0" in text and "OLD_SECRET_KEY" not in text


@pytest.mark.parametrize(
    ("text", "leans"),
    [
        ("kettle looks for a secret key.", False),
        ("kettle is a program.", False),
        ("takes a list of keys.", True),
        ("also needs a list of keys.", True),
        ("it looks for a key.", True),
    ],
)
def test_a_product_in_lower_case_begins_a_sentence(text: str, leans: bool) -> None:
    (_, last) = stretches(f"Other words stand before it.\n\n{text}")
    assert last.leans is leans


def test_a_list_is_quoted_whole_with_what_introduces_it() -> None:
    steps = "\n".join(f"{n}. Step {n} of an upload" for n in range(1, 5))
    text, _ = ask("step 3", evidence(1, f"{LONG}\n\nIt works like this:\n\n{steps}"))
    assert "> It works like this:" in text and "Step 1" in text and "> 4. Step 4 of an upload [1]" in text


def test_of_a_list_without_introduction_each_item_stands_alone() -> None:
    notes = "Released 2023-05-02\n\n- Fix the cache.\n- Add a secret key.\n- Fix the pool."
    text, _ = ask("secret key", evidence(1, notes, heading="Version 2.3"))
    assert text == "**Quickstart › Version 2.3**\n> - Add a secret key. [1]"


def test_code_in_an_item_stands_between_what_is_quoted_of_it() -> None:
    page = "Do this:\n\n- Set the secret key:\n\n  ```python\n  key = 1\n  ```\n- Start it again."
    text, _ = ask("secret key", evidence(1, page))
    assert "> - Set the secret key:\n\n```python\nkey = 1\n```\n\n> - Start it again. [1]" in text


def test_the_default_of_a_setting_goes_with_whatever_is_said_of_it() -> None:
    section = "\n\n".join(["Default: `4`", FILLER, FILLER, "The upload of a file needs a secret key."])
    text, _ = ask("upload file secret key", evidence(1, section, heading="Elsewhere"))
    assert "> Default: `4`" in text and FILLER not in text
    empty = ask("upload file secret key", evidence(1, section.replace("4", "{}"), heading="Elsewhere"))[0]
    assert "Default" not in empty


def test_the_default_of_an_option_is_said() -> None:
    page = "`RELOAD`\n\nReload what changed.\n\nDefault: `None`\n\nAdded in version 1.0."
    text, _ = ask("RELOAD default", evidence(1, page, heading="Values > RELOAD"))
    assert text == "**Quickstart › RELOAD**\n> Reload what changed.\n\n> Default: `None` [1]"


def test_a_mark_of_a_version_is_quoted_where_it_answers_or_is_of_the_asked_release() -> None:
    page = "`KEY`\n\nSigns a session.\n\nAdded in version {}: the secret key may be text."
    assert "Added in" not in ask("session", evidence(1, page.format("1.0")))[0]
    assert "Added in version 3.1" in ask("session", evidence(1, page.format("3.1")))[0]
    assert "Added in version 1.0" in ask("secret key text", evidence(1, page.format("1.0")))[0]


def test_the_mark_of_a_long_section_is_fetched_where_it_is_asked_since_when() -> None:
    section = "\n\n".join(
        ["Added in version 2.6.", FILLER, FILLER, "The upload of a file needs a secret key."]
    )
    asked_for = ("upload file secret key", evidence(1, section, heading="Elsewhere"))
    assert "Added in version 2.6." in ask(*asked_for, marks=True)[0]
    assert "Added in" not in ask(*asked_for)[0]
    assert "Added in version 2.6." in ask(*asked_for, changes=True)[0]


def test_a_mark_of_a_version_is_quoted_that_holds_of_the_question_what_the_entry_does_not() -> None:
    page = "`--strict`\n\nTurns a warning into an error.\n\nAdded in version 1.2.\n\n"
    page += "Changed in version 1.4: No longer stops at the first one."
    asked = ("warning error stops first", evidence(1, page, heading="Options > --strict"))
    assert "Changed in version 1.4" in ask(*asked)[0] and "Added in" not in ask(*asked)[0]
    assert "Changed in" not in ask("warning error", evidence(1, page, heading="Options > --strict"))[0]


@pytest.mark.parametrize(
    ("told", "heading", "is_said"),
    [
        ("Deprecated since version 2.6: use `sign()` instead.", "seal()", True),
        (
            "**This setting is deprecated** and exists for old applications only.",
            "SETTING seal_key = text",
            True,
        ),
        ("Warning: these functions are now obsolete.", "Store.seal()", True),
        ("Deprecated since version 2.6: the `key` argument does nothing.", "seal()", False),
        ("Deprecated since version 2.6: use `sign()` instead.", "How cookies are sealed in 3.1", False),
        ("The dictionary form is deprecated.", "seal()", False),
        ("Deprecated since version 2.6, removed in version 3.0: The loop parameter.", "seal()", False),
        ("This keyword argument has been deprecated.", "seal()", False),
        ("Deprecated names still work.", "seal()", False),
    ],
)
def test_that_an_entry_is_deprecated_goes_with_whatever_is_said_of_it(
    told: str, heading: str, is_said: bool
) -> None:
    section = "\n\n".join(["The upload of a file needs a secret key.", FILLER, FILLER, told])
    text, _ = ask("upload file secret key", evidence(1, section, heading=heading))
    assert (told in text) is is_said and FILLER not in text
    bare = "Deprecated since version 2.6."
    text, _ = ask("upload file secret key", evidence(1, f"{bare}\n\n{section}\n\n{bare}", heading=heading))
    assert text.count(told) == is_said and (bare in text) is (heading in ("seal()",) and not is_said)


def test_a_term_goes_with_its_definition_and_a_call_with_its_parameters() -> None:
    page = "**SECRET_KEY**\n\nA value that is used for signing. Do not reveal it."
    text, _ = ask("what is SECRET_KEY", evidence(1, page, heading="Values"))
    assert "> **SECRET_KEY**: A value that is used for signing." in text
    text, _ = ask("what is SECRET_KEY", evidence(1, page, heading="Values > SECRET_KEY"))
    assert "\n> A value that is used for signing." in text
    call = "`lib.sign(text, key=None)`\n\nSigns a text."
    assert "> `lib.sign(text, key=None)`\n" in ask("sign", evidence(1, call, heading="API > sign()"))[0]


def test_an_emphasised_sentence_is_no_term() -> None:
    page = "Set the secret key.\n\n**Do not reveal it.**\n\nDefault: `None`"
    assert "> **Do not reveal it.**\n\n> Default: `None` [1]" in ask("secret key", evidence(1, page))[0]


def test_tags_of_templates_in_code_are_no_debris() -> None:
    page = "To turn it off, use the `{% autoescape %}` block:\n\n```jinja\n{% autoescape false %}\n```"
    assert "{% autoescape false %}" in ask("turn off autoescape", evidence(1, page))[0]


# --- which section, and whether another one -------------------------------------------------------


def test_a_page_that_leads_clearly_is_quoted_alone() -> None:
    pages = [evidence(n, SESSIONS, title=f"Page{n}", score=20.0 / n) for n in range(1, 7)]
    text, citations = ask("secret key session", *pages)
    assert text.startswith("**Page1 › Sessions**") and len(citations) == 1


def test_another_section_is_quoted_only_where_it_adds_what_the_first_lacks() -> None:
    other = evidence(2, "Give it as an upload of a file.", heading="Files", score=9.0)
    first = evidence(1, "You have to set a secret key.", heading="Keys", score=10.0)
    assert len(ask("secret key upload", first, other)[1]) == 2
    assert len(ask("secret key", first, other)[1]) == 1
    far = evidence(2, "Give it as an upload of a file.", heading="Files", score=2.0)
    assert len(ask("secret key upload", first, far)[1]) == 1


@pytest.mark.parametrize(
    "stub",
    [
        "This is now covered in the upload of files.",
        "This section has been moved to the upload of files.",
        "See the upload of files.",
        "**See also:** The upload of files.",
    ],
)
def test_a_section_that_only_points_elsewhere_is_not_quoted_beside_another(stub: str) -> None:
    first = evidence(1, "You have to set a secret key.", heading="Keys", score=10.0)
    told = evidence(2, "An upload of a file needs one, too.", heading="Upload", score=9.8)
    assert len(ask("secret key upload", first, told)[1]) == 2
    assert len(ask("secret key upload", first, evidence(2, stub, heading="Upload", score=9.8))[1]) == 1


def test_what_is_nearer_to_the_question_goes_before_what_ranks_a_little_higher() -> None:
    general = evidence(1, "Extensions do not expect a session.", heading="Extensions", score=10.0)
    session = evidence(2, "A session is kept in a cookie.", heading="Session", score=9.5)
    told = ask("session", general, session, sections=near((general, 0.4), (session, 0.6)))[0]
    assert told.startswith("**Quickstart › Session**")
    assert ask("session", general, session)[0].startswith("**Quickstart › Extensions**")


def test_of_a_long_section_the_part_is_quoted_that_means_what_is_asked_in_other_words() -> None:
    said, meant = "The secret key is a text.", "Nobody else may know what it is signed with."
    page = evidence(1, "\n\n".join([said, FILLER, FILLER, meant]), heading="Secret key")
    windows = [(said, 0.3), (FILLER, 0.1), (meant, 0.8)]
    text, _ = ask("secret key", page, sections={page.chunk.id: Whole(page.chunk.page, windows)})
    assert meant in text and FILLER not in text
    assert meant not in ask("secret key", page)[0]


def test_it_says_how_much_of_the_question_it_holds() -> None:
    assert asked("secret key", evidence(1, SESSIONS)).held == 1.0
    assert asked("secret upload", evidence(1, SESSIONS)).held == 0.5
    assert asked("secret", evidence(1, "")) == Quoted()


STEPS = "\n".join(f"kettle.step_{n}(water, tea, milk, sugar)" for n in range(25))
OLD = f"""\
Sessions have been measured anew. For example, instead of the following code:

```python
session.measure_old("upload", file=True)
{STEPS}
```

Use instead:

```python
session.measure("upload")
{STEPS}
```"""


def test_code_of_the_past_is_quoted_with_what_is_written_instead() -> None:
    text = ask("session.measure_old upload file", evidence(1, OLD, heading="Deprecations"))[0]
    assert "measure_old(" in text and 'session.measure("upload")' in text


def test_the_part_that_a_short_introduction_leads_to_is_quoted_from_its_beginning_with_all_its_code() -> None:
    steps = "\n".join(f"    ring.turn({n}, slowly=True)" for n in range(16))
    prose = "It takes the ring of any kettle, old ones too, and turns it until it clicks. " * 2
    by_hand = (
        f"{prose}Write it first:\n\n```python\ndef seal(ring):\n{steps}\n```\n\n{prose}"
        "\n\nTo close the lid, call it:\n\n```python\nseal(lid.ring)\n```"
    )
    intro = evidence(1, "There are ways to close the lid of a kettle.", heading="Closing the lid", score=10.0)
    part = evidence(2, by_hand, heading="Closing the lid > By hand", score=9.0)
    quoted = asked("how do I close the lid of the kettle", intro, part)
    assert "def seal(ring)" in quoted.text and "seal(lid.ring)" in quoted.text


def test_a_short_introduction_is_quoted_with_the_part_that_it_introduces() -> None:
    intro = evidence(1, "Sign with a secret key.", heading="Signing", score=10.0)
    part = evidence(2, "Give the key:\n\n```\nkey = 1\n```", heading="Signing > Usage", score=9.0)
    text, citations = ask("secret key signing", intro, part)
    assert len(citations) == 2 and text.index("Signing**") < text.index("key = 1")
    longer = evidence(
        1, f"Sign the secret key. {'It is told at length what for. ' * 14}", heading="Signing", score=10.0
    )
    assert "key = 1" in ask("secret key signing", longer, part)[0]


def test_a_note_of_a_release_goes_behind_a_section_that_ranks_a_little_lower() -> None:
    notes = "- Fix the cache.\n- Change the secret key.\n- Fix the pool."
    note = evidence(1, notes, heading="Version 2.3", score=10.0)
    page = evidence(2, "The secret key signs sessions.", heading="Keys", score=9.8)
    assert ask("secret key", note, page)[0].startswith("**Quickstart › Keys**")


def test_the_version_that_notes_are_of_stands_over_them() -> None:
    text, citations = ask("secret", evidence(1, "- A secret is kept.", heading="Changes > 2.1.0 > Style"))
    assert text.startswith("**Quickstart › 2.1.0 › Style**")
    assert citations[0].title == "Quickstart › 2.1.0 › Style"


def test_another_release_is_named() -> None:
    text, _ = ask("secret key", evidence(1, SESSIONS, release="2.3"))
    assert "**Quickstart › Sessions (Flask 2.3)**" in text


# --- what is never quoted -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "debris",
    [
        ".. toctree:: secret key session upload",
        "See :ref:`secret-key` for the secret key session.",
        "secret key session upload without an end",
        "and the secret key of a session is cut off before.",
        "The secret key (which is cut off.",
        "Secret key:",
        "Table of contents secret key session upload.",
        "- [Secret key](key.html)",
        "Copyright 2024 secret key session authors.",
        "Previous: secret key. Next: session.",
        "TODO: explain how the secret key of a session is made.",
    ],
)
def test_debris_is_never_quoted(debris: str) -> None:
    text, citations = ask("secret key session upload", evidence(1, debris))
    assert (text, citations) == ("", ())


def test_what_announces_something_comes_with_it_or_not_at_all() -> None:
    text, _ = ask(
        "secret key", evidence(1, "Set the secret key like this:\n\n## More\n\nOther words stand here.")
    )
    assert "like this" not in text and "Other words stand here." in text


def test_evidence_that_shares_no_word_still_yields_whole_sentences() -> None:
    text, citations = ask("zzz", evidence(1, SESSIONS))
    assert citations and text.count("> ") >= 1


def test_no_evidence_yields_nothing() -> None:
    assert ask("secret key") == ("", ())


def test_eight_long_chunks_take_little_time() -> None:
    pages = [evidence(n, f"{SESSIONS}\n\n{UPLOADS}\n\n" * 5, title=f"Page{n}") for n in range(1, 9)]
    with at_most(1.0):
        ask("secret key session", *pages)


# --- the line above -------------------------------------------------------------------------------


def test_why_no_model_wrote_is_said_only_where_one_failed() -> None:
    assert (introduction(sure=True), introduction(sure=False)) == ("", "The closest I found:")
    assert why_unwritten(None) == "" and why_unwritten(ModelBusy("")) == "the language model is busy"
    assert why_unwritten(ModelUnavailable("")) == "no language model answered"


@pytest.mark.parametrize("language", ["en", "de", "es", "zh"])
@pytest.mark.parametrize("sure", [False, True])
def test_the_line_above_quotes_is_known_in_every_language(language: str, sure: bool) -> None:
    with speaking(language):
        said = introduction(sure)
    text = "\n\n".join(part for part in (said, "It listens on 9090.", "See below.") if part)
    assert without_introduction(text) == "It listens on 9090.\n\nSee below."


def test_a_line_that_older_versions_put_above_quotes_is_known() -> None:
    above = "No language model answered, so I quote the Flask 3.1 documentation. The closest I found:"
    assert without_introduction(f"{above}\n\nIt listens on 9090.") == "It listens on 9090."


def test_a_short_entry_that_is_asked_about_is_quoted_whole_also_where_it_is_a_list() -> None:
    entry = (
        "- Default: The name of the system that was set by hand, or `null` when none is known.\n"
        "- Type: null or String\n"
        "- DEPRECATED: This setting is deprecated and will not be changeable in later versions.\n\n"
        "The name of a system of continuous integration. If not set explicitly, it is detected from the"
        " environment.\n\nOf several systems that are found the first one in the alphabet is taken."
    )
    text, _ = ask("is it ok to set ci-name by hand", evidence(1, entry, heading="ci-name"))
    assert "DEPRECATED" in text and "The name of a system" in text
    text, _ = ask("what is the default name of the system", evidence(1, entry, heading="Systems"))
    assert "DEPRECATED" not in text


def test_what_something_is_for_is_told_from_where_its_section_begins() -> None:
    first = "Lids keep the steam in a kettle while it works."
    last = "Register lids in the application's lids setting so that kettle lids are found by their names."
    page = "\n\n".join([first, *[FILLER] * 8, last, *[FILLER] * 8])

    def told(question: str) -> str:
        of_it, words = evidence(1, page, heading="Lids"), query_terms("lids setting kettle names")
        return quote(words, [of_it], weight, "Flask", "3.1", question=question).text

    assert first in told("what are lids good for?") and last not in told("what are lids good for?")
    assert last in told("where do lids go?")


def test_of_many_versions_what_bears_on_the_question_and_the_newest_go_first() -> None:
    marks = [f"Changed in version {n}.0: Boils number {n} a little." for n in range(1, 6)]
    page = "\n\n".join(
        ["`--strict`", "Turns a warning into an error.", *marks, "Changed in version 0.8: Stops first."]
    )
    text, _ = ask("warning error stops first", evidence(1, page, heading="Options > --strict"), changes=True)
    assert "version 0.8" in text and "version 5.0" in text and "version 1.0" not in text


@pytest.mark.parametrize(
    ("question", "is_one"),
    [
        ("what is a lid?", True),
        ("whats {% module %} / UIModule good for, never used it", True),
        ("what are kettles for", True),
        ("what is the environment variable for the port?", False),
        ("what does jsonify return with a list?", False),
        ("what is the default timeout?", False),
        ("what is the difference between a lid and a pot?", False),
        ("." * 8_000, False),
    ],
)
def test_what_something_is_is_known_from_what_it_does(question: str, is_one: bool) -> None:
    assert bool(_WHAT_IS.match(question)) is is_one


# --- a hedge shows several ------------------------------------------------------------------------


def closest(question: str, *found: object) -> Quoted:
    """Quote as where the first section hardly is the answer."""
    quoted = asked(question, *found)
    assert quoted.closest is not None
    return quoted.closest()


def lids(long: str = "", step: float = 3.0) -> list[Evidence]:
    """Return pages of which the third tells, and the first has most words of the question.

    Each has `step` less than the one before it, of 20.
    """
    texts = [
        "The lid of the kettle is closed before it boils. A closed lid is safe.",
        long or "Kettles have a lid.\n\nThe lid is made of steel.",
        "Turn the ring until it clicks.",
        "Nothing of that kind is here.",
    ]
    return [
        evidence(n, text, heading=f"Part {n}", score=20.0 + step - step * n)
        for n, text in enumerate(texts, start=1)
    ]


def test_where_the_best_is_doubtful_the_next_are_shown_too() -> None:
    question = "how is the lid of the kettle closed"
    plain = asked(question, *lids())
    assert len(plain.citations) == 1 and "ring" not in plain.text
    wide = closest(question, *lids())
    assert len(wide.citations) == 3 and wide.text.startswith(plain.text.partition(" [1]")[0])
    assert "Turn the ring until it clicks. [3]" in wide.text
    assert wide.held >= plain.held
    assert len(closest(question, *lids(step=4.0)).citations) == 2, "the third has .6 of the best page's score"


def test_a_glance_has_room_for_the_setting_that_it_tells_of() -> None:
    tells = "Instead of boiling, the quiet lid only says on the terminal what it would have done. " * 4
    sets = "To have it so, put this in your settings:\n\n```python\nLID = 'kettle.lids.quiet.Lid'\n```"
    pages = lids()
    quiet = evidence(2, f"{tells}\n\n{sets}\n\n{FILLER}\n\n{FILLER}", heading="Quiet", score=17.0)
    wide = closest("how is the lid of the kettle closed, on the terminal only", pages[0], quiet, pages[2])
    assert wide.text.index("The lid of the kettle") < wide.text.index("LID = ")


def test_beside_a_doubtful_one_the_part_that_it_introduces_stays_and_what_is_far_off_does_not_come() -> None:
    code = "\n".join(f"kettle.close({n})" for n in range(26))
    pages = [
        evidence(
            1, "There are ways of closing the lid of the kettle.", heading="Closing the lid", score=10.0
        ),
        evidence(2, f"By hand:\n\n```python\n{code}\n```", heading="Closing the lid > By hand", score=9.0),
        evidence(3, "Buy a new one.", heading="Shop", score=1.0),
    ]
    wide = closest("closing the lid of the kettle", *pages)
    assert "kettle.close(25)" in wide.text and "Buy" not in wide.text


def test_beside_a_doubtful_one_nothing_is_shown_that_adds_hardly_anything() -> None:
    question = "session upload secret key file word"
    first = evidence(1, "The key of a session is secret.", heading="Keys", score=10.0)
    small, more = "Say one word.", "Any file is one upload."
    for text, count in ((small, 1), (more, 2)):
        assert len(closest(question, first, evidence(2, text, heading="Other", score=5.0)).citations) == count
    assert len(closest(question, first, evidence(2, small, heading="Other", score=9.5)).citations) == 2


@pytest.mark.parametrize(("lines", "is_shown"), [(26, True), (80, False)])
def test_beside_a_doubtful_one_the_page_that_ranks_first_goes_before_it(lines: int, is_shown: bool) -> None:
    code = "\n".join(f"kettle.seal(ring={n}, clicks=True)" for n in range(lines))
    pages = lids(step=1.0)
    best = evidence(5, f"Seal it:\n\n```python\n{code}\n```", heading="Sealing", score=22.0)
    wide = closest("how is the lid of the kettle closed", best, *pages)
    assert ("kettle.seal" in wide.text) is is_shown and len(wide.citations) == 3
    assert [one.title.rpartition(" › ")[2] for one in wide.citations][:2] == [
        *(["Sealing", "Part 1"] if is_shown else ["Part 1", "Part 2"])
    ]


def test_the_entry_of_a_thing_in_code_says_first_what_that_is() -> None:
    section = "\n\n".join(
        ["It keeps people signed in.", FILLER, FILLER, "The upload of a file needs a secret."]
    )
    api, notes = (
        ask("file upload", evidence(1, section, heading=heading))[0] for heading in ("App.session()", "3.1.0")
    )
    assert "It keeps people signed in." in api and "The upload of a file" in api
    assert "It keeps people signed in." not in notes


def test_one_parameter_of_a_long_list_is_quoted_with_what_its_function_is_for() -> None:
    items = "\n".join(f"- `word{n}`: {FILLER[:200]}" for n in range(9))
    section = f"`file(word, secret)`\n\nStores a file.\n\nParameters:\n\n{items}\n- `secret`: A secret key."
    shown = ask("secret key", evidence(1, section, heading="App.file()"))[0]
    assert "Stores a file." in shown and "A secret key." in shown and "word3" not in shown
    long = section.replace("Stores a file.", f"Stores a file. {FILLER}")
    assert "Stores a file." not in ask("secret key", evidence(1, long, heading="App.file()"))[0]


def test_beside_a_doubtful_one_nothing_long_and_nothing_twice_is_shown() -> None:
    question = "how is the lid of the kettle closed"
    code = "\n".join(f"kettle.close({n})" for n in range(80))
    wide = closest(question, *lids(f"A lid closes:\n\n```python\n{code}\n```", step=2.0))
    assert "kettle.close" not in wide.text and len(wide.citations) == 3
    first = lids()[0]
    twice = [first, replace(first, number=2, chunk=replace(first.chunk, id="other", heading="Copy"))]
    assert len(closest(question, *twice).citations) == 1


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("whats this carafe thing that the kettle comes with", "carafe"),
        ("the pages speak of a carafe.. meaning?", "carafe"),
        ("how do I clean the carafe thing that the kettle comes with", "Cleaning"),
        ("what's the right way to rinse a carafe", "Cleaning"),
        ("my carafe is rinsed by hand, what is going on", "Cleaning"),
    ],
)
def test_what_a_word_means_is_told_by_its_entry_in_the_glossary(question: str, first: str) -> None:
    pages = [
        evidence(1, "The carafe is rinsed by hand.", heading="Cleaning", score=9.0),
        evidence(2, "A jug that keeps warm.", title="Glossary", heading="Glossary > carafe, jug", score=8.0),
        evidence(3, "A jug that keeps warm.", title="Parts", heading="Parts > carafe", score=8.5),
    ]
    told = quote(query_terms(question), pages, weight, "Kettle", "3.1", question=question)
    assert first in told.citations[0].title


def test_that_there_is_more_is_said_once_below_all_quotes() -> None:
    second = LONG.replace("limit of a form", "colour of a lid").replace("LIMIT", "COLOUR")
    pieces = [
        replace(quoted.pieces[0], cut="section")
        for quoted in (
            quote(query_terms(asked), [evidence(n, page, heading=asked)], weight, "Flask", "3.1")
            for n, asked, page in ((1, "limit form", LONG), (2, "colour lid", second))
        )
    ]
    text = written_all(zip(pieces, (1, 2), strict=True), "Flask", "3.1")
    assert text.count("There is more") == 1 and text.endswith("There is more on these pages. [1][2]")
    one = written_all([(pieces[0], 1), (replace(pieces[1], cut=""), 2)], "Flask", "3.1")
    assert one.endswith("\n\nThere is more on this page. [1]") and one.count("There is more") == 1


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("Set the secret key like this:\n\n```\nkey = 1\n```", "> Set the secret key like this [1]:\n\n```"),
        ("这样设置 secret key：\n\n```\nkey = 1\n```", "> 这样设置 secret key [1]：\n\n```"),
        ("Set the secret key: it is read once.", "> Set the secret key: it is read once. [1]"),
    ],
)
def test_a_number_stands_before_the_colon_that_leads_to_code(page: str, said: str) -> None:
    text, _ = ask("secret key", evidence(1, page))
    assert said in text and uncited(text).count("[1]") == 0 and page.split("\n")[0] in uncited(text)


def test_what_is_said_to_be_otherwise_is_told_by_the_notes_that_say_so() -> None:
    page = "The lid of the pot shows the number of its version to everybody."
    guide = evidence(1, page, heading="Lid", score=9)
    page = "- Fix the pot.\n- remove the version from the lid"
    notes = evidence(2, page, heading="Version 2.1.0", score=7)
    text, _ = asked_as("the lid used to show the version number and now it is bare", guide, notes)
    assert text.startswith("**Quickstart › Version 2.1.0**\n> - remove the version from the lid")
    text, _ = asked_as("does the lid show the version number", guide, notes)
    assert text.startswith("**Quickstart › Lid**")


def settings_of(count: int) -> str:
    told = (
        "It says where the upload of a file goes, and what becomes of it there, in a sentence of its own. "
        * 2
    )
    entries = "\n".join(f"  - NAME_{n}: {told.strip()}" for n in range(count))
    return f"Some settings are read:\n\n- General:\n{entries}\n  - SECRET_KEY: Signs the session."


def test_of_a_long_list_in_an_item_only_the_entry_is_quoted_that_is_asked_for() -> None:
    found = evidence(1, settings_of(8), heading="Settings")
    text, _ = ask("secret_key", found)
    assert text == "**Quickstart › Settings**\n> - General: […]\n>   - SECRET_KEY: Signs the session. [1]"
    text, _ = ask("NAME_3", found)
    assert text.startswith("**Quickstart › Settings**\n> - General: […]\n>   - NAME_3: It says where")
    assert text.count("NAME_") == 1 and text.endswith("[1]\n\nThere is more on this page. [1]")


def test_entries_that_stand_under_one_line_say_it_once() -> None:
    first, second = stretches(settings_of(8))[:2]
    piece = Piece(evidence(1, settings_of(8), heading="Settings"), (first, second))
    told = written(piece, 1, "Flask", "3.1")
    assert told.count("General:") == 1 and told.count("\n>   - NAME_") == 2


def test_in_a_list_deeper_down_all_that_leads_to_an_entry_comes_along() -> None:
    strings = "\n".join(f"    - way{n}: {'Works around it. ' * 30}" for n in range(4))
    page = f"{settings_of(2)}\n  - WORKAROUNDS: A list of strings.\n\n    Known strings are:\n\n{strings}"
    entry = next(one for one in stretches(page) if "way2" in one.text)
    lead = "- General:\n  - WORKAROUNDS: A list of strings.\n\n    Known strings are:\n\n    - way2: Works"
    assert entry.text.startswith(lead) and "way1" not in entry.text and entry.within == "- General:"


def test_what_follows_code_in_a_nested_entry_stays_as_deep_as_the_entries_after_it() -> None:
    code = "    ```\n    kettle read\n    ```"
    first = f"  - first: Only to read:\n\n{code}\n\n    Then delete it:\n\n{code}\n\n    Start anew."
    item = f"- General:\n\n{first}\n\n  - second: Never set it."
    told = written(Piece(evidence(1, item), (Stretch((Block("item", item),)),)), 1, "Flask", "3.1")
    fence = "```\nkettle read\n```"
    after = f"{fence}\n\n>   Then delete it:\n\n{fence}\n\n>   Start anew.\n>\n> - second: Never set it. [1]"
    assert told.endswith(after)


def test_marks_of_a_page_s_footnotes_are_left_out_and_code_keeps_what_looks_like_one() -> None:
    page = "The secret key fails [^1], see `[^1]` or [Knuth].\n\n[^1] On a full disk."
    text, _ = ask("secret key", evidence(1, page))
    assert text.endswith("> The secret key fails, see `[^1]` or [Knuth].\n\n> On a full disk. [1]")
    table = "The secret key:\n\n| Key [^1] | Size |\n| --- | --- |\n| secret | No [^2] |"
    assert "[^" not in ask("secret key", evidence(1, table))[0]


def test_a_paragraph_that_is_cut_keeps_what_it_requires() -> None:
    before = "The secret key may be split into parts with the option, which takes a while. " * 9
    long = f"{before}You must also pass the other option. {'Nothing else is known of it. ' * 20}"
    text, _ = ask("secret key", evidence(1, f"{long}\n\n" + "Other. " * 200))
    assert "You must also pass the other option. [1]" in text
    assert ask("secret key", evidence(1, f"The secret key {'goes on and on ' * 90}."))[0].endswith("on . [1]")


def test_what_leans_on_a_short_paragraph_brings_it_along_where_there_is_no_room() -> None:
    points = "\n".join(f"- much less of the disk is taken, {'and so on ' * 12}" for _ in range(4))
    told = f"You disable it by `NAME`.\n\nThis has some pros and cons for a key:\n\n{points}"
    page = "\n\n".join([FILLER, told, FILLER, FILLER])
    text, _ = ask("key of a session where a file is an upload", evidence(1, page, heading="Disks"))
    assert "> You disable it by `NAME`.\n\n> This has some pros and cons for a key:" in text


def test_the_option_of_this_command_brings_the_command_along() -> None:
    told = "To print the secret key use the `-p` option of this command."
    page = f"{LONG}\n\nYou can make backups by `kettle export`.\n\n{told}"
    text, _ = ask("print secret key", evidence(1, page))
    assert "> You can make backups by `kettle export`.\n\n> To print" in text


def test_a_paragraph_that_tells_a_condition_of_the_one_before_it_is_quoted_with_it() -> None:
    told = f"The secret key is split with the `--parts` option. {'It takes a while, and nobody waits. ' * 11}"
    page = "\n\n".join([FILLER, told, "You must also pass the second one.", FILLER, FILLER])
    text, _ = ask("secret key parts", evidence(1, page))
    assert "> You must also pass the second one. [1]" in text


def test_an_item_of_a_list_that_is_introduced_says_that_there_are_others() -> None:
    points = "\n".join(f"- Way {n} keeps what was sent. {'It does so as it likes. ' * 8}" for n in range(5))
    page = f"There are several ways:\n\n{points}\n- A secret key signs it.\n- The file ends."
    assert ask("secret key", evidence(1, page))[0].endswith(
        "signs it. [1]\n\nThere is more on this page. [1]"
    )
    assert ask("file upload", evidence(1, page))[0].endswith("> - The file ends. [1]")


FACTS = "- Default: `true`\n- Type: Boolean\n\nWhere it is `true` paths are told apart by their case."


@pytest.mark.parametrize(
    "question", ["what does caseSensitive do", "caseSensitive default", "caseSensitive?"]
)
def test_the_facts_that_the_entry_of_a_setting_begins_with_go_with_what_it_does(question: str) -> None:
    text, _ = ask(question, evidence(1, FACTS, heading="Factory > caseSensitive"))
    facts, told = text.split("\n\n")
    assert facts.endswith("> - Default: `true`\n> - Type: Boolean")
    assert told == "> Where it is `true` paths are told apart by their case. [1]"


def test_the_facts_of_a_long_entry_come_along_and_lists_that_say_more_are_none() -> None:
    section = "\n\n".join(["- Default `4`", FILLER, FILLER, "The upload of a file needs a secret key."])
    text, _ = ask("upload file secret key", evidence(1, section, heading="Elsewhere"))
    assert "> - Default `4`" in text and FILLER not in text
    notes = "- Fix: the upload of a file needs no key.\n- Added in this version: a session that is long."
    assert ask("upload file", evidence(1, notes, heading="Elsewhere"))[0].count("> - ") == 1


def test_the_entry_of_a_setting_in_capitals_inside_goes_first() -> None:
    story = evidence(1, "Raise uploadLimit to take in a longer file, a session and a secret.", score=9.0)
    entry = evidence(2, "- Default: 16\n\nThe largest there may be.", heading="uploadLimit", score=8.5)
    text, cited = ask("uploadLimit for a longer file", story, entry)
    assert cited[0].title.endswith("uploadLimit") and "Default: 16" in text


def test_what_is_asked_and_stands_elsewhere_in_the_section_is_quoted_with_it() -> None:
    page = "\n\n".join(
        [
            "**Upload line:** `--upload FILE` or `--file FILE`",
            *[FILLER] * 6,
            "If the `secret_key` variable is defined, it is what everything begins with.",
            *[FILLER] * 6,
        ]
    )
    text, _ = ask("does upload file look at secret_key", evidence(1, page))
    assert "--upload FILE" in text and "If the `secret_key` variable is defined" in text
    text, _ = ask("does upload file look at it", evidence(1, page))
    assert "`secret_key`" not in text


def test_the_entry_of_a_setting_that_is_shown_with_a_value_goes_first() -> None:
    guide = evidence(
        1, "Set threads where a session and its secret upload are slow.", heading="Threads", score=9
    )
    entry = evidence(2, "Default: `1`\n\nHow many run side by side.", heading="threads", score=6)
    text, _ = asked_as("i set threads = 4, are they slow on my tiny machine", guide, entry)
    assert text.startswith("**Quickstart › threads**")
    text, _ = asked_as("are threads slow on my tiny machine", guide, entry)
    assert text.startswith("**Quickstart › Threads**")


def asked_as(question: str, *found: object) -> tuple[str, tuple]:
    quoted = quote(query_terms(question), found, weight, "Flask", "3.1", question=question)
    return quoted.text, quoted.citations


def test_code_that_the_question_shows_is_where_the_answer_is() -> None:
    page = "\n\n".join(
        [
            "The secret key of a session is set without an error when a file is uploaded.",
            "```python\nsession[0] -= 1\n```",
            *[FILLER] * 9,
            "This is silent.",
            "```python\nlid = Lid([0, 1])\nlid.all(n=[0, 1])[1] = -1\n```",
            *[FILLER] * 9,
        ]
    )
    code = "```\nlid = Lid([0,1])\nlid.all(n=[0,1])[1] = -1\n```"
    asking = f"{code}\nno error, but the secret key of the session is as it was when the file is uploaded"
    assert "This is silent." in asked_as(asking, evidence(1, page))[0]


def test_items_of_a_list_that_hold_each_a_part_of_what_is_asked_are_quoted_together() -> None:
    items = "- secret (1.7 or later)\n- upload (2.1)\n- session (3 or later)"
    text, _ = ask("which secret and which session", evidence(1, items, heading="Required"))
    assert "- secret (1.7" in text and "- session (3" in text and "upload" not in text
    apart = items.replace("\n- session", "\n\nNothing of this is about it.\n\n- session")
    text, _ = ask("which secret and which session", evidence(1, apart, heading="Required"))
    assert "- secret (1.7" in text and "- session (3" not in text, "it is of another list"
    for heading in ("Version 2.0", "What's new in 2.0"):
        notes = ask("which secret and which session", evidence(1, items, heading=heading))[0]
        assert notes.count("> - ") == 1, "each item of release notes is a thing of its own"
