"""Programs that fit what is shipped and write it into a checkout; `threadlore tune` fits for one home."""
