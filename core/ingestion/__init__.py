"""Reading documents into the corpora that are searched.

Open `indexer.py` first: it reindexes a release. `reading.py` reads `sources/` and parses each page by one of
`formats/`, `chunking.py` cuts pages into what is searched and read, `embedding.py` makes their vectors.
"""
