"""Recurrent Estimators in TF 1.15: `python recurrent_estimators.py FILE.json`.

As in `training_loops.py`; tests/lib/contrib/test_recurrent_estimators.py compares.
"""

import os

import numpy as np

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops


def rows(tf):
    """Two sequences, of two steps and of one."""
    where = [[0, 0], [0, 1], [1, 0]]
    features = {
        "price": tf.SparseTensor(where, [10.0, 5.0, 2.0], [2, 2]),
        "word": tf.SparseTensor(where, ["a", "b", "c"], [2, 2]),
        "size": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    }
    return features, tf.constant([[0], [1]])


def named_rows(tf):
    return rows(tf)[0], tf.constant([["no"], ["yes"]])


def kinds(tf):
    """Classes of Estimators, their arguments, and their rows."""
    made, fc = tf.contrib.estimator, tf.feature_column
    sequences = tf.contrib.feature_column
    price = sequences.sequence_numeric_column("price")
    letters = list("abc")
    word = sequences.sequence_categorical_column_with_vocabulary_list("word", letters)
    words, size = fc.embedding_column(word, 2), fc.numeric_column("size", [2])
    classifier, estimator, cell = made.RNNClassifier, made.RNNEstimator, tf.nn.rnn_cell
    return {
        "default": (classifier, {"num_units": [2]}, rows),
        "stacked": (
            classifier,
            {"num_units": [3, 2], "cell_type": "lstm", "n_classes": 3},
            rows,
        ),
        "context": (
            classifier,
            {
                "num_units": [2],
                "cell_type": "gru",
                "context_feature_columns": [size],
                "sequence_feature_columns": [price, words],
            },
            rows,
        ),
        "cell": (
            classifier,
            {
                "rnn_cell_fn": lambda mode: cell.BasicRNNCell(2),
                "optimizer": tf.train.GradientDescentOptimizer(0.1),
            },
            rows,
        ),
        "made": (
            classifier,
            {
                "num_units": [2],
                "optimizer": lambda: tf.train.AdamOptimizer(0.1),
                "cell_type": cell.LSTMCell,
            },
            rows,
        ),
        "regression": (
            estimator,
            {"num_units": [2], "head": made.regression_head()},
            rows,
        ),
        "names": (
            classifier,
            {
                "num_units": [2],
                "label_vocabulary": ["no", "yes"],
                "loss_reduction": "weighted_sum",
            },
            named_rows,
        ),
    }, price


def models(tf, folder):
    """Nodes of each mode, and what is evaluated and predicted after three steps."""
    found = {}
    for name in sorted(kinds(tf)[0]):
        every, price = kinds(tf)
        kind, options, source = every[name]
        options.setdefault("sequence_feature_columns", [price])
        config = tf.estimator.RunConfig(os.path.join(folder, name), 3)
        estimator = kind(config=config, **options)
        nodes = {}
        for mode in ("train", "eval", "infer"):
            with tf.Graph().as_default() as graph:
                tf.train.create_global_step()
                features, labels = source(tf)
                labels = None if mode == "infer" else labels
                estimator.model_fn(features, labels, mode, estimator.config)
                nodes[mode] = len(graph.get_operations())
                if [name, mode] in (["default", "train"], ["context", "infer"]):
                    nodes[mode] = [
                        f"{op.name}: {op.type}"
                        for op in graph.get_operations()
                        if "while/" not in op.name and "gradients/" not in op.name
                    ]
        estimator.train(lambda source=source: source(tf), steps=3)
        results = estimator.evaluate(lambda source=source: source(tf), steps=1)
        predicted = next(estimator.predict(lambda source=source: source(tf)))
        key = "predictions" if "predictions" in predicted else "logits"
        found[name] = {
            "nodes": nodes, "variables": estimator.get_variable_names(),
            "results": {k: round(float(v), 3) for k, v in sorted(results.items())},
            "predicted": [round(float(v), 3) for v in np.ravel(predicted[key])],
            "keys": sorted(predicted),
        }  # fmt: skip
    return found


def refused(tf, folder):
    made = tf.contrib.estimator
    price = tf.contrib.feature_column.sequence_numeric_column("price")

    def cell_fn(mode):
        return None

    def trained(given=rows, **options):
        options.setdefault("sequence_feature_columns", [price])
        classifier = made.RNNClassifier(model_dir=folder, **options)
        return classifier.train(lambda: given(tf), steps=1)

    def plain(tf):
        return tf.constant([1.0]), tf.constant([1])

    calls = [
        lambda: trained(num_units=[2], rnn_cell_fn=cell_fn),
        lambda: trained(cell_type="lstm", rnn_cell_fn=cell_fn),
        lambda: trained(num_units=[]),
        lambda: trained(num_units=[2], sequence_feature_columns=[]),
        lambda: trained(plain, num_units=[2]),
        lambda: made.RNNEstimator(
            made.regression_head(), [price], num_units=[2], return_sequences=True
        ),
    ]
    found = [loops.outcome(call) for call in calls]
    kinds = [loops.outcome(lambda kind=kind: trained(num_units=[2], cell_type=kind))[0]
             for kind in ("other", 3, dict)]  # fmt: skip
    return {"found": [[kind, text.split(" <class")[0]] for kind, text in found] + kinds}


PROGRAMS = [models, refused]


def run(tf, program):
    found = loops.run(tf, program)
    del found["log"]
    return found


if __name__ == "__main__":
    loops.main(PROGRAMS, run)
