"""A small real model behind an OpenAI-compatible server, in a process of its own; prints its address."""

from __future__ import annotations

import sys

import xllamacpp


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.port = 0
    parameters.n_parallel, parameters.n_ctx, parameters.use_jinja = 1, 4_096, True
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # two on two cores spin against others
    server = xllamacpp.Server(parameters)
    sys.stdout.write(server.listening_address + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
