"""Commands given in a chat: the table, words, and who may."""
