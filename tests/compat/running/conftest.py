"""Runs old programs by `python -m tfteach run`, each in a forked process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.running.programs import Done, Run
from tests.forked_programs import TFTEACH, Forks, forked_programs

START = """\
import os, runpy, sys
os.chdir({folder!r})
{before}
sys.argv = {argv!r}
runpy.run_module("tfteach", run_name="__main__")
"""


@pytest.fixture(scope="package")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    folder = tmp_path_factory.mktemp("printed")
    with forked_programs(folder, TFTEACH) as forks:
        yield forks


@pytest.fixture
def run(forks: Forks) -> Run:
    """Runs a program in its folder; `before` changes the process before."""

    def run(path: Path, *arguments: str, before: str = "") -> Done:
        argv = ["tfteach", "run", *arguments]
        start = START.format(folder=str(path.parent), before=before, argv=argv)
        done = forks.ended(start)
        told = [
            line.removeprefix("tfteach: ")
            for line in done.errors.splitlines()
            if line.startswith("tfteach: ")
        ]
        return Done(done.output.splitlines(), told, done.status, done.errors)

    return run
