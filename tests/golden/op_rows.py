"""Static shapes and gradients in TensorFlow for the rows of tests/ops/cases.

`python -m tests.golden.op_rows` asks the oracle and writes op_rows.json: for each row
its name, the shapes inferred where more or less is known of its inputs (see
`variants`), and which inputs have a gradient.
"""

import base64
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__)
# In place of shapes: TensorFlow raises an error, or its process dies.
REFUSED, CRASH = "refused", "crash"
# In place of gradients: there is no rule, or the op is declared to have none.
UNREGISTERED, CONSTANT = "unregistered", "constant"
# How much is known of an input.
VALUE, SHAPE, RANK, FIRST_UNKNOWN, NOTHING = (
    "value",
    "shape",
    "rank",
    "first",
    "nothing",
)


def variants(case):
    """What is known of each input, in each of the ways in which the row is asked.

    All values; all shapes; then only ranks, all sizes but the first, or nothing, with
    the values of the inputs that the shape rule looks at and without them; then one
    input of which nothing is known, beside others of known shape.
    """
    op = case.op
    by_value = {*op.by_value, *op.by_shape, *op.by_value_or_shape}
    names = [name for name, _ in case.named]
    yield [VALUE] * len(names)
    yield [SHAPE] * len(names)
    for known in (RANK, FIRST_UNKNOWN, NOTHING):
        if by_value:
            yield [VALUE if name in by_value else known for name in names]
        yield [known] * len(names)
    for i in range(len(names) if 1 < len(names) <= 8 else 0):
        yield [
            NOTHING if i == j else VALUE if name in by_value else SHAPE
            for j, name in enumerate(names)
        ]


def text(shape):
    """A static shape (a list of sizes, or None) as text: `2,?`, `*` for any rank."""
    if shape is None:
        return "*"
    return ",".join("?" if size is None else str(size) for size in shape)


# ---- with TensorFlow's Python


def imported(tf, graph_def, graph):
    """The node `it` of the graph, in which the GraphDef is."""
    try:
        tf.import_graph_def(graph_def, name="")
    except tf.errors.UnimplementedError:  # removed: only old graphs have it
        graph_def.versions.producer = 8
        tf.import_graph_def(graph_def, name="")
    return graph.get_operation_by_name("it")


def inferred(tf, graph_def):
    """The shapes of the outputs of the node `it`, or REFUSED."""
    with tf.Graph().as_default() as graph:
        try:
            outputs = imported(tf, graph_def, graph).outputs
            shapes = [output.shape for output in outputs]
        except ValueError:
            return REFUSED
    known = [None if shape.ndims is None else shape.as_list() for shape in shapes]
    return ";".join(map(text, known))


def differentiated(tf, graph_def):
    """The static shapes of the gradients by each input of `it`; "-" where none is.

    In place of them UNREGISTERED, CONSTANT (not differentiable), or REFUSED.
    """
    from tensorflow.python.framework import ops

    with tf.Graph().as_default() as graph:
        node = imported(tf, graph_def, graph)
        try:
            rule = ops.get_gradient_function(node)
        except LookupError:
            return UNREGISTERED
        if rule is None:
            return CONSTANT
        seeds = [tf.compat.v1.placeholder(out.dtype, out.shape) for out in node.outputs]
        try:
            found = rule(node, *seeds)
        except Exception:
            return REFUSED
        found = found if isinstance(found, (list, tuple)) else [found]
    return ";".join(map(gradient_text, found))


def gradient_text(grad):
    if grad is None:
        return "-"
    if not hasattr(grad, "shape"):
        return "slices"
    return text(None if grad.shape.ndims is None else grad.shape.as_list())


def answer(questions, answers):
    import tensorflow as tf

    tf.contrib.seq2seq, tf.contrib.image  # noqa: B018 -- loads contrib's ops

    lines = Path(questions).read_text().splitlines()
    with open(answers, "a+") as out:
        out.seek(0)
        for line in lines[len(out.readlines()) :]:
            question, encoded = line.split()
            graph_def = tf.compat.v1.GraphDef.FromString(base64.b64decode(encoded))
            found = (inferred if question == "shapes" else differentiated)(
                tf, graph_def
            )
            out.write(found + "\n")
            out.flush()


# ---- with ours


def graph_def(case, known):
    """The row's graph with full constants, where placeholders replace some of them.

    So that what our shape rules refuse is put to TensorFlow, too.
    """
    from tests.ops.test_partial_shapes import graph_of, static_shape
    from tfteach import TensorShape

    graph = graph_of(case, [VALUE] * len(known)).as_graph_def()
    nodes = {node.name: node for node in graph.node}
    for i, ((_, array), what) in enumerate(zip(case.named, known)):
        if what != VALUE:
            node = nodes[f"in{i}"]
            node.op = "Placeholder"
            del node.attr["value"]
            node.attr["shape"].shape.CopyFrom(
                TensorShape(static_shape(array, what)).as_proto()
            )
    return graph


def main():
    import tempfile

    from tests.conftest import find_oracle
    from tests.ops.test_partial_shapes import CASES

    python = find_oracle()
    assert python, "no TensorFlow 1.15: set TFTEACH_ORACLE"
    with tempfile.TemporaryDirectory() as folder:
        questions, answers = Path(folder, "questions"), Path(folder, "answers")
        counts = []
        with questions.open("w") as out:
            for case in CASES:
                graphs = [graph_def(case, known) for known in variants(case)]
                counts.append(len(graphs))
                rows = [base64.b64encode(graph.SerializeToString()) for graph in graphs]
                out.writelines(f"shapes {row.decode()}\n" for row in rows)
                out.write(f"gradients {rows[0].decode()}\n")
        command = [python, str(HERE), str(questions), str(answers)]
        while subprocess.run(command).returncode:
            with answers.open("a") as out:  # some of its shape rules crash it
                out.write(CRASH + "\n")
        found = iter(answers.read_text().splitlines())
    rows = [json.dumps([str(case), [next(found) for _ in range(count)], next(found)])
            for case, count in zip(CASES, counts)]  # fmt: skip
    HERE.with_suffix(".json").write_text("[\n" + ",\n".join(sorted(rows)) + "\n]\n")


if __name__ == "__main__":
    answer(*sys.argv[1:]) if len(sys.argv) > 1 else main()
