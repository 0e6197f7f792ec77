"""What training loops do in TensorFlow 1.15: `python training_loops.py FILE.json`.

Each function runs a program in a new folder and returns what it saw: nodes, calls, log
lines, the content of event files, errors.  tests/lib/training/test_training_loops.py
runs the same functions and compares.
"""

import glob
import json
import logging
import os
import re
import sys
import tempfile

LOG = "tensorflow"
_UNSTABLE = (
    "deprecated|Instructions for updating|contrib module|; retrying|"
    "Object was never used"
)


class _Lines(logging.Handler):
    """The messages logged, without what changes from run to run."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.lines = []
        self.with_constant_steps = False

    def emit(self, record):
        text = record.getMessage().replace(self.folder, "DIR").split("\n\t [[")[0]
        if re.search(_UNSTABLE, text):
            return
        # Whether a run's fetch sees its own increment is a race in TensorFlow.
        if "It seems that global step" in text and not self.with_constant_steps:
            return
        text = re.sub(r"[0-9.e+-]+ sec(\)|/batch)", r"N sec\1", text)
        text = re.sub(r"/sec: [0-9.e+]+", "/sec: N", text)
        text = re.sub(r" at 0x[0-9a-f]+", "", text)
        text = re.sub(r"<[\w.]+\.Calls", "<Calls", text)
        text = re.sub(r" '_cluster_spec': <[^>]*>,", "", text)
        text = re.sub(r"temp-(b'\d+'|\d+)", "temp", text)
        text = re.sub(r"(exports?/(?:\w+/)?)\d+", r"\1TIME", text)
        text = re.sub(r"<class '[\w.]+\.(\w+)'>", r"\1", text)
        text = re.sub(r"(This|The final) .*", "...", text)  # explanations
        text = re.sub(r"evaluation at .*", "evaluation at TIME", text)
        self.lines.append(f"{record.levelname}: {text}")


def events(tf, folder):
    """The events of a folder's files: kind, step, and what they hold."""
    tf.summary.FileWriterCache.clear()  # which flushes them
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*tfevents*"))):
        for event in tf.train.summary_iterator(path):
            kind = event.WhichOneof("what")
            held = None
            if kind == "summary":
                held = [value.tag for value in event.summary.value]
            elif kind == "session_log":
                log = event.session_log
                held = [log.status, log.checkpoint_path.replace(folder, "DIR")]
            elif kind == "graph_def":
                graph = tf.GraphDef.FromString(event.graph_def)
                held = [node.name for node in graph.node]
            elif kind == "meta_graph_def":
                meta = tf.MetaGraphDef.FromString(event.meta_graph_def)
                held = [
                    len(meta.graph_def.node), meta.saver_def.save_tensor_name,
                    sorted(meta.collection_def),
                ]  # fmt: skip
            elif kind == "tagged_run_metadata":
                held = event.tagged_run_metadata.tag
            found.append([kind, event.step, held])
    return found


def files(folder):
    found = {re.sub(r"tfevents.*", "tfevents", name) for name in os.listdir(folder)}
    return sorted(re.sub(r"data-.*", "data", name) for name in found)


def nodes(graph):
    return [
        [op.name, op.type, op.device, [i.name for i in op.inputs],
         sorted(i.name for i in op.control_inputs)]
        for op in graph.get_operations()
    ]  # fmt: skip


def outcome(call):
    """The result, or the error's class and the beginning of its message."""
    try:
        return repr(call())
    except Exception as error:
        text = getattr(error, "message", None) or str(error)
        text = re.sub(r" at 0x[0-9a-f]+|<function .*?>", "", text)
        return [type(error).__name__, text[:300]]


def model(tf, resource=False, summary=True):
    """A scalar that each step lowers: returns (loss, train op, global step)."""
    with tf.variable_scope("model", use_resource=resource):
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(1.0))
    with tf.variable_scope("", use_resource=resource):
        step = tf.train.get_or_create_global_step()
    loss = tf.square(w, name="loss")
    if summary:
        tf.summary.scalar("loss_value", loss)
    train = tf.train.GradientDescentOptimizer(0.125).minimize(loss, step)
    return loss, train, step


def _nodes_of_a_loop(tf, folder, resource):
    model(tf, resource)
    tf.get_variable(
        "local", [2], collections=["local_variables"], initializer=tf.zeros_initializer
    )
    tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    made = tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(3)]
    )
    graph = tf.get_default_graph()
    kept = sorted(
        (key, len(graph.get_collection(key))) for key in graph.get_all_collection_keys()
    )
    finalized = graph.finalized
    made.close()
    return {
        "nodes": nodes(graph), "collections": kept,
        "finalized": [finalized, graph.finalized],
    }  # fmt: skip


def nodes_of_a_loop(tf, folder):
    return _nodes_of_a_loop(tf, folder, False)


def nodes_with_resource_variables(tf, folder):
    return _nodes_of_a_loop(tf, folder, True)


def files_and_restart(tf, folder):
    """Seven steps, then from the checkpoint to the tenth."""
    found = []
    for last in (7, 10):
        tf.reset_default_graph()
        _, train, step = model(tf)
        x = tf.constant(0.1, name="a")
        hooks = [
            tf.train.StopAtStepHook(last_step=last),
            tf.train.LoggingTensorHook({"x": x, "a": "a"}, every_n_iter=2),
        ]
        seen = []
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=3,
            save_summaries_steps=2, log_step_count_steps=2,
        ) as session:  # fmt: skip
            while not session.should_stop():
                session.run(train)
                if not session.should_stop():
                    seen.append(int(session._tf_sess().run(step)))
        found.append(seen)
    with open(os.path.join(folder, "checkpoint")) as file:
        state = file.read().replace(folder, "DIR")
    value = tf.train.load_variable(folder, "model/w")
    return {
        "seen": found, "files": files(folder), "events": events(tf, folder),
        "state": state, "w": float(value),
    }  # fmt: skip


class Calls:
    """The names of calls in order."""

    def __init__(self, tf):
        calls = self.calls = []

        class Hook(tf.train.SessionRunHook):
            def begin(self):
                calls.append("begin")

            def after_create_session(self, session, coord):
                calls.append("after_create_session")

            def before_run(self, run_context):
                calls.append(f"before_run {run_context.original_args.fetches is None}")

            def after_run(self, run_context, run_values):
                calls.append(f"after_run {run_values.results}")

            def end(self, session):
                calls.append("end")

        class Listener(tf.train.CheckpointSaverListener):
            def begin(self):
                calls.append("listener begin")

            def before_save(self, session, global_step_value):
                calls.append(f"before_save {global_step_value}")

            def after_save(self, session, global_step_value):
                calls.append(f"after_save {global_step_value}")
                return global_step_value == 4

            def end(self, session, global_step_value):
                calls.append(f"listener end {global_step_value}")

        self.hook, self.listener = Hook(), Listener()


def recovery(tf, folder):
    """AbortedError in the sixth run: a new session from the checkpoint of step 4."""
    _, train, step = model(tf)
    record, failures, steps = Calls(tf), [6, 9], []

    class Fail(tf.train.SessionRunHook):
        runs = 0

        def before_run(self, run_context):
            self.runs += 1
            steps.append(int(run_context.session.run(step)))
            if self.runs in failures:
                kind = tf.errors.AbortedError
                if self.runs == failures[-1]:
                    kind = tf.errors.UnavailableError
                raise kind(None, None, "lost")

    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder, save_checkpoint_steps=2, save_summaries_steps=None,
        hooks=[Fail(), record.hook, tf.train.StopAtStepHook(last_step=7)],
        log_step_count_steps=None,
    ) as session:  # fmt: skip
        while not session.should_stop():
            session.run(train)
    return {"steps": steps, "calls": record.calls, "files": files(folder)}


def errors_that_end_it(tf, folder):
    """A ValueError in the loop, OutOfRangeError and StopIteration; and what follows."""
    _, train, step = model(tf)
    record = Calls(tf)
    found = []
    kinds = (ValueError("own"), StopIteration(),
             tf.errors.OutOfRangeError(None, None, "end"),
             tf.errors.AbortedError(None, None, "in the block"))  # fmt: skip
    for error in kinds:

        def program(error=error):
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder, save_checkpoint_steps=2, hooks=[record.hook]
            ) as session:
                found.append(int(session.run(step)))
                for _ in range(3):
                    session.run(train)
                raise error

        found.append(outcome(program))
    return {"found": found, "calls": record.calls, "files": files(folder)}


def singular(tf, folder):
    _, train, step = model(tf)
    saver = tf.train.Saver()
    found = []

    class Fail(tf.train.SessionRunHook):
        def before_run(self, run_context):
            raise tf.errors.AbortedError(None, None, "lost")

    with tf.train.SingularMonitoredSession() as session:
        session.run(train)
        saver.save(session.raw_session(), os.path.join(folder, "model"), 5)
        found.append(type(session.raw_session()).__name__)
        found.append(session.graph is tf.get_default_graph())
    found.append(outcome(lambda: session.raw_session()))
    found.append(outcome(session.close))
    found.append(session.should_stop())
    found.append(session.graph)
    with tf.train.SingularMonitoredSession(checkpoint_dir=folder) as session:
        found.append(int(session.run(step)))
    path = os.path.join(folder, "model-5")
    with tf.train.SingularMonitoredSession(checkpoint_filename_with_path=path) as one:
        found.append(int(one.run(step)))

    def fails():
        with tf.train.SingularMonitoredSession(hooks=[Fail()]) as session:
            session.run(step)

    found.append(outcome(fails))
    return {"found": found}


def step_functions(tf, folder):
    _, train, step = model(tf)
    record = Calls(tf)
    found = []

    def run_two(step_context):
        step_context.session.run(train)
        return int(step_context.run_with_hooks(step))

    def stop(step_context):
        step_context.request_stop()

    class Own:
        def method(self, step_context):
            return type(step_context.session).__name__

    with tf.train.MonitoredSession(hooks=[record.hook]) as session:
        found.append(session.run_step_fn(run_two))
        found.append(outcome(lambda: session.run_step_fn(lambda: 1)))
        found.append(outcome(lambda: session.run_step_fn(lambda context: 1)))
        found.append(outcome(lambda: session.run_step_fn(lambda step_context: 5)))
        found.append(session.run_step_fn(Own().method))
        found.append(outcome(lambda: session.run_step_fn(stop)))
        session.run_step_fn(stop)
    return {"found": found, "calls": record.calls}


def managers(tf, folder):
    _, train, step = model(tf)
    init = tf.global_variables_initializer()
    ready = tf.report_uninitialized_variables()
    local = tf.no_op(name="local")
    saver = tf.train.Saver()
    make = tf.train.SessionManager
    found = []
    plain = make(ready_op=ready)
    with plain.prepare_session("", init, saver, folder) as session:
        session.run(train)
        saver.save(session, os.path.join(folder, "model"), step)
    with plain.prepare_session("", init, saver, folder) as session:
        found.append(int(session.run(step)))
    session, restored = plain.recover_session("", saver, folder)
    found.append([restored, int(session.run(step))])
    session, restored = plain.recover_session("", saver, folder + "/none")
    found.append(restored)
    both = {"checkpoint_dir": folder, "checkpoint_filename_with_path": "x"}
    only_step = tf.train.Saver([step])
    path = os.path.join(folder, "step")
    with plain.prepare_session("", init) as session:
        only_step.save(session, path)
    partly = {"saver": only_step, "checkpoint_filename_with_path": path}
    needs = make(local, ready, ready)
    waiting = make(local, ready, ready, recovery_wait_secs=1)
    for call in (
        lambda: plain.prepare_session("", saver=saver, **both),
        lambda: plain.prepare_session("", saver=saver),
        lambda: plain.prepare_session("", tf.no_op(name="nothing")),
        lambda: plain.prepare_session("", init_fn=len),
        lambda: needs.prepare_session("", local),
        lambda: plain.recover_session("", **partly)[1],
        lambda: needs.recover_session("", **partly)[1],
        lambda: waiting.wait_for_session("", max_wait_secs=0),
        lambda: waiting.wait_for_session("", max_wait_secs=1.5),
        lambda: waiting.prepare_session("", init, saver, folder + "/none", None, True,
                                        max_wait_secs=1),
        lambda: make(ready_for_local_init_op=ready),
    ):  # fmt: skip
        result = outcome(call)
        found.append("Session" if "session.Session" in result else result)
    return {"found": [_without_addresses(f) for f in found]}


def _without_addresses(value):
    return json.loads(re.sub(r"0x[0-9a-f]+", "0x", json.dumps(value)))


def scaffolds(tf, folder):
    _, _, step = model(tf)
    w = tf.global_variables()[0]
    x = tf.placeholder(tf.float32, [], name="x")
    calls = []
    first = tf.train.Scaffold(
        init_op=tf.group(w.assign(x), step.initializer), init_feed_dict={x: 7.0},
        init_fn=lambda scaffold, session: calls.append(
            [scaffold is first, float(session.run(w))]
        ),
        ready_op=tf.constant([], tf.string), summary_op=tf.constant(b""),
    )  # fmt: skip
    second = tf.train.Scaffold(init_feed_dict={x: 8.0}, copy_from_scaffold=first)
    found = [second.init_fn is None, second.summary_op is first.summary_op]
    with tf.train.MonitoredTrainingSession(scaffold=first) as session:
        found.append(float(session.run(w)))
    with tf.train.MonitoredTrainingSession(scaffold=second) as session:
        found.append(float(session.run(w)))
    tf.add_to_collection("twice", 1)
    tf.add_to_collection("twice", 2)
    found.append(outcome(lambda: tf.train.Scaffold(copy_from_scaffold=3)))
    found.append(
        outcome(lambda: tf.train.Scaffold.get_or_default("a", "twice", int))[0]
    )
    tf.train.Saver()
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    found.append(outcome(lambda: tf.train.Scaffold().finalize()))
    return {"found": found, "calls": calls}


PROGRAMS = [
    nodes_of_a_loop, nodes_with_resource_variables, files_and_restart, recovery,
    errors_that_end_it, singular, step_functions, managers, scaffolds,
]  # fmt: skip


def run(tf, program):
    """What a program returns, and the lines that it logged."""
    logger = logging.getLogger(LOG)
    level, spread = logger.level, logger.propagate
    with tempfile.TemporaryDirectory() as folder:
        handler = _Lines(folder)
        handler.with_constant_steps = program.__name__ == "constant_step"
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            tf.reset_default_graph()
            found = program(tf, folder)
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = spread
            tf.summary.FileWriterCache.clear()
        found["log"] = handler.lines
        if (
            handler.with_constant_steps
        ):  # TensorFlow counts those of other programs, too
            found["log"] = sorted(set(handler.lines))
        racing = getattr(program, "lines_of_threads", None)
        if racing:
            found["log"] = [n for n in handler.lines if not re.search(racing, n)]
        if program.__name__ == "threads":  # which of them is first is a matter of luck
            found["log"] = sorted(handler.lines)
        text = json.dumps(found).replace(folder, "DIR")
    return json.loads(text)


def main(programs, run=run):
    import tensorflow as tf

    logging.getLogger(LOG).handlers.clear()
    found = {program.__name__: run(tf, program) for program in programs}
    with open(sys.argv[1], "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(PROGRAMS)
