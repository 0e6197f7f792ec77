"""What maps of sparse tensors and of staged elements do in real TensorFlow 1.15.

`python map_runs.py map_runs.json`; tests/ops/queues/test_map_runs.py runs the same
functions, as queue_runs.py does.
"""

import json
import sys

from tests.golden.queue_runs import run, seen


def sparse_tensor_maps(tf):
    session, raw = tf.Session(), tf.raw_ops
    parts = [tf.placeholder(t) for t in (tf.int64, tf.float32, tf.int64)]
    names = ("sparse_indices", "sparse_values", "sparse_shape")
    given = dict(zip(names, parts))
    adds = {
        kind: raw_op(shared_name="m", **given)
        for kind, raw_op in (
            ("one", raw.AddSparseToTensorsMap),
            ("many", raw.AddManySparseToTensorsMap),
        )
    }
    handles = tf.placeholder(tf.int64)

    def take(dtype=tf.float32, name="m"):
        return tuple(
            raw.TakeManySparseFromTensorsMap(
                sparse_handles=handles, dtype=dtype, shared_name=name
            )
        )

    log = []

    def add(kind, *values):
        feeds = dict(zip(parts, values))
        log.append(seen(lambda: session.run(adds[kind], feeds)))

    taken, others, nowhere = take(), take(tf.int32), take(name="other")

    def get(numbers, tensors=taken):
        log.append(seen(lambda: session.run(tensors, {handles: numbers})))

    add("one", [[0, 1]], [5.0], [2, 3])
    add("one", [[3, 1], [0, 0]], [6.0, 7.0], [4, 2])
    get([1, 0])
    get([1, 0])
    add("many", [[0, 0, 1], [2, 1, 1]], [1.0, 2.0], [3, 2, 2])
    add("many", [[1, 0, 1]], [3.0], [2, 2, 2])
    get([6, 2, 3, 4, 5])
    add("one", [[0, 1]], [5.0], [2, 3])
    get([7], others)
    add("one", [[0, 1]], [5.0], [2, 3])
    add("one", [[0]], [5.0], [2])
    get([8, 9])
    for bad in ([], [[0]], 3):
        get(bad)
    get([0], nowhere)
    for kind in ("one", "many"):
        for bad in (
            ([0], [1.0], [2, 3]), ([[0, 0]], [[1.0]], [2, 3]),
            ([[0, 0]], [1.0], [[2, 3]]), ([[0, 0]], [1.0, 2.0], [2, 3]),
            ([[0, 0]], [1.0], [2, 3, 4]),
        ):  # fmt: skip
            add(kind, *bad)
    for bad in (
        ([[0]], [1.0], [3]), ([[2, 0], [0, 1]], [1.0, 2.0], [3, 2]),
        ([[5, 0]], [1.0], [3, 2]),
    ):  # fmt: skip
        add("many", *bad)
    tensors = [adds["one"], adds["many"], *taken]
    return [*log, [str(tensor.shape) for tensor in tensors]]


FUNCTIONS = [sparse_tensor_maps]

if __name__ == "__main__":
    import tensorflow

    answers = {function.__name__: run(tensorflow, function) for function in FUNCTIONS}
    with open(sys.argv[1], "w") as file:
        json.dump(answers, file, indent=0)
        file.write("\n")
