"""Parts of `tf.contrib.learn` in TensorFlow 1.15: `python contrib_learn_parts.py OUT`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import functools
import importlib
import json
import os

import numpy as np

try:
    from tests.golden import contrib_learn as learn
except ImportError:  # in TensorFlow's Python
    import contrib_learn as learn

structure = learn.structure


def outcome(call):
    """The result, or the error's class and the beginning of its message."""
    try:
        return call()
    except Exception as error:
        return [type(error).__name__, str(error)[:300]]


def inner(tf, path):
    """An inner module of `tensorflow.contrib.learn`, as programs import it."""
    path = f"contrib.learn.python.learn.{path}"
    if tf.__name__ == "tfteach":
        from tfteach.compat import internals

        return internals.inner(path)
    return importlib.import_module(f"tensorflow.{path}")


# ---- models


def _model_cases(tf):
    models, ops = tf.contrib.learn.models, tf.contrib.learn.ops

    def held(*sizes, **dtype):
        return tf.placeholder(dtype.get("dtype", tf.float32), list(sizes))

    def cell():
        return tf.nn.rnn_cell.BasicRNNCell(2)

    def steps(count, *sizes):
        return [held(*sizes) for _ in range(count)]

    return [
        lambda: models.linear_regression(held(None, 4), held(None, 2)),
        lambda: models.linear_regression_zero_init(held(None, 4), held(None)),
        lambda: models.logistic_regression(
            held(None, 4), held(None, 3), init_mean=0.0, init_stddev=2.0
        ),
        lambda: models.logistic_regression_zero_init(held(None, 4), held(None, 3)),
        lambda: ops.softmax_classifier(
            held(None, 4), held(None, 2), held(4, 2), held(2), tf.ones([2]), name="n"
        ),
        lambda: ops.embedding_lookup(held(5, 3), held(2, None, dtype=tf.int32)),
        lambda: ops.categorical_variable(held(2, 2, dtype=tf.int32), 5, 3, "cat"),
        lambda: ops.sequence_classifier(steps(2, None, 3), steps(2, None, 3)),
        lambda: ops.sequence_classifier(
            steps(2, None, 3), steps(2, None, 3), steps(2, None, 3), "n"
        ),
        lambda: ops.seq2seq_inputs(held(2, 3, 4), held(2, 2, 5), 3, 2),
        lambda: ops.rnn_decoder(steps(3, 2, 2), tf.zeros([2, 2]), cell()),
        lambda: ops.rnn_seq2seq(steps(2, 2, 2), steps(3, 2, 2), cell(), scope="s"),
        lambda: ops.rnn_seq2seq(steps(1, 2, 2), steps(2, 2, 2), cell(), cell()),
    ]


def models(tf, folder):
    """The graphs of linear models, embeddings and sequences."""
    found = []
    for case in _model_cases(tf):
        with tf.Graph().as_default() as graph:
            made = outcome(lambda case=case: str(case()))
            found.append([made, structure(graph)])
    return {"found": found}


# ---- metrics


def without_labels(predictions, weights=None):
    return [predictions, weights]


def usual(predictions, labels):
    return [predictions, labels]


def weighted(prediction, target, weight=None):
    return [prediction, target, weight]


def labels_first(labels, other):
    return [labels, other]


def labels_last(other, labels):
    return [other, labels]


def no_known_name(a, b):
    return [a, b]


def one(a):
    return [a]


def stars(*args):
    return list(args)


def logits_first(logits, label):
    return [logits, label]


def two_weights(predictions, labels, weights=None, weight=None):
    return None


FUNCTIONS = [
    without_labels, usual, weighted, labels_first, labels_last, no_known_name, one,
    stars, logits_first, functools.partial(no_known_name, 1),
    functools.partial(weighted, weight=3), two_weights,
]  # fmt: skip


def metric_specs(tf, folder):
    """What a MetricSpec passes to functions of all kinds of arguments."""
    spec, found = tf.contrib.learn.MetricSpec, []
    keys = [
        {}, {"label_key": "l"}, {"weight_key": "w"}, {"prediction_key": "p"},
        {"label_key": "l", "weight_key": "w", "prediction_key": "p"},
    ]  # fmt: skip
    for function in FUNCTIONS:
        for key in keys:
            labels = {"l": "L"} if "label_key" in key else "LABELS"
            predictions = {"p": "P"} if "prediction_key" in key else "PREDICTIONS"
            made = outcome(
                lambda function=function, key=key, labels=labels, p=predictions: spec(
                    function, **key
                ).create_metric_ops({"w": "W"}, labels, p)
            )
            # TensorFlow's message has a set, in an order that differs from run to run.
            found.append(made if "{" not in str(made) else str(made).split("{")[0])
    return {"found": found}


def _specs(tf):
    learn, kinds = tf.contrib.learn, tf.contrib.learn.ProblemType
    full = {
        "probabilities": tf.constant([1.0, 1.0]), "scores": tf.constant([1.0, 2.0]),
        "classes": tf.constant(["a", "b"]),
    }  # fmt: skip
    ids = dict(full, classes=tf.constant([1, 2]))

    def without(*keys):
        return {key: value for key, value in full.items() if key not in keys}

    outputs = [
        full, ids, without("scores"), without("scores", "probabilities"),
        without("classes"), {},
    ]  # fmt: skip
    cases = [
        ({"h": (kind, tensors)}, None, "infer")
        for kind in (
            kinds.UNSPECIFIED, kinds.CLASSIFICATION, kinds.LINEAR_REGRESSION,
            kinds.LOGISTIC_REGRESSION, 99,
        )
        for tensors in outputs
    ]  # fmt: skip
    two = {"h": (kinds.CLASSIFICATION, full), "g": (kinds.LINEAR_REGRESSION, full)}
    cases += [(two, None, "infer"), (two, "g", "infer"), (two, "k", "infer"),
              (two, None, "eval"), (None, None, "infer")]  # fmt: skip
    for alternatives, key, mode in cases:
        ops = learn.ModelFnOps(
            mode, full, tf.constant(1.0), tf.no_op(),
            {"m": (tf.constant(1.0),) * 2, "loss": (tf.constant(1.0),) * 2},
            alternatives,
        )  # fmt: skip
        yield functools.partial(ops.estimator_spec, key)


def specs(tf, folder):
    """The EstimatorSpecs of older models: what they serve, and their metrics."""
    found = []
    for make in _specs(tf):
        made = outcome(make)
        if hasattr(made, "export_outputs"):
            outputs = sorted((made.export_outputs or {}).items(), key=str)
            made = [
                [str(key), type(each).__name__,
                 sorted(str(value) for value in vars(each).values())]
                for key, each in outputs
            ] + [sorted(made.eval_metric_ops)]  # fmt: skip
        found.append(made)
    return {"found": found}


def debugged(tf, folder):
    """The graphs of models without features, and their predictions."""
    debug, learn_ = inner(tf, "estimators.debug"), tf.contrib.learn
    x, found = np.arange(12.0, dtype=np.float32).reshape(6, 2), {}
    for mode in ("train", "eval", "infer"):
        for name, kind, features in (
            ("classes", learn_.multi_class_head(3, enable_centered_bias=True), 3),
            ("numbers", learn_.regression_head(enable_centered_bias=True), 1),
        ):
            with tf.Graph().as_default() as graph:
                tf.train.get_or_create_global_step()
                given = {"a": tf.placeholder(tf.float32, [None, 2], "a"),
                         "s": tf.sparse_placeholder(tf.float32, name="s"),
                         "b": tf.placeholder(tf.float32, [None], "b")}  # fmt: skip
                named = {key: given[key] for key in list(given)[:features]}
                labels = tf.placeholder(tf.int64, [None, 1], "labels")
                debug.debug_model_fn(named, labels, mode, {"head": kind})
                found[f"{name} {mode}"] = structure(graph)

    def input_fn(labels):
        return lambda: ({"a": tf.constant(x)}, tf.constant(labels))

    labels = np.array([0, 1, 1, 2, 1, 0])
    config = learn_.RunConfig(tf_random_seed=1)
    classes = debug.DebugClassifier(folder + "/c", n_classes=3, config=config)
    classes.fit(input_fn=input_fn(labels), steps=3)
    numbers = debug.DebugRegressor(folder + "/n", config=config)
    numbers.fit(input_fn=input_fn(labels.astype(np.float32)), steps=3)
    asked = input_fn(labels)
    # Two steps change the bias at the same time: TensorFlow's numbers vary.
    found["names"] = [
        learn.rounded(list(classes.predict_classes(input_fn=asked))),
        [len(each) for each in classes.predict_proba(input_fn=asked)],
        len(list(numbers.predict_scores(input_fn=asked))),
        classes.get_variable_names(), numbers.get_variable_names(),
    ]  # fmt: skip
    return found


def rates(tf, folder):
    """The graphs of gradients with factors, and names of activations."""
    layers, found = tf.contrib.layers, []
    word = layers.sparse_column_with_hash_bucket("word", 10)
    embedded, one_hot = layers.embedding_column(word, 1), layers.one_hot_column(word)
    deep = inner(tf, "estimators.dnn")._dnn_model_fn
    both = inner(tf, "estimators.dnn_linear_combined")._dnn_linear_combined_model_fn
    for column, activation in ((embedded, "tanh"), (one_hot, None), (embedded, "max")):
        for function, params in (
            (deep, {"feature_columns": [column], "hidden_units": [1],
                    "activation_fn": activation}),
            (both, {"dnn_feature_columns": [column], "dnn_hidden_units": [1],
                    "dnn_optimizer": "Adagrad"}),
        ):  # fmt: skip
            with tf.Graph().as_default() as graph:
                tf.train.get_or_create_global_step()
                words = tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])
                params = dict(params, head=tf.contrib.learn.multi_class_head(2),
                              embedding_lr_multipliers={column: 0.5})  # fmt: skip
                made = outcome(functools.partial(
                    function, {"word": words}, tf.constant([[0], [1]]), "train", params
                ))  # fmt: skip
                found.append(
                    [made[0], made[1].split("(")[0]] if isinstance(made, list)
                    else structure(graph)
                )  # fmt: skip
    return {"found": found}


def clusters(tf, folder):
    """RunConfigs of the environment variable TF_CONFIG."""
    hosts = {"ps": ["a:1", "b:2"], "worker": ["c:3", "d:4"], "master": ["e:5"]}
    worker = {"type": "worker", "index": 1}
    cases = [
        ({}, {}), ({"cluster": hosts}, {}), ({"cluster": hosts, "task": worker}, {}),
        ({"cluster": hosts, "task": {"type": "worker"}}, {}),
        ({"cluster": hosts, "task": {"type": "master"}}, {}),
        ({"cluster": hosts, "task": {"type": "master"}, "environment": "cloud"}, {}),
        ({"cluster": hosts, "task": worker}, {"master": "m"}),
        ({"cluster": {"worker": ["c:3"]}, "task": {"type": "worker"}}, {}),
        ({"cluster": hosts, "task": {"type": "none"}}, {}),
        ({"cluster": hosts, "task": {"type": "ps", "index": 2}}, {}),
        ({"task": {"index": 3}}, {}), ({"model_dir": "d"}, {}),
        ({"model_dir": "d"}, {"model_dir": "e"}),
    ]  # fmt: skip
    found, before = [], os.environ.pop("TF_CONFIG", None)
    try:
        for environment, options in cases:
            os.environ["TF_CONFIG"] = json.dumps(environment)
            config = outcome(lambda o=options: tf.contrib.learn.RunConfig(**o))
            if isinstance(config, list):
                found.append([config[0], config[1].split(" in the")[0]])
                continue
            found.append([
                config.master, config.task_type, config.task_id, config.is_chief,
                config.num_ps_replicas, config.num_worker_replicas,
                config.environment, config.model_dir,
                sorted(config.cluster_spec.as_dict().items()),
            ])  # fmt: skip
    finally:
        os.environ.pop("TF_CONFIG", None)
        if before is not None:
            os.environ["TF_CONFIG"] = before
    return {"found": found}


# ---- exports


def strategies(tf, folder):
    """SignatureDefs by kinds of problems; exports of the best model."""
    module = inner(tf, "utils.saved_model_export_utils")
    kinds = tf.contrib.learn.ProblemType

    def held(dtype, name):
        return tf.placeholder(dtype, [1], name)

    text, number = held(tf.string, "t"), held(tf.float32, "n")
    scores, classes = held(tf.float32, "s"), held(tf.string, "c")
    ids, odds = held(tf.int32, "i"), held(tf.float32, "p")
    outputs = [
        {"scores": scores}, {"classes": classes}, {"classes": ids}, {"o": scores},
        {"classes": ids, "probabilities": odds}, {"o": scores, "q": odds},
        {"classes": classes, "scores": scores, "probabilities": odds}, {"o": ids},
        {"classes": ids, "logits": odds},
    ]  # fmt: skip
    found = []
    for kind in (kinds.CLASSIFICATION, kinds.LOGISTIC_REGRESSION,
                 kinds.LINEAR_REGRESSION, kinds.UNSPECIFIED):  # fmt: skip
        for given in ({"x": text}, {"x": number}, {"x": text, "y": number}):
            for output in outputs:
                made = outcome(functools.partial(
                    module.build_standardized_signature_def, given, output, kind
                ))  # fmt: skip
                if not isinstance(made, list):
                    made = [made.method_name] + [
                        sorted([key, info.name] for key, info in side.items())
                        for side in (made.inputs, made.outputs)
                    ]
                found.append(made)
    select = module.BestModelSelector().update
    best = [
        outcome(functools.partial(select, *each))
        for each in (("a", {"loss": 3}), ("b", {"loss": 4}), ("c", {"loss": 1}),
                     ("d", {"loss": 1}), ("", {"loss": 0}), ("e", {"m": 0}))
    ]  # fmt: skip
    return {
        "signatures": found, "best": best,
        "legacy": [
            str(module.get_input_alternatives(({"f": 1}, None))),
            outcome(lambda: module.build_all_signature_defs({}, {}, "a")),
        ],
    }  # fmt: skip


def collected(tf, folder):
    """Which exports filters keep."""
    gc = inner(tf, "utils.gc")
    paths = [gc.Path("/p", n) for n in (0, 1, 3, 5, 6, 7, 8, 33)]
    filters = [
        gc.largest_export_versions(3), gc.one_of_every_n_export_versions(3),
        gc.mod_export_version(3), gc.negation(gc.mod_export_version(3)),
        gc.union(gc.largest_export_versions(1), gc.mod_export_version(5)),
        gc.one_of_every_n_export_versions(1), gc.largest_export_versions(9),
    ]  # fmt: skip
    return {"kept": [[p.export_version for p in each(paths)] for each in filters]}


# ---- input


def signatures(tf, folder):
    """Signatures of Tensors: which fit, their placeholders and their features."""
    module = inner(tf, "estimators.tensor_signature")
    shapes = None, [None, 2], [3, 2], [None], [], [None, 3]
    held = [tf.placeholder(kind, shape) for shape in shapes
            for kind in (tf.int32, tf.float64)]  # fmt: skip
    held.append(tf.sparse_placeholder(tf.int32))
    made = [module.create_signatures(tensor) for tensor in held]
    # TensorFlow fails to compare dense and sparse ones of one type: they do not fit.
    fits = [
        outcome(functools.partial(module.tensors_compatible, a, b)) is True
        for a in held
        for b in made
    ]
    same = [outcome(functools.partial(a.is_compatible_with, b)) is True
            for a in made for b in made]  # fmt: skip
    known = made[2:]
    places = [
        [str(tensor.dtype), str(tensor.get_shape())]
        for tensor in map(module.create_placeholders_from_signatures, known)
    ]
    features = [str(each.get_feature_spec()) for each in known]
    examples = tf.placeholder(tf.string, [None])
    parsed = module.create_example_parser_from_signatures(
        {"a": made[2], "b": made[5], "c": made[-1]}, examples
    )
    alone = module.create_example_parser_from_signatures(made[2], examples, "one")
    return {
        "fits": [int(fit) for fit in fits], "same": [int(fit) for fit in same],
        "placeholders": places, "features": features,
        "parsed": [str(parsed["a"]), str(parsed["b"]), str(parsed["c"].values),
                   str(alone)],
        "names": [str(made[2]), made[2]._fields, str(module.create_signatures(None))],
        "graph": structure(tf.get_default_graph())[0],
    }  # fmt: skip


def streams(tf, folder):
    """The batches of further inputs: classes in dicts, iterators, epochs."""
    module = inner(tf, "learn_io.data_feeder")
    x, rows = np.array([[1, 2], [3, 4]]), np.array([[0, 1, 2], [2, 3, 4]])
    arrays = [np.array([[1, 2]]), np.array([[3, 4]]), np.array([[5, 6]])]
    columns = [np.array([[1], [2]]), np.array([[2], [2]]), np.array([[0], [1]])]
    whole, streaming = module.DataFeeder, module.StreamingDataFeeder
    feeders = [
        whole(x, np.array([1, 2]), 0, 3), whole(x, rows, 5, 2), whole(x, None, 0, 1),
        whole({"a": x, "b": x}, {"o": rows, "p": np.array([0, 1])},
              {"o": 5, "p": 0}, 2),
        streaming(iter(arrays), iter(columns), 0, 2),
        streaming(iter(arrays), iter(columns), 0, 10),
        streaming(iter(arrays), None, None, 2),
        streaming(iter([{"i": array} for array in arrays]),
                  iter([{"o": array} for array in columns]), {"o": 0}, 2),
    ]  # fmt: skip
    found = []
    for feeder in feeders:
        with tf.Graph().as_default():
            seen = [str(feeder.input_builder()), str(feeder.input_shape),
                    str(feeder.output_shape)]  # fmt: skip
            if not found:
                epoch = feeder.make_epoch_variable()
                seen += [str(epoch), epoch.op.type]
            feeds = feeder.get_feed_dict_fn()
            for _ in range(3):
                fed = outcome(feeds)
                if isinstance(fed, dict):
                    fed = sorted(
                        [key, str(getattr(value, "dtype", None)),
                         np.asarray(value).tolist()]
                        for key, value in fed.items()
                    )  # fmt: skip
                seen.append(fed)
            found.append(seen)
    batches = module.setup_predict_data_feeder(iter([[1, 2], [3, 4], [5, 6]]), 2)
    found.append([batch.tolist() for batch in batches])
    return {"found": found}


def rows_of(examples):
    """A generator function, as `generator_input_fn` needs one."""

    def generator():
        yield from examples

    return generator


def generated(tf, folder):
    """The graphs and batches of input functions of generators."""
    make, found = tf.contrib.learn.io.generator_input_fn, []
    pairs = [{"a": np.ones([2]) * i, "t": np.float32(i)} for i in range(5)]
    sizes = [{"a": np.ones([2, 1 + i % 2]) * i} for i in range(4)]
    once = {"shuffle": False, "batch_size": 2}
    for examples, options in (
        (pairs, once), (pairs, dict(once, target_key="t", batch_size=8)),
        (pairs, dict(once, target_key=["t", "a"])),
        (sizes, dict(once, pad_value=-1)),
        ([{"a": np.array(b"x")}, {"a": np.array(b"y")}], once),
    ):  # fmt: skip
        with tf.Graph().as_default() as graph, tf.Session() as session:
            batch = make(rows_of(examples), **options)()
            seen = [str(batch), structure(graph)]
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            for _ in range(6):
                values = outcome(functools.partial(session.run, batch))
                if isinstance(values, list):  # the end
                    seen.append(values[0])
                    break
                flat = values if isinstance(values, tuple) else (values,)
                seen.append([
                    sorted([key, str(np.asarray(value).tolist())] for key, value in
                           (part.items() if isinstance(part, dict) else [["", part]]))
                    for part in flat
                ])  # fmt: skip
            coordinator.request_stop()
            ended = outcome(functools.partial(coordinator.join, threads))
            found.append([*seen, ended and ended[0]])
    shuffled = {"num_epochs": None, "num_threads": 2, "queue_capacity": 100}
    with tf.Graph().as_default() as graph:
        make(rows_of(pairs), **shuffled)()
        found.append(structure(graph))
    refused = [
        (1, {}), (lambda: 3, {}), (rows_of([np.ones(1)]), {}),
        (rows_of(pairs), {"target_key": 3}), (rows_of(pairs), {"target_key": [3]}),
        (rows_of(pairs), {"target_key": ["a", "z"]}),
    ]  # fmt: skip
    errors = [outcome(lambda each=each: make(each[0], **each[1])) for each in refused]
    return {"found": found, "errors": errors}


# ---- data sets


def synthetic(tf, folder):
    """Points on circles and spirals; arrays in two parts."""
    shapes, make = inner(tf, "datasets.synthetic"), []
    for count in (3, 8, 9):
        for noise in (None, 0.1):
            make += [
                functools.partial(shapes.circles, count, noise, 3, n_classes=classes)
                for classes in (1, 2, 3)
            ]
            make += [
                functools.partial(shapes.spirals, count, noise, 3, mode, loops)
                for mode in ("archimedes", "bernoulli", "fermat")
                for loops in (1, 2)
            ]
    points = [each() for each in make]
    split = inner(tf, "estimators._sklearn").train_test_split
    options = [{}, {"test_size": 0.3}, {"train_size": 0.3}, {"random_state": 1},
               {"test_size": 0.0}, {"test_size": 0.2, "train_size": 0.9}]  # fmt: skip
    np.random.seed(7)
    load = tf.contrib.learn.datasets.load_dataset
    named = tf.contrib.learn.datasets.make_dataset
    return {
        "points": [
            [np.round(np.nan_to_num(data, nan=9.0), 6).tolist()
             if hasattr(data, "tolist") else data, target.tolist(), str(target.dtype)]
            for data, target in points
        ],
        "split": [
            [part.tolist() for part in split(
                np.arange(10), np.arange(10) * 2, **{"random_state": 42, **option}
            )]
            for option in options
        ] + [float(np.random.rand())],
        "named": [
            np.round(named("circles", 5, factor=0.5).data, 6).tolist(),
            outcome(lambda: shapes.spirals(3, mode="none")),
            outcome(lambda: named("none")), outcome(lambda: load("none")),
        ],
    }  # fmt: skip


PROGRAMS = [
    models, metric_specs, specs, debugged, clusters, rates, strategies, collected,
    signatures,
    streams, generated, synthetic,
]  # fmt: skip

if __name__ == "__main__":
    learn.loops.main(PROGRAMS)
