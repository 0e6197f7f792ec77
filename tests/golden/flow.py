"""Branches, loops, checks, summaries and Savers from real TensorFlow 1.15.

Run with the oracle's Python: `python flow.py flow.json`.  Each function builds a graph
and returns what to fetch; the file gets the GraphDef and the values (or the error).
"""

import base64
import json
import sys
import zlib


def cond_captures(tf):
    p = tf.placeholder_with_default(True, [], name="p")
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.constant(3.0, name="y")
    return [tf.cond(p, lambda: x * y, lambda: x + x, name="choose")]


def cond_passes_outside_values(tf):
    p = tf.placeholder_with_default(False, [], name="p")
    x = tf.constant(1.0, name="x")
    y = tf.constant(2.0, name="y")
    return [tf.cond(p, lambda: x, lambda: y), tf.cond(p, lambda: 7, lambda: 8)]


def cond_nested(tf):
    p = tf.placeholder_with_default(True, [], name="p")
    q = tf.placeholder_with_default(False, [], name="q")
    x = tf.constant(1.0, name="x")

    def inner():
        return tf.cond(q, lambda: x + 10.0, lambda: x * tf.constant(5.0, name="five"))

    return [tf.cond(p, inner, lambda: -x)]


def cond_structures(tf):
    p = tf.placeholder_with_default(False, [], name="p")
    x = tf.constant(1, name="x")
    pair = tf.cond(
        p,
        lambda: [x, {"b": x + 1, "a": x + 2}],
        lambda: [x - 1, {"b": x - 2, "a": x - 3}],
    )
    one = tf.cond(p, lambda: [x], lambda: [x + 5])
    kept = tf.cond(p, lambda: [x], lambda: [x + 5], strict=True)
    return [pair[0], pair[1]["a"], pair[1]["b"], one, kept[0]]


def cond_operations(tf):
    p = tf.placeholder_with_default(True, [], name="p")
    v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([v.initializer]):
        step = tf.cond(p, lambda: tf.group(tf.no_op("t")), lambda: tf.no_op("f"))
    return [step]


def cond_assigns(tf):
    p = tf.placeholder_with_default(True, [], name="p")
    v = tf.Variable(1.0, name="v", use_resource=True)
    with tf.control_dependencies([v.initializer]):
        value = tf.cond(p, lambda: v.assign_add(2.0), lambda: v.read_value())
    return [value]


def cond_control_dependencies(tf):
    p = tf.placeholder_with_default(True, [], name="p")
    x = tf.constant(1.0, name="x")
    before = tf.no_op("before")

    def branch():
        with tf.control_dependencies([tf.no_op("inside")]):
            return tf.constant(2.0, name="two") + x

    with tf.control_dependencies([before]), tf.device("/cpu:0"):
        return [tf.cond(p, branch, lambda: x)]


def case_default(tf):
    x = tf.placeholder_with_default(2, [], name="x")
    pairs = [
        (tf.equal(x, 1), lambda: tf.constant(10)),
        (tf.equal(x, 2), lambda: tf.constant(20)),
    ]
    return [tf.case(pairs, default=lambda: tf.constant(0))]


def case_exclusive(tf):
    x = tf.placeholder_with_default(2, [], name="x")
    pairs = [
        (x > 1, lambda: tf.constant(10)),
        (x > 3, lambda: tf.constant(20)),
        (x < 0, lambda: tf.constant(30)),
    ]
    return [tf.case(pairs, exclusive=True)]


def case_none_true(tf):
    x = tf.placeholder_with_default(0, [], name="x")
    pairs = [(x > 1, lambda: tf.constant(10)), (x > 3, lambda: tf.constant(20))]
    return [tf.case(pairs)]


def while_captures(tf):
    limit = tf.placeholder_with_default(5, [], name="limit")
    step = tf.constant(2.0, name="step")
    return list(
        tf.while_loop(
            lambda i, s: i < limit,
            lambda i, s: [i + 1, s + step * tf.to_float(i)],
            [tf.constant(0), tf.constant(0.0)],
            name="sum",
        )
    )


def while_limited(tf):
    i = tf.while_loop(
        lambda i: i < 100, lambda i: i * 2, [tf.constant(1)], maximum_iterations=5
    )
    j, k = tf.while_loop(
        lambda j, k: True,
        lambda j, k: (j + 1, k + j),
        (tf.constant(0), tf.constant(0)),
        maximum_iterations=4,
    )
    return [i, j, k]


def while_structures(tf):
    import collections

    Pair = collections.namedtuple("Pair", "a b")
    start = [tf.constant(0), {"x": tf.constant(1.0), "y": Pair(tf.constant(2), 3)}]

    def body(i, d):
        return [i + 1, {"x": d["x"] * 2.0, "y": Pair(d["y"].b, d["y"].a)}]

    i, d = tf.while_loop(lambda i, d: i < 3, body, start)
    one = tf.while_loop(
        lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True
    )
    return [i, d["x"], d["y"].a, d["y"].b, one[0]]


def while_shapes(tf):
    def body(i, x):
        return i + 1, tf.concat([x, x], 0)

    i, x = tf.while_loop(
        lambda i, x: i < 3,
        body,
        [tf.constant(0), tf.constant([1.0])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    return [i, x, tf.identity(tf.shape(x))]


def while_nested(tf):
    def outer(i, total):
        def inner(j, t):
            return j + 1, t + i * j

        _, total = tf.while_loop(lambda j, t: j < i, inner, [tf.constant(0), total])
        return i + 1, total

    return list(tf.while_loop(lambda i, t: i < 4, outer, [tf.constant(0), 0]))


def while_with_cond(tf):
    scale = tf.constant(3, name="scale")

    def body(i, x):
        x = tf.cond(tf.equal(i % 2, 0), lambda: x + scale, lambda: x - tf.constant(1))
        return i + 1, x

    return list(tf.while_loop(lambda i, x: i < 5, body, [0, 0], parallel_iterations=3))


def cond_with_while(tf):
    p = tf.placeholder_with_default(True, [], name="p")
    n = tf.constant(4, name="n")

    def loop():
        return tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0)])

    return [tf.cond(p, loop, lambda: n)]


def while_control_dependencies(tf):
    v = tf.Variable(0, name="v")
    # One operation only: TF orders several by their addresses.
    with tf.control_dependencies([v.initializer]):

        def body(i):
            with tf.control_dependencies([tf.assign_add(v, i)]):
                return i + 1

        i = tf.while_loop(lambda i: i < 4, body, [tf.constant(0)])
    with tf.control_dependencies([i]):
        return [i, tf.identity(v.read_value())]


def while_waits_outside(tf):
    outside = tf.identity(tf.constant(1), name="outside")

    def body(i):
        with tf.control_dependencies([outside]):
            return i + tf.constant(1, name="one")

    return [tf.while_loop(lambda i: i < 4, body, [tf.constant(0)])]


def asserts(tf):
    x = tf.placeholder_with_default([1.0, 2.0], [2], name="px")
    checks = [
        tf.Assert(tf.constant(True), ["text", tf.constant(3)]),
        tf.assert_equal(x, [1.0, 2.0]),
        tf.assert_positive(x, message="m"),
        tf.assert_non_negative(x, name="nm"),
        tf.assert_less(x, 3.0),
        tf.assert_greater_equal(x, 0.0, summarize=5),
        tf.assert_none_equal(x, 7.0),
        tf.assert_negative(-x),
        tf.assert_non_positive(-x, data=[x]),
        tf.assert_near(x, [1.0, 2.0]),
        tf.assert_equal(x, x),
    ]
    with tf.control_dependencies(checks):
        return [tf.identity(x), tf.is_non_decreasing(x), tf.is_strictly_increasing(-x)]


def assert_fails(tf):
    x = tf.placeholder_with_default([1.0, 2.0], [2], name="px")
    return [tf.assert_equal(x, [1.0, 3.0], message="mm", summarize=1)]


def ranks(tf):
    x = tf.placeholder_with_default([1.0, 2.0], None, name="px")
    rank = tf.placeholder_with_default(1, [], name="rank")
    checks = [
        tf.assert_rank(x, 1),
        tf.assert_rank(x, rank),
        tf.assert_rank(rank, 0),
        tf.assert_rank_at_least(x, 1),
        tf.assert_rank_in(x, [0, 1]),
        tf.assert_integer(1),
        tf.assert_type(x, tf.float32),
    ]
    tf.assert_scalar(3)
    with tf.control_dependencies(checks):
        return [tf.identity(x)]


def shown(tf):
    x = tf.constant([[1.0, 2.5], [3.0, 1e10]], name="x")
    y = tf.Print(x, [x, tf.constant("s")], "message", first_n=2, summarize=4)
    p = tf.print("x:", x, 3, [x, "a"], {"k": tf.constant([1, 2])}, sep="|", name="pr")
    finite = tf.check_numerics(y, "not finite")
    with tf.control_dependencies([p, tf.print(tf.constant("only"))]):
        return [
            tf.verify_tensor_all_finite(finite, "bad"),
            tf.strings.format("a {} b {}", [x, tf.range(9)], summarize=2),
        ]


def summaries(tf):
    with tf.name_scope("scope"):
        tf.summary.scalar("loss", tf.constant(0.5))
        tf.summary.scalar("loss", 2, family="family")
        tf.summary.histogram("weights", tf.constant([1.0, 2.0]))
    tf.summary.image(
        "image", tf.zeros([2, 3, 4, 1]), max_outputs=1, collections=["images"]
    )  # PNG bytes may differ
    tf.summary.audio("audio", tf.zeros([1, 5]), 8000.0)
    tf.summary.text("text", tf.constant("words"))
    tf.summary.merge([tf.summary.scalar("extra", 1.0, collections=[])], name="own")
    return [tf.summary.merge_all()]


def groups(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1, name="a")
    b = tf.constant(2, name="b")
    tf.group(name="empty")
    tf.group(a, b)
    tf.group(a, [a, (a,)], name="same")
    with tf.name_scope("inner"):
        pair = tf.tuple([a, None, b], control_inputs=[tf.no_op("wait")])
    return [pair[0], pair[2]]


def savers(tf):
    v = tf.Variable(1.0, name="v")
    w = tf.Variable([1, 2], name="w", use_resource=True)
    with tf.device("/job:localhost"):
        u = tf.get_variable("u", [2], initializer=tf.zeros_initializer())
    tf.train.Saver()
    tf.train.Saver({"a": v, "b": u}, max_to_keep=3, name="mine", filename="file")
    tf.train.Saver([w])
    return []


GRAPHS = [
    cond_captures,
    cond_passes_outside_values,
    cond_nested,
    cond_structures,
    cond_operations,
    cond_assigns,
    cond_control_dependencies,
    case_default,
    case_exclusive,
    case_none_true,
    while_captures,
    while_limited,
    while_structures,
    while_shapes,
    while_nested,
    while_with_cond,
    cond_with_while,
    while_control_dependencies,
    while_waits_outside,
    asserts,
    assert_fails,
    ranks,
    shown,
    summaries,
    groups,
    savers,
]


def build(tf, function):
    """The function's graph, and its fetches."""
    with tf.Graph().as_default() as graph:
        fetches = function(tf)
    return graph, fetches


def results(tf, graph, fetches):
    """The values of the fetches as lists, or the error's class and first line."""
    with tf.Session(graph=graph) as session:
        try:
            values = session.run(fetches)
        except tf.errors.OpError as error:
            return {type(error).__name__: error.message.split("\n")[0]}
    return [_plain(value) for value in values]


def _plain(value):
    value = value.tolist() if hasattr(value, "tolist") else value
    return value.hex() if isinstance(value, bytes) else value


if __name__ == "__main__":
    import tensorflow as tf

    rows = {}
    for function in GRAPHS:
        graph, fetches = build(tf, function)
        data = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        rows[function.__name__] = {
            "graph": base64.b64encode(data).decode(),
            "shapes": [str(f.shape) for f in fetches if hasattr(f, "shape")],
            "values": results(tf, graph, fetches),
        }
    with open(sys.argv[1], "w") as file:
        json.dump(rows, file, indent=1)
