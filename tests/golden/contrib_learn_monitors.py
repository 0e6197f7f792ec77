"""Monitors and preprocessing of `tf.contrib.learn` in TensorFlow 1.15:
`python contrib_learn_monitors.py contrib_learn_monitors.json`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import functools
import os

import numpy as np

try:
    from tests.golden import contrib_learn as models
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import contrib_learn as models
    import training_loops as loops

outcome = loops.outcome
X = np.ones((6, 4), np.float32)
Y = X.sum(1)


def calls(tf, module, seen):
    """Monitors that record how they are called."""

    class Base(module.BaseMonitor):
        def __init__(self, asked=(), stop=None):
            super().__init__()
            self.asked, self.stop = asked, stop

        def begin(self, max_steps=None):
            super().begin(max_steps)
            seen.append(["begin", max_steps])

        def step_begin(self, step):
            super().step_begin(step)
            seen.append(["step begin", int(step)])
            return list(self.asked)

        def step_end(self, step, output):
            super().step_end(step, output)
            found = {key: np.asarray(value) for key, value in output.items()}
            seen.append(["step end", int(step), models.rounded(found)])
            return step == self.stop

        def post_step(self, step, session):
            super().post_step(step, session)
            seen.append(["post", int(step)])

        def end(self, session=None):
            super().end(session)
            seen.append(["end"])

    class Sometimes(module.EveryN):
        def every_n_step_begin(self, step):
            seen.append(["begin", int(step)])
            return super().every_n_step_begin(step)

        def every_n_step_end(self, step, outputs):
            seen.append(["end", int(step)])
            return super().every_n_step_end(step, outputs)

        def every_n_post_step(self, step, session):
            seen.append(["post", int(step)])
            super().every_n_post_step(step, session)

    return Base, Sometimes


def monitors(tf, folder):
    """What monitors see, log and keep."""
    learn, module = tf.contrib.learn, tf.contrib.learn.monitors
    seen = []
    base, sometimes = calls(tf, module, seen)
    watch = functools.partial(
        module.ValidationMonitor, X, every_n_steps=1, check_interval_secs=0
    )
    spec = learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error)
    cases = [
        (3, 2, lambda: base()),
        (5, 2, lambda: base(["p:0", "error"], 2)),
        (6, 2, lambda: sometimes(2)),
        (9, 2, lambda: sometimes(3, 2)),
        (5, 2, lambda: module.StopAtStep(num_steps=2)),
        (5, 2, lambda: module.StopAtStep(last_step=3)),
        (5, 2, lambda: module.StopAtStep(last_step=3, num_steps=3)),
        (5, 2, lambda: module.StopAtStep()),
        (5, 2, lambda: module.PrintTensor(["error"], every_n=2)),
        (5, 2, lambda: module.PrintTensor({"l": "error:0", "a": "p"}, 2, 2)),
        (4, 2, lambda: module.LoggingTrainable(every_n=2)),
        (4, 2, lambda: module.LoggingTrainable("w", every_n=2)),
        (5, 2, lambda: module.CaptureVariable("error:0", every_n=2)),
        (5, 2, lambda: module.SummarySaver(None, 2, os.path.join(folder, "x"))),
        (3, 2, lambda: module.NanLoss("error:0", 1)),
        (7, 3, lambda: module.ValidationMonitor(X, Y * 2, every_n_steps=2)),
        (9, 1, lambda: watch(Y * 0, early_stopping_rounds=2, name="v")),
        (9, 1, lambda: watch(Y, early_stopping_rounds=2,
                             early_stopping_metric_minimize=False)),
        (4, 1, lambda: watch(Y, early_stopping_rounds=2, early_stopping_metric="m",
                             metrics={"m": spec})),
        (4, 1, lambda: watch(Y, early_stopping_rounds=2, early_stopping_metric="q")),
        (4, 1, lambda: module.ValidationMonitor()),
    ]  # fmt: skip

    def trained(number, steps, saved, make):
        monitor = make()
        config = learn.RunConfig(save_checkpoints_steps=saved)
        place = os.path.join(folder, str(number))
        learn.Estimator(models.model_fn(tf), place, config).fit(
            X, Y, steps=steps, monitors=[monitor]
        )
        names = ("values", "best_step", "best_value", "best_metrics", "early_stopped")
        return [models.rounded(getattr(monitor, n, None)) for n in names]

    found = []
    for number, case in enumerate(cases):
        try:
            found.append([trained(number, *case), list(seen)])
        except ValueError as error:
            found.append(str(error)[:30])
        del seen[:]
    return {"found": found}


def protocol(tf, folder):
    """What a monitor refuses."""
    monitor = tf.contrib.learn.monitors.BaseMonitor()
    calls = [
        lambda: monitor.end(), lambda: monitor.step_begin(1), lambda: monitor.begin(),
        lambda: monitor.begin(), lambda: monitor.step_end(1, {}),
        lambda: monitor.epoch_end(1), lambda: monitor.epoch_begin(1),
        lambda: monitor.epoch_begin(2), lambda: monitor.epoch_end(2),
        lambda: monitor.step_begin(1), lambda: monitor.step_begin(2),
        lambda: monitor.step_end(3, {}), lambda: monitor.step_end(2, {}),
        lambda: monitor.end(), lambda: monitor.epoch_end(1), lambda: monitor.end(),
        lambda: monitor.set_estimator(None), lambda: monitor.run_on_all_workers,
        lambda: [type(m).__name__ for m in
                 tf.contrib.learn.monitors.get_default_monitors(tf.constant(1.0))],
    ]  # fmt: skip
    return {"found": [outcome(call) for call in calls]}


def saving(tf, folder):
    """Checkpoints of a monitor."""
    module, found = tf.contrib.learn.monitors, []
    cases = [
        ({"save_steps": 2}, True, 5), ({"save_steps": 2}, True, 4),
        ({"save_steps": 1, "checkpoint_basename": "mine"}, False, 3),
        ({"save_secs": 1000}, False, 3), ({}, False, 1),
        ({"save_steps": 2, "save_secs": 2}, False, 1), ({"save_steps": 2}, True, 0),
    ]  # fmt: skip
    for number, (options, with_scaffold, steps) in enumerate(cases):
        place = os.path.join(folder, str(number))
        with tf.Graph().as_default(), tf.Session() as session:
            train = tf.assign_add(tf.train.create_global_step(), 1)
            options = dict(options)
            if with_scaffold:
                options["scaffold"] = tf.train.Scaffold()
            else:
                options["saver"] = tf.train.Saver()
            try:
                monitor = module.CheckpointSaver(place, **options)
            except ValueError as error:
                found.append(str(error))
                continue
            monitor.begin(max_steps=steps)
            if with_scaffold:
                options["scaffold"].finalize()
            session.run(tf.get_collection("init_op") or
                        tf.global_variables_initializer())  # fmt: skip
            seen = []
            for step in range(1, steps + 1):
                seen.append(monitor.step_begin(step) or None)
                session.run(train)
                monitor.post_step(step, session)
                seen.append(loops.files(place))
            monitor.end(session)
            seen.append(loops.files(place))
        logs = [event for event in loops.events(tf, place)
                if event[0] == "session_log"]  # fmt: skip
        found.append([seen, logs])
    return {"found": found}


def dumps(tf, folder):
    """The tensors that GraphDump asks for, and comparisons."""
    make, found = tf.contrib.learn.monitors.GraphDump, []
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable([1.0, 2.0], name="w")
        x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
        tf.nn.top_k(x, 1, name="best")
        tf.placeholder(tf.float32, name="fed")
        tf.no_op(name="nothing")
        tf.add(w, x, name="sum")
        session.run(tf.global_variables_initializer())
        made = [make(), make(["Const", "Placeholder"]), make([])]
        for monitor in made:
            monitor.begin(max_steps=2)
        found.append([[t.name for t in m.step_begin(1)] for m in made])
        first, second = made[0], make()
        second.begin()
        for monitor, more in ((first, 0.0), (second, 2.0)):
            for step in (1, 2):
                tensors = monitor.step_begin(step)
                fed = {x: [step + more, 2.0]}
                values = session.run({t.name: t for t in tensors}, fed)
                found.append(bool(monitor.step_end(step, values)))
        found.append(models.rounded(first.data))
        for step in (1, 2, 3):
            same, others = first.compare(second, step=step)
            found.append([sorted(same), models.rounded(others)])
            same, others = first.compare(second, step, atol=3.0)
            found.append([sorted(same), models.rounded(others)])
        second.step_begin(3)
        second.step_end(3, {"x:0": 1.0, "y:0": 2})
        found.append(outcome(lambda: second.compare(first, 3))[0])
        third = make()
        third.begin()
        third.step_begin(3)
        third.step_end(3, {"x:0": 1.5, "y:0": 2})
        found.append(list(third.compare(second, 3, atol=9)))
        found.append(list(make.IGNORE_OPS))
    return {"found": found}


def strides(tf, folder):
    """Steps of a loop whose global step grows by 5."""
    seen = []
    base, _ = calls(tf, tf.contrib.learn.monitors, seen)
    with tf.Graph().as_default():
        train = tf.assign_add(tf.train.create_global_step(), 5)
        hook = tf.contrib.learn.monitors.RunHookAdapterForMonitors([base()])
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(train)
            session.run(train)
    return {"found": seen}


def core_estimators(tf, folder):
    """What a ValidationMonitor refuses to do with a tf.estimator.Estimator."""
    module, found = tf.contrib.learn.monitors, []

    def input_fn():
        return {"x": tf.constant(X)}, tf.constant(Y)

    def model_fn(features, labels, mode):
        step = tf.assign_add(tf.train.get_global_step(), 1)
        return tf.estimator.EstimatorSpec(mode, loss=tf.constant(2.0), train_op=step)

    core = tf.estimator.Estimator(model_fn, os.path.join(folder, "core"))
    core.train(input_fn, steps=1)
    for options in (
        {"input_fn": input_fn}, {"x": X}, {"input_fn": input_fn, "metrics": {"a": 1}},
        {"input_fn": input_fn, "batch_size": 2}, {"x": X, "y": Y, "batch_size": 2},
    ):  # fmt: skip
        monitor = module.ValidationMonitor(
            every_n_steps=1, eval_steps=1, check_interval_secs=None, **options
        )
        monitor.set_estimator(core)
        monitor.begin()
        monitor.step_begin(1)
        found.append(outcome(lambda monitor=monitor: monitor.step_end(1, {})))
    return {"found": found}


def preprocessing(tf, folder):
    """Vocabularies, documents as rows of ids."""
    module, found = tf.contrib.learn.preprocessing, []
    documents = [
        "This is a cat", "This must be boy", "This is a a dog", "",
        "Hello, World! it's 3.5 caf\u00e9", "\u4e2d\u6587 test (a) [b] #c TFRecord",
    ]  # fmt: skip

    def rows(values):
        return [[row.tolist(), str(row.dtype)] for row in values]

    plain = module.VocabularyProcessor(4)
    found.append(rows(plain.fit_transform(documents)))
    found.append([len(plain.vocabulary_), sorted(plain.vocabulary_._mapping.items())])
    found.append([plain.vocabulary_.reverse(i) for i in range(5)])
    found.append(list(plain.reverse([np.array([1, 2, 0, 0]), [1, 9, 3, 0]])))
    found.append(rows(plain.transform(["cat unknown This"])))
    rare = module.VocabularyProcessor(3, min_frequency=2)
    found.append(rows(rare.fit(documents).transform(documents)))
    path = os.path.join(folder, "vocabulary")
    plain.save(path)
    found.append(rows(module.VocabularyProcessor.restore(path).transform(["a cat"])))
    own = module.VocabularyProcessor(3, tokenizer_fn=lambda d: (t.split() for t in d))
    found.append(rows(own.fit_transform(["a b", "b c d e"])))
    frozen = module.CategoricalVocabulary()
    frozen.get("a")
    frozen.freeze()
    given = module.VocabularyProcessor(3, vocabulary=frozen)
    found.append(rows(given.fit_transform(["a b", "b c d e"])))
    found.append(list(module.tokenizer(["Hello World, 3-4", 'a_b "x" \'y ABCWord'])))
    words = module.CategoricalVocabulary("<U>", support_reverse=True)
    found.append([words.get(w) for w in ["a", "b", "a", 1, "<U>"]])
    for change in (
        lambda: words.add("a", 3), lambda: words.add("z"), lambda: words.trim(1),
        lambda: words.add("q", 2), lambda: words.add("r", 2), lambda: words.trim(0, 3),
        lambda: words.freeze(), lambda: words.add("new"), lambda: words.get("new"),
        lambda: words.freeze(False), lambda: words.get("new"), lambda: words.reverse(9),
    ):  # fmt: skip
        found.append(
            [outcome(change), [[str(k), v] for k, v in words._mapping.items()]]
        )
    found.append(
        outcome(lambda: module.CategoricalVocabulary(support_reverse=False).reverse(1))
    )
    data = module.ByteProcessor(6)
    found.append(rows(data.fit_transform(["abc", "\u4e2d\u6587", "", b"xy"])))
    found.append(list(data.reverse(list(data.transform(["abc", "\u4e2d\u6587"])))))
    table = np.array([["a", 1], ["b", 2], ["a", 3]], dtype=object)
    for options in ({}, {"min_frequency": 1, "share": True}):
        processor = module.CategoricalProcessor(**options)
        found.append(rows(processor.fit_transform(table)))
        found.append(rows(processor.transform(np.array([["zz", 1]], dtype=object))))
    return {"found": found}


def datasets(tf, folder):
    """Tables and files of numbers."""
    module = tf.contrib.learn.datasets
    iris, boston = module.load_iris(), module.load_dataset("boston")
    found = []
    for table in (iris, boston):
        found.append([table.data.shape, str(table.data.dtype), str(table.target.dtype),
                      round(float(table.data.sum()), 4), float(table.target.sum()),
                      table.data[77].tolist(), float(table.target[77])])  # fmt: skip
    path = os.path.join(folder, "table.csv")
    for text in ("2,2,x,y\n1,2,0\n3,4,1\n", ""):
        with open(path, "w") as file:
            file.write(text)
        for column in (-1, 0):
            found.append(outcome(lambda column=column: module.base.load_csv_with_header(
                path, np.int32, np.float32, target_column=column)))  # fmt: skip
    with open(path, "w") as file:
        file.write("1,2,0\n3,4,1\n")
    found.append(repr(module.base.load_csv_without_header(path, np.int32, np.float32)))
    found.append(outcome(lambda: module.load_dataset("foo")))
    found.append(outcome(lambda: module.make_dataset("foo")))
    return {"found": found}


PROGRAMS = [
    monitors, protocol, saving, dumps, strides, core_estimators, preprocessing,
    datasets,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
