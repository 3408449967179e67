"""What of the pages the model reads: reduced and selected, or the pairs made of them."""
