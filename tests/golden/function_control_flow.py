"""Graphs of TensorFlow 1.15's control flow with functions, and their numbers.

`python function_control_flow.py function_control_flow.json`, with TensorFlow's Python,
writes the file anew: for each function here its GraphDef (zlib, base64), the names of
the tensors that it returns, and their values.
"""

import base64
import json
import sys
import zlib


def branches(tf):
    p = tf.placeholder_with_default(2.0, [])
    x = tf.constant([1.0, 2.0])
    first = tf.cond(p > 1.0, lambda: x * p, lambda: x - 1.0)
    return [first, tf.cond(p > 5.0, lambda: x * p, lambda: tf.constant([7.0, 8.0]))]


def branches_in_branches(tf):
    p = tf.placeholder_with_default(2.0, [])

    def inner():
        return tf.cond(p > 3.0, lambda: p * 2.0, lambda: p * 3.0)

    return [tf.cond(p > 1.0, inner, lambda: p)]


def loop(tf):
    x = tf.constant(3.0)
    return list(
        tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), [0, 1.0])
    )


def loop_in_a_branch(tf):
    p = tf.placeholder_with_default(2.0, [])

    def count():
        return tf.while_loop(lambda i: i < 10.0, lambda i: i + p, [0.0])

    return [tf.cond(p > 1.0, count, lambda: p)]


def branch_in_a_loop(tf):
    def body(i, y):
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: y + 1, lambda: y * 2)

    return list(tf.while_loop(lambda i, y: i < 6, body, [0, 1]))


def loop_in_a_loop(tf):
    def body(i, y):
        inner = tf.while_loop(lambda k, z: k < i, lambda k, z: (k + 1, z + k), [0, y])
        return i + 1, inner[1] * 2

    return list(tf.while_loop(lambda i, y: i < 4, body, [0, 1]))


def state_in_a_branch(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    taken = tf.constant(True)
    r = tf.cond(taken, lambda: tf.identity(v.assign_add(2.0)), v.read_value)
    with tf.control_dependencies([r]):
        return [r, v.read_value()]


def state_in_a_loop(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.control_dependencies([r]):
        return [v.read_value()]


def case(tf):
    k = tf.placeholder_with_default(1, [])
    functions = [
        lambda: tf.constant(10),
        lambda: tf.constant(20) + k,
        lambda: tf.constant(30),
    ]
    return [tf.switch_case(k, functions), tf.switch_case(k + 5, functions)]


def mapped(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.map_fn(lambda x: x * x, x)
    return [y, *tf.gradients(y, x)]


def growing(tf):
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return list(
        tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, tf.concat([x, x], 0)),
            [0, tf.constant([1.0])],
            shape_invariants=shapes,
        )
    )


def gradient_of_a_branch(tf):
    p = tf.placeholder_with_default(2.0, [])
    x = tf.constant([1.0, 2.0])
    y = tf.cond(p > 1.0, lambda: x * x * p, lambda: tf.exp(x))
    z = tf.cond(p > 3.0, lambda: x * x * p, lambda: tf.exp(x))
    return [y, *tf.gradients(y, [x, p]), *tf.gradients(z, [x])]


def gradient_of_a_loop(tf):
    x = tf.constant(1.5)
    y = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), [0, 1.0])[1]
    return [y, *tf.gradients(y, [x])]


def arrays(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    a = tf.TensorArray(tf.float32, size=3, element_shape=[2], name="rows")
    a = a.write(0, x[0]).write(2, x[1]).identity()
    b = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack(x)
    c = tf.TensorArray(tf.float32, size=4).scatter([3, 0], x)
    d = tf.TensorArray(tf.float32, size=2, infer_shape=False)
    d = d.split([1.0, 2.0, 3.0], [1, 2])
    e = tf.TensorArray(tf.int32, size=1, clear_after_read=False).write(0, 7)
    return [
        a.stack(),
        a.read(2),
        a.size(),
        b.gather([1, 0]),
        b.write(2, x[0]).stack(),
        c.stack(),
        d.concat(),
        e.read(0),
    ]


def gradients_of_arrays(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    a = tf.TensorArray(tf.float32, size=2).unstack(x)
    y = a.read(0) * a.gather([1])
    z = tf.TensorArray(tf.float32, size=2).write(0, x[1]).write(1, x[0]).concat()
    w = tf.TensorArray(tf.float32, size=2).split(x, [1, 1]).stack()
    return [y, z, *tf.gradients([y, z, w], x)]


def scanned(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.scan(lambda a, b: a * b, x)
    z = tf.foldl(lambda a, b: a + b * b, x)
    return [y, z, *tf.gradients(y, x)]


def gradient_of_captures(tf):
    x = tf.constant([1.0, 2.0])
    w = tf.constant([[0.5, 0.25], [1.0, -1.0]])

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w)) * x

    h = tf.while_loop(lambda i, h: i < 3, body, [0, tf.ones([1, 2])])[1]
    return [h, *tf.gradients(h, [x, w])]


def gradient_of_branches_in_branches(tf):
    x, p = tf.constant([1.0, 2.0]), tf.placeholder_with_default(2.0, [])

    def inner():
        return tf.cond(p > 3.0, lambda: tf.exp(x) * p, lambda: tf.sin(x) * x * p)

    y = tf.cond(p > 1.0, inner, lambda: x * x)
    return [y, *tf.gradients(y, [x, p])]


def gradient_of_a_branch_in_a_loop(tf):
    x = tf.constant(1.5)

    def body(i, y):
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: y * x, lambda: tf.sin(y) * x)

    y = tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]
    return [y, *tf.gradients(y, x)]


def gradient_of_a_loop_in_a_branch(tf):
    x, p = tf.constant(1.5), tf.placeholder_with_default(2.0, [])

    def count():
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x * y), [0, x]
        )

    y = tf.cond(p > 1.0, lambda: count()[1], lambda: x)
    return [y, *tf.gradients(y, x)]


def gradient_of_a_loop_in_a_loop(tf):
    x = tf.constant(1.1)

    def body(i, y):
        z = tf.while_loop(
            lambda k, z: k < 2, lambda k, z: (k + 1, z * tf.tanh(y) * x), [0, y]
        )[1]
        return i + 1, z + x * y

    y = tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]
    return [y, *tf.gradients(y, x)]


def second_order_of_a_branch(tf):
    x = tf.constant(1.3)
    y = tf.cond(x > 1.0, lambda: x * x * x, lambda: x)
    first = tf.gradients(y, x)[0]
    return [first, *tf.gradients(first, x)]


def second_order_of_a_loop(tf):
    x = tf.constant(1.3)
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    first = tf.gradients(y, x)[0]
    return [first, *tf.gradients(first, x)]


def gradient_of_a_case(tf):
    x, k = tf.constant(2.0), tf.placeholder_with_default(1, [])
    y = tf.switch_case(k, [lambda: x, lambda: x * x, lambda: x * x * x])
    return [y, *tf.gradients(y, x)]


def gradient_with_variables(tf):
    v = tf.get_variable("v", initializer=[1.5, 2.0], use_resource=True)
    w = tf.get_variable("w", initializer=[[1.0, 0.5], [0.25, -1.0]])
    p = tf.placeholder_with_default(2.0, [])
    y = tf.cond(p > 1.0, lambda: tf.reduce_sum(v * v), lambda: tf.reduce_sum(w))
    return [y, *tf.gradients(y, [v, w])]


def gradient_with_variables_in_a_loop(tf):
    v = tf.get_variable("v", initializer=[1.5, 2.0], use_resource=True)
    h = tf.while_loop(
        lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(h) * v), [0, tf.ones([2])]
    )[1]
    return [h, *tf.gradients(h, [v])]


def gradient_of_unknown_sizes(tf):
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], [None, 2])
    w = tf.constant([[0.1, 0.2], [0.3, 0.4]])
    h = tf.while_loop(
        lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x]
    )[1]
    return [h, *tf.gradients(h, [x, w])]


def two_gradients(tf):
    x = tf.constant(1.5)
    y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])
    return [*tf.gradients(y[1], x), *tf.gradients(y[1] * 2.0, x)]


def array_in_a_loop(tf):
    x = tf.constant(2.0)

    def body(i, y, a):
        return i + 1, y * x, a.write(i, y)

    start = [0, x, tf.TensorArray(tf.float32, size=3)]
    _, y, a = tf.while_loop(lambda i, y, a: i < 3, body, start)
    z = a.stack()
    return [y, z, *tf.gradients(z, x)]


def counter_after(tf, v, value):
    """The value, and that of the variable after it."""
    with tf.control_dependencies([value]):
        return [value, v.read_value()]


def counter(tf):
    return tf.get_variable("v", initializer=1.0, use_resource=True)


def chosen(tf, value=True):
    return tf.placeholder_with_default(value, [])


def unused_effect_in_a_branch(tf):
    v = counter(tf)

    def counts():
        v.assign_add(10.0)
        tf.Assert(False, ["never"])
        return tf.constant(1.0)

    r = tf.cond(chosen(tf), counts, lambda: tf.constant(2.0))
    return counter_after(tf, v, r)


def effect_of_an_unused_result(tf):
    v = counter(tf)
    r, _ = tf.cond(
        chosen(tf),
        lambda: (tf.constant(1.0), tf.identity(v.assign_add(10.0))),
        lambda: (tf.constant(2.0), tf.constant(3.0)),
    )
    return counter_after(tf, v, r)


def unused_effect_in_a_loop(tf):
    v = counter(tf)

    def goes_on(i):
        v.assign_add(1.0)
        return i < 3

    def body(i):
        def counts():
            v.assign_add(1.0)
            return i + 1

        v.assign_add(1.0)
        return tf.cond(i < 100, counts, lambda: i + 2)

    return counter_after(tf, v, tf.while_loop(goes_on, body, [0]))


def unused_effect_in_a_case(tf):
    v = counter(tf)

    def counts():
        v.assign_add(10.0)
        return tf.constant(1.0)

    r = tf.switch_case(chosen(tf, 0), [counts, lambda: tf.constant(2.0)])
    return counter_after(tf, v, r)


def waits_outside(tf, v):
    op = v.assign_add(5.0).op

    def waits(value):
        with tf.control_dependencies([op]):
            return tf.identity(value)

    return waits


def branch_that_waits_outside(tf):
    v = counter(tf)
    waits = waits_outside(tf, v)
    r = tf.cond(chosen(tf, False), lambda: waits(1.0), lambda: tf.constant(2.0))
    return counter_after(tf, v, r)


def inner_branch_that_waits_outside(tf):
    v = counter(tf)
    waits = waits_outside(tf, v)

    def inner():
        return tf.cond(chosen(tf), lambda: waits(1.0), lambda: tf.constant(3.0))

    r = tf.cond(chosen(tf, False), inner, lambda: tf.constant(2.0))
    return counter_after(tf, v, r)


def case_that_waits_outside(tf):
    v = counter(tf)
    waits = waits_outside(tf, v)
    r = tf.switch_case(chosen(tf, 1), [lambda: waits(1.0), lambda: tf.constant(2.0)])
    return counter_after(tf, v, r)


def loop_that_waits_outside(tf):
    v = counter(tf)
    waits = waits_outside(tf, v)
    r = tf.while_loop(lambda i: i < 3, lambda i: waits(i) + 1, [0])
    return counter_after(tf, v, r)


def colocated_branches(tf):
    a, b = tf.constant([2.0], name="a"), tf.constant([3.0], name="b")

    def inner():
        with tf.colocate_with(b.op):
            return tf.constant(1.0) + a

    with tf.colocate_with(a.op):
        return [tf.cond(chosen(tf), inner, lambda: tf.constant([5.0]))]


def collections_of_branches(tf):
    tf.add_to_collection("sizes", 3.0)

    def reads():
        tf.add_to_collection("sizes", 4.0)
        return tf.constant(tf.get_collection("sizes"))

    r = tf.cond(chosen(tf), reads, lambda: tf.constant([5.0]))
    return [r, tf.constant(tf.get_collection("sizes"))]


def list_ops(tf):
    """The module of TensorFlow or of tfteach."""
    if tf.__name__ == "tensorflow":
        from tensorflow.python.ops import list_ops as found
    else:
        from tfteach.control import list_ops as found
    return found


def lists(tf):
    ops, kind = list_ops(tf), tf.float32
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = ops.tensor_list_from_tensor(rows, [2])
    found = ops.tensor_list_set_item(found, 1, [7.0, 8.0])
    reserved = ops.tensor_list_reserve([2], 2, kind, name="reserved")
    reserved = ops.tensor_list_set_item(reserved, 0, [9.0, 9.0])
    scattered = ops.tensor_list_scatter(rows, [2, 0, 1], tf.TensorShape([2]))
    again = ops.tensor_list_scatter(rows[:1], [1], input_handle=found, name="again")
    empty = ops.empty_tensor_list([None, 2], kind, max_num_elements=3)
    empty = ops.tensor_list_set_item(empty, 0, [[1.0, 2.0]], True)
    split = ops.tensor_list_split(rows, [None, 2], [1, 2])
    return [
        ops.tensor_list_stack(found, kind, 3, [2]),
        ops.tensor_list_get_item(reserved, 1, kind, [2], name="zeros"),
        ops.tensor_list_gather(scattered, [2, 0], kind, [2]),
        ops.tensor_list_stack(again, kind, element_shape=[tf.constant(2)], name="all"),
        ops.tensor_list_concat(split, kind, [None, 2], name="joined"),
        ops.tensor_list_stack(empty, kind, 1, [1, 2]),
    ]


GRAPHS = [
    branches,
    branches_in_branches,
    loop,
    loop_in_a_branch,
    branch_in_a_loop,
    loop_in_a_loop,
    state_in_a_branch,
    state_in_a_loop,
    case,
    mapped,
    growing,
    gradient_of_a_branch,
    gradient_of_a_loop,
    arrays,
    gradients_of_arrays,
    scanned,
    gradient_of_captures,
    gradient_of_branches_in_branches,
    gradient_of_a_branch_in_a_loop,
    gradient_of_a_loop_in_a_branch,
    gradient_of_a_loop_in_a_loop,
    second_order_of_a_branch,
    second_order_of_a_loop,
    gradient_of_a_case,
    gradient_with_variables,
    gradient_with_variables_in_a_loop,
    gradient_of_unknown_sizes,
    two_gradients,
    array_in_a_loop,
    unused_effect_in_a_branch,
    effect_of_an_unused_result,
    unused_effect_in_a_loop,
    unused_effect_in_a_case,
    branch_that_waits_outside,
    inner_branch_that_waits_outside,
    case_that_waits_outside,
    loop_that_waits_outside,
    colocated_branches,
    collections_of_branches,
    lists,
]


if __name__ == "__main__":
    import tensorflow as tf

    tf.enable_control_flow_v2()
    found = {}
    for function in GRAPHS:
        with tf.Graph().as_default() as graph:
            tensors = function(tf)
            tf.global_variables_initializer()
            with tf.Session() as session:
                session.run("init")
                values = [value.tolist() for value in session.run(tensors)]
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "names": [tensor.name for tensor in tensors],
            "shapes": [str(tensor.shape) for tensor in tensors],
            "values": values,
        }
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
