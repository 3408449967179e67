"""Words, sentences and Markdown: how every part of Threadlore cuts text."""
