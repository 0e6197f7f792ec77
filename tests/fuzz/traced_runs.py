"""Traces and partition graphs of random graphs: whole, and as TensorFlow's.

    python -m tests.fuzz.traced_runs --count 500 --seed 0

Optimized runs are held to what must be true of any trace: each node of a partition is
there once and takes what the same partition has, each `_Send` has its `_Recv`, each row
is of a node, and nodes outside branches and loops have a row.  With
`TFTEACH_ORACLE=/path/to/python` unoptimized runs are compared with TensorFlow 1.15's,
row by row and node by node.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

import tfteach as tf
from tests.fuzz import traced_graphs

FLOW = ("Switch", "Merge", "Enter")


def broken_rules(metadata: Any) -> list[str]:
    """The rules that the trace of an optimized run breaks."""
    found = []
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    names = [node.name for node in nodes]
    found += [f"{name} is there twice" for name in names if names.count(name) > 1]
    for graph in metadata.partition_graphs:
        mine = {node.name for node in graph.node}
        for node in graph.node:
            taken = {name.lstrip("^").partition(":")[0] for name in node.input}
            found += [f"{node.name} takes {name}" for name in taken - mine]
    halves: dict[str, set[bytes]] = {"_Send": set(), "_Recv": set()}
    for node in nodes:
        if node.op in halves:
            halves[node.op].add(node.attr["tensor_name"].s + node.attr["recv_device"].s)
    if halves["_Send"] != halves["_Recv"]:
        found.append(f"copies do not match: {halves}")
    rows = set()
    for device in metadata.step_stats.dev_stats:
        starts = [row.all_start_nanos for row in device.node_stats]
        if starts != sorted(starts):
            found.append(f"rows of {device.device} are not in order")
        if not device.device.startswith("/host"):
            rows |= {row.node_name for row in device.node_stats}
    found += [f"row of {name}" for name in rows - {*names, "_SOURCE"}]
    if not any(node.op in FLOW for node in nodes):
        kernels = {node.name for node in nodes if node.op not in halves}
        found += [f"no row of {name}" for name in kernels - rows]
    return found


def differences(ours: Any, theirs: Any) -> list[str]:
    """Rows and nodes that differ between two results of `canonical`."""
    return [
        f"{part} {name}: {theirs[part].get(name)} -> {ours[part].get(name)}"
        for part in ("rows", "nodes")
        for name in sorted({*ours[part], *theirs[part]})
        if ours[part].get(name) != theirs[part].get(name)
    ]


def run_in_tensorflow(python: str, first: int, count: int) -> dict[str, Any]:
    """The canonical form of TensorFlow's unoptimized runs, by seed."""
    done = subprocess.run(
        [python, traced_graphs.__file__, str(first), str(count)],
        capture_output=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""},
        check=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """Run the fuzzer; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    problems = []
    for gpus in (0, 2):
        tf.simulate_gpus(gpus)
        for seed in seeds:
            metadata = traced_graphs.traced(tf, seed, True, gpus=gpus > 0)
            problems += [f"seed {seed}: {text}" for text in broken_rules(metadata)]
    tf.simulate_gpus(0)
    print(f"{2 * len(seeds)} optimized runs, {len(problems)} broken rules")
    python = os.environ.get("TFTEACH_ORACLE")
    if python:
        theirs = run_in_tensorflow(python, seeds.start, len(seeds))
        differing = 0
        for seed in seeds:
            metadata = traced_graphs.traced(tf, seed, optimized=False)
            ours = json.loads(json.dumps(traced_graphs.canonical(metadata)))
            found = differences(ours, theirs[str(seed)])
            differing += bool(found)
            problems += [f"seed {seed}: {text}" for text in found]
        print(f"{len(seeds)} unoptimized runs, {differing} differ from TensorFlow's")
    print("\n".join(problems[:40]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
