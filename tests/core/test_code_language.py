"""The language of code that names none."""

import pytest

from core.text.code_language import fenced, labelled, language_of

CODE = {
    "python": [
        "from flask import Flask\n\napp = Flask(__name__)",
        "@app.route('/')\ndef index():\n    return 'hi'",
        "client = app.test_client()\nresponse = client.get('/', follow_redirects=True)",
        "app.config.update(\n    TESTING=True,\n    SECRET_KEY='dev',\n)",
        "response.set_cookie('name', 'value', samesite='Lax')",
    ],
    "console": [
        "$ flask run\n * Running on http://127.0.0.1:5000/",
        "> set FLASK_APP=hello\n> flask run",
        "# a comment first\n$ pip install flask",
    ],
    "bash": ["pip install flask-mongoengine", "export SETTINGS='/path/to/file'\nflask run"],
    "pycon": [">>> import flask\n>>> flask.__version__\n'3.1'"],
    "pytb": ['Traceback (most recent call last):\n  File "a.py", line 1'],
    "html": ["<!doctype html>\n<title>Hello</title>", "<form method=post>\n  <p><input name=q>\n</form>"],
    "jinja": ["{% for user in users %}\n  {{ user.name }}\n{% endfor %}"],
    "json": ['{\n  "name": "kettle",\n  "port": 5000\n}'],
    "ini": ["[aliases]\nrelease = egg_info -Db"],
    "yaml": ["services:\n  web:\n    image: kettle\n    ports: [5000]"],
    "sql": ["CREATE TABLE user (\n  id INTEGER PRIMARY KEY\n);"],
    "diff": ["--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-old\n+new"],
    "javascript": ["const form = new FormData();\nfetch('/', {method: 'POST', body: form});"],
    "": ["", "/yourapplication\n    pyproject.toml\n    views.py", "127.0.0.1 localhost.dev", "Hello, world"],
}


@pytest.mark.parametrize(("name", "code"), [(name, code) for name, codes in CODE.items() for code in codes])
def test_code_is_known_by_how_it_looks(name: str, code: str) -> None:
    assert language_of(code) == name


def test_only_blocks_without_a_name_get_one() -> None:
    said = "Do:\n\n```{}\nimport os\n```\n\n> ```{}\n> $ ls\n> ```\n\n```text\nimport os\n```\n\n```\nHi\n```"
    assert labelled(said.format("", "")) == said.format("python", "console")
    assert labelled(said.format("python", "console")) == said.format("python", "console")
    assert labelled("no code") == "no code"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            "Call it:\nimport a\na.run()\nThen wait.",
            "Call it:\n\n```python\nimport a\na.run()\n```\n\nThen wait.",
        ),
        ("one = run()\n\ntwo = one [1]", "\n```\none = run()\n\ntwo = one\n```\n\n[1]\n"),
        ("Note: this\nDefault: 5", "Note: this\nDefault: 5"),
        ("Set x = 1 and\nrun() it.", "Set x = 1 and\nrun() it."),
        ("```\na = 1\nb = 2\n```", "```\na = 1\nb = 2\n```"),
        ("limit = 5", "limit = 5"),
    ],
)
def test_code_without_fences_gets_some(text: str, written: str) -> None:
    assert fenced(text) == written
