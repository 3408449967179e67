"""The processes that do what may never end: `pool` starts and ends them, `child` is what runs in each."""
