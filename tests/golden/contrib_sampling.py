# ruff: noqa: E501 -- each call is one line
"""What tf.contrib.training's samplers build and refuse in TensorFlow 1.15.

`python -m tests.golden.contrib_sampling FILE`, with TensorFlow's Python, writes the
answers anew: for each expression the nodes, the collections and the runners of queues,
or the error; for `run(...)` also values.
"""

import sys

import numpy as np

from tests.golden import calls as golden
from tests.golden.input_calls import plain

CALLS = """
t.resample_at_rate([tf.constant([1., 2.]), tf.constant([3, 4])], tf.constant([.5, 2.]))
t.resample_at_rate([tf.constant([1., 2.])], [.5, 2.], scope='my', seed=3, back_prop=True)
t.weighted_resample([tf.constant([1., 2.])], tf.constant([.5, 2.]), .5, 'w', .9, seed=4)
run(t.resample_at_rate([list('abcdef')], [.5, 2., 0., 1., 3., .1], seed=3))
run(t.resample_at_rate([tf.range(6), tf.range(6.) * 2], [.5, 2., 0., 1., 3., .1], seed=5))
run(t.resample_at_rate([tf.range(2)], [0., 0.], seed=5))
run(t.weighted_resample([tf.range(6)], tf.range(6.) + .5, 2.5, mean_decay=.5, seed=7))
t.rejection_sample([tf.zeros([2]), tf.constant(3)], lambda x: tf.constant(.5), 4)
t.rejection_sample([tf.zeros([2])], lambda x: x[0][1], 4, queue_threads=3, name='one')
t.rejection_sample([tf.zeros([5, 2]), tf.ones([5])], lambda x: x[1], 4, 2, True, 5, 3, True, 'rs')
t.rejection_sample([tf.zeros([])], lambda x: .5, 4, enqueue_many=True)
t.rejection_sample([tf.zeros([5, 1]), tf.zeros([4, 1])], lambda x: .5, 4, enqueue_many=True)
t.stratified_sample([tf.zeros([2])], tf.constant(1), [.2, .8], 4, init_probs=[.5, .5])
t.stratified_sample([tf.zeros([2])], 1, [.2, .8], 4, None, False, 7, 2, 'qq')
t.stratified_sample([tf.placeholder(tf.float32, [None, 2])], tf.placeholder(tf.int32, [None]), tf.constant([.2, .8, 0.]), 4, init_probs=tf.constant([.2, .8, 0.]), enqueue_many=True)
t.stratified_sample([tf.zeros([2])], tf.constant(1), [.2, .4, .4], 4, init_probs=[.5, .5])
t.stratified_sample([tf.zeros([2])], tf.constant(1), [-.2, 1.2], 4, init_probs=[.5, .5])
t.stratified_sample([tf.zeros([2])], tf.constant([1]), [.2, .8], 4, init_probs=[.5, .5])
t.stratified_sample([tf.zeros([2])], tf.constant(1), 1, 4, init_probs=[.5, .5])
t.stratified_sample([tf.zeros([2])], tf.constant(1), tf.placeholder(tf.float32, [None]), 4, init_probs=[.5, .5])
t.stratified_sample([tf.zeros([2])], tf.constant(1.), [.2, .8], 4, init_probs=[.5, .5])
t.stratified_sample([tf.zeros([2, 1])], tf.constant([1]), [.2, .8], 4, init_probs=[.5, .5], enqueue_many=True)
t.stratified_sample([tf.zeros([])], tf.constant([1]), [.2, .8], 4, init_probs=[.5, .5], enqueue_many=True)
"""


def calls():
    """The expressions."""
    return [line for line in CALLS.splitlines() if line]


def run(tf, fetched):
    """The values of five runs."""
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer()]
        )
        return [session.run(fetched) for _ in range(5)]


def value_of(node, tensor_of):
    """A constant's value, which is part of the graph."""
    return plain(tensor_of(node.attr["value"].tensor)) if node.op == "Const" else None


def record(tf, call):
    """What an expression builds."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        names = {"tf": tf, "t": tf.contrib.training, "np": np}
        names["run"] = lambda fetched: run(tf, fetched)
        try:
            found = eval(call, names)
        except Exception as error:
            return [type(error).__name__, str(error)]
        if call.startswith("run"):
            return plain(found)
        nodes = [
            "{} {}({}) {}".format(
                node.name,
                node.op,
                ", ".join(node.input),
                value_of(node, tf.make_ndarray),
            )
            for node in graph.as_graph_def().node
        ]
        collections = {
            key: [one.name for one in graph.get_collection(key)]
            for key in (
                "variables",
                "local_variables",
                "trainable_variables",
                "summaries",
            )
        }
        runners = [
            [one.name, [op.name for op in one.enqueue_ops]]
            for one in graph.get_collection("queue_runners")
        ]
        return [str(found), nodes, collections, runners]


if __name__ == "__main__":
    import tensorflow

    golden.write(sys.argv[-1], {call: record(tensorflow, call) for call in calls()})
