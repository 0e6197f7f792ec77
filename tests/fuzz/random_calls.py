"""Random calls, good and bad: does tfteach answer them as TensorFlow 1.15 does?

    TFTEACH_ORACLE=/path/to/python python -m tests.fuzz.random_calls --count 1000

Each call is a line of text (`call_text.py`) that both evaluate in processes of their
own (`call_worker.py`), which are restarted when a call ends them or takes too long.
Reported are the calls with the same outcome (both refuse, or both compute the same),
and, where both refuse, the same class of error.  `--cache FILE` keeps TensorFlow's
answers for the next time.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.call_text import CallMaker

ROOT = Path(__file__).parent.parent.parent
TIMEOUT_S = 20.0
LEAST_SHARE = 0.96

# Calls that are not compared: reason -> (what matches the call, what matches the
# message of TensorFlow's error).
NOT_COMPARED = {
    "files of another encoder": (r"tf\.summary\.image\(", ""),
    "an opaque handle": (r".*\.partial_run_setup\(", ""),
    "arguments that 1.15.5 ignores until a date has come": (
        r"tf\.matrix_(diag|diag_part|set_diag)\(.*\b(k|num_rows|num_cols|padding_value)=",
        "",
    ),
    "tfteach computes on the CPU what TensorFlow does on GPUs only": (
        "",
        "only supports? (the )?NHWC|does not support|on device type CPU",
    ),
    "grappler folded what does not fit into memory": (
        "",
        "Cannot parse tensor from proto",
    ),
    "NumPy 1.18 compared its types with TensorFlow's": ("", "data type not understood"),
    "the devices of this machine": (r"tf\.config\.", ""),
}

Answer = dict[str, Any]


class Worker:
    """A process that evaluates calls, one after the other."""

    def __init__(self, python: str, library: str) -> None:
        self._command = [python, "-m", "tests.fuzz.call_worker", library]
        self._process: subprocess.Popen[str] | None = None
        self.deaths = 0

    def _start(self) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
        }
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        assert process.stdout is not None
        if process.stdout.readline().strip() != '"ready"':
            raise SystemExit(f"{' '.join(self._command)} does not start")
        return process

    def send(self, call: str) -> None:
        """Begin to evaluate a call."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()

    def receive(self) -> Answer:
        """The answer; {"died": why} if there is none, of a process that then ends."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            answered = bool(selector.select(TIMEOUT_S))
        line = process.stdout.readline() if answered else ""
        if line:
            return json.loads(line)  # type: ignore[no-any-return]
        self.close()
        self.deaths += 1
        if not answered:
            return {"died": "hang"}
        return {"died": f"status {process.returncode}"}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


# ---- comparing


def refused(answer: Answer) -> list[str] | None:
    """[class, message] of an answer that is an error."""
    return answer.get("build") or answer.get("run")


def difference(ours: Answer, theirs: Answer) -> str:
    """How two answers differ, in a word or two; "" if they do not."""
    if "died" in theirs:
        return f"we {ours['died']}" if "died" in ours else ""
    if "died" in ours:
        return f"we {ours['died']}"
    our_error, their_error = refused(ours), refused(theirs)
    if our_error and their_error:
        if our_error[0] == their_error[0]:
            return ""
        return f"class {our_error[0]}, not {their_error[0]}"
    if our_error:
        return f"we refuse: {our_error[0]}"
    if their_error:
        return f"we accept: {their_error[0]}"
    if ours["result"] != theirs["result"]:
        return "result"
    if theirs["random"] or close(ours["values"], theirs["values"]):
        return ""
    return "values"


def close(ours: Any, theirs: Any) -> bool:
    """Whether computed values are the same but for rounding."""
    if not isinstance(theirs, list) or not isinstance(ours, list):
        return bool(ours == theirs)
    if len(ours) != len(theirs):
        return False
    if len(theirs) == 3 and isinstance(theirs[0], str):
        if ours[:2] != theirs[:2]:
            return False
        kind = theirs[0]
        if kind in ("object", "bool") or "int" in kind or kind.startswith(("str", "b")):
            return bool(ours[2] == theirs[2])
        tolerance = {"float16": 1e-2, "bfloat16": 3e-2}.get(kind, 2e-4)
        with np.errstate(all="ignore"):
            return np.allclose(
                np.array(ours[2]), np.array(theirs[2]), tolerance, tolerance,
                equal_nan=True,
            )  # fmt: skip
    return all(close(a, b) for a, b in zip(ours, theirs, strict=True))


def reason_to_skip(call: str, theirs: Answer) -> str | None:
    """Why a call is not compared, if it is not."""
    message = (refused(theirs) or ["", ""])[1]
    for reason, (of_call, of_message) in NOT_COMPARED.items():
        if re.match(of_call, call) and re.search(of_message, message):
            return reason
    return None


class Report:
    """Counts outcomes."""

    def __init__(self) -> None:
        self.skipped: collections.Counter[str] = collections.Counter()
        self.calls = self.same = self.both_refuse = self.same_class = 0
        self.their_deaths = self.our_deaths = self.good = 0
        self.kinds: collections.Counter[str] = collections.Counter()
        self.by_function: collections.Counter[str] = collections.Counter()
        self.differing: list[tuple[str, str, Answer, Answer]] = []

    def add(self, call: str, ours: Answer, theirs: Answer) -> None:
        """Count one call."""
        reason = reason_to_skip(call, theirs)
        if reason is not None and "died" not in ours:
            self.skipped[reason] += 1
            return
        kind = difference(ours, theirs)
        self.calls += 1
        self.their_deaths += "died" in theirs
        self.our_deaths += "died" in ours
        self.good += "result" in theirs
        self.same += not kind or kind.startswith("class ")
        if refused(ours) and refused(theirs):
            self.both_refuse += 1
            self.same_class += not kind
        if kind:
            self.kinds[kind] += 1
            self.by_function[call.partition("(")[0]] += 1
            self.differing.append((kind, call, ours, theirs))

    def shares(self) -> tuple[float, float]:
        """Same outcome of all; same class where both refuse."""
        return (
            self.same / max(self.calls, 1),
            self.same_class / max(self.both_refuse, 1),
        )

    def print(self, rows: int = 20) -> None:
        """The figures, and where the most differ."""
        same, same_class = self.shares()
        print(f"{self.calls} calls, {self.good} of them good for TensorFlow")
        print(f"the same outcome: {self.same} ({same:.2%})")
        print(f"both refuse: {self.both_refuse}, the same class: {same_class:.2%}")
        print(f"TensorFlow died: {self.their_deaths}, tfteach died: {self.our_deaths}")
        for counter in (self.skipped, self.kinds, self.by_function):
            print()
            for what, count in counter.most_common(rows):
                print(f"{count:5} {what}")


# ---- running


def read_cache(path: str | None) -> dict[str, Answer]:
    """TensorFlow's earlier answers."""
    if path is None or not Path(path).exists():
        return {}
    with open(path) as file:
        return dict(json.loads(line) for line in file)


def compare(calls: list[str], cache: str | None, oracle: str | None) -> Report:
    """Put all calls to both."""
    known = read_cache(cache)
    ours = Worker(sys.executable, "tfteach")
    theirs = Worker(oracle or "no oracle", "tensorflow")
    report = Report()
    try:
        for call in calls:
            ours.send(call)
            if call not in known:
                theirs.send(call)
                known[call] = theirs.receive()
                if cache is not None:
                    with open(cache, "a") as file:
                        print(json.dumps([call, known[call]]), file=file)
            report.add(call, ours.receive(), known[call])
    finally:
        ours.close()
        theirs.close()
    return report


def main() -> int:
    """Run from the command line; 1 if a share is below the least, or tfteach died."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", help="a file of TensorFlow's answers")
    parser.add_argument("--out", help="a file for the calls that differ")
    options = parser.parse_args()
    oracle = os.environ.get("TFTEACH_ORACLE")
    if oracle is None:
        raise SystemExit("TFTEACH_ORACLE names no Python with TensorFlow 1.15")
    maker = CallMaker(options.seed)
    calls = [maker.call(number) for number in range(options.count)]
    report = compare(calls, options.cache, oracle)
    report.print()
    if options.out:
        with open(options.out, "w") as file:
            for row in sorted(report.differing, key=lambda row: row[:2]):
                print(json.dumps(row), file=file)
    return int(min(report.shares()) < LEAST_SHARE or report.our_deaths > 0)


if __name__ == "__main__":
    raise SystemExit(main())
