"""Stand before a library that the bill of materials brings: jsonschema would take it for checking addresses.

Nothing of ours has them checked, the image has no such library, and to import it takes 1.3 s of processor
time in every process that has Chroma or the bot: it compiles 38 grammars.
"""

raise ImportError("the tests do without it")
