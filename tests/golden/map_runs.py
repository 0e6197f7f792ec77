"""What maps of sparse tensors and of staged elements do in real TensorFlow 1.15.

`python map_runs.py map_runs.json`; tests/ops/queues/test_map_runs.py runs the same
functions, as queue_runs.py does.
"""

import json
import sys

from tests.golden.queue_runs import plain, run, seen


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


def _map_staging_area(tf):
    if "tfteach" in tf.__name__:
        from tfteach.ops.queues.map_staging import MapStagingArea

        return MapStagingArea
    from tensorflow.python.ops.data_flow_ops import MapStagingArea

    return MapStagingArea


def _staged_by_name(tf, ordered):
    session, kind = tf.Session(), _map_staging_area(tf)
    area = kind(
        [tf.float32, tf.int32], [[], [2]], ["x", "y"], ordered=ordered, capacity=9
    )
    key = tf.placeholder(tf.int64, [])
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [2])
    puts = [area.put(key, v) for v in ({"x": x, "y": y}, {"x": x}, {"y": y})]
    get, get_x, get_y = area.get(key), area.get(key, [0]), area.get(key, ["y"])
    peek, peek_x, of_any = area.peek(key), area.peek(key, ["x"]), area.get()
    sizes, clear = [area.size(), area.incomplete_size()], area.clear()
    log = []

    def do(fetches, k=0, a=0.0, b=0):
        feeds = {key: k, x: a, y: [b, b + 1]}
        log.append(seen(lambda: session.run(fetches, feeds)))
        log.append(seen(lambda: session.run(sizes)))

    do(puts[0], 7, 1.0, 1)
    do(of_any)
    do(puts[0], 7, 1.0, 1)
    do(puts[0], 7, 2.0, 3)
    do(puts[1], 9, 4.0)
    do(puts[1], 9, 4.0)
    do(puts[2], 9, 0.0, 7)
    do(peek, 7)
    do(peek_x, 9)
    do(get_y, 7)
    do(get_y, 7)
    do(peek, 7)
    do(get_x, 7)
    do(get, 9)
    do(puts[0], 1, 1.0)
    do(puts[1], 2, 1.0)
    do(clear)
    if ordered:
        for k in (5, 3, 4):
            do(puts[0], k, 1.0 * k)
        for _ in range(3):
            do(of_any)
    for call in (
        lambda: area.put(key, [x, y]),
        lambda: area.put(key, {"z": x}),
        lambda: area.put(tf.constant(1), {"x": x, "y": y}),
        lambda: area.put(key, {"x": y, "y": y}),
        lambda: area.get(key, ["y"], name="mine")[1]["y"].name,
        lambda: area.get(indices=["x"])[1]["x"].name,
        lambda: area.peek(key, [1.5]),
        lambda: area.get(key, 0),
    ):
        log.append(seen(call))
    return log + _operations(tf)


def _operations(tf):
    found = []
    for op in tf.get_default_graph().get_operations():
        classes = [text.decode() for text in op.node_def.attr["_class"].list.s]
        shapes = [str(tensor.shape) for tensor in op.outputs]
        found.append([op.name, op.type, classes, len(op.inputs), shapes])
    return found


def staged_by_key(tf):
    return _staged_by_name(tf, ordered=False)


def staged_in_the_order_of_keys(tf):
    return _staged_by_name(tf, ordered=True)


def staged_by_position(tf):
    session, kind = tf.Session(), _map_staging_area(tf)
    one, x, y = tf.constant(1, tf.int64), tf.constant(1.0), tf.constant(2)
    small = kind([tf.float32], memory_limit=10, shared_name="small")
    area = kind([tf.float32, tf.int32])
    log = [area.name, small.name, plain(area.names), area.capacity, small.memory_limit]
    for call in (
        lambda: session.run(small.put(one, [tf.constant([1.0, 2.0, 3.0])], [0])),
        lambda: session.run(small.put(one, [tf.constant([1.0, 2.0])], [0])),
        lambda: session.run(small.get(one)[1]),
        lambda: area.put(one, [x]),
        lambda: area.put(one, {"a": x}),
        lambda: session.run(area.put(one, [x], [0])),
        lambda: session.run(area.put(one, [y], [1])),
        lambda: session.run(area.put(one, [x, y], [0, 1])),
        lambda: session.run(area.put(one, [y, x], [1, 0])),
        lambda: session.run(area.get(one, [1])[1]),
        lambda: session.run(area.get(one, [1])[1]),
        lambda: session.run(area.get(one, [0])),
        lambda: session.run(area.put(one, [x, y], [0, 1])),
        lambda: session.run(area.get()),
        lambda: area.get(one, ["x"]),
        lambda: kind([tf.float32], shapes=[[], []]),
        lambda: kind([tf.float32], names=["a", "b"]),
        lambda: kind([tf.float32], [[2]]).put(one, [x], [0]),
    ):
        log.append(seen(call))
    raw = tf.raw_ops.MapStage
    for places in ([7], [0, 0]):
        op = raw(
            key=one, indices=places, values=[x] * len(places),
            dtypes=[tf.float32] * 2, shared_name="other",
        )  # fmt: skip
        log.append(seen(lambda op=op: session.run(op)))
    return log + _operations(tf)


FUNCTIONS = [
    sparse_tensor_maps, staged_by_key, staged_in_the_order_of_keys, staged_by_position,
]  # fmt: skip

if __name__ == "__main__":
    import tensorflow

    answers = {function.__name__: run(tensorflow, function) for function in FUNCTIONS}
    with open(sys.argv[1], "w") as file:
        json.dump(answers, file, indent=0)
        file.write("\n")
