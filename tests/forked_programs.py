"""A Python that has imported tfteach, and forks itself for programs.

Each program then has a process of its own, and needs no import of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

SERVER = """
import json, os, sys
import tfteach

if sys.argv[1] == "tensorflow":
    tfteach.install_as_tensorflow()
del sys.argv[1]
for line in sys.stdin:
    code, output, errors = json.loads(line)
    child = os.fork()
    if not child:
        for number, path in ((1, output), (2, errors)):
            os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
        exec(code)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Done(NamedTuple):
    """What a program left: its exit status, what it printed, its errors."""

    status: int
    output: str
    errors: str


class Forks:
    """The server; `forked_programs` starts it."""

    def __init__(self, server: subprocess.Popen[str], folder: Path) -> None:
        self._server = server
        self._output, self._errors = folder / "output", folder / "errors"

    def run(self, code: str) -> str:
        """What Python code prints in a process of its own, which must end well."""
        done = self.ended(code)
        assert done.status == 0, done.errors[-2000:]
        return done.output

    def ended(self, code: str) -> Done:
        """How Python code ends in a process of its own."""
        assert self._server.stdin
        assert self._server.stdout
        order = [code, str(self._output), str(self._errors)]
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        return Done(status, self._output.read_text(), self._errors.read_text())


@contextmanager
def forked_programs(folder: Path, as_tensorflow: bool = True) -> Iterator[Forks]:
    """Start the server.

    Args:
      folder: an empty folder, for what programs print.
      as_tensorflow: whether `import tensorflow` gives programs tfteach.

    Yields:
      A `Forks`.
    """
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, "tensorflow" if as_tensorflow else "tfteach"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as server:
        yield Forks(server, folder)
