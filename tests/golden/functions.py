"""Graphs and numbers of functions from real TensorFlow 1.15.

`python functions.py functions.json`, with TensorFlow's Python, writes the file anew:
for each function here its GraphDef (zlib, base64), the static shapes of the tensors
that it returns, and their values.
"""

import base64
import json
import sys
import zlib


def one_result(tf, Defun):
    @Defun(tf.float32)
    def double(x):
        """Twice x."""
        return x * 2.0

    return [double([1.0, 2.0]), double(3.0, name="again")]


def several_results(tf, Defun):
    @Defun(tf.float32, tf.int32, func_name="Pair", out_names=["sum", "Twice"])
    def pair(x, Y):
        return x + tf.cast(Y, tf.float32), Y * 2

    return list(pair(1.5, 2))


def same_names(tf, Defun):
    @Defun(tf.float32, tf.float32)
    def same(x, y):
        a, b = tf.identity_n([x, y])
        return a, b, x

    return list(same(1.0, 2.0))


def captures(tf, Defun):
    outer = tf.constant(3.0, name="outer")
    v = tf.get_variable("v", initializer=2.0)
    r = tf.get_variable("r", initializer=5.0, use_resource=True)

    @Defun(tf.float32)
    def capturing(x):
        with tf.name_scope("inner"):
            return x * outer + v, tf.square(r) - x

    @Defun(tf.float32, func_name="Calls")
    def calls(x):
        return capturing(x)[0] + outer

    first = capturing(1.0)
    return [*first, calls(first[1])]


def hoisted_variables(tf, Defun):
    @Defun(tf.float32)
    def layer(x):
        with tf.variable_scope("layer"):
            w = tf.get_variable("w", initializer=[[2.0], [0.5]])
            b = tf.get_variable("b", initializer=[0.25], use_resource=True)
        return tf.nn.relu(tf.matmul(x, w) + b)

    y = layer([[1.0, 2.0]])
    return [
        y,
        layer(tf.constant([[3.0, -1.0]])),
        *tf.gradients(y, tf.global_variables()),
    ]


def gradients(tf, Defun):
    @Defun(tf.float32, tf.float32)
    def f(x, y):
        return x * x + y, tf.sin(x)

    x, y = tf.constant(3.0, name="x"), tf.constant([1.0, 2.0], name="y")
    a, b = f(x, y)
    return [a, b, *tf.gradients([a, b], [x, y]), *tf.gradients(b, [x])]


def gradients_of_calls_in_calls(tf, Defun):
    @Defun(tf.float32)
    def cube(x):
        return x * x * x

    @Defun(tf.float32)
    def twice(x):
        return cube(cube(x)) + tf.constant(1.0)

    x = tf.constant(1.1, name="x")
    y = twice(x)
    return [y, *tf.gradients(y, x)]


def integer_results(tf, Defun):
    @Defun(tf.float32)
    def f(x):
        return tf.identity(x), tf.constant(3), tf.cast(x, tf.int32)

    x = tf.constant(3.0)
    return tf.gradients(f(x)[0], x)


def gradient_function(tf, Defun):
    @Defun(tf.float32, tf.float32, func_name="OwnGrad")
    def own(x, dy):
        return dy * 100.0 + x

    @Defun(tf.float32, grad_func=own, func_name="Squares")
    def square(x):
        return x * x

    x = tf.constant(3.0)
    return tf.gradients(square(square(x)), x)


def python_gradient(tf, Defun):
    @Defun(tf.float32, python_grad_func=lambda op, grad: grad * op.inputs[0] * 7.0)
    def square(x):
        return x * x

    x = tf.constant(3.0)
    y = square(x, name="call", noinline=True)
    return [y, *tf.gradients(y, x)]


def overloaded(tf, Defun):
    @Defun(func_name="Plus")
    def plus(x, y):
        return x + y

    return [plus(1, 2), plus(1.5, 2.0), plus(3, 4)]


def no_result(tf, Defun):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun(tf.float32)
    def count(x):
        v.assign_add(x)

    with tf.control_dependencies(
        [
            count(2.0),
        ]
    ):
        return [v.read_value()]


def by_value(tf, Defun):
    c = tf.add(tf.constant(2.0, name="two"), 1.0, name="three")

    @Defun(tf.float32, capture_by_value=True)
    def scaled(x):
        return x * c * c

    return [scaled(2.0)]


def random_numbers(tf, Defun):
    tf.set_random_seed(7)

    @Defun(tf.float32)
    def noisy(x):
        return x + tf.random_uniform([3], seed=4)

    first, second = noisy(0.0), noisy(1.0)
    return [first, second, tf.random_uniform([2])]


def control_flow(tf, Defun):
    @Defun(tf.float32)
    def flow(x):
        power = tf.while_loop(lambda i: i < x, lambda i: i * 2.0, [1.0])
        return power, tf.cond(x > 5.0, lambda: x * 2.0, lambda: x - 1.0)

    p = tf.placeholder_with_default(6.0, [])
    inside = tf.cond(p > 100.0, lambda: flow(p)[0], lambda: flow(p + 10.0)[0])
    return [*flow(p), inside]


def strings(tf, Defun):
    @Defun(tf.string)
    def join(s):
        return tf.string_join([s, "b", tf.as_string([1, 2])])

    return [tf.strings.length(join("a"))]


def shape_function(tf, Defun):
    @Defun(tf.float32, shape_func=lambda op: [op.inputs[0].shape])
    def f(x):
        return x * 2.0

    return [f([1.0, 2.0])]


def functional_ops(tf):
    """The module of TensorFlow or of tfteach."""
    if tf.__name__ == "tensorflow":
        from tensorflow.python.ops import functional_ops as found
    else:
        from tfteach.lib.functions import functional_ops as found
    return found


def branches(tf, Defun):
    c = tf.constant(3.0)

    @Defun(tf.float32)
    def double(x):
        return x * 2.0, x

    @Defun(tf.float32)
    def add(x):
        return x + 1.0, x

    found = functional_ops(tf).If(c > 2.0, [5.0], double, add, name="mine")
    return [*found, functional_ops(tf).If("", [c], double, add)[0]]


def loop(tf, Defun):
    @Defun(tf.float32, tf.float32)
    def positive(n, x):
        return n > 0.0

    @Defun(tf.float32, tf.float32)
    def step(n, x):
        return n - 1.0, x + n

    ops = functional_ops(tf)
    return [
        *ops.While([4.0, tf.constant(0.5)], positive, step),
        *ops.While([3.0, 0.0], positive, step, name="mine", hostmem=[0]),
    ]


def loop_with_captures(tf, Defun):
    c = tf.constant(2.0)

    @Defun(tf.float32)
    def positive(n):
        return n > 0.0

    @Defun(tf.float32)
    def step(n):
        return n - c

    return functional_ops(tf).While([5.0], positive, step)


def for_loops(tf, Defun):
    c = tf.constant(2.0)

    @Defun(tf.int32, tf.float32)
    def add(i, v):
        return tf.cast(i, tf.float32) + v

    @Defun(tf.int32, tf.float32)
    def scaled(i, v):
        return tf.cast(i, tf.float32) + v * c

    ops = functional_ops(tf)
    return [
        ops.For(0, 10, 3, [0.5], add)[0],
        ops.For(7, 0, -2, [0.0], add, hostmem=[0])[0],
        ops.For(5, 5, 0, [4.0], add)[0],
        ops.For(0, 4, 1, [1.0], scaled)[0],
        ops.For(0, 4, 3, [1.0], add, name="mine", rewrite_with_while=True)[0],
        ops.For(0, 4, 1, [1.0], scaled, rewrite_with_while=True)[0],
    ]


def symbolic_gradient(tf, Defun):
    @Defun(tf.float32, tf.float32, func_name="Product")
    def product(x, y):
        return x * y * y

    ops = functional_ops(tf)
    x = tf.constant(3.0)
    return [
        product(x, 2.0),
        *ops.Gradient([x, 2.0, 1.0], product),
        ops.symbolic_gradient([x, 2.0, 5.0], [tf.float32] * 2, "Product", name="s")[1],
    ]


def calls(tf, Defun):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun(tf.float32)
    def square(x):
        return x * x

    @Defun(tf.float32)
    def noisy(x):
        return x + 0.0 * tf.random_uniform([], seed=3)

    @Defun()
    def count():
        v.assign_add(2.0)

    ops = functional_ops(tf)
    x = tf.placeholder_with_default(3.0, None)
    effect = ops.partitioned_call(count.captured_inputs, count)
    with tf.control_dependencies([effect]):
        after = v.read_value()
    return [
        after,
        *ops.partitioned_call([x], square),
        *ops.partitioned_call([x], noisy, executor_type="DEFAULT"),
        *ops.remote_call("/cpu:0", [x], [tf.float32], square),
    ]


def guaranteed_constants(tf, Defun):
    constant = tf.guarantee_const(tf.constant(2.0))
    again = tf.identity(tf.identity(constant))
    plain = again + 1.0

    @Defun()
    def total():
        return constant + again + plain

    return [total()]


def gradients_of_equal_functions(tf, Defun):
    def plain(x):
        @Defun(tf.float32)
        def twice(x):
            return x * 2.0

        return twice(x)

    def by_function(x):
        @Defun(tf.float32, tf.float32)
        def slope(x, dy):
            return x + dy

        @Defun(tf.float32, grad_func=slope)
        def twice(x):
            return x * 2.0

        return twice(x)

    def by_python(x):
        @Defun(tf.float32, python_grad_func=lambda op, dy: op.inputs[0] * dy / 2.0)
        def twice(x):
            return x * 2.0

        return twice(x)

    x = tf.constant(100.0)
    return [tf.gradients(f(x), x)[0] for f in (plain, by_function, by_python)]


GRAPHS = [
    one_result,
    several_results,
    same_names,
    captures,
    hoisted_variables,
    gradients,
    gradients_of_calls_in_calls,
    integer_results,
    gradient_function,
    python_gradient,
    overloaded,
    no_result,
    by_value,
    random_numbers,
    control_flow,
    strings,
    shape_function,
    branches,
    loop,
    loop_with_captures,
    for_loops,
    symbolic_gradient,
    calls,
    guaranteed_constants,
    gradients_of_equal_functions,
]


def build(tf, function, Defun):
    """A function's graph, with an op "init" if there are variables, and its tensors."""
    with tf.Graph().as_default() as graph:
        tensors = function(tf, Defun)
        if graph.get_collection("variables"):
            tf.global_variables_initializer()
    return graph, tensors


def results(tf, graph, tensors):
    """The values of the tensors, as nested lists."""
    with tf.Session(graph=graph) as sess:
        if graph.get_collection("variables"):
            sess.run("init")
        return [value.tolist() for value in sess.run(tensors)]


if __name__ == "__main__":
    import tensorflow as tf
    from tensorflow.python.framework.function import Defun

    found = {}
    for function in GRAPHS:
        graph, tensors = build(tf, function, Defun)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "names": [tensor.name for tensor in tensors],
            "shapes": [str(tensor.shape) for tensor in tensors],
            "values": results(tf, graph, tensors),
        }
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
