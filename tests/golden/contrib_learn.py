"""`tf.contrib.learn` in TensorFlow 1.15: `python contrib_learn.py contrib_learn.json`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import functools
import os
import re
import zlib

import numpy as np

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

events, files, outcome = loops.events, loops.files, loops.outcome

X = np.arange(24, dtype=np.float32).reshape(6, 4) / 10
CLASSES = np.array([0, 1, 2, 0, 1, 2])
SUMS = X.sum(1)

# What the outline of a graph leaves out; the checksum covers it.
_DETAILS = re.compile(
    r"(^|/)(save|report_|zero_fraction|gradients|Initializer|cond|assert|broadcast|auc"
    r"|\w+_at_thresholds|accuracy\w*|mean\w*|table_init|_classification_output)|"
    r"(/read|/Assign|weights/.*)$|^(init|group_deps|concat)"
)


def structure(graph, first=0):
    """The outline of a graph's ops from the `first` on, and a checksum of all."""
    lines, shown = [], []
    for op in graph.get_operations()[first:]:
        inputs = [i.name for i in op.inputs]
        controls = sorted(i.name for i in op.control_inputs)
        lines.append(f"{op.name} {op.type} {op.device} {inputs} {controls}")
        if op.type != "Const" and not _DETAILS.search(op.name):
            shown.append(f"{op.name} {op.type}")
    text = "\n".join(lines)
    return [len(lines), zlib.crc32(text.encode()), *shown]


def rounded(value, digits=6):
    """Numbers with six digits, keys in order."""
    if isinstance(value, dict):
        return [[str(k), rounded(value[k], digits)] for k in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        return str(value)
    # No -0.0.
    return (np.round(array.astype(float), digits) + 0.0).tolist()


def summaries(tf, folder):
    """The tags and steps in a folder's event files, and the kinds of other events."""
    return [
        [kind, step, held if kind == "summary" else None]
        for kind, step, held in events(tf, folder)
    ]


def watch(tf, found, key):
    class Watch(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            found[key] = structure(session.graph)

    return Watch()


# ---- heads


def _head_cases(tf):
    learn = tf.contrib.learn
    train, test, infer = learn.ModeKeys.TRAIN, learn.ModeKeys.EVAL, learn.ModeKeys.INFER

    def held(dtype, *sizes, **named):
        return lambda: tf.placeholder(dtype, list(sizes), **(named or {"name": "y"}))

    def two():
        return {
            "a": tf.placeholder(tf.int64, [None], name="ya"),
            "b": tf.placeholder(tf.float32, [None, 1], name="yb"),
        }

    many, one = learn.multi_class_head, learn.regression_head
    ids, column = held(tf.int64, None), held(tf.int64, None, 1)
    floats = held(tf.float32, None, 1)

    def several():
        return learn.multi_head(
            [many(3, label_name="a", head_name="a"), one("b", head_name="b")], [1.0, 2]
        )

    return [
        ("classes", lambda: many(3), test, 3, column),
        ("classes weighted", lambda: many(3, None, "w"), train, 3, column),
        ("classes inferred", lambda: many(3), infer, 3, None),
        ("classes metrics", lambda: many(3, metric_class_ids=[1]), test, 3, ids),
        ("classes keys", lambda: many(3, label_keys=["a", "b", "c"]), test, 3,
         held(tf.string, None)),
        ("classes named", lambda: many(3, "q", head_name="hh"), test, 3,
         lambda: {"q": ids()}),
        ("classes centered", lambda: many(3, enable_centered_bias=True), train, 3, ids),
        ("binary weighted", lambda: many(2, None, "w", thresholds=[0.2]), train, 1,
         column),
        ("binary", lambda: many(2), test, 1, held(tf.int32, None)),
        ("binary inferred", lambda: many(2), infer, 1, None),
        ("binary centered", lambda: many(2, enable_centered_bias=True), train, 1, ids),
        ("numbers weighted", lambda: one(None, "w"), train, 1, held(tf.float32, None)),
        ("numbers", lambda: one(label_dimension=2), train, 2,
         held(tf.float32, None, 2)),
        ("numbers of ints", lambda: one(), test, 1, ids),
        ("numbers inferred", lambda: one(), infer, 1, None),
        ("numbers linked", lambda: one(link_fn=tf.exp), test, 1, floats),
        ("poisson", lambda: learn.poisson_regression_head(), test, 1, floats),
        ("margin", lambda: learn.binary_svm_head(), test, 1, column),
        ("labels", lambda: learn.multi_label_head(3, metric_class_ids=[1]), test, 3,
         held(tf.int64, None, 3)),
        ("labels weighted", lambda: learn.multi_label_head(3, None, "w"), train, 3,
         held(tf.int64, None, 3)),
        ("labels sparse", lambda: learn.multi_label_head(3), train, 3,
         lambda: tf.sparse_placeholder(tf.int64, [None, 3], name="y")),
        ("loss only", lambda: learn.head.loss_only_head(lambda: tf.constant(3.0)),
         train, 1, None),
        ("several", several, train, 4, two),
        ("several", several, test, 4, two),
        ("several", several, infer, 4, None),
        ("from a layer", lambda: many(3), train, None, ids),
        ("labels weighted metrics",
         lambda: learn.multi_label_head(3, None, "w", metric_class_ids=[1]), test, 3,
         held(tf.int64, None, 3)),
        ("classes weighted metrics", lambda: many(3, None, "w", metric_class_ids=[1]),
         test, 3, column),
        ("arrays", lambda: many(3), test, lambda: ((1.0, 2.0, 3.0),), lambda: ((1,),)),
        ("arrays of several", several, train,
         lambda: {"a": ((1.0, 2.0, 3.0),), "b": ((1.0,),)},
         lambda: {"a": (1,), "b": ((2.0,),)}),
        ("sparse arrays", lambda: learn.multi_label_head(3), test,
         lambda: ((1.0, 2.0, 3.0),),
         lambda: tf.SparseTensorValue([[0, 0]], [2], [1, 1])),
    ]  # fmt: skip


def heads(tf, folder):
    """The graphs of all heads, and what they return."""
    found = {}
    for name, make, mode, size, labels in _head_cases(tf):
        with tf.Graph().as_default() as graph:
            tf.train.get_or_create_global_step()
            features = {"w": tf.placeholder(tf.float32, [None, 1], name="w")}
            given = labels() if labels else None
            if callable(size):
                layer = size()
            else:
                layer = tf.placeholder(tf.float32, [None, size or 5], name="logits")
            first = len(graph.get_operations())
            key = "logits" if size else "logits_input"
            ops = make().create_model_fn_ops(
                features, mode, labels=given,
                train_op_fn=lambda loss: tf.assign_add(tf.train.get_global_step(), 1),
                **{key: layer},
            )  # fmt: skip
            outputs = ops.output_alternatives or {}
            found[f"{name}, {mode}"] = [
                structure(graph, first),
                sorted(map(str, ops.predictions or {})),
                sorted(map(str, ops.eval_metric_ops)),
                [[str(key), kind, sorted(map(str, tensors))]
                 for key, (kind, tensors) in sorted(outputs.items(), key=str)],
                [str(ops.loss), ops.train_op and ops.train_op.name],
            ]  # fmt: skip
    return found


# ---- models


def _wide_columns(tf):
    layers = tf.contrib.layers
    job = layers.sparse_column_with_hash_bucket("job", 10)
    school = layers.sparse_column_with_keys("school", ["a", "b"])
    age = layers.real_valued_column("age")
    buckets = layers.bucketized_column(age, [1.0, 2.0])
    return job, school, age, buckets, layers.crossed_column([job, school], 20)


def _census(tf):
    places = [[0, 0], [1, 0], [2, 0]]

    def input_fn():
        features = {
            "age": tf.constant([[1.0], [2.0], [3.0]]),
            "job": tf.SparseTensor(places, ["x", "y", "z"], [3, 1]),
            "school": tf.SparseTensor(places, ["a", "b", "a"], [3, 1]),
            "weight": tf.constant([[1.0], [2.0], [0.5]]),
        }
        return features, tf.constant([[1], [0], [1]])

    return input_fn


def _census_models(tf):
    learn, layers = tf.contrib.learn, tf.contrib.layers
    job, school, age, buckets, crossed = _wide_columns(tf)
    wide, every = [job, school, buckets, crossed], [job, school, age, buckets, crossed]
    deep = [age, layers.embedding_column(job, 2), layers.one_hot_column(school)]
    adam = tf.train.AdamOptimizer(0.01)
    fc = tf.feature_column
    newer = [fc.categorical_column_with_vocabulary_list("school", ["a", "b"])]
    newer_deep = [fc.embedding_column(newer[0], 2), fc.indicator_column(job)]
    return {
        "linear": lambda **o: learn.LinearClassifier(every, **o),
        "linear weighted": lambda **o: learn.LinearClassifier(
            every, weight_column_name="weight", **o
        ),
        "linear numbers": lambda **o: learn.LinearRegressor(
            every, optimizer="SGD", gradient_clip_norm=0.1, **o
        ),
        "deep": lambda **o: learn.DNNClassifier([3, 2], deep, optimizer=adam, **o),
        "wide and deep": lambda **o: learn.DNNLinearCombinedClassifier(
            linear_feature_columns=wide, dnn_feature_columns=deep,
            dnn_hidden_units=[3, 2], **o
        ),
        "counted once": lambda **o: learn.DNNLinearCombinedRegressor(
            linear_feature_columns=wide, dnn_feature_columns=deep,
            dnn_hidden_units=[3], fix_global_step_increment_bug=True, dnn_dropout=0.1,
            gradient_clip_norm=1.0, **o
        ),
        "wide": lambda **o: learn.DNNLinearCombinedClassifier(
            linear_feature_columns=wide, **o
        ),
        "joint": lambda **o: learn.LinearClassifier(
            [job, school], _joint_weight=True, **o
        ),
        "newer columns": lambda **o: learn.DNNLinearCombinedClassifier(
            linear_feature_columns=[job, *newer], dnn_hidden_units=[3],
            dnn_feature_columns=[age, *newer_deep], fix_global_step_increment_bug=True,
            **o
        ),
    }  # fmt: skip


def census(tf, folder):
    """Models of the older columns: graphs, losses, predictions."""
    found = {}
    for name, make in _census_models(tf).items():
        config = tf.contrib.learn.RunConfig(tf_random_seed=1)
        model = make(model_dir=os.path.join(folder, name), config=config)
        input_fn = _census(tf)
        model.fit(
            input_fn=input_fn, steps=2, monitors=[watch(tf, found, f"{name} train")]
        )
        results = model.evaluate(
            input_fn=input_fn, steps=1, hooks=[watch(tf, found, f"{name} eval")]
        )
        predicted = list(model.predict(input_fn=input_fn))
        found[name] = [rounded(results), rounded(predicted)]
    return found


def _iris_models(tf):
    learn = tf.contrib.learn
    columns = [tf.contrib.layers.real_valued_column("", dimension=4)]
    return {
        "classes": (CLASSES, lambda **o: learn.DNNClassifier([3, 2], columns,
                                                             n_classes=3, **o)),
        "two": (CLASSES % 2, lambda **o: learn.DNNClassifier(
            [3, 2], columns, dropout=0.1, gradient_clip_norm=0.5,
            activation_fn=tf.tanh, **o)),
        "numbers": (SUMS, lambda **o: learn.DNNRegressor([3], columns, **o)),
        "pairs": (X[:, :2], lambda **o: learn.DNNRegressor(
            [3], columns, label_dimension=2, optimizer="SGD", **o)),
        "linear": (CLASSES, lambda **o: learn.LinearClassifier(columns, n_classes=3,
                                                               **o)),
        "counts": (SUMS, lambda **o: learn.DNNEstimator(
            learn.poisson_regression_head(), [3], columns, **o)),
        "linear counts": (SUMS, lambda **o: learn.LinearEstimator(
            columns, learn.poisson_regression_head(), **o)),
    }  # fmt: skip


def iris(tf, folder):
    """Models of arrays: graphs, losses in batches, predictions, checkpoints."""
    found = {}
    for name, (labels, make) in _iris_models(tf).items():
        config = tf.contrib.learn.RunConfig(tf_random_seed=1, save_summary_steps=2)
        place = os.path.join(folder, name)
        model = make(model_dir=place, config=config)
        hook = watch(tf, found, f"{name} train")
        model.fit(X, labels, steps=3, batch_size=4, monitors=[hook])
        model.fit(x=X, y=labels, max_steps=5)
        found[name] = [
            rounded(model.evaluate(X, labels, batch_size=4)),
            rounded(list(model.predict(X, as_iterable=True))),
            rounded([model.get_variable_value(n) for n in model.get_variable_names()]),
            model.get_variable_names(), files(place), summaries(tf, place),
            summaries(tf, os.path.join(place, "eval")),
        ]  # fmt: skip
        if hasattr(model, "predict_proba"):
            found[name].append(rounded(model.predict_proba(X, as_iterable=False)))
            found[name].append(rounded(model.predict_classes(X, as_iterable=False)))
    return found


# ---- estimators


def model_fn(tf):
    def build(features, labels, mode):
        w = tf.get_variable("w", [4], initializer=tf.zeros_initializer())
        found = tf.reduce_sum(features * w, 1, name="p")
        loss = train = None
        if labels is not None:
            loss = tf.losses.mean_squared_error(labels, found)
            loss = tf.identity(loss, name="error")
        if mode == "train":
            step = tf.train.get_global_step()
            train = tf.contrib.layers.optimize_loss(loss, step, 0.01, "SGD")
        return found, loss, train

    return build


def with_ops(tf):
    def build(features, labels, mode, params, config, model_dir):
        found, loss, train = model_fn(tf)(features["x"] * params["scale"], labels, mode)
        metrics = None
        if labels is not None:
            metrics = {"error": tf.metrics.mean_absolute_error(labels, found)}
        return tf.contrib.learn.ModelFnOps(
            mode, {"p": found, "twice": found * 2}, loss, train, metrics
        )

    return build


def life(tf, folder):
    """Estimators of own functions: arrays, input functions, all kinds of results."""
    learn, found = tf.contrib.learn, {}
    make = learn.Estimator
    one = make(model_fn(tf), os.path.join(folder, "one"))
    one.fit(X, SUMS, steps=3, batch_size=4, monitors=[watch(tf, found, "train")])
    one.partial_fit(X, SUMS, batch_size=4)
    one.fit(X, SUMS, max_steps=4)

    def constants():
        return tf.constant(X), tf.constant(SUMS)

    spec = learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error)
    error = tf.contrib.metrics.streaming_mean_absolute_error
    hook, both = watch(tf, found, "eval"), {"m": spec, "n": error}
    found["one"] = [
        rounded(one.evaluate(X, SUMS, batch_size=4)),
        rounded(one.evaluate(X, SUMS, batch_size=4, steps=1, name="short")),
        rounded(one.evaluate(input_fn=constants, steps=2, metrics=both, hooks=[hook],
                             log_progress=False)),
        rounded(list(one.predict(X, batch_size=4))),
        rounded(one.predict(X, batch_size=4, as_iterable=False)),
        rounded(list(one.predict(X, batch_size=4, iterate_batches=True))),
        rounded(list(one.predict(input_fn=constants))),
        rounded(one.predict(input_fn=constants, as_iterable=False)),
        rounded(list(one.predict(iter(X), batch_size=4))),
    ]  # fmt: skip

    def engineered(features, labels):
        return {"x": features["x"] + 1.0}, labels

    two = make(
        with_ops(tf), os.path.join(folder, "two"), learn.RunConfig(tf_random_seed=3),
        {"scale": 0.5}, engineered,
    )  # fmt: skip
    compatible = learn.SKCompat(two)
    compatible.fit({"x": X}, SUMS, batch_size=3, steps=3)
    named, keyed = {"a": learn.MetricSpec(error, "twice")}, {("b", "p"): error}
    found["two"] = [
        rounded(compatible.score({"x": X}, SUMS, batch_size=4, metrics=named)),
        rounded(compatible.score({"x": X}, SUMS, metrics=keyed)),
        rounded(compatible.predict({"x": X}, batch_size=4)),
        rounded(compatible.predict({"x": X}, outputs=["p"])),
        rounded(list(two.predict({"x": X}, outputs=["twice"]))),
        sorted(two.get_params()), repr(learn.Estimator(None, folder)),
    ]  # fmt: skip
    found["streamed"] = rounded(
        two.fit(iter([{"x": x} for x in X]), iter(SUMS), batch_size=4).evaluate(
            {"x": X}, SUMS
        )
    )
    return found


def feeders(tf, folder):
    """The batches of arrays: placeholders, orders, types."""
    make = tf.contrib.learn.io.data_feeder.setup_train_data_feeder
    x, y = np.arange(10.0).reshape(5, 2), np.arange(5)
    once = {"shuffle": False, "epochs": 1}
    cases = [
        (x, y, None, None, {}), (x, y, None, 2, {}), (x, y, None, 2, once),
        (x, y, None, 2, {"epochs": 2}), (x, y % 3, 3, 2, once),
        (x, None, None, 2, once),
        (x.astype(np.int32), y.astype(np.float64), None, 2, once),
        ({"a": x, "b": y}, y, None, 2, once),
        ({"a": x, "b": y}, {"c": y, "d": x}, None, 2, once),
        (y, y, None, 2, once), (np.array(["a", "b", "c"]), y[:3], None, 2, once),
        (x.astype(np.uint8), y.astype(bool), None, 2, once),
        (x, y.reshape(5, 1), None, 2, once), (iter(x), iter(y), None, 2, {}),
        ((row for row in x), None, None, 2, {}), (x, y[:3], None, 2, once),
        (np.zeros((4, 2, 3)), y[:4], None, 2, once), (x, y, None, 8, {}),
        (x.tolist(), y.tolist(), None, 2, once),
    ]  # fmt: skip
    found = []

    def batches(feeder, count):
        with tf.Graph().as_default():
            held = feeder.input_builder()
            seen = [str(held), str(feeder.input_dtype), feeder.batch_size,
                    str(feeder.input_shape), str(feeder.output_shape)]  # fmt: skip
            feeds = feeder.get_feed_dict_fn()
            for _ in range(count):
                try:
                    fed = feeds()
                except StopIteration:
                    return [*seen, "end"]
                seen.append(sorted(
                    (getattr(key, "name", key), str(value.dtype), value.tolist())
                    for key, value in fed.items()
                ))  # fmt: skip
            return seen

    for *arrays, options in cases:
        call = functools.partial(make, *arrays, **options)
        found.append(outcome(lambda call=call: batches(call(), 7)))
    parts = tf.contrib.learn.io.data_feeder.setup_predict_data_feeder(X, 4)
    found.append([part.shape for part in parts])
    return {"found": found}


PROGRAMS = [heads, census, iris, life, feeders]

if __name__ == "__main__":
    loops.main(PROGRAMS)
