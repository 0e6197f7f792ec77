"""The models of canned estimators in real TF 1.15: graphs, variables, values.

See composites.py.  Initial values and dropout are those of the graph's seed.
"""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

AGES = np.array([[1.0], [2.0], [-0.5], [0.0], [3.0], [1.5]], np.float32)
WORDS = np.array([["a"], ["b"], ["a"], ["d"], ["c"], ["b"]])
KINDS = np.array([0, 1, 1, 0, 1, 0])


def _features(tf):
    """Two columns of numbers, one of words, weights; of an unknown batch size."""
    return {
        "age": tf.placeholder_with_default(AGES, [None, 1], "age"),
        "size": tf.placeholder_with_default(np.hstack([AGES, -AGES]), [None, 2]),
        "word": tf.placeholder_with_default(WORDS, [None, 1], "word"),
        "weight": tf.placeholder_with_default(AGES[:, 0] + 1, [None], "weight"),
    }


def _columns(tf):
    """Dense and sparse columns."""
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    age = fc.numeric_column("age")
    dense = [fc.numeric_column("size", 2), fc.embedding_column(word, 2), age]
    buckets = fc.bucketized_column(age, [0.5, 1.75])
    return dense, [age, fc.crossed_column(["word", buckets], 5), word]


def _run(tf, estimator, mode, labels=KINDS, steps=3):
    """What a model's function builds, and losses, predictions and metrics."""
    tf.train.create_global_step()
    features = _features(tf)
    if mode == "infer":
        labels = None
    else:
        shape = [None, *np.shape(labels)[1:]]
        labels = tf.placeholder_with_default(labels, shape, "labels")
    spec = estimator.model_fn(features, labels, mode, estimator.config)
    found = [tf.tables_initializer()]
    if mode == "train":
        found += [(spec.loss, spec.train_op)] * steps
        found.append(spec.loss)
        summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)
        tf.constant([s.name for s in summaries], name="summaries")
    elif mode == "eval":
        pairs = [pair for _, pair in sorted(spec.eval_metric_ops.items())]
        found += [spec.loss, [u for _, u in pairs], [v for v, _ in pairs]]
    else:
        found.append([value for _, value in sorted(spec.predictions.items())])
    names = sorted(spec.predictions), sorted(spec.eval_metric_ops)
    tf.constant(str(names), name="names")
    return [tuple(f) if isinstance(f, list) else f for f in found]


def _config(tf):
    return tf.estimator.RunConfig("model")


def _in_modes(make, modes=("train", "eval", "infer"), **options):
    found = []
    for mode in modes:

        def function(tf, mode=mode):
            return _run(tf, make(tf), mode, **options)

        function.__name__ = f"{make.__name__.strip('_')}_{mode}"
        found.append(function)
    return found


def _baseline(tf):
    return tf.estimator.BaselineClassifier(config=_config(tf), n_classes=3)


def _baseline_regressor(tf):
    return tf.estimator.BaselineRegressor(
        None, 2, "weight", "Adam", _config(tf),
        tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    )  # fmt: skip


def _linear(tf):
    return tf.estimator.LinearClassifier(
        _columns(tf)[1], None, 2, "weight", config=_config(tf), sparse_combiner="mean"
    )


def _linear_of_four(tf):
    return tf.estimator.LinearClassifier(
        _columns(tf)[1], None, 4, None, ["0", "1", "2", "3"], "SGD", _config(tf),
        tf.fixed_size_partitioner(2),
    )  # fmt: skip


def _linear_regressor(tf):
    """Columns that only older models know: shared embeddings."""
    fc = tf.feature_column
    hashed = fc.categorical_column_with_hash_bucket
    shared = fc.shared_embedding_columns([hashed("word", 5), hashed("word", 5)][:1], 2)
    return tf.estimator.LinearRegressor(
        [*shared, fc.numeric_column("age")], None, 2, config=_config(tf),
        optimizer=lambda: tf.train.MomentumOptimizer(0.01, 0.5),
    )  # fmt: skip


def _dnn(tf):
    return tf.estimator.DNNClassifier([4, 3], _columns(tf)[0], config=_config(tf))


def _dnn_regressor(tf):
    """Batch normalization, dropout, another activation, an optimizer as object."""
    return tf.estimator.DNNRegressor(
        [4, 3], _columns(tf)[0], None, 2, "weight",
        tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.001),
        tf.nn.tanh, 0.25, tf.fixed_size_partitioner(2), _config(tf), batch_norm=True,
        loss_reduction=tf.losses.Reduction.MEAN,
    )  # fmt: skip


def _dnn_of_shared(tf):
    fc = tf.feature_column
    hashed = fc.categorical_column_with_hash_bucket
    shared = fc.shared_embedding_columns([hashed("word", 5), hashed("word", 5)][:1], 2)
    head = tf.contrib.estimator.multi_class_head(3, name="own")
    return tf.estimator.DNNEstimator(head, [3], shared, None, "RMSProp", None,
                                     config=_config(tf))  # fmt: skip


def _combined(tf):
    dense, sparse = _columns(tf)
    return tf.estimator.DNNLinearCombinedClassifier(
        None, sparse, dnn_feature_columns=dense, dnn_hidden_units=[4, 3],
        dnn_dropout=0.25, batch_norm=True, config=_config(tf),
    )  # fmt: skip


def _combined_regressor(tf):
    dense, sparse = _columns(tf)
    return tf.estimator.DNNLinearCombinedRegressor(
        None, sparse, "Adam", dense, tf.train.FtrlOptimizer(0.1), [3], tf.nn.elu,
        label_dimension=2, weight_column="weight", config=_config(tf),
        linear_sparse_combiner="sqrtn",
    )  # fmt: skip


def _only_linear(tf):
    return tf.estimator.DNNLinearCombinedEstimator(
        tf.contrib.estimator.poisson_regression_head(), None, _columns(tf)[1],
        config=_config(tf),
    )  # fmt: skip


def _only_network(tf):
    return tf.estimator.DNNLinearCombinedClassifier(
        dnn_feature_columns=_columns(tf)[0], dnn_hidden_units=[3], config=_config(tf)
    )


def _older_columns(tf):
    """Columns of tf.contrib.layers, dense and of ids."""
    layers = tf.contrib.layers
    age = layers.real_valued_column("age", normalizer=lambda x: x / 2.0)
    word = layers.sparse_column_with_hash_bucket("word", 5)
    buckets = layers.bucketized_column(age, [0.5, 1.75])
    dense = [age, layers.embedding_column(word, 2), layers.one_hot_column(word)]
    return dense, [age, word, buckets, layers.crossed_column([word, buckets], 7)]


def _linear_of_older(tf):
    return tf.estimator.LinearClassifier(_older_columns(tf)[1], config=_config(tf))


def _dnn_of_older(tf):
    return tf.estimator.DNNClassifier([3], _older_columns(tf)[0], config=_config(tf))


NUMBERS = np.hstack([AGES, AGES * 2 - 1])
TEXTS = np.array(["0", "2", "1", "1", "0", "2"])
ALL = ("train", "eval", "infer")

GRAPHS = [
    *_in_modes(_baseline, ALL[:2]),
    *_in_modes(_baseline_regressor, ALL, labels=NUMBERS),
    *_in_modes(_linear), *_in_modes(_linear_of_four, ALL, labels=TEXTS),
    *_in_modes(_linear_regressor, ALL[:2], labels=NUMBERS),
    *_in_modes(_dnn), *_in_modes(_dnn_regressor, ALL, labels=NUMBERS),
    *_in_modes(_dnn_of_shared, ALL[:1]), *_in_modes(_combined),
    *_in_modes(_combined_regressor, ALL[:1], labels=NUMBERS),
    *_in_modes(_only_linear, ALL[:1], labels=abs(AGES)),
    *_in_modes(_only_network, ALL[:1]), *_in_modes(_linear_of_older, ALL[:1]),
    *_in_modes(_dnn_of_older, ALL[:1]),
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
