"""A Python that has imported tfteach as `tensorflow`, and forks itself for programs.

Each program then has a process of its own, and needs no import of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]

SERVER = """
import json, os, sys
import tfteach

tfteach.install_as_tensorflow()
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


class Forks:
    """The server; `forked_programs` starts it."""

    def __init__(self, server: subprocess.Popen[str], folder: Path) -> None:
        self._server = server
        self._output, self._errors = folder / "output", folder / "errors"

    def run(self, code: str) -> str:
        """What Python code prints in a process of its own, which must end well."""
        assert self._server.stdin
        assert self._server.stdout
        order = [code, str(self._output), str(self._errors)]
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        status = self._server.stdout.readline()
        assert status == "0\n", self._errors.read_text()[-2000:]
        return self._output.read_text()


@contextmanager
def forked_programs(folder: Path) -> Iterator[Forks]:
    """Start the server.

    Args:
      folder: an empty folder, for what programs print.

    Yields:
      A `Forks`.
    """
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as server:
        yield Forks(server, folder)
