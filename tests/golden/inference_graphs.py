"""GraphDefs for inference by real TensorFlow 1.15.

`python inference_graphs.py OUT.json` writes, by the function that builds a model, its
frozen and its optimized GraphDef and what they compute.  tests/lib/inference compares.
"""

import base64
import json
import sys
import zlib

import numpy as np


def numbers(*shape):
    size = int(np.prod(shape))
    return np.float32(np.sin(1.7 * np.arange(size)) * 0.5).reshape(shape)


def normalized(tf, x, name):
    channels = int(x.shape[-1])
    values = [1 + numbers(channels), numbers(channels), numbers(channels) * 2]
    values.append(0.5 + numbers(channels) ** 2)
    variables = [
        tf.get_variable(name + str(i), initializer=value)
        for i, value in enumerate(values)
    ]
    value = tf.AttrValue
    attrs = {
        "T": value(type=tf.float32.as_datatype_enum),
        "epsilon": value(f=0.01),
        "data_format": value(s=b"NHWC"),
        "is_training": value(b=False),
    }
    inputs = [x, *[tf.convert_to_tensor(v) for v in variables]]
    op = x.graph.create_op(
        "FusedBatchNorm", inputs, [tf.float32] * 5, name=name, attrs=attrs
    )
    return op.outputs[0]


def convolutions(tf):
    """Folded: a convolution and a depthwise one. A third has weights of its own."""
    x = tf.placeholder(tf.float32, [None, 5, 5, 2], name="x")
    w = tf.get_variable("w", initializer=numbers(3, 3, 2, 4))
    with tf.control_dependencies([tf.check_numerics(x, "finite")]):
        h = tf.nn.conv2d(x, w, 1, "SAME", name="conv")
    h = tf.nn.relu(normalized(tf, h, "first"))
    w = tf.get_variable("dw", initializer=numbers(3, 3, 4, 2), use_resource=True)
    h = tf.nn.depthwise_conv2d(h, w, [1, 2, 2, 1], "SAME", name="depthwise")
    h = tf.identity(normalized(tf, h, "second"))
    tf.reduce_mean(h, [1, 2], name="y")


def not_folded(tf):
    """Batch normalization of a sum, and after a convolution of computed weights."""
    x = tf.placeholder(tf.float32, [None, 5, 5, 2], name="x")
    h = normalized(tf, x + 1.0, "sum")
    w = tf.get_variable("w", initializer=numbers(3, 3, 2, 4))
    h = tf.nn.conv2d(h, w * 2.0, 1, "SAME", name="conv")
    tf.reduce_mean(normalized(tf, h, "first"), [1, 2], name="y")


def loop(tf):
    """Variables of both kinds in a loop and a branch, and a looked-up row.

    TensorFlow cannot run what it makes of a resource variable's look-up in a loop, nor
    import the optimized graph: it removes nodes that others are colocated with.
    """
    x = tf.placeholder(tf.float32, [None, 5, 5, 2], name="x")
    w = tf.get_variable("w", initializer=numbers(50, 50))
    r = tf.get_variable("r", initializer=numbers(50), use_resource=True)
    e = tf.get_variable("e", initializer=numbers(7, 50))

    def body(i, h):
        h = tf.cond(i < 2, lambda: tf.matmul(h, w), lambda: h + r)
        return i + 1, h + tf.nn.embedding_lookup(e, [i])

    state = [tf.constant(0), tf.reshape(x, [-1, 50])]
    tf.identity(tf.while_loop(lambda i, _: i < 3, body, state)[1], name="y")


def resized(tf):
    """Convolutions after a resize and a pad, after one, and after a pad in use."""
    x = tf.placeholder(tf.float32, [None, 5, 5, 2], name="x")
    w = tf.constant(numbers(3, 3, 2, 2), name="w")
    pads = [[0, 0], [1, 2], [0, 1], [0, 0]]
    h = tf.image.resize_bilinear(x, [8, 7], align_corners=True, name="resize")
    h = tf.pad(h, pads, "SYMMETRIC", name="both")
    h = tf.nn.conv2d(h, w, 2, "VALID", name="after_both")
    h = tf.image.resize_bilinear(h, [6, 9], name="larger")
    h = tf.nn.conv2d(h, w, [1, 1, 2, 1], "SAME", name="after_resize")
    h = tf.pad(h, pads, "REFLECT", name="pad")
    last = tf.nn.conv2d(h, w, 1, "SAME", name="after_pad")
    tf.add(tf.reduce_mean(last, [1, 2]), tf.reduce_max(h, [1, 2]), name="y")


MODELS = [convolutions, not_folded, loop, resized]


def inference_graphs(tf, tools, model):
    """The frozen GraphDef, the optimized one, and the output of both."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        model(tf)
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["y"]
        )
    if model is loop:
        return frozen, frozen, [output_of(tf, frozen)]
    made = tools.optimize_for_inference(
        frozen, ["x"], ["y"], tf.float32.as_datatype_enum
    )
    return frozen, made, [output_of(tf, graph_def) for graph_def in (frozen, made)]


def output_of(tf, graph_def):
    with tf.Graph().as_default(), tf.Session() as session:
        [y] = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
        return session.run(y, {"x:0": numbers(2, 5, 5, 2)})


def main(path):
    import tensorflow as tf
    from tensorflow.python.tools import optimize_for_inference_lib as tools

    rows = {}
    for model in MODELS:
        frozen, made, outputs = inference_graphs(tf, tools, model)
        rows[model.__name__] = [
            *[
                base64.b64encode(zlib.compress(g.SerializeToString(), 9)).decode()
                for g in (frozen, made)
            ],
            np.round(outputs[0].astype(float), 7).tolist(),
        ]
    with open(path, "w") as file:
        json.dump(rows, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
