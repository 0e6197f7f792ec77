"""Small graphs of every kind, for fuzzers to damage: `graphs()` and `meta_graphs()`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf import text_format

import tfteach as tf
from tests.golden import meta_graphs as golden

GOLDEN = Path(__file__).parents[1] / "golden" / "graphs"


def control_flow() -> None:
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.constant([1.0, 2.0], name="x")
    chosen = tf.cond(p, lambda: tf.cond(p, lambda: x * 2, lambda: -x), lambda: x + 1)
    i, total = tf.while_loop(
        lambda i, a: tf.less(i, 3),
        lambda i, a: (i + 1, a * chosen),
        [tf.constant(0), x],
    )
    tf.gradients(total, x)
    tf.case([(i > 5, lambda: i)], default=lambda: i + 1)


def nested_loops() -> None:
    def outer(i: Any, a: Any) -> Any:
        b = tf.while_loop(lambda j, _: j < i, lambda j, b: (j + 1, b + a), [0, a])[1]
        return i + 1, b

    a = tf.while_loop(lambda i, _: i < 3, outer, [0, tf.constant(1.0)])[1]
    tf.identity(a, name="result")
    array = tf.TensorArray(tf.float32, 3).unstack(tf.constant([1.0, 2.0, 3.0]))
    tf.reduce_sum(tf.map_fn(lambda v: v * v, array.stack()), name="squares")


def training() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("layer", initializer=tf.ones_initializer()):
        w = tf.get_variable("w", [3, 2])
        b = tf.get_variable("b", [2], use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w) + b)), name="loss")
    step = tf.train.get_or_create_global_step()
    tf.train.AdamOptimizer(0.1).minimize(loss, step)
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("w", w)
    tf.global_variables_initializer()
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())


def momentum_with_resources() -> None:
    v = tf.get_variable("v", [4, 2], use_resource=True)
    rows = tf.nn.embedding_lookup(v, [0, 2, 2])
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(rows * rows))
    tf.scatter_add(tf.get_variable("r", [4]), [1, 1], [1.0, 2.0])
    tf.global_variables_initializer()


def strings() -> None:
    words = tf.constant(["a b", "c", ""], name="words")
    split = tf.string_split(words)
    tf.string_join([words, tf.constant("x")], "-")
    tf.regex_replace(words, "[a-c]", "z")
    tf.string_to_number(tf.as_string(tf.constant([1.5, 2.0])))
    tf.sparse_tensor_to_dense(split, default_value="")


def sparse() -> None:
    s = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    tf.sparse_tensor_dense_matmul(s, tf.ones([3, 2]))
    tf.sparse_reduce_sum(s, 1)
    tf.sparse_reorder(tf.sparse_concat(0, [s, s]))
    dense = tf.sparse_to_dense([[0, 0]], [2, 2], 1.0)
    tf.gradients(tf.reduce_sum(tf.gather(dense, [0, 1])), dense)


def shapes_and_types() -> None:
    x = tf.placeholder(tf.float64, [None, 4], name="x")
    y = tf.reshape(x, [-1, 2, 2])
    tf.transpose(tf.concat([y, y], 2), [2, 0, 1])
    tf.split(x, 2, axis=1, name="split")
    tf.strided_slice(x, [0, 1], [2, 3])
    tf.cast(tf.argmax(x, 1), tf.float16)
    tf.constant(np.array([1.5, 2], np.float16))
    tf.constant(np.complex64(1 + 2j))
    tf.cast([1.5, 2.5], tf.bfloat16)
    tf.fill([2, 3], np.uint8(7))
    tf.tile(tf.pad(tf.ones([2, 2]), [[1, 0], [0, 1]]), [1, 2])
    tf.one_hot([0, 2], 3)
    tf.range(5)


def convolution() -> None:
    image = tf.placeholder(tf.float32, [1, 8, 8, 2], name="image")
    kernel = tf.Variable(tf.ones([3, 3, 2, 2]), name="kernel")
    out = tf.nn.conv2d(image, kernel, strides=[1, 2, 2, 1], padding="SAME")
    out = tf.nn.max_pool(tf.nn.relu(out), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    out = tf.layers.batch_normalization(out, training=True)
    tf.gradients(tf.nn.l2_loss(out), [kernel])
    tf.image.resize_bilinear(image, [4, 4])


def random_numbers() -> None:
    tf.set_random_seed(1)
    x = tf.random_uniform([3, 2], seed=2, name="uniform")
    tf.random_normal([2], name="normal")
    tf.random_uniform([4], 0, 9, tf.int32)
    tf.multinomial(tf.log(x), 2)
    tf.nn.dropout(x, rate=0.5)
    tf.random_shuffle(x)
    tf.truncated_normal([2])


def tables_and_places() -> None:
    with tf.device("/job:localhost/cpu:0"), tf.control_dependencies([tf.no_op("n")]):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        tf.identity(a, name="b")
    table = tf.contrib.lookup.HashTable(
        tf.contrib.lookup.KeyValueTensorInitializer(["x", "y"], [1, 2], tf.string), -1
    )
    table.lookup(tf.constant(["y", "q"]))
    tf.tables_initializer()
    tf.Print(a, [a], "a is ")
    tf.Assert(a > 0, [a])


BUILDERS = (
    control_flow,
    nested_loops,
    training,
    momentum_with_resources,
    strings,
    sparse,
    shapes_and_types,
    convolution,
    random_numbers,
    tables_and_places,
)


@functools.cache
def graphs() -> dict[str, bytes]:
    """Serialized GraphDefs by name: the golden ones, and those built here."""
    found = {
        path.stem: text_format.Parse(path.read_text(), tf.GraphDef()).SerializeToString(
            deterministic=True
        )
        for path in sorted(GOLDEN.glob("*.pbtxt"))
    }
    for build in BUILDERS:
        with tf.Graph().as_default() as graph:
            build()
        found[build.__name__] = graph.as_graph_def(
            add_shapes=build is training
        ).SerializeToString(deterministic=True)
    found["with_library"] = _with_library(found["name_scopes"])
    return found


@functools.cache
def meta_graphs() -> dict[str, bytes]:
    """Serialized MetaGraphDefs by name, with collections of every kind."""
    found = {}
    builders = [*golden.GRAPHS, control_flow, nested_loops, training, tables_and_places]
    for build in builders:
        with tf.Graph().as_default() as graph:
            build(tf) if build in golden.GRAPHS else build()
            savers = graph.get_collection(tf.GraphKeys.SAVERS)
            saver_def = savers[0].as_saver_def() if savers else None
            made = tf.train.export_meta_graph(saver_def=saver_def)
        found[build.__name__] = made.SerializeToString(deterministic=True)
    return found


def _with_library(data: bytes) -> bytes:
    """A graph that calls a function of its library."""
    graph_def = tf.GraphDef.FromString(data)
    function = graph_def.library.function.add()
    function.signature.name = "Twice"
    function.signature.input_arg.add(name="x", type=1)
    function.signature.output_arg.add(name="y", type=1)
    node = function.node_def.add(name="double", op="Add", input=["x", "x"])
    node.attr["T"].type = 1
    function.ret["y"] = "double:z:0"
    function.attr["_noinline"].b = True
    graph_def.library.gradient.add(function_name="Twice", gradient_func="TwiceGrad")
    call = graph_def.node.add(name="call", op="Twice", input=["layer/a"])
    call.attr["f"].func.name = "Twice"
    return graph_def.SerializeToString(deterministic=True)
