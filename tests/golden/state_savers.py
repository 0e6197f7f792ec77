"""What SequenceQueueingStateSaver builds, returns and refuses in TensorFlow 1.15.

`python -m tests.golden.state_savers FILE`, with TensorFlow's Python, writes the answers
anew: for each of GRAPHS the nodes, for each of ERRORS the error, and what `segments`
returns.
"""

import sys

import numpy as np

from tests.golden import calls as golden
from tests.golden.input_calls import plain


def saver(tf, **changed):
    """A state saver with some arguments changed."""
    arguments = {
        "batch_size": 2,
        "num_unroll": 2,
        "input_length": 3,
        "input_key": "k",
        "input_sequences": {"b": np.zeros([4, 5], "f")},
        "input_context": {},
        "initial_states": {"s": np.zeros([6], "f")},
    }
    arguments.update(changed)
    return tf.contrib.training.SequenceQueueingStateSaver(**arguments)


def of_tensors(tf):
    made = saver(
        tf,
        input_key=tf.constant("k"),
        input_sequences={"b": tf.zeros([4, 5]), "a": tf.zeros([4])},
        initial_states={"s": tf.zeros([6]), "r": tf.zeros([])},
        capacity=10,
        name="sq",
    )
    batch = made.next_batch
    batch.save_state("s", tf.ones([2, 6]))
    made.close(cancel_pending_enqueues=True, name="cc")
    return [made.name, made.num_unroll, made.prefetch_op is made.prefetch_op]


def of_arrays(tf):
    made = saver(
        tf,
        input_sequences={"b": np.zeros([4, 5], "f"), "a": np.zeros([4], "f")},
        input_context={"d": np.ones(3), "c": np.ones([1, 2])},
        initial_states={"s": np.ones(6), "r": np.float32(1)},
        name="t",
    )
    made.close()
    return [made.barrier.name]


def of_unknown_sizes(tf):
    made = saver(
        tf,
        batch_size=tf.placeholder(tf.int32),
        input_length=tf.placeholder(tf.int32),
        input_key=tf.placeholder(tf.string),
        input_sequences={"b": tf.placeholder(tf.float32, [None, 5])},
        input_context={"c": tf.placeholder(tf.float32, [3])},
        allow_small_batch=True,
        capacity=7,
    )
    batch = made.next_batch
    batch.save_state("s", np.ones([3, 6], "f"), name="sv")
    batch.save_state("s", tf.placeholder(tf.float32))
    tensors = [
        batch.batch_size, batch.insertion_index, batch.key, batch.next_key,
        batch.sequence, batch.sequence_count, batch.length, batch.total_length,
        batch.state("s"), batch.sequences["b"], batch.context["c"],
    ]  # fmt: skip
    return [str(tensor) for tensor in tensors]


GRAPHS = (of_tensors, of_arrays, of_unknown_sizes)
ERRORS = {
    "capacity": lambda tf: saver(tf, capacity=1),
    "no state": lambda tf: saver(tf, initial_states={}),
    "no sequence": lambda tf: saver(tf, input_sequences={}),
    "vector length": lambda tf: saver(tf, input_length=[3]),
    "float length": lambda tf: saver(tf, input_length=3.0),
    "number as key": lambda tf: saver(tf, input_key=3),
    "vector key": lambda tf: saver(tf, input_key=["a"]),
    "unknown sequence": lambda tf: saver(
        tf, input_sequences={"a": tf.placeholder(tf.float32)}
    ),
    "unknown column": lambda tf: saver(
        tf, input_sequences={"a": tf.placeholder(tf.float32, [None, None])}
    ),
    "unknown context": lambda tf: saver(
        tf, input_context={"a": tf.placeholder(tf.float32)}
    ),
    "unknown state": lambda tf: saver(
        tf, initial_states={"a": tf.placeholder(tf.float32)}
    ),
    "empty segments": lambda tf: saver(tf, num_unroll=0),
    "number as name": lambda tf: saver(tf, input_sequences={1: np.zeros([4])}),
    "number as context": lambda tf: saver(tf, input_context={1: np.zeros([4])}),
    "number as state": lambda tf: saver(tf, initial_states={1: np.zeros([4])}),
    "no such state": lambda tf: saver(tf).next_batch.state("x"),
    "undeclared": lambda tf: saver(tf).next_batch.save_state("x", 1),
    "other rank": lambda tf: saver(tf).next_batch.save_state("s", np.zeros([1, 1, 1])),
    "other shape": lambda tf: saver(tf).next_batch.save_state("s", np.zeros([3, 7])),
}


def segments(tf):
    """Two sequences of two and three segments, with a state that counts."""
    length, key = tf.placeholder(tf.int32), tf.placeholder(tf.string)
    rows = tf.placeholder(tf.int64, [None])
    made = saver(
        tf,
        input_length=length,
        input_key=key,
        input_sequences={"n": rows, "words": tf.as_string(rows)},
        input_context={"name": tf.reshape(key, [])},
        initial_states={"count": np.int32(0)},
        allow_small_batch=True,
    )
    batch = made.next_batch
    save = batch.save_state("count", batch.state("count") + batch.length)
    fetched = [
        batch.key, batch.next_key, batch.sequence, batch.sequence_count, batch.length,
        batch.total_length, batch.sequences["n"], batch.sequences["words"],
        batch.context["name"], batch.state("count"), save,
    ]  # fmt: skip
    close, found = made.close(), []
    with tf.Session() as session:
        for name, steps, size in (("a", 3, 4), ("b", 6, 6)):
            feeds = {length: steps, key: name, rows: np.arange(size)}
            session.run(made.prefetch_op, feeds)
        for _ in range(2):
            found.append(plain(session.run(fetched)))
        session.run(close)
        for _ in range(2):
            try:
                found.append(plain(session.run(fetched)))
            except tf.errors.OutOfRangeError:
                found.append("ended")
        for steps, size in ((1, 3), (9, 4)):
            feeds = {length: steps, key: "c", rows: np.arange(size)}
            try:
                session.run(made.prefetch_op, feeds)
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.split("\n")[0])
    return found


def error_of(call, tf):
    with tf.Graph().as_default():
        try:
            call(tf)
        except Exception as error:
            return [type(error).__name__, str(error)]
    return None


def nodes_of(call, tf):
    with tf.Graph().as_default() as graph:
        found = call(tf)
        nodes = [
            "{} {}({}) {}".format(
                node.name,
                node.op,
                ", ".join(node.input),
                " ".join(str(node.attr["_class"].list.s[0]).split())
                if "_class" in node.attr and node.attr["_class"].list.s
                else "",
            )
            for node in graph.as_graph_def().node
        ]
    return [plain(found), nodes]


def record(tf):
    """All answers."""
    with tf.Graph().as_default():
        values = segments(tf)
    return {
        "graphs": {call.__name__: nodes_of(call, tf) for call in GRAPHS},
        "errors": {name: error_of(call, tf) for name, call in ERRORS.items()},
        "segments": values,
    }


if __name__ == "__main__":
    import tensorflow

    golden.write(sys.argv[-1], record(tensorflow))
