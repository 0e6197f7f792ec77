"""Damaged GraphDefs: real TensorFlow accepts and refuses the same ones.

`TFTEACH_ORACLE=/path/to/python python -m tests.fuzz.compare_imports --count 600`
imports the same damaged graphs here and there, and fails if fewer than 95 of 100 end
alike.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

import tfteach as tf
from tests.fuzz.good_graphs import graphs
from tests.fuzz.graph_damage import damaged

SCRIPT = Path(__file__).with_name("import_with_tensorflow.py")
LEAST_ALIKE = 0.95


def import_here(data: bytes) -> tuple[str, str]:
    """ "ok", or the error's class and text."""
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(tf.GraphDef.FromString(data))
        except Exception as error:
            return type(error).__name__, str(error)
    return "ok", ""


def import_there(directory: str) -> dict[int, tuple[str, str]]:
    """The same for each file of the directory; "died" where TensorFlow crashed."""
    found: dict[int, tuple[str, str]] = {}
    first = 0
    while True:
        command = [os.environ["TFTEACH_ORACLE"], str(SCRIPT), directory, str(first)]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment["TF_CPP_MIN_LOG_LEVEL"] = "3"
        done = subprocess.run(
            command, capture_output=True, env=environment, check=False
        )
        begun = -1
        for line in done.stdout.decode().splitlines():
            row = json.loads(line)
            if "begin" in row:
                begun = row["begin"]
            else:
                name, text = row["answer"]
                found[row["number"]] = name, text
        if not done.returncode or begun < first:
            return found
        found[begun] = "died", ""
        first = begun + 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    here: dict[int, tuple[str, str]] = {}
    told: dict[int, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        base = options.seed * 1_000_000
        for case in range(base, base + options.count):
            rng = random.Random(case)
            name = rng.choice(sorted(graphs()))
            data, damages = damaged(rng, graphs()[name])
            try:
                tf.GraphDef.FromString(data)
            except DecodeError:
                continue
            Path(directory, f"{case}.pb").write_bytes(data)
            here[case], told[case] = import_here(data), (name, damages)
        there = import_there(directory)
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    alike = 0
    for case, (ours, text) in here.items():
        theirs, their_text = there.get(case, ("died", ""))
        counts[theirs, ours] += 1
        if theirs == "died" or (ours == "ok") == (theirs == "ok"):
            alike += 1
        else:
            print(f"{case} {told[case]}\n  TensorFlow: {theirs} {their_text[:300]}")
            print(f"  here: {ours} {text[:300]}")
    for (theirs, ours), number in counts.most_common():
        print(f"{number:6} TensorFlow {theirs}, here {ours}")
    print(f"{alike} of {len(here)} graphs that parse end alike")
    return alike < LEAST_ALIKE * len(here)


if __name__ == "__main__":
    sys.exit(main())
