"""What hooks do in TensorFlow 1.15: `python session_hooks.py session_hooks.json`.

As in `training_loops.py`, whose test runs these programs, too.
"""

import os

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

Calls, events, files, model, outcome = (
    loops.Calls, loops.events, loops.files, loops.model, loops.outcome,
)  # fmt: skip


def order_of_calls(tf, folder):
    _, train, _ = model(tf)
    record = Calls(tf)
    saver = tf.train.CheckpointSaverHook(
        folder, save_steps=2, saver=tf.train.Saver(), listeners=[record.listener]
    )
    with tf.train.MonitoredSession(hooks=[record.hook, saver]) as session:
        while not session.should_stop():
            session.run(train)
    return {"calls": record.calls, "files": files(folder), "events": events(tf, folder)}


def feeds_and_options(tf, folder):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.placeholder(tf.float32, [], name="y")
    z = tf.add(x, y, name="z")
    found = []
    feed = tf.train.FeedFnHook(lambda: {x: 2.0})

    class Options(tf.train.SessionRunHook):
        def before_run(self, run_context):
            options = tf.RunOptions(timeout_in_ms=5000, output_partition_graphs=True)
            return tf.train.SessionRunArgs(None, options=options)

        def after_run(self, run_context, run_values):
            options = run_values.options
            found.append([options.timeout_in_ms, options.trace_level])
            found.append(len(run_values.run_metadata.partition_graphs))
            found.append(run_values.results)

    with tf.train.MonitoredSession(hooks=[feed]) as session:
        found.append(float(session.run(z, {y: 1.0})))
        found.append(outcome(lambda: session.run(z, {x: 1.0, y: 1.0})))
    with tf.train.MonitoredSession(hooks=[Options()]) as session:
        given = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
        session.run(z, {x: 1.0, y: 1.0}, options=given)
    both = [feed, tf.train.FeedFnHook(lambda: {x: 3.0})]
    with tf.train.MonitoredSession(hooks=both) as session:
        found.append(outcome(lambda: session.run(z, {y: 1.0})))
    final = tf.train.FinalOpsHook({"sum": z}, {x: 3.0, y: 4.0})
    with tf.train.MonitoredSession(hooks=[final]):
        found.append(final.final_ops_values)
    found.append(float(final.final_ops_values["sum"]))

    def ends():
        raise tf.errors.OutOfRangeError(None, None, "end")

    def fails():
        at_end = tf.train.FinalOpsHook(z, {x: 3.0})
        with tf.train.MonitoredSession(hooks=[at_end]):
            pass

    found.append(outcome(fails)[0])
    return {"found": found}


def log_lines(tf, folder):
    _, train, _ = model(tf)
    step = tf.constant(3)
    loss = tf.constant(0.7, name="loss_0")
    array = tf.constant([[1.5, 1e-7], [3.0, 4.0]], name="array")
    tf.split([1, 2], 2, name="several")
    hooks = [
        tf.train.LoggingTensorHook(["loss_0", "array:0"], every_n_iter=2, at_end=True),
        tf.train.LoggingTensorHook({"step": step, "array": array}, every_n_iter=3),
        tf.train.LoggingTensorHook([step], at_end=True),
        tf.train.LoggingTensorHook(
            {"loss": loss}, every_n_secs=1000, formatter=lambda v: f"is {v['loss']}"
        ),
        tf.train.StepCounterHook(every_n_steps=2),
        tf.train.StopAtStepHook(num_steps=5),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(train)
    wrong = [
        lambda: tf.train.LoggingTensorHook(["several"], every_n_iter=1).begin(),
        lambda: tf.train.LoggingTensorHook(["absent"], every_n_iter=1).begin(),
        lambda: tf.train.LoggingTensorHook([tf.Graph()], every_n_iter=1),
    ]
    return {"found": [outcome(w) for w in wrong[:2]]}


def nan_loss(tf, folder):
    bad = tf.placeholder(tf.float32, [])
    found = []
    for fails in (True, False):

        def program(fails=fails):
            hook = tf.train.NanTensorHook(bad, fail_on_nan_loss=fails)
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                for value in (1.0, float("inf"), float("nan"), 2.0):
                    session.run(bad, {bad: value})
                    found.append(session.should_stop())

        found.append(outcome(program))
    return {"found": found}


def constant_step(tf, folder):
    loss, _, _ = model(tf)
    hook = tf.train.StepCounterHook(every_n_steps=1)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(8):
            session.run(loss)
    return {}


def summaries(tf, folder):
    loss, train, _ = model(tf)
    other = tf.summary.histogram("other", loss)
    both = [tf.summary.merge_all(), other]
    hook = tf.train.SummarySaverHook(save_steps=1, output_dir=folder, summary_op=both)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(5):
            session.run(train)
    return {"events": events(tf, folder)}


def profiles(tf, folder):
    _, train, _ = model(tf)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=folder, show_memory=True)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(6):
            session.run(train)
    return {"files": files(folder), "events": events(tf, folder)}


def refused(tf, folder):
    _, train, _ = model(tf)
    make = tf.train
    calls = [
        lambda: make.SecondOrStepTimer(),
        lambda: make.SecondOrStepTimer(1, 2),
        lambda: make.StopAtStepHook(),
        lambda: make.StopAtStepHook(1, 2),
        lambda: make.LoggingTensorHook(["x"]),
        lambda: make.LoggingTensorHook(["x"], 1, 2),
        lambda: make.LoggingTensorHook(["x"], 0),
        lambda: make.StepCounterHook(1, 2),
        lambda: make.StepCounterHook(None, None),
        lambda: make.CheckpointSaverHook(folder),
        lambda: make.CheckpointSaverHook(folder, 1, 2),
        lambda: make.CheckpointSaverHook(folder, 1, saver=1, scaffold=2),
        lambda: make.CheckpointSaverHook(folder, 1)._get_saver(),
        lambda: make.SummarySaverHook(1),
        lambda: make.SummarySaverHook(1, scaffold=1, summary_op=2),
        lambda: make.SummarySaverHook(scaffold=1),
        lambda: make.SummarySaverHook(1, 2, scaffold=1),
        lambda: make.ProfilerHook(output_dir=folder),
        lambda: make.MonitoredTrainingSession(
            checkpoint_dir=folder, save_checkpoint_secs=1, save_checkpoint_steps=2
        ),
        lambda: make.MonitoredTrainingSession(
            checkpoint_dir=folder, save_summaries_secs=1, save_summaries_steps=2
        ),
        lambda: outcome(make.SessionCreator)[0],
        lambda: str(make.NanLossDuringTrainingError()),
        lambda: make.SessionRunArgs(1, options=2),
        lambda: outcome(make.SessionRunArgs)[0],
        lambda: make.SessionRunValues(1, 2, 3),
    ]
    found = [outcome(call) for call in calls]
    with tf.Graph().as_default():
        without = [
            make.StopAtStepHook(1), make.StepCounterHook(),
            make.CheckpointSaverHook(folder, 1),
            make.SummarySaverHook(1, summary_op=1), make.GlobalStepWaiterHook(1),
            make.ProfilerHook(1, output_dir=folder),
        ]  # fmt: skip
        found += [outcome(hook.begin) for hook in without]
    stop = make.StopAtStepHook(last_step=1)
    with make.MonitoredSession(hooks=[stop]) as session:
        session.run(train)
        found.append(outcome(lambda: session.run(train)))
    return {"found": found}


def which_hooks(tf, folder):
    """The files that each choice of intervals leads to."""
    found = {}
    choices = {
        "default": {}, "none": {"save_checkpoint_secs": None},
        "zero": {"save_checkpoint_steps": 0, "save_summaries_steps": 0},
        "summaries": {"save_checkpoint_secs": 0, "save_summaries_secs": 100},
        "counter": {"save_checkpoint_secs": None, "save_summaries_steps": None},
        "nothing": {"save_checkpoint_secs": None, "save_summaries_steps": None,
                    "log_step_count_steps": None},
        "elsewhere": {"summary_dir": os.path.join(folder, "summaries")},
    }  # fmt: skip
    for name, choice in choices.items():
        tf.reset_default_graph()
        _, train, _ = model(tf)
        place = os.path.join(folder, name)
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=place, **choice
        ) as session:
            kinds = [type(hook).__name__ for hook in session._hooks]
            session.run(train)
        found[name] = [kinds, files(place) if os.path.isdir(place) else None]
    found["summaries' folder"] = files(os.path.join(folder, "summaries"))
    return found


PROGRAMS = [
    order_of_calls, feeds_and_options, log_lines, nan_loss, constant_step, summaries,
    profiles, refused, which_hooks,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
