"""Finding the pages that answer a question, and how sure that is.

Open `search.py` first: a `Searcher` gives a file of `retrievers/` a `Look` (`look.py`) and gets a `Found`
(`found.py`). `features.py` and `ranking.py` put pages in order, `confidence.py` says how sure they are.
While a release is still being learnt, `unlearned.py` reads the pages of a question at once.
"""
