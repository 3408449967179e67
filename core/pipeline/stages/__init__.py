"""The stages that recipes are made of: each takes a question's context one step further."""
