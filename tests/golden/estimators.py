"""Estimators in TensorFlow 1.15: `python estimators.py estimators.json`.

As in `training_loops.py`; tests/lib/estimator/test_estimators.py compares.
"""

import os

import numpy as np

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

events, files, nodes, outcome = loops.events, loops.files, loops.nodes, loops.outcome

X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = X.sum(1)


def model_fn(tf):
    def build(features, labels, mode, params, config):
        w = tf.get_variable("w", [2], initializer=tf.constant_initializer(0.25))
        prediction = tf.reduce_sum(features["x"] * w, 1, name="prediction")
        shown = {"value": prediction, "twice": prediction * 2.0}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=shown)
        loss = tf.losses.mean_squared_error(labels, prediction)
        step = tf.train.get_global_step()
        train = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, step)
        metrics = {"error": tf.metrics.mean_absolute_error(labels, prediction)}
        return tf.estimator.EstimatorSpec(
            mode, shown, loss, train, eval_metric_ops=metrics
        )

    return build


def inputs(tf, epochs=None, size=3):
    return tf.estimator.inputs.numpy_input_fn(
        {"x": X}, Y, batch_size=size, num_epochs=epochs, shuffle=False
    )


def estimator(tf, folder, **options):
    config = tf.estimator.RunConfig(folder, 3, **options)
    return tf.estimator.Estimator(model_fn(tf), config=config, params={"rate": 0.004})


def life(tf, folder):
    """Train, train on, evaluate and predict."""
    made = estimator(
        tf, folder, save_checkpoints_steps=4, save_summary_steps=2,
        log_step_count_steps=2,
    )  # fmt: skip
    found = [outcome(lambda: made.get_variable_names())]
    found.append(made.train(inputs(tf), steps=5) is made)
    found.append([made.get_variable_names(), made.latest_checkpoint()])
    made.train(inputs(tf), max_steps=7)
    made.train(inputs(tf), max_steps=7)
    found.append(made.get_variable_value("w").round(5).tolist())
    results = made.evaluate(inputs(tf, 1))
    found.append({key: round(float(value), 4) for key, value in results.items()})
    results = made.evaluate(inputs(tf, 1), steps=1, name="short")
    found.append({key: round(float(value), 4) for key, value in results.items()})
    predicted = list(made.predict(inputs(tf, 1)))
    found.append([len(predicted), sorted(predicted[0])])
    batches = made.predict(inputs(tf, 1, 4), ["value"], yield_single_examples=False)
    found.append([b["value"].round(4).tolist() for b in batches])
    return {
        "found": found, "files": files(folder), "events": events(tf, folder),
        "evaluated": [files(made.eval_dir()), events(tf, made.eval_dir("short"))],
    }  # fmt: skip


def graphs(tf, folder):
    """The nodes of each mode."""
    made, found = estimator(tf, folder), {}

    class Record(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            graph = session.graph
            found[self.mode] = [n[:2] + n[3:] for n in nodes(graph)]
            found[self.mode + " collections"] = sorted(
                (key, len(graph.get_collection(key)))
                for key in graph.get_all_collection_keys()
            )

    hook = Record()
    hook.mode = "train"
    made.train(inputs(tf), [hook], 1)
    hook.mode = "eval"
    made.evaluate(inputs(tf, 1), hooks=[hook])
    hook.mode = "infer"
    next(made.predict(inputs(tf, 1), hooks=[hook]))
    return found


def refused_by_estimators(tf, folder):
    made = estimator(tf, folder)
    build = model_fn(tf)
    make = tf.estimator.Estimator
    spec = tf.estimator.EstimatorSpec
    one, two = tf.constant(1.0), tf.constant([1.0, 2.0])
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    calls = [
        lambda: make(None, folder),
        lambda: make(lambda x: x, folder),
        lambda: make(lambda features: 1, folder, params={"a": 1}),
        lambda: make(lambda features, other: 1, folder),
        lambda: make(build, folder, config=3),
        lambda: make(build, folder, config=tf.estimator.RunConfig("elsewhere")),
        lambda: make(build, folder, warm_start_from=3),
        lambda: make(lambda features, labels: 3, folder).train(inputs(tf), steps=1),
        lambda: make(lambda features: 3, folder).train(inputs(tf), steps=1),
        lambda: made.train(inputs(tf), steps=1, max_steps=2),
        lambda: made.train(inputs(tf), steps=0),
        lambda: made.train(inputs(tf), max_steps=0),
        lambda: made.train(inputs(tf), hooks=[3]),
        lambda: made.train(lambda: (1, 2, 3), steps=1),
        lambda: made.evaluate(inputs(tf), steps=0),
        lambda: next(made.predict(inputs(tf, 1), ["absent"])),
        lambda: made.get_variable_value("w"),
        lambda: spec("train"),
        lambda: spec("train", train_op=one),
        lambda: spec("eval"),
        lambda: spec("infer"),
        lambda: spec("train", loss=two, train_op=one),
        lambda: spec("train", loss=1.0, train_op=one),
        lambda: spec("train", loss=one, train_op=3),
        lambda: spec("infer", predictions={"a": 3}),
        lambda: spec("infer", predictions=3),
        lambda: spec("eval", loss=one, eval_metric_ops=3),
        lambda: spec("eval", loss=one, eval_metric_ops={"a": 3}),
        lambda: spec("infer", one, prediction_hooks=[3]),
        lambda: spec("infer", one, scaffold=3),
        lambda: spec("infer", one)._replace(mode="eval"),
        lambda: tf.estimator.inputs.numpy_input_fn(X, Y),
        lambda: tf.estimator.inputs.numpy_input_fn({}, Y, shuffle=True)(),
        lambda: tf.estimator.inputs.numpy_input_fn(X[:0], Y, shuffle=True)(),
        lambda: tf.estimator.inputs.numpy_input_fn([1], Y, shuffle=True)(),
        lambda: tf.estimator.inputs.numpy_input_fn(X, {}, shuffle=True)(),
        lambda: tf.estimator.RunConfig(""),
        lambda: tf.estimator.RunConfig(
            save_checkpoints_steps=1, save_checkpoints_secs=1
        ),
        lambda: tf.estimator.RunConfig(save_summary_steps=-1),
        lambda: tf.estimator.RunConfig(save_checkpoints_steps=-1),
        lambda: tf.estimator.RunConfig(keep_checkpoint_max=-1),
        lambda: tf.estimator.RunConfig(keep_checkpoint_every_n_hours=0),
        lambda: tf.estimator.RunConfig(log_step_count_steps=0),
        lambda: tf.estimator.RunConfig(tf_random_seed=1.5),
        lambda: tf.estimator.RunConfig(session_config=3),
        lambda: tf.estimator.RunConfig(device_fn=3),
        lambda: tf.estimator.RunConfig(device_fn=lambda other: ""),
        lambda: tf.estimator.RunConfig().replace(other=3),
        lambda: spec("eval", loss=other),
    ]
    found = [outcome(call) for call in calls]
    return {"found": found}


def configurations(tf, folder):
    found = []

    def shown(config):
        values = {k: v for k, v in vars(config).items() if k != "_cluster_spec"}
        return sorted((key, repr(value)) for key, value in values.items())

    found.append(shown(tf.estimator.RunConfig()))
    config = tf.estimator.RunConfig(save_checkpoints_steps=3)
    found.append(shown(config.replace(model_dir="m", save_checkpoints_secs=5)))
    for text in (
        '{"model_dir": "there", "service": {"a": 1}}', '{"model_dir": ""}',
        '{"task": {"type": "ps"}}', '{"task": {"type": "worker", "index": 2}}',
        '{"service": 3}',
    ):  # fmt: skip
        os.environ["TF_CONFIG"] = text
        found.append(outcome(lambda: shown(tf.estimator.RunConfig())))
    del os.environ["TF_CONFIG"]
    return {"found": found}


def exports(tf, folder):
    """SavedModels: nodes, signatures and files."""
    export = tf.estimator.export

    def build(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        value = features["x"] * w
        classes = tf.expand_dims(tf.as_string(value), 1)
        outputs = {
            "serving_default": export.PredictOutput({"value": value}),
            "number": export.RegressionOutput(value),
            "kind": export.ClassificationOutput(classes=classes),
        }
        step = tf.train.get_global_step()
        return tf.estimator.EstimatorSpec(
            mode, {"value": value}, tf.reduce_mean(value), tf.assign_add(step, 1),
            export_outputs=outputs,
        )  # fmt: skip

    made = tf.estimator.Estimator(build, folder)
    x = tf.placeholder(tf.float32, [None], name="given")
    raw = export.build_raw_serving_input_receiver_fn({"x": x})
    parsing = export.build_parsing_serving_input_receiver_fn(
        {"x": tf.FixedLenFeature([], tf.float32)}, 3
    )
    base = os.path.join(folder, "exports")
    found = [outcome(lambda: made.export_saved_model(base, raw))]
    rows = tf.estimator.inputs.numpy_input_fn({"x": Y}, Y, shuffle=False)
    made.train(rows, steps=1)
    extra = {"a/b.txt": os.path.join(folder, "checkpoint")}
    for fn, options in ((raw, {}), (parsing, {"assets_extra": extra})):
        place = os.path.join(base, "assets" if options else "none")
        path = made.export_saved_model(place, fn, **options).decode()
        tree = []
        for place, _, names in os.walk(path):
            tree += [os.path.join(place, name)[len(path) :] for name in names]
        graph = tf.Graph()
        with graph.as_default(), tf.Session() as session:
            meta = tf.saved_model.load(session, ["serve"], path)
        found.append(sorted(tree))
        found.append([n.name for n in meta.graph_def.node])
        # TensorFlow lists None as the train op of a model that predicts.
        found.append(sorted({*meta.collection_def} - {"saved_model_train_op"}))
        found.append({
            key: [s.method_name, {k: v.name for k, v in s.inputs.items()},
                  {k: v.name for k, v in s.outputs.items()}]
            for key, s in meta.signature_def.items()
        })  # fmt: skip
    return {"found": found}


def both(tf, folder):
    """train_and_evaluate with exporters, and what its specs refuse."""
    made = estimator(tf, folder, save_checkpoints_steps=2)
    x = tf.placeholder(tf.float32, [None, 2])
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    final = tf.estimator.FinalExporter("final", receiver)
    train, test = inputs(tf), inputs(tf, 1)
    spec, test_spec = tf.estimator.TrainSpec, tf.estimator.EvalSpec
    run = tf.estimator.train_and_evaluate
    found = []
    for throttle, steps in ((0, 5), (1000, 9), (0, 9)):
        tested = test_spec(
            test, name="t", exporters=[final], start_delay_secs=0,
            throttle_secs=throttle,
        )  # fmt: skip
        metrics, exported = run(made, spec(train, max_steps=steps), tested)
        found.append(metrics and int(metrics["global_step"]))
        found.append(exported and [type(e).__name__ for e in exported])
    latest = tf.estimator.LatestExporter
    for call in (
        lambda: spec(3), lambda: spec(train, 0), lambda: spec(train, hooks=[3]),
        lambda: test_spec(3), lambda: test_spec(test, 0),
        lambda: test_spec(test, name=3), lambda: test_spec(test, hooks=[3]),
        lambda: test_spec(test, exporters=3), lambda: test_spec(test, exporters=[3]),
        lambda: test_spec(test, exporters=[final, final]),
        lambda: test_spec(test, exporters=latest("", receiver)),
        lambda: test_spec(test, start_delay_secs=-1),
        lambda: test_spec(test, throttle_secs=-1),
        lambda: latest("a", receiver, exports_to_keep=0),
    ):  # fmt: skip
        found.append(outcome(call))
    valid = test_spec(test)
    for arguments in ((3, None, valid), (made, 3, valid), (made, spec(train), 3)):
        found.append(outcome(lambda arguments=arguments: run(*arguments)))
    return {"found": found, "files": files(folder)}


PROGRAMS = [both, exports, life, graphs, refused_by_estimators, configurations]

if __name__ == "__main__":
    loops.main(PROGRAMS)
