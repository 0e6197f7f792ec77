"""Programs with boosted trees in TF 1.15: `python boosted_trees_programs.py FILE`.

As in `training_loops.py`; tests/lib/estimator/boosted_trees compares.
"""

import numpy as np

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

outcome = loops.outcome

RANDOM = np.random.RandomState(5)
COUNT = 60
X = {
    "a": (RANDOM.randn(COUNT) * 2).round().astype(np.float32) / 2,
    "b": RANDOM.randn(COUNT).astype(np.float32),
    "c": np.array(["x", "y", "z"])[RANDOM.randint(0, 3, COUNT)],
}
SCORE = X["a"] + 0.5 * X["b"] - (X["c"] == "z")
KINDS = (SCORE > 0).astype(np.int64)


def columns(tf, numeric=True):
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("c", ["x", "y", "z"])
    a = fc.numeric_column("a")
    return [
        a if numeric else fc.bucketized_column(a, [-1.0, -0.5, 0.0, 0.5, 1.0]),
        fc.bucketized_column(fc.numeric_column("b"), [-0.5, 0.5]),
        fc.indicator_column(word),
    ]


def batches(tf, labels, size=30, repeats=True):
    def input_fn():
        batched = tf.data.Dataset.from_tensor_slices((X, labels)).batch(size)
        return batched.repeat() if repeats else batched

    return input_fn


def plain(value):
    if isinstance(value, dict):
        return [[key, plain(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [item.decode() for item in value.ravel()]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value.decode() if isinstance(value, bytes) else value


def _life(tf, folder, kind, labels, numeric=True, **options):
    config = tf.estimator.RunConfig(
        folder, save_summary_steps=4, log_step_count_steps=3
    )
    made = getattr(tf.estimator, "BoostedTrees" + kind)(
        columns(tf, numeric), 2, config=config, n_trees=3, **options
    )
    found = [outcome(made.experimental_feature_importances)]
    made.train(batches(tf, labels), max_steps=5)
    made.train(batches(tf, labels), max_steps=100)
    names = [n for n in made.get_variable_names() if "serialized" not in n]
    found.append([[n, plain(made.get_variable_value(n))] for n in names])
    once = batches(tf, labels, repeats=False)
    found.append(sorted(plain(made.evaluate(once))))
    found.append(plain(list(made.predict(once))[:4]))
    for normalize in (False, True):
        gains = made.experimental_feature_importances(normalize=normalize)
        found.append(plain(gains))
    for keys in (None, "dfc", ["logits", "bias"]):

        def explained(keys=keys):
            explain = made.experimental_predict_with_explanations
            return plain(list(explain(once, predict_keys=keys))[:5])

        try:
            found.append([sorted(one) for one in explained()])
        except ValueError as error:
            found.append(str(error))
    return {"found": found, "files": loops.files(folder)}


def classifier(tf, folder):
    return _life(
        tf, folder, "Classifier", KINDS, max_depth=2, center_bias=True,
    )  # fmt: skip


def classifier_pruned(tf, folder):
    return _life(
        tf, folder, "Classifier", KINDS, numeric=False, max_depth=3,
        pruning_mode="post", tree_complexity=0.01, l2_regularization=0.01,
    )  # fmt: skip


def regressor(tf, folder):
    return _life(
        tf, folder, "Regressor", SCORE, max_depth=3, center_bias=True, learning_rate=0.3
    )


def own_head(tf, folder):
    """An estimator with a head of the caller."""
    head = tf.contrib.estimator.regression_head()
    made = tf.estimator.BoostedTreesEstimator(
        columns(tf, False), 2, head, folder, n_trees=2, max_depth=2
    )
    made.train(batches(tf, SCORE.reshape(-1, 1)))
    once = batches(tf, SCORE.reshape(-1, 1), repeats=False)
    return {"found": sorted(plain(made.evaluate(once)))}


def in_memory(tf, folder):
    found = []
    for name, labels in (("classifier", KINDS), ("regressor", SCORE)):

        def whole(labels=labels):
            return tf.data.Dataset.from_tensors((X, labels))

        train = getattr(
            tf.contrib.estimator, "boosted_trees_" + name + "_train_in_memory"
        )
        made = train(
            whole, columns(tf), folder + "/" + name, n_trees=2, max_depth=2,
            center_bias=True,
        )  # fmt: skip
        found.append(sorted(plain(made.evaluate(whole))))
        found.append(made.get_variable_names())
    return {"found": found}


def refused(tf, folder):
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("c", ["x", "y", "z"])
    made, found = tf.estimator.BoostedTreesClassifier, []
    for options in (
        {"n_classes": 3}, {"n_classes": 1}, {"n_classes": 3, "pruning_mode": None},
        {"pruning_mode": "x"}, {"pruning_mode": "pre"}, {"tree_complexity": 0.1},
        {"feature_columns": [word]}, {"max_depth": 0},
        {"train_in_memory": True, "n_batches_per_layer": 2},
    ):  # fmt: skip
        arguments = {"feature_columns": columns(tf), "n_batches_per_layer": 1}
        arguments.update(options)

        def call(arguments=arguments):
            return made(model_dir=folder, **arguments).train(batches(tf, KINDS))

        found.append(outcome(call))
    for options in ({"label_dimension": 2}, {"label_dimension": 0}):

        def regress(options=options):
            return tf.estimator.BoostedTreesRegressor(columns(tf), 1, **options)

        found.append(outcome(regress))
    return {"found": found}


PROGRAMS = [classifier, classifier_pruned, regressor, own_head, in_memory, refused]

if __name__ == "__main__":
    loops.main(PROGRAMS)
