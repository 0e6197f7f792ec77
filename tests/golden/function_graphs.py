"""The graphs that programs with `tf.function`s build without eager execution.

With TensorFlow's Python,

    env -u PYTHONPATH $TFTEACH_ORACLE tests/golden/function_graphs.py

writes function_graphs.json: for each program the nodes, what a session computes, and
how many variables each collection has.
"""

import json
import re
from pathlib import Path


class Kept:
    """What a function keeps between its calls."""

    v = w = None


def outer_variable(tf):
    v = tf.Variable(1.0, use_resource=True)
    f = tf.function(lambda x: x * v, autograph=False)
    return f(tf.constant(2.0)), f(tf.constant(3.0))


def reference_variable(tf):
    v = tf.Variable(1.0)
    return tf.function(lambda x: x * v, autograph=False)(tf.constant(2.0))


def placeholder(tf):
    x = tf.placeholder_with_default(3.0, [])
    return tf.function(lambda y: x * y, autograph=False)(tf.constant(2.0))


def inner_variable(tf):
    kept = Kept()

    def f(x):
        if kept.v is None:
            kept.v = tf.Variable(3.0, name="w")
        return x * kept.v

    f = tf.function(f, autograph=False)
    return f(tf.constant(2.0)), f(tf.constant([3.0])), kept


def two_inner_variables(tf):
    kept = Kept()

    def f(x):
        if kept.v is None:
            kept.v = tf.Variable(lambda: tf.random_normal([2], seed=1), name="w")
            kept.w = tf.Variable(tf.ones([2]), name="w")
        kept.w.assign_add(kept.v)
        return x * kept.v + kept.w

    concrete = tf.function(f, autograph=False).get_concrete_function(tf.ones([]))
    return concrete(tf.constant(2.0)), kept


def variable_by_name(tf):
    kept = Kept()

    def f(x):
        if kept.v is None:
            zeros = tf.zeros_initializer()
            kept.v = tf.get_variable("w", [2], initializer=zeros)
        return x * kept.v

    return tf.function(f, autograph=False)(tf.constant(2.0)), kept


def defun_variable(tf):
    def f(x):
        return tf.get_variable("w", [2], initializer=tf.ones_initializer()) + x

    return tf.contrib.eager.defun(f, autograph=False)(tf.constant(1.0))


def dependent_variable(tf):
    kept = Kept()

    def f(x):
        kept.v = tf.Variable(x)
        return kept.v + 1.0

    return tf.function(f, autograph=False)(tf.constant(2.0))


def tensor_as_initial_value(tf):
    def f(x):
        return tf.Variable(tf.ones([2])) + x

    return tf.contrib.eager.defun(f, autograph=False)(tf.constant(1.0))


def no_results(tf):
    v = tf.Variable(1.0, use_resource=True)

    def f():
        v.assign_add(1.0)

    call = tf.function(f, autograph=False)()
    with tf.control_dependencies([call]):
        return v.read_value()


def gradients(tf):
    v = tf.Variable(2.0, use_resource=True)
    f = tf.function(lambda x: x * x * v, autograph=False)
    x = tf.constant(3.0)
    return tf.gradients(f(x), [x, v.handle])


def scopes(tf):
    f = tf.function(lambda x: x + 1.0, autograph=False)
    with tf.name_scope("scope"), tf.device("/cpu:0"):
        return f(tf.constant(3.0))


def python_arguments(tf):
    f = tf.function(lambda x: x + 1.0, autograph=False)
    return f(3.0), f([1.0, 2.0][1])


def waits_outside(tf):
    v = tf.Variable(1.0, use_resource=True)
    update = v.assign_add(1.0).op

    def f():
        with tf.control_dependencies([update]):
            return tf.constant(1.0)

    with tf.control_dependencies([tf.function(f, autograph=False)()]):
        return v.read_value()


PROGRAMS = [
    outer_variable,
    reference_variable,
    placeholder,
    inner_variable,
    two_inner_variables,
    variable_by_name,
    defun_variable,
    dependent_variable,
    tensor_as_initial_value,
    no_results,
    gradients,
    scopes,
    python_arguments,
    waits_outside,
]


def described(tf, program):
    """The nodes that a program builds, its results, and its variables."""
    with tf.Graph().as_default() as graph:
        try:
            found = program(tf)
        except Exception as error:
            found, failed = None, type(error).__name__ + ": " + str(error)
        else:
            failed = None
        nodes = sorted(_described(node) for node in graph.as_graph_def().node)
        if failed:
            return {"nodes": nodes, "error": failed}
        fetches = found if isinstance(found, (list, tuple)) else [found]
        fetches = [f for f in fetches if not isinstance(f, Kept)]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = [session.run(fetch).tolist() for fetch in fetches]
        return {
            "nodes": nodes,
            "values": values,
            "shapes": [str(fetch.shape) for fetch in fetches],
            "variables": [v.name for v in tf.global_variables()],
            "trainable": [v.name for v in tf.trainable_variables()],
        }


def _described(node):
    groups = [group.decode() for group in node.attr["_class"].list.s]
    inputs = [re.sub(r"^(StatefulPartitionedCall).*", r"\1", i) for i in node.input]
    text = "{} {}({})".format(node.name, node.op, ", ".join(inputs))
    return " ".join([text, node.device, *groups]).rstrip()


def main():
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity("ERROR")
    found = {program.__name__: described(tf, program) for program in PROGRAMS}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
