"""`tf.contrib.factorization.WALSModel` in TensorFlow 1.15, recorded as by kmeans.py.

    python matrix_factorization.py matrix_factorization.json

tests/lib/contrib/test_matrix_factorization.py compares.
"""

import numpy as np

try:
    from tests.golden import contrib_learn as models
    from tests.golden import kmeans
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import contrib_learn as models
    import kmeans
    import training_loops as loops

MATRIX = np.float32([
    [0.1, 0, 0.2, 0, 0.4, 0.5, 0], [0, 1.1, 0, 1.3, 1.4, 0, 1.6],
    [2, 0, 0, 2.3, 0, 2.5, 0], [3, 0, 3.2, 3.3, 0, 3.5, 0], [0, 4.1, 0, 0, 4.4, 0, 4.6],
])  # fmt: skip
FACTORS = np.random.RandomState(1).randn(7, 3).astype(np.float32)
SHARDS = {
    "num_row_shards": 2, "num_col_shards": 3, "regularization": 0.01,
    "unobserved_weight": 0.1, "row_weights": [[0.1, 0.2, 0.3], [0.4, 0.5]],
    "col_weights": [[0.1, 0.2, 0.3], [0.4, 0.5], [0.6, 0.7]],
    "col_init": [FACTORS[:3], FACTORS[3:5], FACTORS[5:]],
}  # fmt: skip
CASES = {
    "default": {},
    "shards": SHARDS,
    "no weights": {"row_weights": None, "col_weights": None, "col_init": FACTORS},
    "no caches": {
        "use_factors_weights_cache": False, "use_gramian_cache": False,
        "col_init": FACTORS, "row_weights": [1.0, 2.0, 3.0, 4.0, 5.0], "col_weights": 2,
    },
}  # fmt: skip


def _model(tf, name):
    return tf.contrib.factorization.WALSModel(5, 7, 3, **CASES[name])


def _names(model, updates):
    found = [getattr(model, name).name for name in (
        "initialize_op", "worker_init", "row_update_prep_gramian_op",
        "col_update_prep_gramian_op", "initialize_row_update_op",
        "initialize_col_update_op",
    )]  # fmt: skip
    for name in ("row_factors", "col_factors", "row_weights", "col_weights"):
        found.append([variable.name for variable in getattr(model, name) or ()])
    return [*found, *(made.name for made in updates)]


def graphs(tf, folder):
    found = {}
    for name in CASES:
        with tf.Graph().as_default() as graph:
            model = _model(tf, name)
            entries = tf.sparse_placeholder(tf.float32, name="S")
            updates = [
                *model.update_row_factors(entries),
                *model.update_col_factors(entries, transpose_input=True),
                model.project_row_factors(entries, projection_weights=[0.2, 0.5]),
                model.project_col_factors(entries, True),
            ]
            found[name] = [kmeans.structure(graph), _names(model, updates)]
    return found


def _entries(tf, matrix):
    places = np.argwhere(matrix)
    return tf.SparseTensorValue(places, matrix[tuple(places.T)], matrix.shape)


def sweeps(tf, folder):
    """Factors, losses and sums of weights after sweeps by parts of the matrix."""
    found = {}
    rows = [np.where(np.isin(np.arange(5), part)[:, None], MATRIX, 0)
            for part in ([0, 2], [1, 4], [3])]  # fmt: skip
    for name in ("shards", "no weights", "no caches"):
        with tf.Graph().as_default(), tf.Session() as session:
            model = _model(tf, name)
            entries = tf.sparse_placeholder(tf.float32)
            row = model.update_row_factors(entries)
            columns = [
                model.update_col_factors(entries, transpose_input=True),
                model.update_col_factors(entries),
            ]
            projected = model.project_row_factors(entries, projection_weights=0.5)
            session.run([model.initialize_op])
            session.run([model.worker_init])
            seen = []
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            for part in rows:
                feeds = {entries: _entries(tf, part)}
                seen.append(session.run([row[0], *row[2:], projected], feeds))
                session.run(row[1], feeds)
            seen.append(session.run(model.row_factors))
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            for matrix, made in zip((MATRIX.T, MATRIX), columns):
                feeds = {entries: _entries(tf, matrix)}
                seen.append(session.run([made[0], *made[2:]], feeds))
                session.run(made[1], feeds)
                seen.append(session.run(model.col_factors))
            found[name] = models.rounded(seen, 4)
    return found


PROGRAMS = [graphs, sweeps]

if __name__ == "__main__":
    loops.main(PROGRAMS)
