"""Feature columns, their input layers and linear models in real TF 1.15.

See composites.py.
"""

import sys
from pathlib import Path

import numpy as np

from tests.golden.composites import build, inner, results, write  # noqa: F401

VOCABULARY = str(Path("tests/golden/vocabularies/letters.txt"))


def _features(tf):
    """Two examples: numbers, words, small integers, and weights of sparse words."""
    places = [[0, 0], [1, 0], [1, 1]]
    return {
        "age": tf.placeholder_with_default([[1.0], [2.0]], [None, 1], "age"),
        "size": tf.constant([[1.0, 2.0], [2.0, 3.0]]),
        "word": tf.constant([["a"], ["b"]]),
        "number": tf.constant([[0, 1], [1, -1]]),
        "words": tf.SparseTensor(places, ["a", "c", "d"], [2, 2]),
        "weight": tf.SparseTensor(places, [0.5, 2.0, 3.0], [2, 2]),
    }


def _step(tf, output):
    """The output, and the output after a training step."""
    loss = tf.reduce_sum(tf.square(output))
    step = tf.train.AdagradOptimizer(0.1).minimize(loss)
    return [output, step, output]


# ---- dense input


def numbers(tf):
    fc = tf.feature_column
    columns = [
        fc.numeric_column("size", shape=2, normalizer_fn=lambda x: x * 2.0),
        fc.numeric_column("age"),
    ]
    outputs = {}
    output = fc.input_layer(_features(tf), columns, cols_to_output_tensors=outputs)
    return [output, outputs[columns[0]]]


def buckets(tf):
    fc = tf.feature_column
    column = fc.bucketized_column(fc.numeric_column("size", 2), [1.5, 2.0])
    return [fc.input_layer(_features(tf), column)]


def identities(tf):
    fc = tf.feature_column
    strict = fc.categorical_column_with_identity("number", 3)
    padded = fc.categorical_column_with_identity("number", 1, default_value=0)
    return [
        fc.input_layer(_features(tf), fc.indicator_column(strict)),
        fc.input_layer(_features(tf), [fc.indicator_column(padded)]),
    ]


def hashes(tf):
    fc = tf.feature_column
    columns = [
        fc.indicator_column(fc.categorical_column_with_hash_bucket("words", 5)),
        fc.indicator_column(
            fc.categorical_column_with_hash_bucket("number", 5, dtype=tf.int64)
        ),
    ]
    return [fc.input_layer(_features(tf), columns)]


def _with_tables(tf, output):
    return [tf.tables_initializer(), output]


def vocabulary_lists(tf):
    fc = tf.feature_column
    columns = [
        fc.categorical_column_with_vocabulary_list("words", "abc", num_oov_buckets=2),
        fc.categorical_column_with_vocabulary_list("number", [1, 2]),
        fc.categorical_column_with_vocabulary_list(
            "word", ("b",), dtype=tf.string, default_value=0
        ),
    ]
    output = fc.input_layer(_features(tf), [fc.indicator_column(c) for c in columns])
    return _with_tables(tf, output)


def vocabulary_files(tf):
    fc = tf.feature_column
    columns = [
        fc.categorical_column_with_vocabulary_file("words", VOCABULARY),
        fc.categorical_column_with_vocabulary_file(
            "word", VOCABULARY, 2, num_oov_buckets=3
        ),
    ]
    output = fc.input_layer(_features(tf), [fc.indicator_column(c) for c in columns])
    return _with_tables(tf, output)


def crosses(tf):
    fc = tf.feature_column
    age = fc.bucketized_column(fc.numeric_column("age"), [1.5, 3.0])
    inner = fc.crossed_column(["words", "word"], 10)
    columns = [
        fc.crossed_column(["words", age], 10, hash_key=3),
        fc.crossed_column([inner, fc.categorical_column_with_identity("number", 4)], 9),
        fc.crossed_column(["word", "number"], 7),
    ]
    features = _features(tf)
    numbers = np.array([[0, 1], [1, 2]])
    features["number"] = tf.placeholder_with_default(numbers, [None, None])
    return [fc.input_layer(features, [fc.indicator_column(c) for c in columns])]


def weights(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_hash_bucket("words", 5)
    weighted = fc.weighted_categorical_column(words, "weight")
    columns = [
        fc.indicator_column(weighted),
        fc.embedding_column(weighted, 3, "sqrtn", max_norm=0.1),
    ]
    return [fc.input_layer(_features(tf), columns)]


def dense_weights(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("size", [1, 2, 3])
    weighted = fc.weighted_categorical_column(words, "pair", tf.int32)
    features = {
        "size": tf.constant([[1, 2], [3, -1]]), "pair": tf.constant([[1, 2], [5, 0]])
    }  # fmt: skip
    linear = fc.linear_model(features, [weighted])
    return [*_with_tables(tf, linear)]


def embeddings(tf):
    fc = tf.feature_column
    number = fc.categorical_column_with_identity("number", 3)
    words = fc.categorical_column_with_hash_bucket("words", 5)
    columns = [
        fc.embedding_column(number, 2, "sum", initializer=tf.ones_initializer()),
        fc.embedding_column(words, 3, trainable=False),
    ]
    variables = {}
    output = fc.input_layer(
        _features(tf), columns, weight_collections=["mine"], cols_to_vars=variables
    )
    return [*_step(tf, output), *[v for c in columns for v in variables[c]]]


def shared_embeddings(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_hash_bucket("words", 5)
    word = fc.categorical_column_with_hash_bucket("word", 5)
    columns = fc.shared_embedding_columns([words, word], 2)
    features = _features(tf)
    output = fc.input_layer(features, columns)
    named = fc.shared_embedding_columns(
        [word, fc.weighted_categorical_column(words, "weight")], 2, "sum",
        shared_embedding_collection_name="own", trainable=False,
    )  # fmt: skip
    return [*_step(tf, output), fc.input_layer(features, named)]


def ranks(tf):
    fc = tf.feature_column
    places = [[0], [2]]
    features = {
        "vector": tf.constant([1.0, 2.0, 3.0]),
        "words": tf.SparseTensor(places, ["a", "b"], [3]),
        "any": tf.placeholder_with_default([3.0, 4.0, 5.0], None, "any"),
        "list": [1.5, 2.5, 3.5],
    }
    words = fc.categorical_column_with_hash_bucket("words", 3)
    columns = [fc.numeric_column(k) for k in ("vector", "any", "list")]
    return [fc.input_layer(features, [*columns, fc.indicator_column(words)])]


def scopes(tf):
    fc = tf.feature_column
    word = fc.embedding_column(fc.categorical_column_with_hash_bucket("word", 9), 2)
    words = fc.embedding_column(fc.categorical_column_with_hash_bucket("words", 9), 2)
    features = _features(tf)
    found = []
    with tf.variable_scope("outer", partitioner=tf.fixed_size_partitioner(2)):
        found.append(fc.input_layer(features, [word]))
        found.append(fc.input_layer(features, [words], trainable=False))
    with tf.name_scope("names"), tf.variable_scope("again", use_resource=True):
        found.append(fc.input_layer(features, [word]))
    with tf.variable_scope("again", reuse=True):
        found.append(fc.input_layer(features, [word]))
    return found


# ---- linear models


def linear(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_hash_bucket("words", 5)
    age = fc.numeric_column("age")
    columns = [age, fc.bucketized_column(age, [1.5, 3.0]), words]
    variables = {}
    output = fc.linear_model(
        _features(tf), columns, weight_collections=["mine"], cols_to_vars=variables
    )
    return [*_step(tf, output), variables[words], variables["bias"]]


def linear_units(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_hash_bucket("words", 5)
    columns = [
        fc.weighted_categorical_column(words, "weight"),
        fc.indicator_column(words),
        fc.embedding_column(words, 2),
        fc.crossed_column(["words", "word"], 7),
    ]
    return [fc.linear_model(_features(tf), columns, 3, "mean", trainable=False)]


def linear_scopes(tf):
    fc = tf.feature_column
    features = _features(tf)
    age, words = fc.numeric_column("age"), fc.crossed_column(["words", "word"], 8)
    found = [fc.linear_model(features, [age, words]), fc.linear_model(features, age)]
    with tf.variable_scope("outer", partitioner=tf.fixed_size_partitioner(2)):
        found.append(fc.linear_model(features, [words]))
    with tf.variable_scope("again"):
        found.append(fc.linear_model(features, [words]))
    with tf.name_scope("names"):
        found.append(fc.linear_model(features, [age]))
    return found


# ---- sequences


def _sequences(tf):
    places = [[0, 0], [1, 0], [1, 1]]
    return {
        "numbers": tf.SparseTensor(places, [1.0, 2.0, 3.0], [3, 2]),
        "words": tf.SparseTensor(places, ["a", "c", "d"], [3, 2]),
        "ids": tf.SparseTensor(
            [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], [0, 1, 2, 1], [3, 2, 2]
        ),
    }


def sequences(tf):
    fc, old = tf.feature_column, tf.contrib.feature_column
    words = fc.sequence_categorical_column_with_hash_bucket("words", 3)
    listed = fc.sequence_categorical_column_with_vocabulary_list("words", "abc")
    ids = fc.sequence_categorical_column_with_identity("ids", 3)
    columns = [
        old.sequence_numeric_column("numbers"),
        fc.embedding_column(words, 2),
        fc.indicator_column(listed),
        fc.embedding_column(ids, 2, "sum"),
    ]
    output, lengths = old.sequence_input_layer(_sequences(tf), columns)
    return [*_with_tables(tf, output), lengths]


def old_sequences(tf):
    fc, old = tf.feature_column, tf.contrib.feature_column
    words = old.sequence_categorical_column_with_hash_bucket("words", 4)
    shared = fc.shared_embedding_columns(
        [words, old.sequence_categorical_column_with_hash_bucket("other", 4)], 2
    )
    columns = [
        old.sequence_numeric_column(
            "numbers", shape=[2], default_value=9.0, normalizer_fn=lambda x: x * 2.0
        )
    ]
    features = _sequences(tf)
    features["other"] = tf.SparseTensor([[0, 0], [2, 1]], ["a", "b"], [3, 3])
    output, lengths = old.sequence_input_layer(features, columns, trainable=False)
    both, other = old.sequence_input_layer(features, shared[:1])
    return [output, lengths, both, other]


# ---- layers


def _layers(tf):
    """DenseFeatures and LinearModel, which have no names below `tf` without Keras."""
    if tf.__name__ == "tfteach":
        from tfteach.lib.feature_column.dense_features import DenseFeatures, LinearModel
    else:
        from tensorflow.python.feature_column.feature_column_v2 import LinearModel

        DenseFeatures = tf.keras.layers.DenseFeatures
    return DenseFeatures, LinearModel


def _both_kinds(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_hash_bucket("words", 5)
    age = fc.numeric_column("age")
    return age, words, fc.embedding_column(words, 2)


def dense_layer(tf):
    age, words, vectors = _both_kinds(tf)
    features = _features(tf)
    indicator = tf.feature_column.indicator_column(words)
    layer = _layers(tf)[0]([vectors, age, indicator], name="input_layer")
    with tf.variable_scope("outer", partitioner=tf.fixed_size_partitioner(2)):
        return [*_step(tf, layer(features)), layer(features)]


def linear_layer(tf):
    age, words, vectors = _both_kinds(tf)
    model = _layers(tf)[1]([words, age, vectors], 2, name="linear_model")
    cut = _layers(tf)[1]([words], name="linear_model")
    output = model(_features(tf))
    with tf.variable_scope("outer", partitioner=tf.fixed_size_partitioner(2)):
        return [*_step(tf, output), cut(_features(tf))]


# ---- names of inner modules


def _inner(tf, module="feature_column_v2"):
    return inner(tf, f"feature_column.{module}")


def reused_input_layer(tf):
    age, _, vectors = _both_kinds(tf)
    layer = _inner(tf, "feature_column").InputLayer([vectors, age])
    first = layer(_features(tf))
    return [*_step(tf, first), layer(_features(tf))]


def linear_object(tf):
    age, words, _ = _both_kinds(tf)
    kind = _inner(tf, "feature_column")._LinearModel
    model = kind([words, age], 2, weight_collections=["mine"], name="linear")
    return _step(tf, model(_features(tf)))


def unnamed_layers(tf):
    age, words, _ = _both_kinds(tf)
    dense, linear = _layers(tf)
    features = _features(tf)
    return [
        *(dense([age])(features) for _ in range(2)),
        *(linear([age, words])(features) for _ in range(2)),
    ]


def transformed(tf):
    fc, found = tf.feature_column, _features(tf)
    age = fc.numeric_column("age")
    columns = [age, fc.bucketized_column(fc.numeric_column("size", 2), [1.5])]
    first = _inner(tf, "feature_column")._transform_features(found, columns)
    second = _inner(tf)._transform_features_v2(found, columns, None)
    return [*first.values(), *second.values()]


def own_columns(tf):
    """Columns of a program that subclasses the first version's classes."""
    old = _inner(tf, "feature_column")

    class Doubled(old._DenseColumn):
        name = "doubled"
        _variable_shape = tf.TensorShape([2])
        _parse_example_spec = None

        def _transform_feature(self, inputs):
            return inputs.get("size") * 2.0

        def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
            return inputs.get(self)

    class Even(old._CategoricalColumn):
        name = "even"
        _num_buckets = 2
        _parse_example_spec = None

        def _transform_feature(self, inputs):
            return inputs.get("words")

        def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
            words = inputs.get(self)
            ids = tf.string_to_hash_bucket_fast(words.values, 2)
            ids = tf.SparseTensor(words.indices, ids, words.dense_shape)
            return old._CategoricalColumn.IdWeightPair(ids, None)

    fc, features = tf.feature_column, _features(tf)
    columns = [Doubled(), Even()]
    crossed = fc.crossed_column([Even(), "word"], 5)
    return [
        fc.input_layer(features, [Doubled(), fc.indicator_column(Even())]),
        *_step(tf, fc.linear_model(features, [*columns, crossed])),
    ]


def common_tables(tf):
    """Embeddings with one table for the layers of columns."""
    fc, v2 = tf.feature_column, _inner(tf)
    ids = [fc.categorical_column_with_identity(key, 3, 0) for key in ("number", "size")]
    columns = v2.shared_embedding_columns_v2(ids, 2, max_norm=0.1)
    features = {**_features(tf), "size": tf.constant([[2], [1]])}
    dense, linear = _layers(tf)
    output = dense(columns)(features)
    return [*_step(tf, output), dense(columns)(features), linear(columns)(features)]


def sequence_layer(tf):
    fc, sequences = tf.feature_column, _inner(tf, "sequence_feature_column")
    words = sequences.sequence_categorical_column_with_hash_bucket("words", 5)
    columns = [
        sequences.sequence_numeric_column("weight"),
        fc.embedding_column(words, 2),
    ]
    values, lengths = sequences.SequenceFeatures(columns)(_features(tf))
    context = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    both = sequences.concatenate_context_input(context, values)
    return [values, lengths, both]


GRAPHS = [
    reused_input_layer, linear_object, unnamed_layers, transformed, own_columns,
    common_tables, sequence_layer,
    numbers, buckets, identities, hashes, vocabulary_lists, vocabulary_files, crosses,
    weights, dense_weights, embeddings, shared_embeddings, ranks, scopes, linear,
    linear_units, linear_scopes, sequences, old_sequences, dense_layer,
    linear_layer,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
