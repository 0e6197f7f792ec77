"""Loops of `tf.contrib.learn.graph_actions` in TensorFlow 1.15:
`python contrib_learn_actions.py contrib_learn_actions.json`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import os

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops


def plain(value):
    """A value with the types of NumPy as words, so that it is alike in all versions."""
    if isinstance(value, dict):
        return {key: plain(held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(held) for held in value]
    if hasattr(value, "dtype"):
        return [type(value).__name__, str(value.dtype), plain(value.tolist())]
    is_plain = value is None or (isinstance(value, (int, float)) and value == value)
    return value if is_plain else repr(value)


def outcome(call):
    """The result, or the error's class and the beginning of its message."""
    try:
        return plain(call())
    except Exception as error:
        text = getattr(error, "message", None) or str(error)
        return [type(error).__name__, text[:300]]


def written(tf, folder):
    """The events of a folder; of graphs how many nodes."""
    return [
        [kind, step, len(held) if kind == "graph_def" else held]
        for kind, step, held in loops.events(tf, folder)
    ]


def added(graph, number, first):
    """The nodes beyond a number: of later cases how many, and the names of others."""
    nodes = loops.nodes(graph)[number:]
    if not first:
        return nodes
    known = {node[0] for node in first}
    return [len(nodes), [node[0] for node in nodes if node[0] not in known]]


def first(found, position):
    """What the first case has at a position; None before it."""
    return found[0][position] if found else None


def model(tf, increment=1):
    """A variable, a local one, a table's op, and a training op that counts steps."""
    step = tf.train.create_global_step()
    here = tf.Variable(1.0, name="here")
    there = tf.Variable(2.0, name="there", collections=["local_variables"])
    table = tf.Variable(3.0, name="table", collections=["tables"], trainable=False)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, table.initializer)
    out = tf.add_n([here, there, table], name="out")
    with tf.control_dependencies([out]):
        train = tf.assign_add(step, increment, name="train")
    return here, there, out, train


def restored(tf, folder, write=True):
    """The model, saved with 5.0 at step 7."""
    parts = model(tf)
    path = os.path.join(folder, "saved", "m.ckpt")
    if write:
        os.makedirs(os.path.dirname(path))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run([parts[0].assign(5.0), tf.train.get_global_step().assign(7)])
            tf.train.Saver().save(session, path)
    return (*parts, path)


def inferring(tf, folder):
    """Values of tensors, with and without feeds and a checkpoint."""
    actions = tf.contrib.learn.graph_actions
    here, there, out, _, path = restored(tf, folder)
    counted = tf.Variable(0, name="counted", collections=["local_variables"])
    count = counted.assign_add(1)
    before = len(loops.nodes(tf.get_default_graph()))
    pairs = {"a": here, "b": there, "c": out}
    feed = {here: 4.0}
    cases = [
        lambda: actions.infer(None, pairs),
        lambda: actions.infer(None, {"c": out}, feed),
        lambda: actions.infer(path, pairs),
        lambda: actions.infer(path + "x", pairs),
        lambda: actions.infer(None, {"a": here}, {None: 4.0}),
        lambda: actions.infer(None, {"out": "out:0"}),
        lambda: actions.run_n({"n": count}, n=3),
        lambda: actions.run_n({"n": count, "c": out}, feed, path, 2),
        lambda: actions.run_n({"n": count}, n=0),
        lambda: actions.run_feeds({"c": out}, [feed, {}, None, {there: 0.0}]),
        lambda: actions.run_feeds({"c": out}, []),
        lambda: actions.run_feeds({"c": out}, None),
        lambda: actions.run_feeds({}, [None]),
        lambda: actions.run_feeds(None, [None]),
        lambda: actions.run_feeds([out], [None]),
        lambda: list(actions.run_feeds_iter({"c": out}, iter([feed, {}]), path)),
    ]
    found = [outcome(case) for case in cases]
    return {"found": found, "nodes": loops.nodes(tf.get_default_graph())[before:]}


def fetching_of_queues(tf, folder):
    """Queues run meanwhile, and tables of the graph are initialized."""
    actions = tf.contrib.learn.graph_actions
    tf.train.create_global_step()
    rows = tf.train.limit_epochs(tf.constant([1, 2]), 2)
    batch = tf.train.batch([rows], 2, enqueue_many=True)
    words = tf.contrib.lookup.index_table_from_tensor(["x", "y"])
    ids = words.lookup(tf.constant(["y", "z"]))
    found = [
        outcome(lambda: actions.run_n({"batch": batch, "ids": ids}, n=2)),
        outcome(lambda: actions.run_n({"batch": batch}, n=3))[0],
    ]
    return {"found": found}


def evaluating(tf, folder):
    """What an evaluation computes, logs and writes."""
    actions = tf.contrib.learn.graph_actions
    found = []

    def build(saver=False):
        tf.reset_default_graph()
        here, _, out, _, path = restored(tf, folder, not found)
        if saver:
            tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(name="own"))
        count = tf.Variable(0.0, name="count", collections=["local_variables"])
        return here, out, path, count, tf.assign_add(count, 1.0)

    def feeds(tensor, number, error=StopIteration):
        left = iter(range(number))

        def feed():
            for value in left:
                return {tensor: 10.0 * value}
            raise error

        return feed

    def case(name, saver=False, **options):
        here, out, path, count, update = build(saver)
        graph = tf.get_default_graph()
        before = len(graph.get_operations())
        arguments = {
            "graph": graph, "output_dir": os.path.join(folder, name),
            "checkpoint_path": None, "eval_dict": {"a": out},
        }  # fmt: skip
        for key, value in options.items():
            arguments[key] = value(here, out, path, count, update)
        result = outcome(lambda: actions.evaluate(**arguments))
        found.append([
            name, result, written(tf, arguments["output_dir"] or "no directory"),
            added(graph, before, first(found, 3)), graph.finalized,
        ])  # fmt: skip

    def given(value):
        return lambda *parts: value

    def several(*parts):
        for key in (tf.GraphKeys.SAVERS, tf.GraphKeys.SAVERS):
            tf.add_to_collection(key, tf.train.Saver())
        return parts[2]

    case("plain", max_steps=given(1))
    case("saver", True, max_steps=given(1), checkpoint_path=lambda *p: p[2])
    case("steps", max_steps=given(3), update_op=lambda *p: p[4],
         eval_dict=lambda *p: {"n": p[3]}, checkpoint_path=lambda *p: p[2])  # fmt: skip
    case("lines", max_steps=given(7), log_every_steps=given(3))
    case("none", max_steps=given(0))
    case("fed", max_steps=given(3), feed_fn=lambda *p: feeds(p[0], 3))
    case("ended", max_steps=given(3), feed_fn=lambda *p: feeds(p[0], 2))
    case("empty", max_steps=given(3), feed_fn=lambda *p: feeds(p[0], 0))
    case("out of range", feed_fn=lambda *p: feeds(
        p[0], 2, tf.errors.OutOfRangeError(None, None, "done")))  # fmt: skip
    case("failed", feed_fn=lambda *p: feeds(p[0], 1, ValueError("bad feed")))
    case("missing", checkpoint_path=given(os.path.join(folder, "nothing")),
         max_steps=given(1))  # fmt: skip
    case("no directory", output_dir=given(None))
    case("no name", output_dir=given(""))
    case("step", global_step_tensor=lambda *p: tf.constant(3, name="s"),
         max_steps=given(1))  # fmt: skip
    case("updates", eval_dict=given(None), max_steps=given(2),
         update_op=lambda *p: p[4])  # fmt: skip
    case("of several", max_steps=given(1), checkpoint_path=several)
    case("nothing", eval_dict=given({}), max_steps=given(2))
    for number, options in enumerate((
        {"max_steps": given(3)}, {"max_steps": given(3), "log_every_steps": given(1)},
        {"max_steps": given(3), "feed_fn": lambda *p: feeds(p[0], 2)},
        {"max_steps": given(3), "update_op": lambda *p: p[0], "log_every_steps":
         given(2)}, {"max_steps": given(2), "update_op": lambda *p: p[0],
         "log_every_steps": given(2)},
    )):  # fmt: skip
        case(f"run {number}", eval_dict=lambda *p: {"n": p[4]}, **options)
    case("summary", max_steps=given(1), eval_dict=lambda *p: {
        "s": tf.summary.scalar("t", 3.0), "v": tf.constant([1.0, 2.0]),
        "i": tf.constant(3), "x": tf.constant("text")})  # fmt: skip
    tf.reset_default_graph()
    constant = tf.constant(2.0)
    graph = tf.get_default_graph()
    found.append(
        outcome(lambda: actions.evaluate(graph, folder, None, {"a": constant}))
    )
    return {"found": found}


def training(tf, folder):
    """What the training loop computes, logs, writes and refuses."""
    actions, monitors = tf.contrib.learn.graph_actions, tf.contrib.learn.monitors
    found = []

    class Seen(monitors.BaseMonitor):
        def __init__(self, stop=None, everywhere=False):
            super().__init__()
            self.calls, self.stop, self.everywhere = [], stop, everywhere

        @property
        def run_on_all_workers(self):
            return self.everywhere

        def begin(self, max_steps=None):
            super().begin(max_steps)
            self.calls.append(["begin", max_steps])

        def step_begin(self, step):
            super().step_begin(step)
            self.calls.append(["step", int(step)])
            return ["out:0"]

        def step_end(self, step, output):
            super().step_end(step, output)
            self.calls.append(sorted([k, plain(float(v))] for k, v in output.items()))
            return step == self.stop

        def end(self, session=None):
            super().end(session)
            self.calls.append(["end", session is not None])

    def case(name, loss=2.0, summary=False, device=None, **options):
        tf.reset_default_graph()
        graph = tf.get_default_graph()
        with tf.device(device):
            here, _, _, train = model(tf)
        value = tf.constant(loss, name="loss") if loss is not None else None
        if summary:
            tf.summary.scalar("l", value)
        before = len(graph.get_operations())
        arguments = {
            "graph": graph, "output_dir": os.path.join(folder, name),
            "train_op": train, "loss_op": value, "supervisor_save_model_secs": None,
        }  # fmt: skip
        for key, option in options.items():
            arguments[key] = option(here) if callable(option) else option
        result = outcome(lambda: actions.train(**arguments))
        place = os.path.join(folder, name)
        state = tf.train.latest_checkpoint(place)
        there = loops.files(place) if state else None
        # Files of one second have one name in TensorFlow: the later replaces the other.
        events = written(tf, place) if name in ("one", "seen", "summaries") else []
        events = [event for event in events if event[2] != ["global_step/sec"]]
        calls = [m.calls for m in options.get("monitors", ()) if isinstance(m, Seen)]
        found.append([
            name, result, added(graph, before, first(found, 2)), graph.finalized, there,
            state and os.path.basename(state), calls, events,
        ])  # fmt: skip

    def local_start(here):
        # A worker waits until the chief has initialized the variables: this one does.
        start = tf.group(
            tf.global_variables_initializer(), tf.local_variables_initializer(),
            tf.tables_initializer(), name="start",
        )  # fmt: skip
        tf.add_to_collection(tf.GraphKeys.LOCAL_INIT_OP, start)

    case("one", steps=1)
    case("more", steps=3, log_every_steps=1)
    case("more", steps=2, log_every_steps=2)
    case("more", max_steps=4)
    case("more", max_steps=7)
    case("both", steps=1, max_steps=2)
    case("summaries", steps=3, summary=True, supervisor_save_summaries_steps=2)
    case("seen", steps=3, monitors=[Seen(), Seen(everywhere=True)])
    case("unwatched", steps=1, monitors=[], summary=True)
    case("stopped", monitors=[Seen(2)])
    case("nan", loss=float("nan"), steps=3)
    case("nan seen", loss=float("nan"), steps=3, monitors=[Seen()])
    case("nan goes on", loss=float("nan"), steps=2, fail_on_nan_loss=False)
    case("no loss", loss=None, steps=1)
    case("no train", train_op=None, steps=1)
    case("no directory", output_dir=None, steps=1)
    case("no name", output_dir="", steps=1)
    case("fed", steps=2, feed_fn=lambda here: lambda: {here: 4.0})
    case("init", steps=1, init_op=lambda here: tf.group(
        tf.global_variables_initializer(), name="start"),
        init_feed_dict=lambda here: {})  # fmt: skip
    case("init function", steps=1,
         init_fn=lambda here: lambda session: None)  # fmt: skip
    case("times", steps=1, supervisor_save_model_secs=600)
    case("never", steps=1, supervisor_save_summaries_steps=0)

    def counting(here):
        rows = tf.train.limit_epochs(tf.constant([1, 2]), 1)
        batch = tf.train.batch([rows], 1, enqueue_many=True)
        with tf.control_dependencies([batch]):
            return tf.assign_add(tf.train.get_global_step(), 1)

    def fed(values, error=StopIteration):
        left = iter(values)

        def feed():
            for value in left:
                return value
            raise error

        return lambda here: feed

    case("no steps", steps=2, train_op=lambda here: tf.constant(1.0),
         feed_fn=fed([None, None], ValueError("enough")))  # fmt: skip
    case("iterator", steps=3, feed_fn=fed([{}]))
    case("queue", steps=5, train_op=counting)
    case("failed", steps=3, feed_fn=fed([{}], ValueError("bad feed")),
         monitors=[Seen()])  # fmt: skip
    case("out of range", steps=3,
         feed_fn=fed([{}], tf.errors.OutOfRangeError(None, None, "done")))  # fmt: skip
    case("given step", steps=1, global_step_tensor=lambda here:
         tf.train.get_global_step(), keep_checkpoint_max=1)  # fmt: skip
    case("worker", device="/cpu:0", steps=1, supervisor_is_chief=False,
         monitors=[Seen(), Seen(everywhere=True)], feed_fn=local_start)  # fmt: skip
    case("unknown", steps=1, monitors=["no monitor"])
    tf.reset_default_graph()
    value = tf.constant(1.0)
    found.append(outcome(lambda: actions.train(
        tf.get_default_graph(), folder, value, value, steps=1)))  # fmt: skip
    return {"found": found}


training.lines_of_threads = "global_step/sec|Saving checkpoint to path"


def writers(tf, folder):
    """One FileWriter for a directory."""
    actions = tf.contrib.learn.graph_actions
    first = actions.get_summary_writer(folder)
    found = [first is actions.get_summary_writer(folder)]
    found.append(first is tf.summary.FileWriterCache.get(folder))
    found.append(first is actions.get_summary_writer(os.path.join(folder, "x")))
    actions.clear_summary_writers()
    found.append(first is actions.get_summary_writer(folder))
    actions.clear_summary_writers()
    return {"found": found}


PROGRAMS = [inferring, fetching_of_queues, evaluating, training, writers]

if __name__ == "__main__":
    loops.main(PROGRAMS)
