"""Look-ups in tables, candidate samplers and sampled losses; see training.py.

`python training.py embeddings embeddings.json`, with TensorFlow's Python, writes the
file anew.
"""

import numpy as np

TABLE = np.linspace(-1.0, 1.0, 33).reshape(11, 3).astype(np.float32)
IDS = np.array([[3, 0], [10, 7], [3, 9]])
TRUE = np.array([[0, 3], [7, 5], [2, 6]])
WEIGHTS = [3.0, 1.0, 0.5, 7.0, 2.0, 2.0, 9.0, 1.0]


# ---- look-ups


def _cut(tf, count, resource=False, name="table"):
    return tf.get_variable(
        name, initializer=tf.constant(TABLE), use_resource=resource,
        partitioner=tf.fixed_size_partitioner(count),
    )  # fmt: skip


def _losses(tf, rows, tables):
    loss = tf.reduce_sum(rows * rows * rows)
    grads = tf.gradients(loss, list(tables))
    return [rows, *[part for g in grads for part in (g.values, g.indices)]]


def one_table(tf):
    table = tf.constant(TABLE)
    return [
        tf.nn.embedding_lookup(table, IDS, max_norm=0.9),
        tf.nn.embedding_lookup([table], IDS[0], max_norm=0.9, name="again"),
    ]


def parts_div(tf):
    tables = _cut(tf, 3)
    rows = tf.nn.embedding_lookup(tables, IDS, partition_strategy="div")
    return _losses(tf, rows, tables)


def parts_div_resource(tf):
    tables = _cut(tf, 3, True)
    rows = tf.nn.embedding_lookup(tables, IDS, "div", max_norm=0.9)
    return _losses(tf, rows, tables)


def parts_mod(tf):
    tables = [
        tf.placeholder_with_default(TABLE[i::2], [None, 3], f"t{i}") for i in (0, 1)
    ]
    ids = tf.constant(IDS, tf.int32)
    return [
        tf.nn.embedding_lookup(tables, ids),
        tf.nn.embedding_lookup([TABLE[:6], tables[1]], IDS[0], "div", name="div"),
        tf.nn.embedding_lookup(
            [tf.placeholder_with_default(TABLE[:6], None), tables[1]], IDS[0] // 2
        ),
    ]


def _sparse_ids(tf):
    where = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 3], [2, 4]]
    # Of constant ids TF works out more shapes while it builds the graph.
    numbers = tf.placeholder_with_default(np.array([3, 0, 10, 7, 3, 3]), [None])
    ids = tf.SparseTensor(where, numbers, [3, 5])
    weights = tf.SparseTensor(where, [1.0, 2.0, 0.5, 1.0, 3.0, 0.25], [3, 5])
    return ids, weights


def sparse_sums(tf):
    ids, weights = _sparse_ids(tf)
    table = tf.get_variable("table", initializer=tf.constant(TABLE))
    sums = [
        tf.nn.embedding_lookup_sparse(table, ids, w, combiner=c)
        for w in (None, weights)
        for c in ("sum", "mean", "sqrtn")
    ]
    loss = tf.add_n([tf.reduce_sum(s * s) for s in sums])
    (grad,) = tf.gradients(loss, [table])
    return [*sums, tf.convert_to_tensor(grad)]


def sparse_sums_in_parts(tf):
    ids, weights = _sparse_ids(tf)
    tables = _cut(tf, 2)
    rows = tf.nn.embedding_lookup_sparse(
        tables, ids, weights, "div", "sums", "mean", max_norm=0.9
    )
    return [rows]


def safe_sums(tf):
    where = np.array([[0, 0], [0, 1], [2, 0], [2, 3], [3, 4]])
    where = tf.placeholder_with_default(where, [None, 2])
    numbers = tf.placeholder_with_default(np.array([3, 0, -1, 7, 3]), [None])
    factors = tf.placeholder_with_default([1.0, 2.0, 0.5, -1.0, 3.0], [None])
    ids = tf.SparseTensor(where, numbers, [4, 5])
    weights = tf.SparseTensor(where, factors, [4, 5])
    places = tf.placeholder_with_default(np.array([[0, 1, 0], [1, 0, 1]]), [None, 3])
    deep = tf.SparseTensor(places, tf.constant([4, 2]), [2, 2, 2])
    table = tf.get_variable("table", initializer=tf.constant(TABLE))
    parts = _cut(tf, 2, True, "parts")
    safe = tf.nn.safe_embedding_lookup_sparse
    sums = [
        safe(table, ids),
        safe([table], ids, weights, "sum", name="sums"),
        safe(parts, ids, weights, "sqrtn", default_id=5, name="default"),
        safe(table, deep, combiner="sum"),
    ]
    loss = tf.add_n([tf.reduce_sum(s * s) for s in sums])
    (grad,) = tf.gradients(loss, [table])
    return [*sums, tf.convert_to_tensor(grad)]


def from_sparse(tf):
    values, default = tf.constant([1.5, -2.0]), tf.constant(0.5)
    dense = tf.sparse_to_dense([[0, 1], [1, 0]], [2, 3], values, default)
    return [dense, *tf.gradients(dense * dense, [values, default])]


# ---- candidate samplers


def samplers(tf):
    found = []
    for unique in (False, True):
        for size in (8, 1000):
            for sampler in (
                tf.nn.uniform_candidate_sampler,
                tf.nn.log_uniform_candidate_sampler,
                tf.nn.learned_unigram_candidate_sampler,
            ):
                found += sampler(TRUE, 2, 6, unique, size, seed=5)
        fixed = tf.nn.fixed_unigram_candidate_sampler
        found += fixed(TRUE, 2, 5, unique, 8, unigrams=WEIGHTS, seed=1)
        found += fixed(
            TRUE, 2, 5, unique, 10, "", 0.75, 2, unigrams=WEIGHTS, seed=1, name="late"
        )
        found += fixed(TRUE % 5, 2, 2, unique, 4, "", 1.0, 1, 2, 0, WEIGHTS[:7], seed=2)
    found += tf.nn.all_candidate_sampler(TRUE, 2, 9, True, seed=3)
    found += tf.nn.compute_accidental_hits(TRUE, [5, 3, 9, 3, 0, 1], 2)
    tf.set_random_seed(7)
    found += tf.random.log_uniform_candidate_sampler(TRUE, 2, 64, True, 50000)
    return found


# ---- sampled losses


def _model(tf, kind, labels, partitioner=None, resource=False, **options):
    tf.set_random_seed(11)
    weights = tf.get_variable(
        "weights", initializer=tf.constant(TABLE), partitioner=partitioner,
        use_resource=resource,
    )  # fmt: skip
    biases = tf.get_variable(
        "biases", initializer=tf.constant(TABLE[:, 0].copy()), use_resource=resource
    )
    inputs = tf.placeholder_with_default(TABLE[:3] * 2.0, [None, 3], "inputs")
    losses = tf.contrib.nn if "sparse" in kind else tf.nn
    loss = getattr(losses, kind)(
        weights, biases, tf.constant(labels), inputs, 4, 11, **options
    )
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return optimizer.minimize(tf.reduce_mean(loss))


def nce(tf):
    return _model(tf, "nce_loss", TRUE[:, :1])


def nce_several(tf):
    return _model(
        tf, "nce_loss", TRUE.astype(np.int32), tf.fixed_size_partitioner(2), num_true=2,
        partition_strategy="div", remove_accidental_hits=True, name="noise",
    )  # fmt: skip


def sampled_softmax(tf):
    return _model(tf, "sampled_softmax_loss", TRUE[:, :1], resource=True, seed=4)


def sampled_softmax_given(tf):
    values = tf.nn.uniform_candidate_sampler(TRUE[:, :1], 1, 4, False, 11, seed=2)
    return _model(tf, "sampled_softmax_loss", TRUE[:, :1], sampled_values=values)


def sampled_sparse_softmax(tf):
    return _model(tf, "sampled_sparse_softmax_loss", TRUE[:, :1])


GRAPHS = [
    one_table, parts_div, parts_div_resource, parts_mod, sparse_sums,
    sparse_sums_in_parts, safe_sums, from_sparse, samplers, nce, nce_several,
    sampled_softmax, sampled_softmax_given, sampled_sparse_softmax,
]  # fmt: skip
