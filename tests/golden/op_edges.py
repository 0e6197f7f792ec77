"""Values and gradients of real TensorFlow at the edges of each op's domain.

`python -m tests.golden.op_edges` asks the oracle about new and changed rows, and writes
op_edges.json; with `all`, about all of them, which takes a quarter of an hour.  The
inputs and attributes are those of a row of tests/ops/cases, changed as `edges` says.
"""

import base64
import itertools
import json
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__)
FILE = HERE.with_suffix(".json")
ERROR, CRASH = "error", "crash"
MOST = 40  # of one row
SECONDS = 20
SHOWN = 8  # numbers of an array that are written


def edges(case, choices):
    """The row's inputs and attributes, changed in one way after the other.

    Args:
      case: a row.
      choices: attribute -> the texts that it may be.

    Yields:
      (what is changed, arrays, changes of attributes, whether to ask for gradients).
    """
    arrays = case.flat
    yield "as it is", arrays, {}, True
    for size in sorted({n for a in arrays for n in a.shape}):
        for other in (0, 1):
            if other < size:
                cut = [cut_to(a, size, other) for a in arrays]
                yield f"{other} for {size}", cut, {}, other == 1
    square = [cut_to(a, None, 2) for a in arrays]
    for changes in attribute_changes(case.op, choices):
        yield f"{changes}", arrays, changes, True
        yield f"{changes} of squares", square, changes, True
    whole = whole_numbers(arrays)
    for i, array in enumerate(arrays):
        for name, changed in changed_arrays(array, whole):
            yield f"{name} in {i}", [*arrays[:i], changed, *arrays[i + 1 :]], {}, False


def cut_to(array, size, other):
    """The array with `other` elements along the axes that have `size` (or more)."""
    at = tuple(
        slice(0, other) if n == size or (size is None and n > other) else slice(None)
        for n in array.shape
    )
    return array[(*at, Ellipsis)].copy()


def attribute_changes(op, choices):
    """Other values of the attributes: each choice, and truths two at a time."""
    fields = {name: getattr(op, name) for name in type(op).fields}
    truths = [name for name, value in fields.items() if isinstance(value, bool)]
    for count in (1, 2):
        for names in itertools.combinations(truths[:4], count):
            yield {name: not fields[name] for name in names}
    for name, value in fields.items():
        if name in choices:
            yield from ({name: text} for text in choices[name] if text != value)
        elif type(value) is int:
            yield from ({name: value + step} for step in (1, -1))
        elif type(value) is float:
            yield from ({name: number} for number in (0.0, -value) if number != value)


def whole_numbers(arrays):
    """The sizes and small integers of a row, and their neighbours."""
    found = {n for a in arrays for n in a.shape}
    for array in arrays:
        if array.dtype.kind in "iu" and array.size <= 4:
            found.update(int(n) for n in array.ravel() if abs(int(n)) < 100)
    return sorted({n + step for n in found for step in (-1, 0)} | {-1, 0, 1})


def changed_arrays(array, whole):
    """(name, array) with another last element, or with other elements altogether."""
    if not array.size:
        return
    kind = array.dtype.kind
    if kind == "f":
        last = [np.nan, np.inf, -np.inf, -0.0, 0.5, -1.0]
    elif kind == "i":
        last = whole
    elif kind == "u":
        last = [n for n in whole if n >= 0]
    elif kind == "b":
        yield "not", ~array
        return
    else:
        return
    for value in last:
        changed = array.copy()
        changed.reshape(-1)[-1] = value
        yield f"last {value}", changed
    if kind == "f":
        yield "equal", np.full_like(array, array.reshape(-1)[0])
        yield "zeros", np.zeros_like(array)
        yield "negative", np.asarray(-1 * array, array.dtype)


def checksum(case):
    """A number that changes with the row."""
    parts = [repr(case.op).encode(), *(repr(a.tolist()).encode() for a in case.flat)]
    return zlib.crc32(b"".join(parts))


def digest(array):
    """An array as plain data: shape, first numbers, and a sum that needs them all."""
    is_text = isinstance(array, bytes)  # NumPy would cut its zeros off
    array = np.asarray(array, object if is_text else None)
    shape = list(array.shape)
    if array.dtype.kind in "OS":
        texts = [t if isinstance(t, bytes) else str(t).encode() for t in array.ravel()]
        return [shape, [t.decode("latin-1") for t in texts[:SHOWN]], len(texts)]
    flat = array.ravel()
    if array.dtype.kind not in "biufc":
        flat = flat.astype(np.float64)
    if array.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], 1).ravel()
    flat = flat.astype(np.float64)
    weights = np.cos(np.arange(flat.size))
    with np.errstate(all="ignore"):
        finite = np.isfinite(flat)
        total = float(np.where(finite, flat * weights, 0).sum())
    shown = [f"{x:.7g}" for x in flat[:SHOWN]]
    return [shape, shown, f"{total:.7g}", int(flat.size - finite.sum())]


# ---- with TensorFlow's Python


def values(tf, graph_def, with_gradients):
    """The digests of the outputs of `it`, and of its gradients, or ERROR."""
    from tensorflow.python.framework import ops

    config = tf.compat.v1.ConfigProto(
        inter_op_parallelism_threads=1, intra_op_parallelism_threads=1
    )
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as graph:
        try:
            try:
                tf.import_graph_def(graph_def, name="")
            except tf.errors.UnimplementedError:
                graph_def.versions.producer = 8
                tf.import_graph_def(graph_def, name="")
        except ValueError:
            return [ERROR, ERROR]
        node = graph.get_operation_by_name("it")
        grads = None
        try:
            rule = ops.get_gradient_function(node) if with_gradients else None
            if rule is not None:
                grads = rule(node, *[seed(tf, out) for out in node.outputs])
                grads = grads if isinstance(grads, (list, tuple)) else [grads]
                grads = [tf.convert_to_tensor(g) for g in grads if g is not None]
        except Exception:
            grads = None
        with tf.compat.v1.Session(graph=graph, config=config) as sess:
            try:
                found = [digest(v) for v in sess.run(list(node.outputs))]
            except tf.errors.OpError:
                return [ERROR, ERROR]
            try:
                return [found, grads and [digest(v) for v in sess.run(grads)]]
            except tf.errors.OpError:
                return [found, ERROR]


def seed(tf, out):
    """The gradient by an output: cos(0), cos(1), ..."""
    if not (out.dtype.is_floating or out.dtype.is_complex):
        return tf.zeros_like(out) if out.dtype != tf.string else None
    numbers = tf.cos(tf.cast(tf.range(tf.size(out)), tf.float64))
    return tf.cast(tf.reshape(numbers, tf.shape(out)), out.dtype)


def answer(questions, answers):
    import tensorflow as tf

    tf.contrib.seq2seq, tf.contrib.image  # noqa: B018 -- loads contrib's ops
    lines = Path(questions).read_text().splitlines()
    with open(answers, "a+") as out:
        out.seek(0)
        for line in lines[len(out.readlines()) :]:
            signal.alarm(SECONDS)  # some kernels never end: that ends the process
            gradients, encoded = line.split()
            graph_def = tf.compat.v1.GraphDef.FromString(base64.b64decode(encoded))
            out.write(json.dumps(values(tf, graph_def, gradients == "True")) + "\n")
            out.flush()


# ---- with ours


def graph_def(case, arrays, changes):
    """The row's graph with other constants and attributes."""
    import tfteach as tf
    from tests.ops.test_partial_shapes import graph_of

    graph = graph_of(case, ["value"] * len(arrays)).as_graph_def()
    nodes = {node.name: node for node in graph.node}
    for i, array in enumerate(arrays):
        attr = nodes[f"in{i}"].attr
        dtype = attr["dtype"].type
        proto = tf.make_tensor_proto(array, dtype=tf.as_dtype(dtype), shape=array.shape)
        attr["value"].tensor.CopyFrom(proto)
    for name, value in changes.items():
        attr = nodes["it"].attr[name]
        if isinstance(value, bool):
            attr.b = value
        elif isinstance(value, int):
            attr.i = value
        elif isinstance(value, float):
            attr.f = value
        else:
            attr.s = value.encode()
    return graph


def main(asks_all):
    import tempfile

    from tests.conftest import find_oracle
    from tests.ops.test_edges import ROWS, edges_of

    python = find_oracle()
    assert python, "no TensorFlow 1.15: set TFTEACH_ORACLE"
    known = dict(json.loads(FILE.read_text()))
    cases = [c for c in ROWS if asks_all or known.get(str(c), [None])[0] != checksum(c)]
    names, lines = [], []
    for case in cases:
        for name, arrays, changes, with_gradients in edges_of(case):
            graph = graph_def(case, arrays, changes).SerializeToString()
            names.append((str(case), name))
            lines.append(f"{with_gradients} {base64.b64encode(graph).decode()}\n")
    with tempfile.TemporaryDirectory() as folder:
        questions, answers = Path(folder, "questions"), Path(folder, "answers")
        questions.write_text("".join(lines))
        command = [python, str(HERE), str(questions), str(answers)]
        while subprocess.run(command).returncode:
            with answers.open("a") as out:
                out.write(json.dumps([CRASH, CRASH]) + "\n")
        found = [json.loads(line) for line in answers.read_text().splitlines()]
    rows = {str(case): known.get(str(case)) for case in ROWS}
    rows.update((str(case), [checksum(case)]) for case in cases)
    for (row, name), (outputs, gradients) in zip(names, found, strict=True):
        rows[row].append([name, outputs, gradients])
    lines = [
        json.dumps([row, rows[row]], separators=(",", ":")) for row in sorted(rows)
    ]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    answer(*sys.argv[1:]) if len(sys.argv) > 2 else main("all" in sys.argv)
