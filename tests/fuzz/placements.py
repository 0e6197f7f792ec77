"""Random graphs on random devices: the log of placements against TensorFlow's.

    TFTEACH_ORACLE=/path/to/python python -m tests.fuzz.placements --count 300 --seed 1

Each graph grows between the runs of one session; some requests are absent, malformed or
contradict each other.  What the runs log, and what their errors say, must be equal.
Without an oracle nothing is compared: then no run may end in another error than TF's.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fuzz import placement_graphs


def by_tensorflow(python: str, seeds: list[int]) -> list[Any]:
    """The same by real TensorFlow."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        subprocess.run(
            [python, placement_graphs.__file__, str(out), *map(str, seeds)],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=True,
        )
        return list(json.loads(out.read_text()))


def by_tfteach(seeds: list[int]) -> list[Any]:
    """What tfteach says of these graphs."""
    import tfteach as tf

    found = []
    for seed in seeds:
        stream = io.StringIO()

        def logged(stream: io.StringIO = stream) -> list[str]:
            lines = stream.getvalue().splitlines()
            stream.seek(0)
            stream.truncate()
            return lines

        with (
            contextlib.redirect_stdout(stream),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            found.append(placement_graphs.results(tf, seed, logged))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seeds = list(range(options.seed, options.seed + options.count))
    ours = by_tfteach(seeds)
    kinds = Counter(
        run["error"][0] if "error" in run else "ran" for runs in ours for run in runs
    )
    lines = sum(len(run["log"]) for runs in ours for run in runs)
    python = os.environ.get("TFTEACH_ORACLE")
    theirs = by_tensorflow(python, seeds) if python else ours
    bad = [s for s, a, b in zip(seeds, ours, theirs, strict=True) if a != b]
    print(
        f"{len(seeds)} graphs, {sum(kinds.values())} runs {dict(kinds)}, {lines} lines "
        f"of log, {'compared' if python else 'nothing compared (TFTEACH_ORACLE)'}; "
        f"{len(bad)} differ{': seeds ' + str(bad[:20]) if bad else ''}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
