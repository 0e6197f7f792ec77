"""A Python that has imported tfteach, or TensorFlow, and forks itself for programs.

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

TFTEACH = "import tfteach"
AS_TENSORFLOW = "import tfteach; tfteach.install_as_tensorflow()"

# In Python 3.7, too: real TensorFlow's. A program that hangs ends by the alarm.
SERVER = """
import json, os, signal, sys

exec(sys.argv[1])
for line in sys.stdin:
    code, sys.argv[1:], folder, output, errors = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(600)
        for number, path in ((1, output), (2, errors)):
            os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
        os.chdir(folder)
        exec(code)
        sys.exit()
    status = os.waitpid(child, 0)[1]
    signaled = os.WIFSIGNALED(status)
    print(-os.WTERMSIG(status) if signaled else os.WEXITSTATUS(status), flush=True)
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

    def run(self, code: str, *arguments: str, folder: str | Path = ROOT) -> str:
        """What Python code prints in a process of its own, which must end well."""
        done = self.ended(code, *arguments, folder=folder)
        assert done.status == 0, done.errors[-2000:]
        return done.output

    def ended(self, code: str, *arguments: str, folder: str | Path = ROOT) -> Done:
        """How Python code ends in a process of its own, in a folder."""
        assert self._server.stdin
        assert self._server.stdout
        places = [str(folder), str(self._output), str(self._errors)]
        order = [code, arguments, *places]
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        return Done(status, self._output.read_text(), self._errors.read_text())


@contextmanager
def forked_programs(
    folder: Path, prepared: str = AS_TENSORFLOW, python: str = sys.executable
) -> Iterator[Forks]:
    """Start the server.

    Args:
      folder: an empty folder, for what programs print.
      prepared: what the server runs once, for all programs.
      python: the Python that runs it.

    Yields:
      A `Forks`.
    """
    with subprocess.Popen(
        [python, "-c", SERVER, prepared],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as server:
        yield Forks(server, folder)
