"""Question/answer pairs made of documents before anybody asks (QA pre-generation)."""
