"""Damaged graphs end as errors of TensorFlow, never as Python's own.

`python -m tests.fuzz.damaged_graphs --count 20000 --seed 1` damages good GraphDefs and
MetaGraphDefs, imports them, draws them as text, takes gradients and runs some fetches.
Chunks run in processes of their own, of limited memory, so that a crash is seen and
counted.  With `--case NUMBER` one case runs here, and shows where its violation is.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import random
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

import tfteach as tf
from tests.fuzz.good_graphs import graphs, meta_graphs
from tests.fuzz.graph_damage import damaged
from tests.fuzz.meta_graph_damage import damaged_meta_graph

SLOW_S = 60
RUN_TIMEOUT_MS = 1000
MEMORY_BYTES = 3 << 30
CHUNK = 1000

# Python's own errors; some of them are ValueErrors, too.
OWN = (UnicodeError, LookupError, ArithmeticError, AssertionError, MemoryError)


class SlowError(BaseException):
    """A case took more than SLOW_S seconds."""


class Outcome(NamedTuple):
    """How far a damaged graph came; the kind and text of a violation, if any."""

    steps: list[str]
    kind: str = ""
    text: str = ""


class Violation(Exception):
    """Something that no damage may lead to: its kind, and the whole story."""


def is_allowed(error: BaseException, step: str) -> bool:
    """Whether TensorFlow's users would see an error of this kind at this step."""
    if step == "parse":
        return isinstance(error, DecodeError)
    if isinstance(error, tf.errors.OpError):
        return True
    if isinstance(error, NotImplementedError):
        return bool(str(error))
    if step == "gradients" and isinstance(error, LookupError):
        words = ("No gradient defined for operation", "Gradient explicitly disabled")
        return str(error).startswith(words)
    if isinstance(error, OWN) or step in ("print", "export", "again", "run"):
        return False
    kinds = ValueError | TypeError if step == "gradients" else ValueError
    return isinstance(error, kinds) and bool(str(error))


def attempt(step: str, call: Callable[[], Any], steps: list[str]) -> Any:
    """The call's result, or None after an error that is allowed."""
    try:
        result = call()
    except Exception as error:
        if not is_allowed(error, step):
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = "".join(traceback.format_exception(error)[-6:])
            kind = f"{step}: {type(error).__name__} in {where.name}"
            raise Violation(kind, text) from error
        steps.append(f"{step}: {type(error).__name__}")
        attempt.error = error  # type: ignore[attr-defined]
        return None
    steps.append(f"{step}: ok")
    return result


def examine(seed: int) -> Outcome:
    """Damage a graph, and do with it all that a user might."""
    rng = random.Random(seed)
    is_meta = rng.random() < 0.3
    found = meta_graphs() if is_meta else graphs()
    name = rng.choice(sorted(found))
    damage = damaged_meta_graph if is_meta else damaged
    data, damages = damage(rng, found[name])
    steps: list[str] = []
    try:
        with limited_time(), tf.Graph().as_default() as graph:
            if rng.random() < 0.5:
                tf.constant(1.0, name=rng.choice(("x", "import", "import/x")))
            if is_meta:
                examine_meta_graph(rng, data, graph, steps)
            else:
                examine_graph_def(rng, data, graph, steps)
    except Violation as violation:
        kind, text = violation.args
        return Outcome(steps, kind, f"{name} {damages}\n{text}")
    except SlowError as error:
        text = "".join(traceback.format_tb(error.__traceback__)[-5:])
        return Outcome(steps, f"over {SLOW_S} s", f"{name} {damages}\n{text}")
    return Outcome(steps)


@contextlib.contextmanager
def limited_time() -> Iterator[None]:
    def too_slow(*_: Any) -> None:
        raise SlowError

    before = signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(SLOW_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def examine_graph_def(
    rng: random.Random, data: bytes, graph: tf.Graph, steps: list[str]
) -> None:
    graph_def = attempt("parse", lambda: tf.GraphDef.FromString(data), steps)
    if graph_def is None:
        return
    attempt("print", lambda: str(graph_def), steps)
    if rng.random() < 0.3:
        attempt("draw", lambda: draw(graph_def), steps)
    prefix = rng.choice((None, "", "p"))
    before = state_of(graph)
    done = attempt("import", lambda: imported(graph_def, prefix), steps)
    if done is None:
        if state_of(graph) != before:
            raise Violation("import: refused, and the graph is another", "")
        check_usable(graph)
        return
    exported = attempt("export", graph.as_graph_def, steps)
    if exported is not None:
        attempt("again", lambda: imported_again(exported), steps)
    use(rng, graph, steps)


def examine_meta_graph(
    rng: random.Random, data: bytes, graph: tf.Graph, steps: list[str]
) -> None:
    meta_graph = attempt("parse", lambda: tf.MetaGraphDef.FromString(data), steps)
    if meta_graph is None:
        return
    attempt("print", lambda: str(meta_graph), steps)
    scope = rng.choice((None, None, "scope", "import"))
    before = state_of(graph)
    done = attempt("import", lambda: imported_meta_graph(meta_graph, scope), steps)
    if done is None:
        if state_of(graph) != before:
            raise Violation("import: refused, and the graph is another", "")
        check_usable(graph)
        return
    attempt("export", tf.train.export_meta_graph, steps)
    use(rng, graph, steps)


def imported_meta_graph(meta_graph: Any, scope: str | None) -> bool:
    tf.train.import_meta_graph(meta_graph, import_scope=scope)
    return True


def use(rng: random.Random, graph: tf.Graph, steps: list[str]) -> None:
    """Draw the graph, take gradients, run it."""
    if rng.random() < 0.3:
        attempt("draw", lambda: draw(graph), steps)
    if rng.random() < 0.5:
        attempt("gradients", lambda: gradients(rng, graph), steps)
    run(rng, graph, steps)


def imported(graph_def: Any, prefix: str | None) -> bool:
    tf.import_graph_def(graph_def, name=prefix)
    return True


def imported_again(graph_def: Any) -> None:
    """What was exported is imported to the same nodes."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    again = graph.as_graph_def()
    if again != graph_def and str(again) != str(graph_def):
        ours, theirs = str(graph_def).split("node {"), str(again).split("node {")
        pairs = zip(ours, theirs, strict=False)
        pair = next(((a, b) for a, b in pairs if a != b), (len(ours), len(theirs)))
        raise Violation("again: another graph", f"{pair[0]}\n-- became --\n{pair[1]}")


def state_of(graph: tf.Graph) -> Any:
    return (
        graph.as_graph_def(add_shapes=True).SerializeToString(deterministic=True),
        {key: list(graph.get_collection(key)) for key in graph.collections},
        graph.get_name_scope(),
    )


def check_usable(graph: tf.Graph) -> None:
    """After a refusal the graph works as before."""
    with tf.Session(graph=graph) as session:
        if session.run(tf.constant(2.0, name="usable") + 1.0) != 3.0:
            raise Violation("after a refusal the graph computes something else", "")


def draw(graph: Any) -> None:
    from tfteach.explain.graphs.graph_rows import rows_of_graph, rows_of_graph_def
    from tfteach.explain.graphs.scope_tree import make_tree

    is_graph = isinstance(graph, tf.Graph)
    rows = rows_of_graph(graph) if is_graph else rows_of_graph_def(graph)
    make_tree(rows)
    json.dumps([row[:5] for row in rows]).encode()
    from tfteach.jupyter.widgets.graph import GraphView

    view = GraphView(graph)
    repr(view)
    view.close()


def gradients(rng: random.Random, graph: tf.Graph) -> None:
    tensors = [
        t
        for op in graph.get_operations()
        for t in op.outputs
        if t.dtype.is_floating and not t.dtype.is_ref
    ]
    if tensors:
        tf.gradients(rng.choice(tensors), rng.sample(tensors, min(2, len(tensors))))


def run(rng: random.Random, graph: tf.Graph, steps: list[str]) -> None:
    operations = graph.get_operations()
    feeds = {
        op.outputs[0]: np.ones(
            op.outputs[0].shape.as_list(),
            op.outputs[0].dtype.as_numpy_dtype,
        )
        for op in operations
        if op.type == "Placeholder"
        and op.outputs[0].shape.is_fully_defined()
        and max(op.outputs[0].shape.as_list(), default=0) < 100
        and op.outputs[0].shape.num_elements() < 1000
        and (op.outputs[0].dtype.is_floating or op.outputs[0].dtype.is_bool)
    }
    options = tf.RunOptions(timeout_in_ms=RUN_TIMEOUT_MS)
    with tf.Session(graph=graph) as session:
        operations = [op for op in operations if graph.is_fetchable(op)]
        starts = [op for op in operations if op.type == "NoOp" and "init" in op.name]
        for fetch in [*starts[:1], *rng.sample(operations, min(3, len(operations)))]:
            attempt(
                "run",
                lambda fetch=fetch: session.run(
                    fetch if not fetch.outputs or rng.random() < 0.3 else fetch.outputs,
                    feeds,
                    options,
                ),
                steps,
            )


# ---- chunks in processes of their own


def chunk(first: int, count: int) -> None:
    """Examine cases, and print a line of JSON for each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    tf.logging.set_verbosity(tf.logging.FATAL)
    for seed in range(first, first + count):
        outcome = examine(seed)
        print(json.dumps({"seed": seed, **outcome._asdict()}), flush=True)


def run_chunk(first: int, count: int) -> tuple[dict[int, Outcome], str]:
    """The outcomes of a chunk by case, and how its process died, if it did."""
    command = [sys.executable, "-m", "tests.fuzz.damaged_graphs"]
    command += ["--chunk", str(first), "--count", str(count)]
    done = subprocess.run(
        command,
        capture_output=True,
        timeout=count * SLOW_S,
        check=False,
    )
    found: dict[int, Outcome] = {}
    for line in done.stdout.decode().splitlines():
        with contextlib.suppress(ValueError):
            row = json.loads(line)
            found[row["seed"]] = Outcome(row["steps"], row["kind"], row["text"])
    if done.returncode:
        end = done.stderr.decode(errors="replace")[-1500:]
        return found, f"status {done.returncode}: {end}"
    return found, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    parser.add_argument("--chunk", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.chunk is not None:
        chunk(options.chunk, options.count)
        return 0
    if options.case is not None:
        outcome = examine(options.case)
        print(*outcome.steps, outcome.kind, outcome.text, sep="\n")
        return bool(outcome.kind)
    counts: collections.Counter[str] = collections.Counter()
    violations: dict[str, list[tuple[int, str]]] = {}
    base = options.seed * 1_000_000
    seed, end = base, base + options.count
    while seed < end:
        found, death = run_chunk(seed, min(CHUNK, end - seed))
        for case, outcome in found.items():
            counts.update(outcome.steps)
            if outcome.kind:
                violations.setdefault(outcome.kind, []).append((case, outcome.text))
        seed = max([seed - 1, *found]) + 1
        print(f"{seed - base} of {options.count}", file=sys.stderr, flush=True)
        if death:
            violations.setdefault("its process died", []).append((seed, death))
            seed += 1
    for step, number in sorted(counts.items()):
        print(f"{number:8} {step}")
    for kind, cases in violations.items():
        seeds = ", ".join(str(case) for case, _ in cases[:5])
        print(f"\n{len(cases)} x {kind} (cases {seeds}), such as {cases[0][1]}")
    total = sum(map(len, violations.values()))
    print(f"\n{options.count} damaged graphs, {total} violations")
    return bool(total)


if __name__ == "__main__":
    sys.exit(main())
