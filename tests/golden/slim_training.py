"""`tf.contrib.slim.learning.train` in TensorFlow 1.15:
`python slim_training.py slim_training.json`.

As in `training_loops.py`; tests/lib/contrib/test_slim.py compares.
"""

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

import os
import re

outcome = loops.outcome


def _train(tf, folder, **options):
    learning = tf.contrib.slim.learning
    with tf.Graph().as_default() as graph:
        # A resource: a step's loss is that before its update.
        with tf.variable_scope("", use_resource=True):
            w = tf.get_variable("w", [], initializer=tf.ones_initializer())
            tf.train.get_or_create_global_step()
        loss = tf.square(w, name="loss")
        tf.summary.scalar("s", loss)
        optimizer = tf.train.GradientDescentOptimizer(0.125)
        step = learning.create_train_op(loss, optimizer)
        first = len(graph.get_operations())
        result = learning.train(step, folder, log_every_n_steps=2, **options)
        names = [op.name for op in graph.get_operations()[first:]]
        shown = [n for n in names if not n.startswith(("save", "init_ops/report"))]
        return [float(result), shown, len(names)]


def trained(tf, folder):
    """The loss, the ops that are added, the files, the log."""
    one, two = os.path.join(folder, "one"), os.path.join(folder, "two")
    found = [_train(tf, one, number_of_steps=5)]
    kinds = {re.sub("ckpt-.", "ckpt-N", name) for name in loops.files(one)}
    found.append([sorted(kinds), tf.train.latest_checkpoint(one)])
    found.append(_train(tf, one, number_of_steps=8))
    found.append([_train(tf, None, number_of_steps=3), os.path.exists(two)])
    calls = []

    def step_fn(session, train_op, global_step, kwargs):
        loss, stops = tf.contrib.slim.learning.train_step(
            session, train_op, global_step, kwargs
        )
        calls.append(sorted(kwargs))
        return loss, stops

    found.append(_train(
        tf, two, number_of_steps=2, train_step_fn=step_fn, save_summaries_secs=0,
        init_fn=lambda session: calls.append("init"),
    ))  # fmt: skip
    return {"found": found, "calls": calls}


def traced(tf, folder):
    """The steps that are traced, and where."""
    found = [_train(tf, folder, number_of_steps=7, trace_every_n_steps=3)]
    found.append([name for name in loops.files(folder) if "trace" in name])
    runs = [e for e in loops.events(tf, folder) if e[0] == "tagged_run_metadata"]
    loss, step_of = tf.constant(1.0), tf.contrib.slim.learning.train_step
    with tf.Session() as session:
        call = outcome(lambda: step_of(session, loss, loss, {"should_trace": loss}))
    return {"found": found, "runs": runs, "without logdir": call}


def evaluated(tf, folder):
    """One checkpoint, and those of a folder."""
    evaluation = tf.contrib.slim.evaluation
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=2.0)
        tf.train.get_or_create_global_step()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(folder, "m"), 0)
    found = []
    for restores, options in (
        (False, {"num_evals": 3}), (True, {"summary_op": None, "hooks": []}),
    ):  # fmt: skip
        with tf.Graph().as_default() as graph:
            w = tf.get_variable("w", initializer=1.0)
            step = tf.train.get_or_create_global_step()
            count = tf.get_local_variable("count", initializer=0.0)
            update = tf.assign_add(count, w)
            tf.summary.scalar("s", count)
            logs = os.path.join(folder, f"logs{restores}")
            result = evaluation.evaluate_once(
                "", path, logs, eval_op=update, final_op=count,
                variables_to_restore=[w, step] if restores else None, **options
            )  # fmt: skip
            found.append([float(result), os.path.exists(logs), loops.nodes(graph)])
            if not restores:
                found.append([e for e in loops.events(tf, logs) if e[0] == "summary"])
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=1.0)
        tf.train.get_or_create_global_step()
        calls = []
        options = {
            "num_evals": 2, "eval_op": w, "final_op": w, "eval_interval_secs": 0,
            "timeout": 0.01, "init_fn": lambda *args: calls.append(len(args)),
            "initial_op": tf.global_variables_initializer(),
        }  # fmt: skip
        loop = evaluation.evaluation_loop
        found.append(float(loop("", folder, folder, **options)))
        found.append(loop("", os.path.join(folder, "no"), folder, **options))
    path = evaluation.wait_for_new_checkpoint(folder, None, 0, timeout=0.01)
    found.append([path, next(evaluation.checkpoints_iterator(folder))])
    return {"found": found, "calls": calls}


def refused(tf, folder):
    train = tf.contrib.slim.learning.train
    loss = tf.constant(1.0)
    calls = [
        lambda: train(None, folder), lambda: train(loss, folder, number_of_steps=0),
        lambda: train(loss, None, summary_op=loss), lambda: train(loss, None, saver=3),
        lambda: train(loss, None, trace_every_n_steps=3),
    ]  # fmt: skip
    return {"found": [outcome(call) for call in calls]}


PROGRAMS = [trained, traced, evaluated, refused]

if __name__ == "__main__":
    loops.main(PROGRAMS)
