"""`threadlore tune`: learn the order of pages from labelled questions."""
