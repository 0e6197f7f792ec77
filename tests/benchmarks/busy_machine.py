"""Times of training steps while other processes keep the cores busy.

    python -m tests.benchmarks.busy_machine --models mlp,softmax,char_rnn
    python -m tests.benchmarks.busy_machine --python ~/tf1/bin/python --rounds 3
    python -m tests.benchmarks.busy_machine --first 100

Starts 0, 1 and 2 processes that loop forever, at the usual priority and at the lowest
(`nice`), and prints mean, median and 95th percentile of the steps in milliseconds, for
this tfteach, that of each `--checkout`, and the TensorFlow 1.15 of each `--python`.
They run alternately within each condition, and sleep while another is measured.
With `--first N` the time is that of the first N steps together, each in a process that
has not trained before.
Nothing else should use the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("step_worker.py")
LOOP = "import os, sys\nos.nice(int(sys.argv[1]))\nprint(flush=True)\nwhile True: pass"


class Condition(NamedTuple):
    """How many other processes compute, and their niceness."""

    busy: int
    niceness: int

    def __str__(self) -> str:
        return f"{self.busy} busy" + (f", nice {self.niceness}" * bool(self.niceness))


class Summary(NamedTuple):
    """What was timed of one program under one condition, in milliseconds."""

    mean: float
    median: float
    p95: float
    count: int


class Program(NamedTuple):
    """A package that trains.

    Attributes:
      python: the interpreter.
      package: `tfteach` or `tensorflow`.
      checkout: the folder that contains tfteach, or None.
    """

    python: str
    package: str
    checkout: Path | None = None

    @property
    def name(self) -> str:
        return f"tfteach in {self.checkout}" if self.checkout else self.python


class Worker:
    """A process that trains a model when asked, and sleeps otherwise.

    Args:
      program: what trains.
      model: a name in `step_worker.MODELS`.
      warm: whether it trains before it is asked.
    """

    def __init__(self, program: Program, model: str, *, warm: bool = True) -> None:
        python, package, checkout = program
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        if checkout is not None:
            environment["PYTHONPATH"] = str(checkout)
        self._process = subprocess.Popen(
            [python, str(WORKER), package, model, "warm" if warm else "cold"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        while (line := self._read_line()) != "ready":  # others are messages
            if not line:
                self.close()
                raise RuntimeError(f"{python} cannot train {model} with {package}")

    def times_ms(
        self, amount: Literal["seconds", "steps"], limit: float
    ) -> list[float]:
        """The times of the steps while it trains for so many seconds or steps."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{amount} {limit}\n")
        self._process.stdin.flush()
        found: list[float] = json.loads(self._read_line())
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextlib.contextmanager
def busy_processes(condition: Condition) -> Iterator[None]:
    """Inside, so many processes loop."""
    command = [sys.executable, "-c", LOOP, str(condition.niceness)]
    others = [
        subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(condition.busy)
    ]
    try:
        for other in others:
            assert other.stdout is not None
            other.stdout.readline()  # it loops now
        yield
    finally:
        for other in others:
            other.kill()
            other.communicate()


def measure(
    workers: dict[str, Worker], condition: Condition, seconds: float, rounds: int
) -> dict[str, Summary]:
    """Let the workers train in turns of so many seconds, each once in each round."""
    times_ms: dict[str, list[float]] = {name: [] for name in workers}
    with busy_processes(condition):
        for _ in range(rounds):
            for name, worker in workers.items():
                times_ms[name] += worker.times_ms("seconds", seconds)
    return {name: summary(found) for name, found in times_ms.items()}


def measure_first(
    programs: Sequence[Program],
    model: str,
    condition: Condition,
    steps: int,
    rounds: int,
) -> dict[str, Summary]:
    """The time of the first steps together, in a new process in each round."""
    times_ms: dict[str, list[float]] = {program.name: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            new_process = Worker(program, model, warm=False)
            with contextlib.closing(new_process), busy_processes(condition):
                found = new_process.times_ms("steps", steps)
            times_ms[program.name].append(sum(found))
    return {name: summary(found) for name, found in times_ms.items()}


def summary(times_ms: Sequence[float]) -> Summary:
    return Summary(
        float(np.mean(times_ms)),
        float(np.median(times_ms)),
        float(np.percentile(times_ms, 95)),
        len(times_ms),
    )


def conditions(counts: Sequence[int], nicenesses: Sequence[int]) -> list[Condition]:
    """Each count at each niceness; no process has none."""
    found = [Condition(n, nice) for n in counts for nice in nicenesses]
    return list(dict.fromkeys(c if c.busy else Condition(0, 0) for c in found))


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", action="append", default=[], metavar="PATH",
                        help="an interpreter with TensorFlow 1.15")  # fmt: skip
    parser.add_argument("--checkout", action="append", default=[], type=Path,
                        help="a folder with another tfteach")  # fmt: skip
    parser.add_argument("--models", default="mlp")
    parser.add_argument("--busy", type=numbers, default=[0, 1, 2])
    parser.add_argument("--nice", type=numbers, default=[0, 19])
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn")
    parser.add_argument("--first", type=int, default=0, metavar="STEPS",
                        help="time so many first steps instead")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args(arguments)
    programs = [
        Program(sys.executable, "tfteach", checkout)
        for checkout in [ROOT, *args.checkout]
    ]
    programs += [Program(os.path.expanduser(p), "tensorflow") for p in args.python]
    print(f"{'model':12}{'condition':48}{'mean':>9}{'median':>9}{'p95':>9}{'times':>8}")
    for model in args.models.split(","):
        with contextlib.ExitStack() as stack:
            workers: dict[str, Worker] = {}
            for program in [] if args.first else programs:
                worker = Worker(program, model)
                stack.callback(worker.close)
                workers[program.name] = worker
            for condition in conditions(args.busy, args.nice):
                if args.first:
                    found = measure_first(
                        programs, model, condition, args.first, args.rounds
                    )
                else:
                    found = measure(workers, condition, args.seconds, args.rounds)
                for name, times in found.items():
                    figures = "".join(f"{ms:9.2f}" for ms in times[:3])
                    row = f"{model:12}{condition!s:17}{name[-30:]:31}{figures}"
                    print(f"{row}{times.count:8}", flush=True)


if __name__ == "__main__":
    main()
