"""What queues return and refuse in real TensorFlow 1.15.

`python queue_runs.py queue_runs.json`; tests/ops/queues/test_queue_runs.py runs the
same functions.  Each returns what a program sees, as JSON; errors are the class and the
first line of the message.
"""

import functools
import json
import os
import re
import sys
import threading
import time

import numpy as np

KINDS = ("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue")


def seen(call):
    """The value as JSON; the class and first line of an error."""
    try:
        return plain(call())
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        first = message.split("\n\t [[")[0].split("\n\n")[0]
        return type(error).__name__ + ": " + re.sub(r"\b_\d+_(?=[a-z])", "_0_", first)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value if isinstance(value, (int, float, str, type(None))) else "made"


class Waiting:
    """A run in a thread."""

    def __init__(self, session, fetches, feeds=None):
        self.result = None

        def run():
            self.result = seen(lambda: session.run(fetches, feeds))

        self.thread = threading.Thread(target=run)
        self.thread.daemon = True
        self.thread.start()
        time.sleep(0.05)

    def end(self):
        self.thread.join(20)
        return self.result


def for_each_kind(function):
    """A function of TensorFlow and the kind of queue as one of TensorFlow."""

    @functools.wraps(function)
    def every(tf):
        return {kind: function(tf, kind) for kind in KINDS}

    return every


def make(tf, kind, capacity=5):
    types, shapes = [tf.int64, tf.float32, tf.string], [[], [2], []]
    if kind == "RandomShuffleQueue":
        return tf.RandomShuffleQueue(capacity, 0, types, shapes, seed=3)
    if kind == "PriorityQueue":
        return tf.PriorityQueue(capacity, types[1:], shapes[1:])
    return getattr(tf, kind)(capacity, types, shapes)


def elements(tf, kind):
    """The queue, its session and what feeds an element, for each kind."""
    queue = make(tf, kind)
    a, b, c = (tf.placeholder(t) for t in (tf.int64, tf.float32, tf.string))
    n = tf.placeholder(tf.int32, [])
    session = tf.Session()
    one, many = queue.enqueue([a, b, c]), queue.enqueue_many([a, b, c])
    out, outs, some = queue.dequeue(), queue.dequeue_many(n), queue.dequeue_up_to(n)

    def put(*keys):
        for key in keys:
            session.run(one, {a: key, b: [key, 2.0], c: f"x{key}"})

    def put_many(*keys):
        rows = [[key, 3.0] for key in keys]
        session.run(many, {a: keys, b: rows, c: [f"y{key}" for key in keys]})

    def take():
        return seen(lambda: session.run(out))

    def take_many(count, up_to=False):
        return seen(lambda: session.run(some if up_to else outs, {n: count}))

    return queue, session, put, put_many, take, take_many, (a, b, c, n, one, many, outs)


@for_each_kind
def one_by_one_and_many(tf, kind):
    queue, _, put, put_many, take, take_many, _ = elements(tf, kind)
    put(5, 1)
    put_many(4, 3, 2)
    log = [take(), take_many(2)]
    put(0)
    log += [take_many(2), take_many(0), take_many(0, True)]
    put_many(9, 8)
    put(7)
    put_many(6)
    log += [take_many(1), take(), take_many(3)]
    shapes = [[str(t.shape) for t in queue.dequeue_many(3)], queue.name]
    return [log, shapes, [str(s) for s in queue.shapes]]


@for_each_kind
def bad_shapes_and_counts(tf, kind):
    _, session, _, _, _, take_many, (a, b, c, _, one, many, _) = elements(tf, kind)
    return [
        seen(lambda f=f, op=op: session.run(op, f))
        for op, f in [
            (one, {a: 1, b: [1.0], c: "x"}),
            (one, {a: 1, b: 1.0, c: "x"}),
            (one, {a: [1], b: [1.0, 2.0], c: "x"}),
            (many, {a: [1], b: [[1.0]], c: ["x"]}),
            (many, {a: [1], b: [1.0], c: ["x"]}),
            (many, {a: [1, 2], b: [[1.0, 2.0]], c: ["x"]}),
            (many, {a: [], b: np.zeros([0, 2]), c: []}),
        ]
    ] + [take_many(-1), take_many(-1, True)]


@for_each_kind
def closing(tf, kind):
    """Closed while runs wait, and used after it."""
    queue, session, put, put_many, take, take_many, _ = elements(tf, kind)
    log = [seen(lambda: session.run([queue.size(), queue.is_closed()]))]
    waiting = Waiting(session, queue.dequeue())
    close, cancel = queue.close(), queue.close(True)
    session.run(close)
    log += [waiting.end(), take(), take_many(2), take_many(2, True)]
    log += [seen(lambda: put(1)), seen(lambda: put_many(1, 2))]
    log += [seen(lambda op=op: session.run(op)) for op in (close, cancel)]
    return log


@for_each_kind
def closing_with_some(tf, kind):
    """Batches of which a part was there when the queue closed."""
    log = []
    for up_to in (False, True):
        queue, session, put, _, take, take_many, _ = elements(tf, kind)
        put(1, 2)
        count = tf.constant(5)
        batch = queue.dequeue_up_to(count) if up_to else queue.dequeue_many(count)
        waiting = Waiting(session, batch)
        size = seen(lambda s=session, q=queue: s.run(q.size()))
        session.run(queue.close())
        log += [
            size,
            waiting.end(),
            seen(lambda s=session, q=queue: s.run(q.size())),
        ]
        log += [take_many(5, True), take()]
    return log


@for_each_kind
def closing_while_full(tf, kind):
    """Enqueue ops that wait are cancelled, or finish first."""
    log = []
    for cancels in (True, False):
        queue, session, put, _, take, _, (a, b, c, _, _, many, _) = elements(tf, kind)
        put(1, 2, 3, 4)
        feeds = {a: [5, 6], b: np.ones([2, 2]), c: ["y", "z"]}
        waiting = Waiting(session, many, feeds)
        close = Waiting(session, queue.close(cancels))
        log.append(seen(lambda s=session, q=queue: s.run([q.is_closed(), q.size()])))
        if not cancels:
            log += [take()]
        log += [waiting.end(), close.end()] + [take() for _ in range(6)]
    return log


@for_each_kind
def sessions_end(tf, kind):
    """A session closed, or a time limit exceeded, while a run waits."""
    queue, session, put, _, _, _, (a, b, c, n, one, many, outs) = elements(tf, kind)
    limit = tf.RunOptions(timeout_in_ms=50)
    log = [seen(lambda: session.run(queue.dequeue(), options=limit))]
    put(1, 2, 3, 4)
    feeds = {a: [5, 6], b: np.ones([2, 2]), c: ["y", "z"]}
    log.append(seen(lambda: session.run(many, feeds, options=limit)))
    log.append(seen(lambda: session.run(queue.size())))
    log.append(seen(lambda: session.run(outs, {n: 6}, options=limit)))
    log.append(seen(lambda: session.run(queue.size())))
    config = tf.ConfigProto(operation_timeout_in_ms=50)
    log.append(seen(lambda: tf.Session(config=config).run(queue.dequeue())))
    waiting = Waiting(session, outs, {n: 10})
    session.close()
    log.append(waiting.end())
    log.append(seen(lambda: session.run(queue.size())))
    other = tf.Session()
    one_more = {a: 5, b: [1.0, 1.0], c: "y"}
    for _ in range(5):
        other.run(one, one_more)
    waiting = Waiting(other, one, one_more)
    other.close()
    return [*log, waiting.end()]


def all_waiting(tf):
    """The end of a session cancels all that wait, on both sides of queues."""
    full, empty = (tf.FIFOQueue(2, tf.int32, shapes=[[]]) for _ in range(2))
    session = tf.Session()
    session.run(full.enqueue_many([[1, 2]]))
    fetches = [full.enqueue(3), full.enqueue_many([[4]]), full.enqueue_many([[5, 6]])]
    fetches += [empty.dequeue(), empty.dequeue_many(1), empty.dequeue_up_to(1)]
    runs = [Waiting(session, fetch) for fetch in fetches]
    session.close()
    return [waiting.end() for waiting in runs]


def padded(tf):
    queue = tf.PaddingFIFOQueue(
        10, [tf.int32, tf.string, tf.float32], [[None], [None, 2], []]
    )
    session = tf.Session()
    for n in (1, 3, 0, 2):
        text = np.full([n, 2], "t", object)
        session.run(queue.enqueue([np.ones([n], np.int32), text, 0.5]))
    session.run(
        queue.enqueue_many([[[1, 2], [3, 4]], np.full([2, 1, 2], "u", object), [1, 2]])
    )
    out = queue.dequeue_many(5)
    log = [seen(lambda: session.run(out)), [str(t.shape) for t in out]]
    log.append(seen(lambda: session.run(queue.dequeue_many(0))))
    log.append(seen(lambda: session.run(queue.dequeue())))
    for make in (
        lambda: tf.PaddingFIFOQueue(3, [tf.int64], shapes=[[], []]),
        lambda: tf.PaddingFIFOQueue(3, [tf.int64], shapes=[None]),
        lambda: session.run(queue.enqueue([[[1]], [["a", "b"]], 1.0])),
        lambda: queue.enqueue([[1], [["a", "b", "c"]], 1.0]),
    ):
        log.append(seen(make))
    return log


def shuffled(tf):
    """The order of a graph's seed, an op's, and both, with few elements and many."""
    log = []
    for graph_seed, op_seed, name in (
        (None, 7, None), (5, None, None), (5, 7, None), (5, None, "shared"),
    ):  # fmt: skip
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            if graph_seed is not None:
                tf.set_random_seed(graph_seed)
            queue = tf.RandomShuffleQueue(
                300, 2, tf.int32, [[]], seed=op_seed, shared_name=name
            )
            session.run(queue.enqueue_many([np.arange(300)]))
            out, outs = queue.dequeue(), queue.dequeue_many(137)
            log.append([plain(session.run(t)) for t in (out, outs, out, outs)])
            session.run(queue.close())
            log.append(plain(session.run(queue.dequeue_up_to(100))))
    return log


def priorities(tf):
    """Elements of equal priority have TensorFlow's order, too."""
    log = []
    with tf.Session() as session:
        for keys in ([2, 1, 1, 2, 0, 1, 0, 2, 2, 1], [0] * 9, [3, -1, 3, 2, 3, -5, 3]):
            queue = tf.PriorityQueue(50, [tf.int32], [[]])
            keys = np.array(keys, np.int64)
            session.run(queue.enqueue_many((keys, np.arange(len(keys)))))
            log.append(plain(session.run(queue.dequeue_many(3))))
            session.run(queue.enqueue((np.int64(0), 77)))
            log.append(plain(session.run(queue.dequeue_many(len(keys) - 2))))
    log.append(seen(lambda: tf.PriorityQueue(3, [tf.int64])))
    log.append(seen(lambda: tf.PriorityQueue(3, [], [])))
    return log


def shared_by_name(tf):
    session = tf.Session()

    def queue(**options):
        options = {
            "capacity": 3,
            "dtypes": [tf.int64, tf.int32],
            "shapes": [[], [2]],
            **options,
        }
        return tf.FIFOQueue(shared_name="sh", **options)

    def shuffle(least, seed):
        return tf.RandomShuffleQueue(
            3, least, [tf.int64], [[]], seed=seed, shared_name="r"
        )

    first, again = queue(), queue()
    session.run(first.enqueue((1, [2, 3])))
    log = [seen(lambda: session.run(again.dequeue()))]
    with tf.container("elsewhere"):
        log.append(seen(lambda: session.run(queue().size())))
    session.run(shuffle(1, 4).size())
    both = [tf.int64, tf.int32]
    for make_other in (
        lambda: queue(capacity=4),
        lambda: queue(dtypes=[tf.int64, tf.float32]),
        lambda: queue(shapes=[[], [3]]),
        lambda: queue(shapes=None),
        lambda: tf.PaddingFIFOQueue(3, both, [[], [2]], shared_name="sh"),
        lambda: tf.RandomShuffleQueue(3, 1, both, [[], [2]], shared_name="sh"),
        lambda: shuffle(2, 4),
        lambda: shuffle(1, 5),
        lambda: shuffle(1, None),
    ):
        log.append(seen(lambda make=make_other: session.run(make().size())))
    session.run(first.close())
    return [*log, seen(lambda: session.run(again.dequeue()))]


def arguments(tf):
    session = tf.Session()
    bare = tf.FIFOQueue(3, [tf.int64, tf.float32])
    named = tf.FIFOQueue(3, [tf.int64, tf.float32], names=["a", "b"], shapes=[[], []])
    session.run(bare.enqueue((1, [1.0, 2.0])))
    session.run(bare.enqueue_many(([1], [[3.0, 4.0]])))
    session.run(named.enqueue({"a": 1, "b": 2.0}))
    limit = tf.RunOptions(timeout_in_ms=50)
    calls = [
        lambda: session.run(bare.dequeue()),
        lambda: session.run(bare.dequeue_many(2)),
        lambda: session.run(bare.dequeue_up_to(2)),
        lambda: session.run(bare.enqueue((1,))),
        lambda: bare.enqueue((1.5, "a")),
        lambda: bare.enqueue({"a": 1}),
        lambda: named.enqueue((1, 2.0)),
        lambda: named.enqueue({"a": 1, "c": 2.0}),
        lambda: session.run(named.dequeue()),
        lambda: tf.FIFOQueue(3, [tf.int64], names=["a", "b"]),
        lambda: tf.FIFOQueue(3, [tf.int64], shapes=[[], []]),
        lambda: tf.FIFOQueue(3, [tf.int64], shapes=[[None]]),
        lambda: tf.FIFOQueue(3, [tf.int64], shapes=3),
        lambda: tf.FIFOQueue(3, []),
        lambda: tf.PaddingFIFOQueue(3, tf.int64, None),
        lambda: tf.PaddingFIFOQueue(3, tf.int64, []),
        lambda: tf.PaddingFIFOQueue(3, [tf.int64] * 2, [[]]),
        lambda: tf.FIFOQueue(3, tf.int64, shapes=[[2]]).enqueue([1, 2, 3]),
        lambda: tf.FIFOQueue(3, tf.int64, shapes=[[2]]).enqueue([[1, 2, 3]]),
        lambda: tf.FIFOQueue(3, tf.int64, shapes=[[2]]).enqueue_many([[[1, 2, 3]]]),
        lambda: tf.FIFOQueue(3, [tf.int64] * 2, [[], []]).enqueue_many([[1], [1, 2]]),
        lambda: session.run(tf.FIFOQueue(0, tf.int64).enqueue(1), options=limit),
        lambda: session.run(tf.FIFOQueue(-1, tf.int64).enqueue(1), options=limit),
        lambda: session.run(tf.RandomShuffleQueue(3, 5, tf.int64).size()),
        lambda: session.run(tf.RandomShuffleQueue(3, -5, tf.int64).size()),
        lambda: bare.dequeue_many(-1),
    ]
    return [seen(call) for call in calls]


def chosen_from_a_list(tf):
    session = tf.Session()
    queues = [tf.FIFOQueue(3, tf.float32, shapes=[[]]) for _ in range(2)]
    index = tf.placeholder(tf.int32)
    queue = tf.QueueBase.from_list(index, queues)
    session.run(queue.enqueue(3.0), {index: 1})
    log = [seen(lambda: session.run([q.size() for q in queues]))]
    log.append(seen(lambda: session.run(queue.dequeue(), {index: 1})))
    log.append(seen(lambda: session.run(queue.dequeue(), {index: 2})))
    others = tf.FIFOQueue(3, tf.int32), tf.FIFOQueue(3, tf.float32, names="a")
    for wrong in ([], queues[0], [queues[0], others[0]], [queues[0], others[1]]):
        log.append(seen(lambda wrong=wrong: tf.QueueBase.from_list(index, wrong)))
    sizes = [tf.FIFOQueue(3, tf.float32, shapes=[s]) for s in ([2, 3], [2, 4])]
    shape = tf.QueueBase.from_list(index, sizes).shapes[0]
    graph = tf.get_default_graph()
    return [*log, str(shape), queue.name, [o.name for o in graph.get_operations()]]


def one_step(tf):
    """Ops of one step wait for each other; the first error ends the others."""
    full, empty, other = (tf.FIFOQueue(1, tf.int32, shapes=[[]]) for _ in range(3))
    session = tf.Session()
    session.run(full.enqueue(1))
    log = [seen(lambda: session.run([full.dequeue(), full.enqueue(2)])[0])]
    log.append(seen(lambda: session.run([empty.enqueue(3), empty.dequeue()])[1]))
    closed = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    session.run(closed.close())
    log.append(seen(lambda: session.run([empty.dequeue(), closed.dequeue()])))
    limit = tf.RunOptions(timeout_in_ms=50)
    both = [empty.dequeue(), other.dequeue()]
    log.append(seen(lambda: session.run(both, options=limit)))
    return [*log, seen(lambda: session.run([full.size(), empty.size(), other.size()]))]


def _sums(tf, session, log, reduction):
    total = tf.ConditionalAccumulator(tf.float32, [2], reduction_type=reduction)
    grad, step = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    apply, take = total.apply_grad(grad, step), total.take_grad(2)
    count, limit = total.num_accumulated(), tf.RunOptions(timeout_in_ms=50)
    log.append(seen(lambda: session.run(take, options=limit)))

    def put(value, at):
        log.append(seen(lambda: session.run(apply, {grad: value, step: at})))
        log.append(seen(lambda: session.run(count)))

    for value in ([1.0, 2.0], [3.0, 5.0], [3.0, 5.0]):
        put(value, 0)
    log.append(seen(lambda: session.run(take)))
    put([1.0, 2.0], 0)
    put([4.0, 2.0], 1)
    session.run(total.set_global_step(5))
    put([1.0, 2.0], 4)
    put([6.0, 2.0], 5)
    put([6.0], 5)
    log.append(seen(lambda: session.run(take)))
    for count in (0, -1):
        log.append(seen(lambda count=count: session.run(total.take_grad(count))))
    log.append(seen(lambda: total.apply_grad([1.0, 2.0, 3.0])))
    return total


def accumulators(tf):
    log = []
    session = tf.Session()
    for reduction in ("MEAN", "SUM"):
        total = _sums(tf, session, log, reduction)
    waiting = Waiting(session, total.take_grad(1))
    session.close()
    log.append(waiting.end())
    session = tf.Session()
    free = tf.ConditionalAccumulator(tf.float32)
    session.run(free.apply_grad([1.0, 2.0]))
    log.append(seen(lambda: session.run(free.apply_grad([[1.0]]))))
    log.append(seen(lambda: session.run(free.take_grad(1))))
    session.run(free.apply_grad([[1.0]], 3))
    log.append(seen(lambda: session.run(free.take_grad(1))))
    log.append(seen(lambda: tf.ConditionalAccumulator(tf.float32, reduction_type="X")))
    other = tf.ConditionalAccumulator(tf.float32, [2], shared_name="s")
    again = tf.ConditionalAccumulator(tf.float32, [2], shared_name="s")
    session.run(other.apply_grad([7.0, 8.0]))
    log.append(seen(lambda: session.run(again.take_grad(1))))
    operations = tf.get_default_graph().get_operations()
    return [*log, [[o.name, o.type, len(o.inputs)] for o in operations]]


def sparse_accumulators(tf):
    log = []
    session = tf.Session()
    for reduction in ("MEAN", "SUM"):
        total = tf.SparseConditionalAccumulator(
            tf.float32, [3, 2], reduction_type=reduction
        )

        def put(indices, values, shape=None, step=0, total=total):
            apply = total.apply_grad(indices, values, shape, step)
            log.append(seen(lambda: session.run(apply)))

        put([0, 2], [[1.0, 2.0], [3.0, 4.0]])
        put([1, 2], [[1.0, 1.0], [5.0, 5.0]], [3, 2])
        put([2, 1], [[1.0, 1.0], [5.0, 5.0]], [3, 2])
        take, count = total.take_grad(2), total.num_accumulated()
        log.append([seen(lambda t=take: session.run(t)), [str(t.shape) for t in take]])
        for bad in (
            ([[0]], [[1.0]]), ([0, 1], [[1.0, 2.0]]), ([0], [1.0]),
            ([0], [[1.0, 2.0, 3.0]]), ([7], [[1.0, 2.0]]), ([0], [[1.0, 2.0]], [4, 2]),
            ([], np.zeros([0, 2], np.float32)), ([0, 0], [[1.0, 2.0], [3.0, 4.0]]),
        ):  # fmt: skip
            put(*bad, step=9)
            log.append(seen(lambda c=count: session.run(c)))
        slices = tf.IndexedSlices(tf.ones([1, 2]), tf.range(1), tf.constant([3, 2]))
        session.run(total.apply_indexed_slices_grad(slices, local_step=9))
        taken = total.take_indexed_slices_grad(1)
        log.append(seen(lambda t=taken: list(session.run(t))))
        session.run(total.set_global_step(20))
        put([0], [[1.0, 2.0]], step=9)
        log.append(seen(lambda c=count: session.run(c)))
    free = tf.SparseConditionalAccumulator(tf.float32)
    session.run(free.apply_grad([0], [[1.0]], [2, 1]))
    log.append(seen(lambda: session.run(free.take_grad(1))))
    operations = tf.get_default_graph().get_operations()
    return [*log, [[o.name, o.type, len(o.inputs)] for o in operations]]


def sparse_gradient_shapes(tf):
    """The checks of each gradient, by the declared shape and by the first gradient."""
    log = []
    session = tf.Session()

    def put(total, indices, size, shape=None):
        values = np.arange(np.prod(size), dtype=np.float32).reshape(size)
        apply = total.apply_grad(np.array(indices, np.int64), values, shape)
        log.append(seen(lambda: session.run(apply)))

    for declared, gradients in (
        (None, [([0], [], []), ([0], [1, 5, 3]), ([1], [1, 5, 3], [4, 9]),
                ([1], [1, 4, 3]), ([1], [1, 5]), ([0], [2, 5, 3])]),
        ([], [([0], [1], []), ([0], [1, 2])]),
        ([2, 2], [([5], [1, 3]), ([5], [1]), ([5], [1, 3], [3, 3]), ([5], [1], [3]),
                  ([0], [1]), ([0], [1, 3]), ([0], [1, 2, 7]), ([-1], [1, 2, 7]),
                  ([0], [1, 2]), ([0], [1, 2, 3], [2, 2, 9]), ([5], [1, 2, 7])]),
        ([2, None], [([1], [1, 4, 3]), ([0], [1, 4, 2])]),
        ([None, 2], [([7], [1, 2], [5, 2])]),
    ):  # fmt: skip
        total = tf.SparseConditionalAccumulator(tf.float32, declared)
        for gradient in gradients:
            put(total, *gradient)
        taken = total.take_grad(1)
        log.append(seen(lambda taken=taken: session.run(taken)))
        put(total, [0], [1, 2, 9] if declared else [1, 9])
    return log


def _barrier_class(tf):
    if "tfteach" in tf.__name__:
        from tfteach.ops.queues.barrier import Barriers

        return Barriers
    from tensorflow.python.ops.data_flow_ops import Barrier

    return Barrier


def barriers(tf):
    session, limit = tf.Session(), tf.RunOptions(timeout_in_ms=50)
    barrier = _barrier_class(tf)((tf.float32, tf.int32), shapes=((), (2,)))
    log = []

    def run(op, **options):
        log.append(seen(lambda: session.run(op, **options)))
        sizes = [barrier.ready_size(), barrier.incomplete_size()]
        log.append(seen(lambda: session.run(sizes)))

    first = barrier.insert_many(0, ["a", "b"], [1.0, 2.0])
    second = barrier.insert_many(1, ["b"], [[1, 2]])
    third = barrier.insert_many(1, ["c", "a"], [[3, 4], [5, 6]])
    last = barrier.insert_many(0, ["c"], [3.0])
    for op in (first, second, third, barrier.take_many(2), third, last):
        run(op)
    run(barrier.take_many(1))
    run(barrier.take_many(1), options=limit)
    run(barrier.insert_many(2, ["a"], [1.0]))
    run(first)
    for op in (
        barrier.close(), last, second, barrier.take_many(5, True), barrier.take_many(2),
        barrier.close(), barrier.close(True), third, barrier.take_many(1),
        barrier.take_many(3, True),
    ):  # fmt: skip
        run(op)
    log.append(seen(lambda: barrier.insert_many(0, ["a", "b"], [1.0])))
    other = _barrier_class(tf)(tf.int32, shapes=[[]])
    waiting = Waiting(session, other.take_many(1))
    session.close()
    log.append(waiting.end())
    taken = [barrier.take_many(2), barrier.take_many(2, True)]
    log += [[str(t.shape) for t in [k.indices, k.keys, *k.values]] for k in taken]
    operations = tf.get_default_graph().get_operations()
    return [*log, barrier.name, [[o.name, o.type, len(o.inputs)] for o in operations]]


def barriers_refuse(tf):
    make, session = _barrier_class(tf), tf.Session()
    two, log = (tf.float32, tf.int32), []
    session.run(make(two, [[2, 2], []], shared_name="b").barrier_ref)
    session.run(make(two, shared_name="bare").barrier_ref)
    bare = make(two, name="mine")
    for call in (
        lambda: session.run(make(two, shared_name="b").barrier_ref),
        lambda: session.run(make(two, [[2], []], shared_name="b").barrier_ref),
        lambda: session.run(make(two[:1], [[2, 2]], shared_name="b").barrier_ref),
        lambda: session.run(make(two[::-1], shared_name="bare").barrier_ref),
        lambda: session.run(make(two, [[], []], shared_name="bare").ready_size()),
        lambda: session.run(make(two, [[2], []], shared_name="bare").ready_size()),
        lambda: make(two, [[3, 0], [0]]),
        lambda: make(two, [[3], [0]]),
        lambda: make(two, [[3], [None]]),
        lambda: session.run(bare.insert_many(0, ["a"], np.zeros([1, 0], np.float32))),
        lambda: session.run(bare.insert_many(0, ["a"], [1])),
        lambda: session.run(bare.insert_many(0, [], np.zeros([0, 3], np.float32))),
        lambda: session.run([bare.ready_size(), bare.incomplete_size()]),
    ):
        log.append(seen(call))
    return log


def staging_areas(tf):
    session, number = tf.Session(), tf.constant
    kind = tf.contrib.staging.StagingArea
    area = kind([tf.float32, tf.int32], [[], [2]], ["x", "y"], capacity=2)
    put = area.put({"x": number(1.5), "y": number([1, 2])})
    get, peek, size, clear = area.get(), area.peek(1), area.size(), area.clear()
    fetches = (put, put, size, peek, get, size, clear, size)
    log = [seen(lambda op=op: session.run(op)) for op in fetches]
    bare = kind([tf.float32], memory_limit=10)
    for call in (
        lambda: session.run(bare.put([number([1.0, 2.0])])),
        lambda: session.run(bare.get()),
        lambda: session.run(bare.put(number([1.0, 2.0, 3.0]))),
        lambda: area.put([number(1.0), number([1, 2])]),
        lambda: area.put({"x": number([1.0]), "y": number([1, 2])}),
        lambda: area.put({"x": number(1), "y": number([1, 2])}),
        lambda: bare.put([number(1.0), number(1.0)]),
        lambda: kind([tf.float32], shapes=[[], []]),
        lambda: kind([tf.float32], names=["a", "b"]),
    ):
        log.append(seen(call))
    with tf.name_scope("scope"), tf.device("/cpu:0"):
        shared = kind([tf.float32], [[]], shared_name="s")
        shared.put([number(1.0)])
    found = shared.get(name="mine")
    log.append([area.name, bare.name, shared.name, found[0].name, str(found[0].shape)])
    for op in tf.get_default_graph().get_operations():
        classes = op.node_def.attr["_class"].list.s
        log.append([op.name, op.type, plain(list(classes)), len(op.inputs)])
    return log


FUNCTIONS = [
    one_by_one_and_many, bad_shapes_and_counts, closing, closing_with_some,
    closing_while_full, sessions_end, padded, shuffled, priorities, shared_by_name,
    arguments, chosen_from_a_list, one_step, accumulators, sparse_accumulators,
    barriers, staging_areas, sparse_gradient_shapes, barriers_refuse, all_waiting,
]  # fmt: skip


def run(tf, function):
    with tf.Graph().as_default():
        return json.loads(json.dumps(function(tf)))


def main(path):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    found = {f.__name__: run(tf, f) for f in FUNCTIONS}
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
