"""Evaluates calls, given as text, with TensorFlow 1.15 or with tfteach.

`python -m tests.fuzz.call_worker tensorflow`: one JSON string a line comes in, one JSON
object a line goes out.  Runs under Python 3.7 as well, where TensorFlow is.
"""

import json
import os
import sys
import tempfile

import numpy as np

# How many numbers of a result are compared.
MOST_VALUES = 500
# Results of these ops differ from run to run.
RANDOM_OPS = ("Random", "Multinomial", "TruncatedNormal", "Sampler", "ScaleAndT")
MEMORY_LIMIT_BYTES = 9 << 30


def names(tf):
    """What a call may name beside `tf` and `np`: tensors of awkward kinds."""

    def late(value, shape=None):
        return tf.placeholder_with_default(value, shape)

    def other():
        with tf.Graph().as_default():
            return tf.ones([2])

    def operation():
        return tf.no_op()

    def variable(value=(1.0, 2.0)):
        return tf.Variable(np.array(value, "f") if value == (1.0, 2.0) else value)

    def resource(value=(1.0, 2.0)):
        return tf.Variable(np.array(value, "f"), use_resource=True)

    def sparse():
        return tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])

    def late_sparse(shape):
        """A sparse tensor with one element, of this shape, which only a run knows."""
        size = tf.constant(shape, tf.int64)
        indices = tf.zeros([1, len(shape)], tf.int64)
        return tf.SparseTensor(late(indices), late([1.0]), late(size, [len(shape)]))

    def slices():
        return tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 0]), tf.constant([4]))

    def store():
        return tf.TensorArray(tf.float32, 2)

    def graph():
        return tf.get_default_graph()

    def session():
        return tf.Session()

    def raw(op_type, **given):
        """An op by its type, with inputs and attributes as keywords."""
        if hasattr(tf, "raw_ops"):
            return getattr(tf.raw_ops, op_type)(**given)
        from tfteach.framework.op import OPS

        inputs = [given.pop(arg.name) for arg in OPS[op_type].inputs]
        given = {n: tuple(v) if isinstance(v, list) else v for n, v in given.items()}
        name = given.pop("name", None)
        return OPS[op_type](**given)(*inputs, name=name)

    def defun():
        """A function of the default graph's library: twice its argument."""
        if tf.__name__.startswith("tensorflow"):
            from tensorflow.python.framework.function import Defun
        else:
            from tfteach.lib.functions.defun import Defun

        @Defun(tf.float32)
        def twice(x):
            return x * 2.0

        return twice

    def first_gradient(y, name="gradients"):
        """The gradient of `y` by the placeholder made first."""
        ops = tf.get_default_graph().get_operations()
        found = [op for op in ops if op.type == "PlaceholderWithDefault"]
        ys = tf.contrib.framework.nest.flatten(y)
        weights = [tf.ones_like(y) for y in ys]
        return tf.gradients(ys, found[0].outputs[0], weights, name=name)

    def golden_checkpoint(name):
        """The path of a checkpoint that real TensorFlow wrote."""
        return os.path.relpath(
            os.path.join(os.path.dirname(__file__), "..", "golden", "checkpoints", name)
        )

    def written(text):
        """The path of a new file with this text."""
        path = os.path.join(tempfile.mkdtemp(), "written.txt")
        with open(path, "w") as file:
            file.write(text)
        return path

    def stack(max_size=-1):
        return raw("StackV2", max_size=max_size, elem_type=tf.float32)

    def shape_in(tensor):
        """The shape that a tensor contains."""
        if tf.__name__ == "tensorflow":
            from tensorflow.python.framework import tensor_util
        else:
            from tfteach.ops.array import static_values as tensor_util
        return tensor_util.constant_value_as_shape(tensor)

    def after(first, then):
        """What `then()` makes, to run after `first`."""
        with tf.control_dependencies([first]):
            return then()

    made = dict(locals())
    del made["tf"]
    made["tf"], made["np"] = tf, np
    return made


def evaluate(tf, call, known=None):
    """The outcome of one expression in a graph of its own.

    Returns:
      {"build": [class, message]}, {"run": [class, message]} or {"result", "values",
      "random"}: types and static shapes, and what a session computes.
    """
    known = names(tf) if known is None else known
    with tf.Graph().as_default() as graph:
        fetches = []
        try:
            result = eval(call, dict(known))
            found = {"result": described(tf, result, fetches, 0)}
        except Exception as error:
            return {"build": described_error(error)}
        try:
            found["values"] = [plain(v) for v in run(tf, fetches)]
        except Exception as error:
            return {"run": described_error(error)}
        types = {op.type for op in graph.get_operations()}
        found["random"] = any(r in t for t in types for r in RANDOM_OPS)
    return found


def run(tf, fetches):
    """The values of fetches, after all initializers."""
    config = tf.ConfigProto(
        intra_op_parallelism_threads=1, inter_op_parallelism_threads=1
    )
    if not fetches:
        return []
    with tf.Session(config=config) as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(tf.local_variables_initializer())
        return session.run(fetches)


def run_fetches(tf, result):
    """The values of all that a call returned."""
    fetches = []
    described(tf, result, fetches, 0)
    return run(tf, fetches)


def described_error(error):
    """Class and message."""
    text = getattr(error, "message", None) or str(error)
    return [type(error).__name__, str(text)[:300]]


def described(tf, value, fetches, depth):
    """Types and static shapes of a result; what can be fetched goes into a list."""
    if isinstance(value, tf.Tensor):
        if value.dtype.name.split("_")[0] not in ("resource", "variant"):
            fetches.append(value)
        return value.dtype.name + " " + str(value.shape)
    if isinstance(value, tf.Operation):
        fetches.append(value)
        return "Operation"
    if isinstance(value, (tf.SparseTensor, tf.IndexedSlices)):
        fetches.append(value.values)
        kind = type(value).__name__ + " " + value.dtype.name
        return kind + " " + (str(value.shape) if hasattr(value, "shape") else "")
    if isinstance(value, tf.Variable):
        fetches.append(value)
        return "Variable " + value.dtype.name + " " + str(value.shape)
    if isinstance(value, (tf.DType, tf.TensorShape, tf.Dimension, str, bytes)):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return "array " + str(value.dtype) + " " + str(value.shape)
    if depth < 5 and isinstance(value, (list, tuple)):
        return [described(tf, part, fetches, depth + 1) for part in value]
    if depth < 5 and isinstance(value, dict):
        keys = sorted(value, key=repr)
        return {str(k): described(tf, value[k], fetches, depth + 1) for k in keys}
    return "object"


def plain(value):
    """A computed value as JSON: [type, shape, the first numbers]."""
    if value is None:
        return None
    array = np.asarray(value)
    flat = array.reshape(-1)[:MOST_VALUES]
    if array.dtype.kind == "c":
        flat = flat.astype(np.complex128).view(np.float64)
    elif array.dtype.kind in "OSU":
        flat = [v.decode("latin-1") if isinstance(v, bytes) else str(v) for v in flat]
    elif array.dtype.kind == "V" or array.dtype.name == "bfloat16":
        flat = flat.astype(np.float32)
    listed = flat if isinstance(flat, list) else flat.tolist()
    return [array.dtype.name, list(array.shape), listed]


def serve(library):
    """Answer calls until standard input ends."""
    import resource
    import warnings

    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")
    tf = __import__(library)
    tf.logging.set_verbosity(tf.logging.FATAL)
    os.chdir(tempfile.mkdtemp())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    known = names(tf)
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        # A call may change what later ones see: the default graph and its random seed.
        answer = evaluate(tf, json.loads(line), known)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
