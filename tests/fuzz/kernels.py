"""Every kernel on odd inputs: a value or an error of `tf.errors`, as real TF's.

`python -m tests.fuzz.kernels --count N --seed S [--op REGEX] [--report FILE]`
`python -m tests.fuzz.kernels --count N --seed S --record tests/fuzz/refusals.json`

Takes the rows of `tests/ops/cases/`, feeds all inputs through placeholders of unknown
shape, so that only the kernel can refuse them, and changes ranks, sizes, numbers and
attributes.  A run must end within its time and memory with a value or with an error
that names the node and is no exception of Python in disguise.  With
`TFTEACH_ORACLE=/path/to/python` the same GraphDef and arrays go to TensorFlow 1.15, and
the outcomes are compared: class, words and values.  `--record` writes TensorFlow's
refusals on which both agree, one of each kind, for tests/fuzz/test_kernels.py.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf import text_format

import tfteach as tf
from tests.fuzz import graph_oracle
from tests.fuzz.graph_oracle import as_array, plain
from tests.ops.case import Case, all_cases, fits
from tfteach.engine.session.session import Session
from tfteach.framework.graph import Graph
from tfteach.ops.core.placeholder import Placeholder

LIMIT_S = 60
LIMIT_BYTES = 6 << 30
NODE = "it"
# Their numbers differ from TensorFlow's, or from run to run.
RANDOM = re.compile(r"Random|CandidateSampler|Multinomial|Distorted|Fractional|Summary")
# What TensorFlow refuses on CPUs and tfteach computes, or needs another graph for.
INTENDED = re.compile(
    r"on (device type )?CPU|only supports? N|CPU implementation|CPU device type|"
    r"dilation rates larger than 1|No OpKernel was registered|Op type not registered|"
    r"callback pyfunc|is not available in GraphDef|block_shape must have rank 1|"
    r"All input shapes must be fully defined"
)
# An exception of Python or NumPy that `engine/execute/kernel_errors.py` made an OpError
# of.
DISGUISED = re.compile(r"^\w+ cannot compute with inputs of shapes")


@dataclass(frozen=True)
class Call:
    """A graph of one op, and what is fed to it."""

    op_type: str
    graph_def: Any
    fetches: tuple[str, ...]
    feeds: dict[str, Any]

    @property
    def node(self) -> Any:
        """The NodeDef of the op."""
        return next(n for n in self.graph_def.node if n.name == NODE)

    @property
    def text(self) -> str:
        """The call, short enough for a report."""
        (node,) = (n for n in self.graph_def.node if n.name == NODE)
        attributes = {
            k: str(v).strip().replace("\n", " ") for k, v in node.attr.items()
        }
        fed = [
            f"{a.dtype}{list(a.shape)} {str(a.ravel()[:12].tolist())[:160]}"
            for a in self.feeds.values()
        ]
        return f"{attributes} {fed}"


@dataclass(frozen=True)
class Outcome:
    """Values, or an error's class and words, or a crash."""

    kind: str
    values: tuple[Any, ...] = ()
    error: str = ""
    message: str = ""

    @property
    def words(self) -> str:
        """The message without the lines that locate the node."""
        text = re.split(r"\n\s*(?:\[\[|While building|Node:)|\n\n", self.message)[0]
        text = re.sub(r"\[\[\{\{node [^}]*\}\}.*", "", text)
        return text.strip()


# ---- from rows to calls


def dtype_of(array: Any) -> Any:
    return tf.string if array.dtype == object else tf.as_dtype(array.dtype)


def call_of(case: Case) -> Call | None:
    """The row as it stands; None for an op without outputs, or that needs shapes."""
    names = [arg.name for arg in type(case.op).inputs]
    bound = dict(zip(names, case.inputs, strict=True))
    with Graph().as_default() as graph:
        feeds = [
            Placeholder(dtype_of(a), None)(name=f"in{i}")
            for i, a in enumerate(case.flat)
        ]
        try:
            case.op(*fits(case.op, bound, feeds), name=NODE)
        except ValueError:
            return None
        node = graph.get_operation_by_name(NODE)
    if not node.outputs:
        return None
    fed = {t.name: np.array(a) for t, a in zip(feeds, case.flat, strict=True)}
    fetches = tuple(t.name for t in node.outputs)
    return Call(case.op.op_type, graph.as_graph_def(), fetches, fed)


# How many inputs or outputs a node has is no choice of the op.
COUNTS = ("N", "num", "Ndims", "num_split", "num_partitions")
NUMBERS = (-1, -2, 0, 1, 2, 3, 5, 7, 100, -(2**31), 2**31 - 1)
HUGE = (2**31, 2**33, 2**62, -(2**62))
FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e30, 1e-30, 0.5)
TEXTS = (b"", b" ", b"-1", b"\xff\xfe", b"a\x00b", b"nan", b"1e400", b"abc" * 30)


def other_number(rng: Any, dtype: Any) -> Any:
    """An odd number (or text) of the type."""
    if dtype.names:  # quantized
        dtype = dtype[0]
    if dtype.hasobject:
        return TEXTS[rng.integers(len(TEXTS))]
    if dtype.kind == "b":
        return bool(rng.integers(2))
    if dtype.kind in "iu":
        wide = NUMBERS + HUGE if dtype.itemsize == 8 else NUMBERS
        info = np.iinfo(dtype)
        return min(max(wide[rng.integers(len(wide))], info.min), info.max)
    return FLOATS[rng.integers(len(FLOATS))]


def with_shape(rng: Any, array: Any, shape: tuple[int, ...]) -> Any:
    """The array's numbers, again and again, in another shape."""
    size = int(np.prod(shape))
    if array.size:
        return np.resize(array.reshape(-1), size).reshape(shape)
    found = np.empty(size, array.dtype)
    found[:] = [other_number(rng, array.dtype) for _ in range(size)]
    return found.reshape(shape)


def changed(rng: Any, array: Any) -> Any:
    """The array with one odd change."""
    shape = array.shape
    kind = rng.integers(9)
    if kind == 0:
        rank = int(rng.choice([0, 1, 2, 3, 4, 5]))
        return with_shape(rng, array, tuple(rng.integers(1, 4, rank).tolist()))
    if kind in (1, 2) and shape:
        axis = rng.integers(len(shape))
        size = 0 if kind == 1 else max(shape[axis] + rng.integers(-2, 3), 0)
        return with_shape(rng, array, (*shape[:axis], int(size), *shape[axis + 1 :]))
    if kind == 3:
        axis = rng.integers(len(shape) + 1)
        return np.expand_dims(array, int(axis)) if len(shape) < 6 else array
    if kind == 4 and shape:
        return array[int(rng.integers(shape[0])), ...] if shape[0] else array
    if kind == 5 and array.size:
        flat = array.reshape(-1).copy()
        rng.shuffle(flat)
        return flat.reshape(shape)
    if array.size:
        flat = array.reshape(-1).copy()
        for _ in range(rng.integers(1, 3)):
            with np.errstate(all="ignore"):
                flat[rng.integers(flat.size)] = other_number(rng, array.dtype)
        return flat.reshape(shape)
    return with_shape(rng, array, (1,))


def change_attribute(rng: Any, graph_def: Any) -> Any:
    """The graph with another number in one attribute of the node."""
    graph_def = type(graph_def).FromString(graph_def.SerializeToString())
    (node,) = (n for n in graph_def.node if n.name == NODE)
    fields = []
    for name, value in node.attr.items():
        kind = value.WhichOneof("value")
        is_numbers = kind == "list" and (len(value.list.i) or len(value.list.f))
        if (kind in ("i", "f", "b") or is_numbers) and name not in COUNTS:
            fields.append((value, kind))
    if not fields:
        return graph_def
    value, kind = fields[rng.integers(len(fields))]
    number = int(NUMBERS[rng.integers(len(NUMBERS))])
    if kind == "i":
        value.i = number
    elif kind == "f":
        value.f = FLOATS[rng.integers(len(FLOATS))]
    elif kind == "b":
        value.b = not value.b
    elif len(value.list.f):
        value.list.f[rng.integers(len(value.list.f))] = FLOATS[
            rng.integers(len(FLOATS))
        ]
    elif rng.integers(3) == 0:
        value.list.i.append(number)
    elif rng.integers(3) == 0:
        value.list.i.pop()
    else:
        value.list.i[rng.integers(len(value.list.i))] = number
    return graph_def


def odd_call(rng: Any, call: Call) -> Call:
    """The call with one to three changes."""
    graph_def, feeds = call.graph_def, dict(call.feeds)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if not feeds or rng.integers(6) == 0:
            graph_def = change_attribute(rng, graph_def)
        else:
            name = list(feeds)[rng.integers(len(feeds))]
            feeds[name] = changed(rng, feeds[name])
    return Call(call.op_type, graph_def, call.fetches, feeds)


def odd_calls(count: int, seed: int, pattern: str = "") -> Iterator[Call]:
    """`count` calls, the ops in turn."""
    by_op: dict[str, list[Call]] = {}
    for case in all_cases():
        if re.search(pattern, case.op.op_type):
            call = call_of(case)
            if call is not None and sum(a.size for a in call.feeds.values()) < 20_000:
                by_op.setdefault(call.op_type, []).append(call)
    ops = sorted(by_op)
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        rows = by_op[ops[i % len(ops)]]
        yield odd_call(rng, rows[rng.integers(len(rows))])


# ---- outcomes


class TooLong(BaseException):
    """A call took longer than it may."""


def _stop(*_: Any) -> None:
    raise TooLong


def run_here(call: Call) -> Outcome:
    """What tfteach does."""
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(LIMIT_S)
    try:
        with Graph().as_default() as graph:
            tf.import_graph_def(call.graph_def, name="")
            with Session() as session:
                values = session.run(list(call.fetches), call.feeds)
        return Outcome("value", tuple(as_array(v) for v in values))
    except TooLong:
        return Outcome("time")
    except Exception as error:
        del graph
        message = getattr(error, "message", None) or str(error)
        is_op_error = isinstance(error, tf.errors.OpError)
        if is_op_error and (error.op is None or error.op.name != NODE):
            message = "(without the node) " + message
        return Outcome("error", (), type(error).__name__, message)
    finally:
        signal.alarm(0)


class Oracle:
    """Real TensorFlow in a process of its own."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, graph_oracle.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        )

    def run(self, call: Call) -> Outcome:
        feeds = {name: plain(value) for name, value in call.feeds.items()}
        request = call.graph_def.SerializeToString(), [(call.fetches, feeds)]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        graph_oracle.write(self._process.stdin, request)
        kind, *rest = graph_oracle.read(self._process.stdout)
        if kind == "value":
            dtypes = {"bfloat16": tf.bfloat16.as_numpy_dtype}
            arrays = tuple(graph_oracle.array_of(v, dtypes) for v in rest[0])
            return Outcome("value", arrays)
        if kind == "error":
            return Outcome("error", (), *rest)
        return Outcome("crash", (), f"signal {rest[0]}")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def close(ours: Any, theirs: Any) -> bool:
    """Equal, floats nearly."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    if ours.dtype.kind in "fcV":
        wide = np.complex128 if ours.dtype.kind == "c" else np.float64
        tolerance = 1e-2 if ours.dtype.itemsize == 2 else 2e-4
        with np.errstate(all="ignore"):
            return np.allclose(
                ours.astype(wide), theirs.astype(wide), tolerance, 1e-5, equal_nan=True
            )
    return bool(np.array_equal(ours, theirs))


def fault(call: Call, ours: Outcome, theirs: Outcome | None) -> str | None:
    """A name for what is wrong with our outcome, if anything."""
    if ours.kind == "time":
        return "time"
    if ours.kind == "error":
        if not hasattr(tf.errors, ours.error) and ours.error != "ValueError":
            return "python"
        if DISGUISED.match(ours.message):
            return "disguised"
        if ours.message.startswith("(without"):
            return "nameless"
    if theirs is None or theirs.kind == "crash":
        return None
    if INTENDED.search(theirs.message):
        return None
    if ours.kind != theirs.kind:
        return "accepted" if theirs.kind == "error" else "refused"
    if ours.kind == "value":
        if RANDOM.search(call.op_type):
            return None
        pairs = zip(ours.values, theirs.values, strict=True)
        return None if all(close(*pair) for pair in pairs) else "value"
    if ours.error != theirs.error:
        return "class"
    return None if words_of(ours) == words_of(theirs) else "words"


def words_of(outcome: Outcome) -> tuple[str, str]:
    """The class and the first sentence; what follows may say more than TF does."""
    return outcome.error, outcome.words.split(". ")[0]


def describe(outcome: Outcome | None) -> str:
    if outcome is None:
        return "-"
    if outcome.kind == "error":
        return f"{outcome.error}: {outcome.words}"
    if outcome.kind == "value":
        return " ".join(
            f"{v.dtype}{list(v.shape)} {str(v.ravel()[:12].tolist())[:160]}"
            for v in outcome.values
        )
    return f"{outcome.kind} {outcome.error}"


# ---- TensorFlow's refusals as a file


MOST_RECORDED = 40  # elements of all inputs
MOST_OF_AN_OP = 3


def recorded(call: Call, theirs: Outcome) -> dict[str, Any]:
    """A call and TensorFlow's error as JSON."""
    return {
        "node": text_format.MessageToString(call.node, as_one_line=True),
        "feeds": [
            [
                str(a.dtype),
                list(a.shape),
                [_plain_number(v) for v in a.ravel().tolist()],
            ]
            for a in call.feeds.values()
        ],
        "outputs": len(call.fetches),
        "error": list(words_of(theirs)),
    }


def _plain_number(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value


def replayed(record: dict[str, Any]) -> Call:
    """The call that `recorded` wrote."""
    feeds = {}
    with Graph().as_default() as graph:
        for i, (dtype, shape, numbers) in enumerate(record["feeds"]):
            feeds[f"in{i}:0"] = array = _array(dtype, shape, numbers)
            Placeholder(dtype_of(array), None)(name=f"in{i}")
    graph_def = graph.as_graph_def()
    node = text_format.Parse(record["node"], graph_def.node.add())
    fetches = tuple(f"{NODE}:{i}" for i in range(record["outputs"]))
    return Call(node.op, graph_def, fetches, feeds)


def _array(dtype: str, shape: list[int], numbers: list[Any]) -> Any:
    if dtype == "object":
        numbers = [text.encode("latin-1") for text in numbers]
    elif dtype.startswith("complex"):
        numbers = [complex(*pair) for pair in numbers]
    kind = tf.as_dtype("string" if dtype == "object" else dtype).as_numpy_dtype
    array = np.empty(len(numbers), kind)
    array[:] = numbers
    return array.reshape(shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--op", default="")
    parser.add_argument("--report", help="a JSON file of all faults")
    parser.add_argument("--record", help="the JSON file of refusals to write")
    parser.add_argument(
        "--allow", default="words", help="faults that do not count as violations"
    )
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    python = os.environ.get("TFTEACH_ORACLE")
    oracle = Oracle(python) if python else None
    faults: Counter[str] = Counter()
    crashes, findings, refusals = 0, {}, {}
    for i, call in enumerate(
        odd_calls(arguments.count, arguments.seed, arguments.op), 1
    ):
        ours = run_here(call)
        theirs = oracle.run(call) if oracle else None
        crashes += theirs is not None and theirs.kind == "crash"
        found = fault(call, ours, theirs)
        is_small = sum(a.size for a in call.feeds.values()) <= MOST_RECORDED
        agrees = theirs is not None and words_of(ours) == words_of(theirs)
        is_run = ours.kind == "error" and ours.error != "ValueError"
        if found is None and theirs is not None and agrees and is_run and is_small:
            words = re.sub(r"-?\d+", "#", theirs.words)
            refusals.setdefault((call.op_type, words), recorded(call, theirs))
        if found is None:
            continue
        faults[found] += 1
        texts = describe(ours), describe(theirs)
        numberless = tuple(re.sub(r"-?\d+", "#", t)[:90] for t in texts)
        entry = findings.setdefault(
            (call.op_type, found, *(numberless if found != "value" else ())),
            {"op": call.op_type, "fault": found, "ours": texts[0], "theirs": texts[1],
             "call": call.text, "number": i, "times": 0},
        )  # fmt: skip
        entry["times"] += 1
    if oracle:
        oracle.close()
    if arguments.report:
        with open(arguments.report, "w") as file:
            json.dump(list(findings.values()), file, indent=1)
    if arguments.record:
        counted: Counter[str] = Counter()
        rows = []
        for op_type, words in sorted(refusals):
            counted[op_type] += 1
            if counted[op_type] <= MOST_OF_AN_OP:
                rows.append(json.dumps(refusals[op_type, words]))
        Path(arguments.record).write_text("[\n" + ",\n".join(rows) + "\n]\n")
    total = ", ".join(f"{name} {n}" for name, n in faults.most_common()) or "no faults"
    print(f"{arguments.count} calls, {crashes} crashes of TensorFlow; {total}")
    violations = faults.keys() - set(arguments.allow.split(","))
    for entry in findings.values():
        if entry["fault"] in violations and not arguments.report:
            print(json.dumps(entry, indent=1))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
