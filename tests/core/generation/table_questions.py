"""Tables as pages have them, and what of each must be quoted to a question: written before the rules.

Of each question: the page, the first cell of the one row that answers, what must stand in the quote, and what
must not. An empty first cell: the table is no answer by one row, so that it is left as it is.
"""

from __future__ import annotations

SETTINGS = """\
Settings
========

Every setting of the queue, with what it is as long as nobody sets it.

.. list-table:: Settings of the queue
   :header-rows: 1

   * - Setting
     - Default
     - Unit
     - What it does
   * - ``MAX_RETRIES``
     - 8
     - tries
     - How often a failed job is tried again.
   * - ``MAX_BODY``
     - 16
     - MB
     - How large a job may be.
   * - ``IDLE_TIMEOUT``
     - 30
     - seconds
     - How long an idle worker waits.
   * - ``COOKIE_NAME``
     -
     -
     - The cookie of the dashboard.
"""
SUPPORT = """\
Supported versions
==================

.. csv-table:: Supported versions
   :header: "Kettle", "Python versions", "Supported until"

   "2.0", "3.9, 3.10, 3.11", "2027"
   "1.5", "3.7, 3.8", "2025"
   "1.0", "2.7", "2020"
"""
GRID = """\
Ports
=====

+-----------+----------+---------+
| Service   | Network  | Port    |
+===========+==========+=========+
| dashboard | inside   | 9090    |
|           +----------+---------+
|           | outside  | 443     |
+-----------+----------+---------+
| metrics   | inside   | 9100    |
+-----------+----------+---------+
"""
LIMITS = """\
# Limits

Every job has limits of its own, which the table of limits lists.

| Queue | Tries | Pause in s | Note |
| --- | --- | --- | --- |
| fast | 8 | 3 | for `mail \\| news` |
| slow | 2 | 60 | |
| night | 1 | 3600 | runs once |
"""
PRICES = """\
<html><body><main><h1>Plans</h1><p>Each plan has its own quota.</p>
<table><thead><tr><th rowspan="2">Plan</th><th colspan="2">Quota</th></tr>
<tr><th>Jobs</th><th>Storage in GB</th></tr></thead>
<tbody><tr><td rowspan="2">team</td><td>5000</td><td>20</td></tr>
<tr><td>50000</td><td>200</td></tr>
<tr><td>solo</td><td>500</td><td>5</td></tr>
<tr><td>free</td><td></td><td>1</td></tr></tbody></table></main></body></html>
"""
ERRORS = "\n".join(
    [
        "# Error codes",
        "",
        "Every error has a code.",
        "",
        "| Code | Meaning | Retried |",
        "| --- | --- | --- |",
        *(f"| K{n:03} | meaning number {n} of many | {'yes' if n % 2 else 'no'} |" for n in range(1, 60)),
        "| K900 | the broker refused the password | no |",
    ]
)
PAGES = {
    "settings.rst": SETTINGS,
    "support.rst": SUPPORT,
    "ports.rst": GRID,
    "limits.md": LIMITS,
    "plans.html": PRICES,
    "errors.md": ERRORS,
}

QUESTIONS: tuple[tuple[str, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    # settings
    (
        "What is the default of MAX_RETRIES?",
        "settings.rst", "`MAX_RETRIES`", ("Default", "8", "tries"), ("MAX_BODY",),
    ),
    (
        "What is the default value of MAX_BODY?",
        "settings.rst", "`MAX_BODY`", ("16", "MB", "Unit"), ("IDLE_TIMEOUT",),
    ),
    ("In which unit is IDLE_TIMEOUT?", "settings.rst", "`IDLE_TIMEOUT`", ("seconds", "30"), ("MAX_BODY",)),
    ("What does IDLE_TIMEOUT do?", "settings.rst", "`IDLE_TIMEOUT`", ("idle worker",), ("MAX_RETRIES",)),
    ("What is the default of COOKIE_NAME?", "settings.rst", "`COOKIE_NAME`", ("dashboard",), ("MAX_BODY",)),
    ("default MAX_RETRIES", "settings.rst", "`MAX_RETRIES`", ("8",), ("MAX_BODY",)),
    ("Which settings are there?", "settings.rst", "", (), ()),
    # versions
    ("Which Python versions does 2.0 support?", "support.rst", "2.0", ("3.9, 3.10, 3.11",), ("3.7",)),
    ("Which Python versions does Kettle 1.5 support?", "support.rst", "1.5", ("3.7, 3.8",), ("3.9", "2.7")),
    ("Until when is 1.0 supported?", "support.rst", "1.0", ("2020", "Supported until"), ("2027",)),
    ("Which Kettle supports Python versions 3.7, 3.8?", "support.rst", "1.5", ("3.7, 3.8",), ("2.7",)),
    # a cell over two rows
    ("Which port does the metrics service listen on?", "ports.rst", "metrics", ("9100", "Port"), ("9090",)),
    (
        "Which port does the dashboard have on the network outside?",
        "ports.rst", "dashboard", ("443",), ("9090", "9100"),
    ),
    (
        "Which port does the dashboard have on the network inside?",
        "ports.rst", "dashboard", ("9090",), ("443",),
    ),
    # units in the header, an escaped bar, an empty cell
    ("How many tries does the fast queue have?", "limits.md", "fast", ("8", "Tries"), ("60", "3600")),
    ("What is the pause of the slow queue?", "limits.md", "slow", ("60", "Pause in s"), ("3600", "| 3 |")),
    ("What is the note of the fast queue?", "limits.md", "fast", ("mail \\| news",), ("night",)),
    ("How long is the pause of the night queue?", "limits.md", "night", ("3600", "in s"), ("60 ",)),
    ("What does the table of limits of a job list?", "limits.md", "", (), ()),
    # HTML with cells over rows and columns
    (
        "How much storage does the solo plan have?",
        "plans.html", "solo", ("5", "Storage in GB"), ("200", "free"),
    ),
    ("What is the quota of jobs of the free plan?", "plans.html", "free", ("1",), ("solo", "5000")),
    # a table that is too long to be quoted
    (
        "What is the meaning of K900?",
        "errors.md", "K900", ("the broker refused the password",), ("K001", "K059"),
    ),
    ("Is the code K007 retried?", "errors.md", "K007", ("yes",), ("K008", "K900")),
)  # fmt: skip
