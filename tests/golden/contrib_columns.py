"""The feature columns of tf.contrib.layers, and models of them, in real TF 1.15.

See composites.py.
"""

import sys

from tests.golden.composites import build, inner, results, write  # noqa: F401

VOCABULARY = "tests/golden/vocabularies/letters.txt"


def _features(tf):
    places = [[0, 0], [1, 0], [1, 1]]
    hold = tf.placeholder_with_default

    def sparse(name, values):
        return tf.SparseTensor(
            hold(tf.constant(places, tf.int64), [None, 2], name + "/indices"),
            hold(values, [None], name + "/values"),
            hold(tf.constant([2, 2], tf.int64), [2], name + "/shape"),
        )

    return {
        "age": hold([[1.0], [2.0]], [None, 1], "age"),
        "size": hold([[1.0, 2.0], [2.0, 3.0]], [None, 2], "size"),
        "flat": hold([1.0, 3.0], [None], "flat"),
        "deep": hold([[[1.0], [3.0]], [[2.0], [5.0]]], [None, 2, 1], "deep"),
        "count": hold([[1], [2]], [None, 1], "count"),
        "word": hold([["a"], ["b"]], [None, 1], "word"),
        "ids": sparse("ids", tf.constant([1, 7, 2], tf.int64)),
        "words": sparse("words", ["a", "c", "d"]),
        "weight": sparse("weight", [0.5, 2.0, 3.0]),
    }


def _step(tf, output):
    loss = tf.reduce_sum(tf.square(output - 1.0))
    return [output, tf.train.AdagradOptimizer(0.1).minimize(loss), output]


def numbers(tf):
    layers = tf.contrib.layers
    column = layers.real_valued_column
    size = column("size", 2, normalizer=lambda x: x * 2.0)
    buckets = layers.bucketized_column(size, [1.0, 2.0])
    columns = [column("age"), size, buckets, column("flat"), column("deep", 2)]
    columns.append(column("count", dtype=tf.int32))
    return [layers.input_from_feature_columns(_features(tf), columns)]


def _words(tf):
    layers = tf.contrib.layers
    return (
        layers.sparse_column_with_hash_bucket("words", 5),
        layers.sparse_column_with_hash_bucket("word", 5),
        layers.sparse_column_with_integerized_feature("ids", 4),
    )


def ids(tf):
    layers = tf.contrib.layers
    words, word, ids = _words(tf)
    weighted = layers.weighted_sparse_column(words, "weight")
    columns = [
        layers.one_hot_column(ids),
        layers.embedding_column(words, 2),
        layers.embedding_column(weighted, 3, "sqrtn", tf.ones_initializer()),
        layers.one_hot_column(layers.crossed_column([word, ids], 7)),
    ]
    outputs = {}
    output = layers.input_from_feature_columns(
        _features(tf), columns, ["mine"], cols_to_outs=outputs
    )
    return [*_step(tf, output), outputs[columns[0]]]


def shared(tf):
    layers = tf.contrib.layers
    words, word, _ = _words(tf)
    columns = layers.shared_embedding_columns([words, word], 2)
    return _step(tf, layers.input_from_feature_columns(_features(tf), columns))


def scattered(tf):
    layers = tf.contrib.layers
    column = layers.scattered_embedding_column("words", 10, 3, 7)
    return _step(tf, layers.input_from_feature_columns(_features(tf), [column]))


def vocabularies(tf):
    layers = tf.contrib.layers
    columns = [
        layers.sparse_column_with_keys("words", ["a", "d"]),
        layers.sparse_column_with_vocabulary_file("word", VOCABULARY, 2, 3),
    ]
    columns = [layers.one_hot_column(column) for column in columns]
    output = layers.input_from_feature_columns(_features(tf), columns)
    return [tf.tables_initializer(), output]


def weighted_sums(tf):
    layers = tf.contrib.layers
    words, word, ids = _words(tf)
    age = layers.real_valued_column("age")
    size = layers.bucketized_column(layers.real_valued_column("size", 2), [1.0, 2.5])
    young = layers.bucketized_column(age, [1.5])
    columns = [
        age, size, words, layers.weighted_sparse_column(words, "weight"),
        layers.crossed_column([young, words], 7),
        layers.crossed_column([layers.crossed_column([word, words], 7), ids], 9, "mean",
                              hash_key=3),
    ]  # fmt: skip
    output, variables, bias = layers.weighted_sum_from_feature_columns(
        _features(tf), columns, 3, ["mine"]
    )
    return [*_step(tf, output), variables[words], bias]


def joint_sums(tf):
    layers = tf.contrib.layers
    words, _, ids = _words(tf)
    with tf.variable_scope("outer"):
        output, variables, bias = layers.joint_weighted_sum_from_feature_columns(
            _features(tf), [ids, words], 2, scope="own"
        )
    return [*_step(tf, output), variables, bias]


def sequences(tf):
    layers = tf.contrib.layers
    features = _features(tf)
    features["ids"] = tf.sparse_reshape(features["ids"], [2, 2, 1])
    features["ids"].dense_shape.set_shape([3])
    columns = [
        layers.real_valued_column("deep"),
        layers.one_hot_column(layers.sparse_column_with_integerized_feature("ids", 4)),
    ]
    return [layers.sequence_input_from_feature_columns(features, columns)]


def sequences_of_ids(tf):
    layers = tf.contrib.layers
    words, _, ids = _words(tf)
    columns = [
        layers.one_hot_column(ids),
        layers.embedding_column(layers.weighted_sparse_column(words, "weight"), 2),
    ]
    return [layers.sequence_input_from_feature_columns(_features(tf), columns)]


def flattened(tf):
    layers = tf.contrib.layers
    column = layers.real_valued_column("deep", 2)
    return [layers.weighted_sum_from_feature_columns(_features(tf), [column], 2)[0]]


def several_hashes(tf):
    layers = tf.contrib.layers
    keys = [[10, 20], [20, 30]]
    column = layers.sparse_column_with_hash_bucket("word", 10, hash_keys=keys)
    numbers = layers.sparse_column_with_hash_bucket("ids", 9, "sum", tf.int64, keys)
    columns = [layers.one_hot_column(column), layers.one_hot_column(numbers)]
    return [layers.input_from_feature_columns(_features(tf), columns)]


def dense_weights(tf):
    layers = tf.contrib.layers
    features = {
        "word": tf.constant([["a", ""], ["b", "c"]]),
        "weight": tf.constant([[0.0, -1.0], [2.0, 3.0]]),
        "count": tf.constant([[0, -1], [2, 3]]),
    }
    words = layers.sparse_column_with_hash_bucket("word", 5)
    columns = [
        layers.weighted_sparse_column(words, "weight"),
        layers.weighted_sparse_column(words, "count", tf.int32),
    ]
    found = layers.transform_features(features, columns)
    return [list(found[column]) for column in columns]


def any_length(tf):
    column = inner(
        tf, "contrib.layers.python.layers.feature_column"
    )._real_valued_var_len_column
    places = tf.constant([[0, 0], [2, 0]], tf.int64)
    features = {
        "sparse": tf.SparseTensor(places, [2, 5], [3, 1]),
        "padded": tf.placeholder_with_default([[1, 2], [3, 4]], [None, 2]),
    }
    sparse = column("sparse", None, tf.int32, lambda x: x**2, is_sparse=True)
    padded = column("padded", 0, tf.int32, lambda x: x * 2)
    layers = tf.contrib.layers
    return [
        layers.transform_features(features, [sparse])[sparse],
        layers.input_from_feature_columns(features, [padded]),
        layers.weighted_sum_from_feature_columns(features, [padded], 1)[0],
        layers.sequence_input_from_feature_columns(features, [padded]),
    ]


def sequence_examples(tf):
    layers = tf.contrib.layers
    words = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"b"]))
    example = tf.train.SequenceExample(
        feature_lists=tf.train.FeatureLists(
            feature_list={"words": tf.train.FeatureList(feature=[words, words])}
        )
    )
    words = layers.embedding_column(_words(tf)[0], 2)
    context, steps = layers.parse_feature_columns_from_sequence_examples(
        tf.constant(example.SerializeToString()), None, [words], "parse", "example"
    )
    assert not context
    return [steps["words"]]


def core_inputs(tf):
    """The older columns in the newer input layer."""
    layers = tf.contrib.layers
    words, word, ids = _words(tf)
    column = layers.real_valued_column
    size = column("size", 2, normalizer=lambda x: x * 2.0)
    weighted = layers.weighted_sparse_column(words, "weight")
    columns = [
        column("age"), size, layers.bucketized_column(size, [1.0, 2.0]),
        column("flat"), column("deep", 2), column("count", dtype=tf.int32),
        layers.one_hot_column(ids), layers.one_hot_column(weighted),
        layers.embedding_column(words, 2),
        layers.embedding_column(layers.crossed_column([word, ids], 7), 3,
                                trainable=False),
        layers.scattered_embedding_column("words", 10, 3, 7),
        *layers.shared_embedding_columns([words, word], 2, shared_embedding_name="t"),
    ]  # fmt: skip
    names = [column.name for column in columns]
    del columns[names.index("words_embedding")]
    output = tf.feature_column.input_layer(_features(tf), columns, ["mine"])
    return _step(tf, output)


def core_linear_model(tf):
    """The older columns in the newer linear model."""
    layers = tf.contrib.layers
    words, word, ids = _words(tf)
    age = layers.real_valued_column("age")
    size = layers.bucketized_column(layers.real_valued_column("size", 2), [1.0, 2.5])
    columns = [
        age, size, words, layers.crossed_column([size, word], 7),
        layers.one_hot_column(ids),
    ]  # fmt: skip
    variables = {}
    weighted = layers.weighted_sparse_column(words, "weight")
    output = tf.feature_column.linear_model(
        _features(tf), columns, 3, cols_to_vars=variables
    )
    of_weights = tf.feature_column.linear_model(_features(tf), [weighted])
    return [*_step(tf, output), variables[words], variables["bias"], of_weights]


GRAPHS = [
    numbers, ids, shared, scattered, vocabularies, weighted_sums, joint_sums, sequences,
    sequences_of_ids, flattened, several_hashes, dense_weights, any_length,
    sequence_examples, core_inputs, core_linear_model,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
