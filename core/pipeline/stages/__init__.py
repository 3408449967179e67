"""The stages that recipes are made of, one a file: each takes a question's context one step further."""
