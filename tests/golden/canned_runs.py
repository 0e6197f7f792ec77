"""Canned estimators as they train, evaluate, predict, save and stop, in TF 1.15.

As in training_loops.py: `python canned_runs.py canned_runs.json`;
tests/lib/estimator/test_canned_runs.py compares.
"""

import os
import re

import numpy as np

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

X = np.arange(12, dtype=np.float32).reshape(6, 2)
WORDS = np.array(list("abcabc"))
KINDS = np.array([0, 1, 0, 1, 1, 0])
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def rounded(value):
    """Numbers with six digits, also in text."""
    if isinstance(value, str):
        return NUMBER.sub(lambda m: f"{float(m.group()):.6g}", value)
    if isinstance(value, dict):
        return {str(k): rounded(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    if isinstance(value, np.ndarray):
        return rounded(value.tolist())
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}")
    return int(value) if isinstance(value, np.integer) else value


def plain(value):
    """Errors without the modules of classes."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, str):
        return re.sub(r"\b(tensorflow|tfteach)(\.\w+)*\.(\w+)", r"\3", value)
    return value


def dataset(tf, repeats=None):
    def read():
        rows = tf.data.Dataset.from_tensor_slices(({"x": X, "word": WORDS}, KINDS))
        return rows.repeat(repeats).batch(3)

    return read


def columns(tf):
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    return fc.numeric_column("x", 2), word, fc.embedding_column(word, 2)


def config(tf, folder, **options):
    options = {"save_checkpoints_steps": 4, "log_step_count_steps": 2, **options}
    return tf.estimator.RunConfig(folder, 3, save_summary_steps=2, **options)


def estimators(tf, folder):
    """One of each kind, by name."""
    x, word, embedding = columns(tf)
    make = tf.estimator
    return {
        "baseline": make.BaselineClassifier(config=config(tf, folder)),
        "linear": make.LinearClassifier([x, word], config=config(tf, folder)),
        "dnn": make.DNNClassifier(
            [4, 3], [x, embedding], config=config(tf, folder), dropout=0.25,
            batch_norm=True,
        ),
        "combined": make.DNNLinearCombinedClassifier(
            folder, [word], dnn_feature_columns=[x], dnn_hidden_units=[4],
            config=config(tf, folder),
        ),
    }  # fmt: skip


def _life(tf, folder, kind):
    """Train, train on with a new object, evaluate and predict."""
    made = estimators(tf, folder)[kind]
    made.train(dataset(tf), steps=5)
    made = estimators(tf, folder)[kind]
    made.train(dataset(tf), max_steps=7)
    results = made.evaluate(dataset(tf, 1))
    predicted = list(made.predict(dataset(tf, 1)))
    types = {k: [str(v.dtype), list(v.shape)] for k, v in predicted[0].items()}
    values = {n: made.get_variable_value(n) for n in made.get_variable_names()}
    return {
        "results": rounded(results), "types": types,
        "result types": {k: type(v).__name__ for k, v in results.items()},
        "predicted": rounded(predicted), "values": rounded(values),
        "files": loops.files(folder), "events": loops.events(tf, folder),
    }  # fmt: skip


def baseline(tf, folder):
    return _life(tf, folder, "baseline")


def linear(tf, folder):
    return _life(tf, folder, "linear")


def dnn(tf, folder):
    return _life(tf, folder, "dnn")


def combined(tf, folder):
    return _life(tf, folder, "combined")


def warm_start(tf, folder):
    """All or some variables from another model, with another vocabulary."""
    first = os.path.join(folder, "first")
    estimators(tf, first)["combined"].train(dataset(tf), steps=4)
    fc = tf.feature_column
    x = columns(tf)[0]
    more = fc.categorical_column_with_vocabulary_list("word", ["c", "a", "d"])
    found = []
    vocabularies = {}
    for name, words in (("old", "abc"), ("new", "cad")):
        vocabularies[name] = os.path.join(folder, name)
        with open(vocabularies[name], "w") as file:
            file.write("\n".join(words))
    remapped = fc.categorical_column_with_vocabulary_file(
        "word", vocabularies["new"], 3
    )
    info = tf.estimator.VocabInfo(vocabularies["new"], 3, 0, vocabularies["old"])
    settings = tf.estimator.WarmStartSettings(
        first, ".*linear_model.*word.*",
        {"linear/linear_model/word/weights": info},
    )  # fmt: skip
    for number, (column, given) in enumerate([(more, first), (remapped, settings)]):
        place = os.path.join(folder, f"second{number}")
        made = tf.estimator.DNNLinearCombinedClassifier(
            place, [column], dnn_feature_columns=[x], dnn_hidden_units=[4],
            config=config(tf, place), warm_start_from=given,
        )  # fmt: skip
        made.train(dataset(tf), steps=1)
        names = [n for n in made.get_variable_names() if "Ftrl" not in n]
        start = os.path.join(place, "model.ckpt-0")
        found.append(rounded({n: tf.train.load_variable(start, n) for n in names}))
    return {"found": found}


def exports(tf, folder):
    """Signatures of exported models, and what these say."""
    x, word, _ = columns(tf)
    spec = tf.estimator.classifier_parse_example_spec([x, word], "label")
    del spec["label"]
    parsing = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    found = {}
    for kind, made in estimators(tf, folder).items():
        if kind in ("baseline", "dnn"):
            continue
        place = os.path.join(folder, kind)
        made = estimators(tf, place)[kind]
        made.train(dataset(tf), steps=2)
        path = made.export_saved_model(os.path.join(place, "exports"), parsing)
        with tf.Graph().as_default(), tf.Session() as session:
            meta = tf.saved_model.load(session, ["serve"], path)
            example = tf.train.Example()
            example.features.feature["x"].float_list.value.extend([1.0, 2.0])
            example.features.feature["word"].bytes_list.value.append(b"b")
            given = [example.SerializeToString()]
            for key, signature in sorted(meta.signature_def.items()):
                fetches = {k: t.name for k, t in signature.outputs.items()}
                feeds = {t.name: given for t in signature.inputs.values()}
                values = session.run(fetches, feeds)
                names = {k: t.name for k, t in signature.inputs.items()}
                method = signature.method_name
                found[kind + key] = [method, names, fetches, rounded(values)]
    return {"found": found}


def metrics(tf, folder):
    """Further metrics, also those of metrics."""

    calls = []

    def own(labels, predictions):
        calls.append(1)
        mean = tf.metrics.mean(predictions["logistic"])
        return {"own": mean, "accuracy": tf.metrics.mean(tf.cast(labels, tf.float32))}

    def of_features(features, config):
        return {"largest": tf.metrics.mean(tf.reduce_max(features["x"]))}

    made = estimators(tf, folder)["linear"]
    added = tf.estimator.add_metrics(made, own)
    added = tf.contrib.estimator.add_metrics(added, of_features)
    added.train(dataset(tf), steps=2)
    found = [len(calls), rounded(added.evaluate(dataset(tf, 1)))]
    for call in (
        lambda: tf.estimator.add_metrics(made, lambda q: 1),
        lambda: tf.estimator.add_metrics(3, own),
        lambda: tf.estimator.add_metrics(made, lambda labels: {"a": 1}).evaluate(
            dataset(tf, 1)
        ),
    ):
        found.append(loops.outcome(call))
    return {"found": found, "same": [added.model_dir == folder]}


def early_stops(tf, folder):
    """What ends a training: a function, metrics of evaluations, a step."""
    made = estimators(tf, folder)["linear"]
    make = tf.estimator.experimental
    calls, found = [], []

    def should_stop():
        calls.append(1)
        return len(calls) > 3

    def trained(*hooks, steps=30):
        made.train(dataset(tf), hooks=hooks, max_steps=steps)
        found.append(int(made.get_variable_value("global_step")))

    trained(make.make_early_stopping_hook(made, should_stop, None, 2))
    found.append([len(calls), made.get_variable_names()])
    made.evaluate(dataset(tf, 1))
    trained(make.stop_if_lower_hook(made, "loss", 99.0, run_every_secs=None,
                                    run_every_steps=1))  # fmt: skip
    trained(make.make_stop_at_checkpoint_step_hook(made, 10))
    for call in (
        lambda: make.make_early_stopping_hook(3, should_stop),
        lambda: make.make_early_stopping_hook(made, should_stop, 60, 3),
        lambda: make.make_early_stopping_hook(made, should_stop, None, None),
        lambda: make.make_early_stopping_hook(made, 3),
    ):
        found.append(loops.outcome(call))
    return {"found": found, "files": loops.files(folder)}


def stops_by_metrics(tf, folder):
    """Each hook beside evaluations of five steps."""
    made = estimators(tf, folder)["linear"]
    losses = [(1, 5.0), (10, 4.0), (20, 4.5), (30, 4.25)]
    writer = tf.summary.FileWriter(made.eval_dir())
    for step, loss in losses:
        value = tf.Summary.Value(tag="loss", simple_value=loss)
        writer.add_summary(tf.Summary(value=[value]), step)
    writer.close()
    found = []
    for name, number, *rest in (
        ("lower", 4.0), ("lower", 4.125), ("lower", 4.125, None, 11),
        ("higher", 4.375, None, 20), ("no_decrease", 20), ("no_decrease", 21),
        ("no_increase", 29), ("no_increase", 30), ("no_decrease", 10, None, 25),
        ("lower", 9.0, "absent"),
    ):  # fmt: skip
        hook = getattr(tf.estimator.experimental, f"stop_if_{name}_hook")
        made_hook = hook(
            made, "loss", number, *rest, run_every_secs=None, run_every_steps=1
        )
        made.train(dataset(tf), hooks=[made_hook], steps=2)
        found.append(int(made.get_variable_value("global_step")))
    hook = tf.estimator.experimental.stop_if_lower_hook(made, "absent", 1.0)
    found.append(loops.outcome(lambda: made.train(dataset(tf), hooks=[hook], steps=1)))
    return {"found": found}


def in_memory(tf, folder):
    """Evaluations while training."""
    made = estimators(tf, folder)["combined"]
    make = tf.estimator.experimental.InMemoryEvaluatorHook
    hook = make(made, dataset(tf, 1), every_n_iter=3, name="own")
    made.train(dataset(tf), hooks=[hook], steps=7)
    short = make(made, dataset(tf), steps=1, every_n_iter=5)
    made.train(dataset(tf), hooks=[short], steps=1)
    found = []
    for call in (
        lambda: make(made, dataset(tf), every_n_iter=0),
        lambda: make(made, dataset(tf), every_n_iter=None),
        lambda: make(made, dataset(tf), steps=0),
        lambda: make(made, dataset(tf), hooks=[3]),
    ):
        found.append(loops.outcome(call))
    events = loops.events(tf, made.eval_dir("own"))
    return {
        "found": found, "files": loops.files(folder),
        "events": [e for e in events if e[0] == "summary"],
    }  # fmt: skip


def best_exports(tf, folder):
    """Which of several evaluations are exported."""
    made = estimators(tf, folder)["linear"]
    x = tf.placeholder(tf.float32, [None, 2])
    word = tf.placeholder(tf.string, [None])
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": x, "word": word}
    )
    made.train(dataset(tf), steps=1)
    path = made.latest_checkpoint()
    make = tf.estimator.BestExporter
    found = []

    def more_accurate(best_eval_result, current_eval_result):
        return best_eval_result["accuracy"] < current_eval_result["accuracy"]

    def results(exporter, *values, key="loss"):
        base = os.path.join(folder, "export", exporter.name)
        found.append(
            [
                loops.outcome(
                    lambda value=value: (
                        exporter.export(made, base, path, {key: value}, False) is None
                    )
                )
                for value in values
            ]
        )

    early = make("early", receiver)
    found.append(loops.outcome(lambda: early.export(made, folder, path, {}, False))[:1])
    made.evaluate(dataset(tf, 1))
    writer = tf.summary.FileWriter(made.eval_dir(), filename_suffix=".more")
    for loss in (1.0, 5.0):
        value = tf.Summary.Value(tag="loss", simple_value=loss)
        writer.add_summary(tf.Summary(value=[value]), 9)
    writer.close()
    results(make("read", receiver), 9.0, 1.5, 0.125)
    results(make("unread", receiver, None), 3.0, 3.5)
    results(make("own", receiver, None, more_accurate), 0.5, 0.25, key="accuracy")
    for call in (
        lambda: make("a", receiver, exports_to_keep=0),
        lambda: make("a", receiver, compare_fn=None),
        lambda: make("a", receiver, compare_fn=lambda a, b: 1),
        lambda: make("a", receiver, compare_fn=lambda best_eval_result: 1),
        lambda: make(
            "a",
            receiver,
            compare_fn=lambda best_eval_result, current_eval_result, z: 1,
        ),
        lambda: make(serving_input_receiver_fn=receiver).name,
    ):
        found.append(loops.outcome(call))
    return {"found": found}


def forwarded(tf, folder):
    """Features in predictions; clipped gradients."""
    make = tf.contrib.estimator
    made = tf.estimator.LinearRegressor(
        [columns(tf)[0]], config=config(tf, folder),
        optimizer=lambda: make.clip_gradients_by_norm(
            tf.train.MomentumOptimizer(0.01, 0.5), 2.0
        ),
    )  # fmt: skip
    made.train(dataset(tf), steps=3)
    found = [
        rounded({n: made.get_variable_value(n) for n in made.get_variable_names()})
    ]

    def first(*args, fn=None, **kwargs):
        wrapped = make.forward_features(made, *args, **kwargs)
        rows = wrapped.predict(fn or dataset(tf, 1))
        return rounded(next(rows))

    def sparse():
        tensor = tf.SparseTensor([[0, 0], [1, 1]], [5, 6], [2, 2])
        rows = tf.data.Dataset.from_tensors({"x": X[:2], "s": tensor})
        return rows

    for call in (
        lambda: first("word"), lambda: first(), lambda: first(["x", "word"]),
        lambda: first(3), lambda: first([3]), lambda: first("absent"),
        lambda: first("s", fn=sparse),
        lambda: first("s", {"s": -1}, fn=sparse),
        lambda: make.forward_features(make.forward_features(made, "x"), "word") and 1,
    ):  # fmt: skip
        found.append(loops.outcome(call))
    return {"found": found}


def predictors(tf, folder):
    """Estimators as functions; one graph for all calls."""
    make = tf.contrib.predictor
    made = estimators(tf, folder)["combined"]
    made.train(dataset(tf), steps=3)
    spec = tf.estimator.classifier_parse_example_spec(columns(tf)[:2], "label")
    del spec["label"]
    parsing = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)

    def raw():
        features = {
            "x": tf.placeholder(tf.float32, [None, 2], name="x"),
            "word": tf.placeholder(tf.string, [None], name="word"),
        }
        inputs = {"numbers": features["x"], "words": features["word"]}
        return tf.estimator.export.ServingInputReceiver(features, inputs)

    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0])
    example.features.feature["word"].bytes_list.value.append(b"b")
    given = [example.SerializeToString()] * 2
    found = []
    for fn, key, feed in (
        (raw, "predict", {"numbers": X[:2], "words": WORDS[:2]}),
        (parsing, None, {"inputs": given}), (parsing, "regression", {"inputs": given}),
    ):  # fmt: skip
        predict = make.from_estimator(made, fn, key)
        names = {k: t.name for k, t in predict.fetch_tensors.items()}
        feeds = {k: t.name for k, t in predict.feed_tensors.items()}
        values = [rounded(predict(feed)) for _ in range(2)]
        found.append([type(predict).__name__, names, feeds, values])
    graph = tf.Graph()
    predict = make.from_estimator(made, raw, "predict", graph)
    found.append([predict.graph is graph, graph.finalized])
    found.append(loops.outcome(lambda: predict({"other": 1}))[1].split("\n")[0])
    for call in (
        lambda: make.from_estimator(made, raw),
        lambda: make.from_estimator(made, parsing, "absent"),
        lambda: make.from_contrib_estimator(made, raw),
    ):  # fmt: skip
        found.append(loops.outcome(call))
    other = os.path.join(folder, "untrained")
    untrained = estimators(tf, other)["linear"]
    predict = make.from_estimator(untrained, raw, "predict")
    values = predict({"numbers": X[:2], "words": WORDS[:2]})
    found.append(rounded(values["logits"]))
    return {"found": found}


def many_steps(tf, folder):
    """Losses of 100 steps with dropout and batch normalization.

    A learning rate at which rounding does not grow: with 0.1, TensorFlow's own losses
    differ by percents after 200 steps when an input differs in its last bit.
    """
    x = np.random.RandomState(0).randn(64, 4).astype(np.float32)
    labels = (x.sum(1) > 0).astype(np.int64)
    losses = []

    class Record(tf.train.SessionRunHook):
        def before_run(self, run_context):
            total = tf.get_default_graph().get_tensor_by_name(
                "dnn/head/weighted_loss/Sum:0"
            )
            return tf.train.SessionRunArgs(total)

        def after_run(self, run_context, run_values):
            losses.append(float(run_values.results))

    made = tf.estimator.DNNClassifier(
        [8, 6], [tf.feature_column.numeric_column("x", [4])],
        config=tf.estimator.RunConfig(folder, 7), dropout=0.3, batch_norm=True,
        optimizer=tf.train.AdamOptimizer(0.01),
    )  # fmt: skip
    rows = tf.estimator.inputs.numpy_input_fn({"x": x}, labels, 16, None, False)
    made.train(rows, [Record()], steps=100)
    moving = [n for n in made.get_variable_names() if "moving" in n]
    values = {name: made.get_variable_value(name) for name in moving}
    return {"losses": rounded(losses), "values": rounded(values)}


PROGRAMS = [
    many_steps, baseline, linear, dnn, combined, warm_start, exports, metrics,
    early_stops, stops_by_metrics, in_memory, best_exports, forwarded, predictors,
]  # fmt: skip


def run(tf, program):
    """What a program returns, without graphs; numbers in its log lines rounded."""
    found = loops.run(tf, program)
    lines = [line for line in found["log"] if "Using config" not in line]
    found["log"] = [rounded(line) for line in lines]
    if "found" in found:
        found["found"] = plain(found["found"])
    for event in found.get("events", ()):
        if event[0] == "graph_def":
            event[2] = len(event[2])
    return found


if __name__ == "__main__":
    loops.main(PROGRAMS, run)
