"""The heads of tf.contrib.estimator in real TF 1.15: graphs, keys and values.

See composites.py.  What a head returns is a constant of the graph, as text.
"""

import json
import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401


def _described(spec):
    """The keys of a spec, and the names of its tensors."""

    def named(value):
        if isinstance(value, dict):
            return [[str(k), named(v)] for k, v in value.items()]
        if isinstance(value, (list, tuple)):
            return [named(v) for v in value]
        if hasattr(value, "as_signature_def"):
            members = {k.strip("_"): v for k, v in vars(value).items()}
            return [type(value).__name__, named(dict(sorted(members.items())))]
        return getattr(value, "name", None)

    keys = "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs"
    found = {key: named(getattr(spec, key)) for key in keys}
    return json.dumps(found, sort_keys=True)


def _spec(tf, head, mode, logits, labels, features=None, **options):
    """What running gives: predictions, the loss, all updates, then all metrics."""
    tf.train.create_global_step()
    if mode == "train" and "optimizer" not in options:
        options["train_op_fn"] = lambda loss: tf.no_op(name="train")
    labels = None if mode == "infer" else labels
    spec = head.create_estimator_spec(features or {}, mode, logits, labels, **options)
    tf.constant(_described(spec), name="described")
    fetches = [tf.tables_initializer(), sorted(spec.predictions.items())]
    fetches[1] = [value for _, value in fetches[1]]
    if spec.loss is not None:
        fetches.append(spec.loss)
    metrics = [pair for _, pair in sorted(spec.eval_metric_ops.items())]
    fetches.append([update for _, update in metrics])
    fetches.append([value for value, _ in metrics])
    if spec.train_op is not None:
        fetches.append(spec.train_op)
    return [fetch for fetch in fetches if fetch not in ([], ())]


def _given(tf, values, name, shape=None):
    """A Tensor with an unknown number of rows, or of the static shape `shape`."""
    values = np.asarray(values)
    shape = [None, *values.shape[1:]] if shape is None else shape
    return tf.placeholder_with_default(values, shape, name)


def _logits(tf, size=1, shape=None):
    values = np.linspace(-1.5, 2.0, 4 * size).astype(np.float32).reshape(4, size)
    return _given(tf, values, "logits", shape)


def _weights(tf, shape=None):
    values = np.array([1.0, 0.0, 2.5, 1.0], np.float32)
    return {"w": _given(tf, values, "w", shape)}


NUMBERS = np.array([[1.0], [-0.5], [0.25], [3.0]], np.float32)
TRUTHS = np.array([[1.0], [0.0], [0.0], [1.0]], np.float32)
CLASSES = np.array([[1], [0], [2], [2]], np.int32)


def _in_modes(name, make):
    """Three functions that build what `make(tf, mode)` returns."""
    found = []
    for mode in ("infer", "eval", "train"):

        def function(tf, mode=mode):
            return make(tf, mode)

        function.__name__ = f"{name}_{mode}"
        found.append(function)
    return found


def _regression(tf, mode):
    head = tf.contrib.estimator.regression_head("w", name="own")
    labels = _given(tf, NUMBERS, "labels")
    return _spec(tf, head, mode, _logits(tf), labels, _weights(tf))


def _regression_of_two(tf, mode):
    """Weights of integers; labels of doubles; a sum; regularization."""
    head = tf.contrib.estimator.regression_head(
        tf.feature_column.numeric_column("w", normalizer_fn=lambda x: x + 1),
        2, tf.losses.Reduction.SUM,
    )  # fmt: skip
    labels = _given(tf, np.arange(8.0).reshape(4, 2), "labels")
    features = {"w": tf.constant([[1, 2], [1, 2], [0, 0], [3, 1]])}
    losses = [tf.constant(0.5), tf.constant(0.25)]
    return _spec(
        tf, head, mode, _logits(tf, 2), labels, features, regularization_losses=losses
    )


def _poisson(tf, mode):
    head = tf.contrib.estimator.poisson_regression_head(name="count")
    labels = _given(tf, np.array([0.0, 1.0, 2.0, 7.0], np.float32), "labels")
    return _spec(tf, head, mode, _logits(tf), labels)


def _logistic(tf, mode):
    head = tf.contrib.estimator.logistic_regression_head("w")
    labels = _given(tf, np.array([0.0, 1.0, 0.5, 0.25], np.float32), "labels")
    return _spec(tf, head, mode, _logits(tf), labels, _weights(tf))


def _binary(tf, mode):
    head = tf.contrib.estimator.binary_classification_head(
        "w", [0.3, 0.75], None, tf.losses.Reduction.SUM, name="own"
    )
    labels = _given(tf, TRUTHS, "labels")
    return _spec(tf, head, mode, _logits(tf), labels, _weights(tf))


def _binary_words(tf, mode):
    head = tf.contrib.estimator.binary_classification_head(label_vocabulary=["n", "y"])
    labels = _given(tf, np.array(["y", "n", "n", "y"]), "labels")
    return _spec(
        tf, head, mode, _logits(tf), labels, regularization_losses=[tf.constant(2.0)]
    )


def _multi_class(tf, mode):
    head = tf.contrib.estimator.multi_class_head(
        3, "w", loss_reduction=tf.losses.Reduction.SUM
    )
    labels = _given(tf, CLASSES, "labels")
    return _spec(tf, head, mode, _logits(tf, 3), labels, _weights(tf))


def _multi_class_words(tf, mode):
    head = tf.contrib.estimator.multi_class_head(
        3, label_vocabulary=["a", "b", "c"], name="own"
    )
    labels = _given(tf, np.array(["a", "c", "b", "b"]), "labels")
    return _spec(tf, head, mode, _logits(tf, 3), labels)


def _multi_label(tf, mode):
    head = tf.contrib.estimator.multi_label_head(
        3, "w", [0.3], classes_for_class_based_metrics=[0, 2], name="own"
    )
    labels = _given(tf, np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1]]), "l")
    return _spec(tf, head, mode, _logits(tf, 3), labels, _weights(tf))


def _multi_label_words(tf, mode):
    head = tf.contrib.estimator.multi_label_head(
        3, label_vocabulary=["a", "b", "c"], classes_for_class_based_metrics=["c"],
        loss_fn=lambda labels, logits: tf.reduce_mean(
            (tf.cast(labels, tf.float32) - logits) ** 2, 1, keepdims=True
        ),
    )  # fmt: skip
    labels = tf.SparseTensor(
        [[0, 0], [0, 1], [1, 0], [3, 0]], ["a", "b", "c", "c"], [4, 2]
    )
    return _spec(tf, head, mode, _logits(tf, 3), labels)


def _several(tf, mode):
    make = tf.contrib.estimator
    heads = [
        make.regression_head(name="a", label_dimension=2),
        make.binary_classification_head("w", name="b"),
    ]
    labels = {"a": _given(tf, np.ones([4, 2]), "la"), "b": _given(tf, TRUTHS, "lb")}
    head = make.multi_head(heads, [2.0, 0.5])
    return _spec(tf, head, mode, _logits(tf, 3), labels, _weights(tf))


# ---- single cases


def ids_of_several_labels(tf):
    head = tf.contrib.estimator.multi_label_head(3)
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], [0, 1, 2, 2], [4, 2])
    return _spec(tf, head, "train", _logits(tf, 3), labels)


def several_in_dictionaries(tf):
    """Logits by head, without weights, and a real optimizer."""
    make = tf.contrib.estimator
    head = make.multi_head(
        [make.regression_head(name="a"), make.multi_class_head(3, name="b")]
    )
    w = tf.get_variable("scale", [], initializer=tf.constant_initializer(0.5))
    logits = {"a": _logits(tf) * w, "b": _logits(tf, 3) * w}
    labels = {"a": _given(tf, NUMBERS, "la"), "b": _given(tf, CLASSES, "lb")}
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return _spec(tf, head, "train", logits, labels, optimizer=optimizer)


def losses_of_several(tf):
    make = tf.contrib.estimator
    heads = [
        make.regression_head("w", name="a", label_dimension=2),
        make.binary_classification_head(name="b"),
    ]
    labels = {"a": _given(tf, np.ones([4, 2]), "la"), "b": _given(tf, TRUTHS, "lb")}
    found = []
    for weights in (None, [2.0, 0.5]):
        loss = make.multi_head(heads, weights).create_loss(
            _weights(tf), "eval", _logits(tf, 3), labels
        )
        found += [loss.training_loss, *(v for _, v in sorted(loss[1].items()))]
        found.append(loss.weights["a"])
    return found


def shapes_that_are_unknown(tf):
    head = tf.contrib.estimator.regression_head("w")
    labels = tf.placeholder_with_default(NUMBERS, None, "labels")
    weights = {"w": tf.placeholder_with_default(NUMBERS[:, 0], None, "w")}
    logits = tf.placeholder_with_default(NUMBERS + 1, None, "logits")
    return _spec(tf, head, "train", logits, labels, weights)


def classes_of_unknown_shapes(tf):
    head = tf.contrib.estimator.multi_class_head(3, "w")
    labels = tf.placeholder_with_default(CLASSES, None, "labels")
    weights = {"w": tf.placeholder_with_default(TRUTHS, None, "w")}
    logits = tf.placeholder_with_default(
        np.eye(4, 3, dtype="f"), [None, None], "logits"
    )
    return _spec(tf, head, "eval", logits, labels, weights)


def rank_three(tf):
    """A number for each of several steps; weights and labels of rank two."""
    head = tf.contrib.estimator.regression_head("w")
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    labels = _given(tf, values, "labels", [None, None])
    weights = {"w": _given(tf, values + 1, "w", [None, None])}
    logits = _given(tf, values[:, :, None] + 2, "logits", [None, None, 1])
    return _spec(tf, head, "train", logits, labels, weights)


def losses_of_functions(tf):
    make = tf.contrib.estimator

    def with_features(labels, logits, features):
        return tf.abs(labels - logits) * features["w"][:, None]

    heads = [
        make.regression_head(loss_fn=with_features),
        make.binary_classification_head(loss_fn=lambda labels, logits: logits * labels),
        make.multi_class_head(
            3, loss_fn=lambda labels, logits: logits[:, :1] * tf.to_float(labels)
        ),
    ]
    all_labels = [NUMBERS, TRUTHS, CLASSES]
    found = []
    for i, (head, labels) in enumerate(zip(heads, all_labels)):
        given = _given(tf, labels, f"l{i}")
        logits = _logits(tf, head.logits_dimension)
        found.append(head.create_loss(_weights(tf), "eval", logits, given)[0])
    return found


def reductions(tf):
    """Each reduction of a loss with weights of 0."""
    found = []
    for reduction in (
        "weighted_mean", "weighted_sum", "weighted_sum_over_batch_size",
        "weighted_sum_by_nonzero_weights",
    ):  # fmt: skip
        head = tf.contrib.estimator.regression_head("w", loss_reduction=reduction)
        labels = _given(tf, NUMBERS, "labels")
        loss = head.create_loss(_weights(tf), "train", _logits(tf), labels)
        found.append(loss.training_loss)
    return found


def updates_of_layers(tf):
    """Updates that layers collected, such as those of batch normalization."""
    head = tf.contrib.estimator.regression_head()
    count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, count.assign_add(1.0))
    return _spec(tf, head, "train", _logits(tf), _given(tf, NUMBERS, "labels"))


GRAPHS = [
    *_in_modes("regression", _regression),
    *_in_modes("regression_of_two", _regression_of_two),
    *_in_modes("poisson", _poisson), *_in_modes("logistic", _logistic),
    *_in_modes("binary", _binary), *_in_modes("binary_words", _binary_words),
    *_in_modes("multi_class", _multi_class),
    *_in_modes("multi_class_words", _multi_class_words),
    *_in_modes("multi_label", _multi_label),
    *_in_modes("multi_label_words", _multi_label_words),
    *_in_modes("several", _several),
    ids_of_several_labels, several_in_dictionaries, losses_of_several,
    shapes_that_are_unknown, classes_of_unknown_shapes, rank_three,
    losses_of_functions, reductions, updates_of_layers,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
