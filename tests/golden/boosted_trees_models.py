"""The models of boosted trees in real TF 1.15: graphs, functions, values.

See composites.py; the functions of conditions are recorded, too.
"""

import base64
import json
import sys
import zlib

import numpy as np

from tests.golden.composites import build, results

A = np.array([-1.5, -0.5, 0.25, 0.75, 1.5, 2.5, -2.0, 0.0], np.float32)
B = np.array([0.1, 0.9, 0.4, -0.6, 0.2, -0.3, 0.7, 0.5], np.float32)
WORDS = np.array(["x", "y", "z", "x", "y", "x", "z", "z"])
KINDS = np.array([0, 0, 1, 1, 1, 1, 0, 1])
NAMES = np.array(["no", "yes"])[KINDS]
NUMBERS = (A + B).astype(np.float32)


def _columns(tf, numeric=False):
    fc = tf.feature_column
    a, b = fc.numeric_column("a"), fc.numeric_column("b")
    word = fc.categorical_column_with_vocabulary_list("word", ["x", "y", "z"])
    columns = [fc.indicator_column(word), fc.bucketized_column(b, [0.0, 0.5])]
    return [*columns, a if numeric else fc.bucketized_column(a, [-1.0, 0.0, 1.0])]


def _resources(tf):
    if "tfteach" in tf.__name__:
        from tfteach.lib.training import resources
    else:
        from tensorflow.python.ops import resources
    return resources.initialize_resources(resources.shared_resources(), name="make")


def _run(tf, estimator, mode, labels, steps, saver):
    """What a model's function builds, and losses, predictions and metrics."""
    tf.train.create_global_step()
    features = {
        "a": tf.placeholder_with_default(A, [None], "a"),
        "b": tf.placeholder_with_default(B[:, None], [None, 1], "b"),
        "word": tf.placeholder_with_default(WORDS, [None], "word"),
        "weight": tf.placeholder_with_default(A + 3, [None], "weight"),
    }
    if mode != "infer":
        labels = tf.placeholder_with_default(labels, [None], "labels")
    spec = estimator.model_fn(
        features, None if mode == "infer" else labels, mode, estimator.config
    )
    made = [op.name for op in tf.get_default_graph().get_operations()]
    found = [_resources(tf), tf.tables_initializer()]
    if saver:
        tf.train.Saver(name="keep")
    if mode == "train":
        found += ["group_deps" if "group_deps" in made else "NoOp"]
        found += [(spec.loss, spec.train_op)] * steps
        found.append(spec.loss)
        summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)
        tf.constant([s.name for s in summaries], name="summaries")
    elif mode == "eval":
        pairs = [pair for _, pair in sorted(spec.eval_metric_ops.items())]
        found += [spec.loss, [u for _, u in pairs], [v for v, _ in pairs]]
    else:
        found.append([value for _, value in sorted(spec.predictions.items())])
    return [tuple(f) if isinstance(f, list) else f for f in found]


def _model(kind, mode, labels, numeric=False, steps=7, saver=False, **arguments):
    def function(tf):
        made = getattr(tf.estimator, "BoostedTrees" + kind)
        options = {"n_batches_per_layer": 1, "n_trees": 3, "max_depth": 2}
        options.update(arguments)
        estimator = made(
            _columns(tf, numeric), config=tf.estimator.RunConfig("model"), **options
        )
        return _run(tf, estimator, mode, labels, steps, saver)

    return function


GRAPHS = {
    "classifier_train": _model("Classifier", "train", KINDS, saver=True),
    "classifier_eval": _model("Classifier", "eval", KINDS),
    "classifier_infer": _model("Classifier", "infer", None),
    "classifier_with_all": _model(
        "Classifier", "train", KINDS, numeric=True, saver=True, steps=18,
        n_batches_per_layer=2, l1_regularization=0.01, l2_regularization=0.1,
        tree_complexity=0.001, min_node_weight=0.02, center_bias=True,
        pruning_mode="post", quantile_sketch_epsilon=0.1,
    ),
    "classifier_of_names": _model(
        "Classifier", "train", NAMES, label_vocabulary=["no", "yes"],
        weight_column="weight", numeric=True, quantile_sketch_epsilon=0.3,
    ),
    "classifier_numeric_eval": _model("Classifier", "eval", KINDS, numeric=True),
    "regressor_train": _model("Regressor", "train", NUMBERS, max_depth=3),
    "regressor_weighted": _model(
        "Regressor", "train", NUMBERS, center_bias=True, weight_column="weight",
        pruning_mode="pre", tree_complexity=0.01, steps=12,
    ),
    "regressor_eval": _model("Regressor", "eval", NUMBERS),
    "regressor_infer": _model("Regressor", "infer", None, numeric=True),
    "classifier_in_memory": _model(
        "Classifier", "train", KINDS, train_in_memory=True
    ),
    "regressor_in_memory": _model(
        "Regressor", "train", NUMBERS, train_in_memory=True, numeric=True,
        center_bias=True, quantile_sketch_epsilon=0.25, steps=12,
    ),
}  # fmt: skip


def main(path):
    import tensorflow as tf

    rows = []
    for name, function in GRAPHS.items():
        graph, fetches = build(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found = {
            "graph": base64.b64encode(packed).decode(),
            **results(tf, graph, fetches),
        }
        rows.append(json.dumps(name) + ": " + json.dumps(found))
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
