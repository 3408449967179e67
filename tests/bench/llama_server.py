"""Serve a GGUF file with llama.cpp on 127.0.0.1, until it is ended; needs `xllamacpp`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

SLOTS = 2


def serve(file: Path, port: int, context: int, threads: int) -> None:
    """Serve a model with `context` tokens to each of two callers at once."""
    import xllamacpp  # type: ignore[import-not-found]

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(file), {file.stem.lower()}
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_parallel, params.n_ctx = SLOTS, SLOTS * context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    serve(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
