"""Supervisors and `tf.contrib.training`'s loops in TensorFlow 1.15.

`python supervisors.py supervisors.json`; as in `training_loops.py`, whose test runs
these programs, too.
"""

import os
import time

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

events, files, model, nodes, outcome = (
    loops.events, loops.files, loops.model, loops.nodes, loops.outcome,
)  # fmt: skip


def nodes_of_a_supervisor(tf, folder):
    model(tf)
    tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    supervisor = tf.train.Supervisor()
    graph = tf.get_default_graph()
    kept = sorted(
        (key, len(graph.get_collection(key))) for key in graph.get_all_collection_keys()
    )
    shown = [
        supervisor.is_chief, supervisor.save_path, supervisor.save_model_secs,
        supervisor.save_summaries_secs, supervisor.init_op.name,
        supervisor.ready_op.name, supervisor.ready_for_local_init_op,
        supervisor.summary_op.name, supervisor.global_step.name,
        supervisor.summary_writer, supervisor.init_feed_dict, graph.finalized,
        supervisor.start_standard_services(None), tf.train.Supervisor.USE_DEFAULT,
    ]  # fmt: skip
    return {"nodes": nodes(graph), "collections": kept, "shown": shown}


def empty_graph(tf, folder):
    supervisor = tf.train.Supervisor(summary_op=None)
    with supervisor.managed_session() as session:
        found = [len(session.graph.get_operations()) > 0]
    return {"found": [*found, supervisor.saver, supervisor.global_step]}


def managed(tf, folder):
    """Sessions without threads: restored, with errors, and with an end of the input."""
    _, train, step = model(tf)
    supervisor = tf.train.Supervisor(
        logdir=folder, save_model_secs=0, save_summaries_secs=0
    )
    found = []

    def program(error):
        with supervisor.managed_session() as session:
            found.append(int(session.run(step)))
            for _ in range(3):
                session.run(train)
            path = supervisor.save_path
            supervisor.saver.save(session, path, supervisor.global_step)
            summary = session.run(supervisor.summary_op)
            supervisor.summary_computed(session, summary)
            supervisor.summary_computed(session, summary, 7)
            found.append(supervisor.should_stop())
            if error is not None:
                raise error
        found.append(supervisor.should_stop())

    end = tf.errors.OutOfRangeError(None, None, "end")
    for error in (None, ValueError("own"), end):
        found.append(outcome(lambda error=error: program(error)))
        if tf.__name__ == "tensorflow":
            time.sleep(1.1)  # the names of its event files count seconds
    return {"found": found, "files": files(folder), "events": events(tf, folder)}


def threads(tf, folder):
    """The threads' events; each acts once, at the start."""
    _, train, _ = model(tf)
    supervisor = tf.train.Supervisor(
        logdir=folder, save_model_secs=1000, save_summaries_secs=1000
    )
    calls = []
    with supervisor.managed_session() as session:
        looper = supervisor.loop(1000, lambda *args: calls.append(args), (1, 2))
        while len(calls) < 1 or len(files(folder)) < 6:
            time.sleep(0.02)
        time.sleep(1)
        session.run(train)
        supervisor.request_stop()
        looper.join()
    found = events(tf, folder)
    return {
        "files": files(folder), "calls": calls,
        "kinds": sorted({kind for kind, _, _ in found if kind}),
        "held": sorted(
            map(str, (held for kind, _, held in found
                      if kind in ("summary", "session_log")))
        ),
    }  # fmt: skip


def loop_until_stop(tf, folder):
    _, train, step = model(tf)
    supervisor = tf.train.Supervisor(
        logdir=folder, save_model_secs=0, save_summaries_secs=0
    )
    calls = []

    def run(session, *args, **kwargs):
        session.run(train)
        value = int(session.run(step))
        calls.append([value, args, kwargs])
        if len(calls) == 2:
            supervisor.saver.save(session, supervisor.save_path, value)
        if len(calls) == 3:
            raise tf.errors.AbortedError(None, None, "lost")
        if value == 4:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, run, (1,), {"k": 2})
    return {"calls": calls}


def refused_by_supervisors(tf, folder):
    model(tf)
    found = [outcome(lambda: tf.train.Supervisor(is_chief=False))[0]]
    supervisor = tf.train.Supervisor(save_model_secs=0)
    found.append(outcome(lambda: supervisor.summary_computed(None, b"")))
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        unready = tf.train.Supervisor(init_op=tf.no_op(name="init_nothing"))
        found.append(outcome(lambda: unready.managed_session().__enter__()))
    with tf.Graph().as_default():
        worker = tf.train.Supervisor(is_chief=False, recovery_wait_secs=1)
        found.append(outcome(lambda: worker.start_standard_services(None)))
        found.append(worker.save_path)
        with worker.managed_session():
            found.append("ready")
    return {"found": found}


def metric(tf):
    """A counter of steps, as metrics have them: (value, update op)."""
    total = tf.get_variable(
        "total", [], collections=["local_variables"], initializer=tf.zeros_initializer
    )
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
    step = tf.train.get_or_create_global_step()
    return total + 0.0, tf.assign_add(total, w), step


def evaluations(tf, folder):
    training = tf.contrib.training
    value, update, _ = metric(tf)
    saver = tf.train.Saver()
    path = os.path.join(folder, "model")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = saver.save(session, path, 5)
    found = []
    for ops, count in ((update, 3), ([update], 25), ({"u": update}, None)):
        hooks = [training.StopAfterNEvalsHook(count)]
        if count is None:
            hooks.append(training.StopAfterNEvalsHook(2, log_progress=False))
        result = training.evaluate_once(
            first, eval_ops=ops, final_ops={"v": value}, hooks=hooks
        )
        found.append(float(result["v"]))
    found.append(sorted(op.name for op in tf.get_default_graph().get_operations()))
    found.append(training.evaluate_once(first))
    return {"found": found}


def repeated_evaluations(tf, folder):
    training = tf.contrib.training
    value, update, step = metric(tf)
    tf.summary.scalar("value", value)
    saver = tf.train.Saver()
    path = os.path.join(folder, "model")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step.assign(9))
        saver.save(session, path, 5)
    hooks = [
        training.StopAfterNEvalsHook(4),
        training.SummaryAtEndHook(os.path.join(folder, "eval")),
    ]
    result = training.evaluate_repeatedly(
        folder, eval_ops=update, final_ops=value, hooks=hooks, eval_interval_secs=0,
        max_number_of_evaluations=1,
    )  # fmt: skip
    timed_out = training.evaluate_repeatedly(
        folder, eval_interval_secs=0, timeout=0.1, timeout_fn=lambda: True
    )
    return {
        "found": [float(result), timed_out, len(hooks)],
        "events": events(tf, os.path.join(folder, "eval")),
        "wrong": outcome(training.SummaryAtEndHook),
    }  # fmt: skip


def trained(tf, folder):
    _, train, _ = model(tf)
    training = tf.contrib.training
    with tf.control_dependencies([train]):
        op = tf.constant(4.5)
    hooks = [tf.train.StopAtStepHook(3)]
    found = [float(training.train(op, folder, hooks=hooks))]
    found.append(outcome(lambda: training.train(op, None)))
    found.append(outcome(lambda: training.train(op, None, save_summaries_steps=None)))
    again = [tf.train.StopAtStepHook(2)]
    result = training.train(
        op, None, save_summaries_steps=None, save_checkpoint_secs=None, hooks=again
    )
    return {"found": [*found, float(result)], "files": files(folder)}


PROGRAMS = [
    nodes_of_a_supervisor, empty_graph, managed, threads, loop_until_stop,
    refused_by_supervisors, evaluations, repeated_evaluations, trained,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
