"""Files, threads and large JSON."""
