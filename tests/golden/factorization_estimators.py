"""`tf.contrib.factorization`'s estimators in TensorFlow 1.15, recorded as by kmeans.py.

    python factorization_estimators.py factorization_estimators.json

tests/lib/contrib/factorization/test_estimators.py compares: mixtures of Gaussians,
`tf.contrib.learn.KMeansClustering` and `WALSMatrixFactorization`.
"""

import numpy as np

try:
    from tests.golden import contrib_learn as models
    from tests.golden import kmeans, matrix_factorization
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import contrib_learn as models
    import kmeans
    import matrix_factorization
    import training_loops as loops

outcome, rounded = loops.outcome, models.rounded
POINTS = kmeans.POINTS[:, :2]
MEANS = [[0.2, 0.1], [3.0, 0.5]]
# name -> arguments of GmmAlgorithm, and the shapes of its inputs
MIXTURES = {
    "full": ({"initial_means": MEANS}, [[60, 2]]),
    "unknown sizes": ({"initial_means": MEANS}, [[None, None]]),
    "diagonal": ({"initial_means": MEANS, "covariance_type": "diag"}, [[60, 2]]),
    "random": ({"random_seed": 4}, [[60, 2]]),
    "weights": ({"initial_means": MEANS, "params": "w"}, [[60, 2]]),
    "means": ({"initial_means": MEANS, "params": "m"}, [[60, 2]]),
    "weights and covariances": (
        {"initial_means": [[0.1, 0.2], [0.3, 0.1]], "params": "wc"},
        [[60, 2]],
    ),
    # E[x x'] - m m' is positive for means m near 0 only.
    "covariances": (
        {"initial_means": [[0.1, 0.2], [0.3, 0.1]], "params": "c"},
        [[60, 2]],
    ),
    "two inputs": ({"initial_means": MEANS}, [[40, 2], [None, 2]]),
    "two diagonal": ({"random_seed": 3, "covariance_type": "diag"}, [[40, 2], [20, 2]]),
}


def _outline(graph):
    """The number of ops, and checksums of them and of their colocation."""
    return kmeans.structure(graph)[:3]


def _mixture(tf, name):
    options, shapes = MIXTURES[name]
    inputs = [tf.placeholder(tf.float32, shape) for shape in shapes]
    return inputs, tf.contrib.factorization.GmmAlgorithm(inputs, 2, **options)


def mixture_graphs(tf, folder):
    found = {}
    for name in MIXTURES:
        with tf.Graph().as_default() as graph:
            _, made = _mixture(tf, name)
            outputs = [
                made.training_ops(), made.init_ops(), made.is_initialized(),
                made.alphas(), made.clusters(), made.covariances(),
                *made.assignments(), made.scores(), made.log_likelihood_op(),
            ]  # fmt: skip
            names = [output.name for output in outputs]
            trained = [v.name for v in tf.trainable_variables()]
            found[name] = [_outline(graph), names, trained]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [60, 2])
        made = tf.contrib.factorization.gmm(x, "random", 2, 5, "diag", "wc")
        names = [getattr(o, "name", None) for o in made]
        found["gmm"] = [_outline(graph), names, made[2][0][0].name]
    return found


def mixture_steps(tf, folder):
    """Parameters, classes and likelihoods step by step."""
    found = {}
    for name in MIXTURES:
        with tf.Graph().as_default(), tf.Session() as session:
            inputs, made = _mixture(tf, name)
            train, init = made.training_ops(), made.init_ops()
            values = [
                made.alphas(), made.clusters(), made.covariances(),
                made.log_likelihood_op(),
            ]  # fmt: skip
            others = [made.scores(), *made.assignments()]
            feeds = {inputs[0]: POINTS}
            if len(inputs) > 1:
                feeds = {inputs[0]: POINTS[:40], inputs[1]: POINTS[40:]}
            session.run(tf.global_variables_initializer())
            seen = [bool(session.run(made.is_initialized()))]
            session.run(init, feeds)
            for _ in range(4):
                seen.append(rounded(session.run(values, feeds), 4))
                session.run(train, feeds)
            session.run(init, feeds)  # changes nothing
            seen.append(bool(session.run(made.is_initialized())))
            seen.append(rounded(session.run(values, feeds), 4))
            # The scores of two inputs need as many points of both.
            last = others if len(inputs) == 1 else others[1:]
            seen.append(rounded([value[:8] for value in session.run(last, feeds)], 3))
            found[name] = seen
    return found


def refused(tf, folder):
    module = tf.contrib.factorization
    wals = module.WALSMatrixFactorization(5, 7, 3, model_dir=folder)
    x = tf.placeholder(tf.float32, [None, 2])
    doubles = tf.placeholder(tf.float64, [None, 2])
    calls = [
        lambda: module.GmmAlgorithm([x], 2, covariance_type="spherical"),
        lambda: module.gmm(x, "random", 2, 1, "x"),
        lambda: module.GmmAlgorithm([doubles], 2, MEANS),
        lambda: module.GMM(2, folder).weights(),
        lambda: list(module.GMM(2, folder).predict_assignments(lambda: (x, None))),
        lambda: tf.contrib.learn.KMeansClustering(2, folder).clusters(),
        lambda: tf.contrib.learn.KMeansClustering(2, folder, "x").fit(
            input_fn=lambda: (tf.constant(POINTS), None), steps=1
        ),
        lambda: wals.get_row_factors(),
        lambda: wals.fit(input_fn=lambda: ({}, None), steps=1),
    ]  # fmt: skip
    return {"found": [[outcome(call)[0], str(outcome(call)[1])[:30]] for call in calls]}


def _spec(tf, estimator, features, mode):
    with tf.Graph().as_default() as graph:
        tf.train.get_or_create_global_step()
        spec = estimator._call_model_fn(features(), None, mode)
        hooks = [type(hook).__name__.strip("_") for hook in spec.training_hooks]
        metrics = spec.eval_metric_ops
        named = [spec.loss, spec.train_op, *(spec.predictions[k] for k in sorted(
            spec.predictions)), *(metrics[k] for k in sorted(metrics))]  # fmt: skip
        names = [
            [part.name for part in value] if isinstance(value, tuple)
            else getattr(value, "name", None) for value in named
        ]  # fmt: skip
        keys = [sorted(spec.predictions), sorted(metrics)]
        collections = {
            key: [item.name for item in tf.get_collection(key)]
            for key in ("variables", "trainable_variables", "local_variables")
        }
        return [_outline(graph), hooks, names, keys, collections]


def _batch(tf):
    return tf.placeholder(tf.float32, [None, 2])


def _named(tf):
    return {"b": _batch(tf), "a": tf.placeholder(tf.float32, [None, 1])}


def _entries(tf, **more):
    rows = tf.sparse_placeholder(tf.float32, [5, 7])
    cols = tf.sparse_placeholder(tf.float32, [7, 5])
    return dict({"input_rows": rows, "input_cols": cols}, **more)


def specs(tf, folder):
    module = tf.contrib.factorization
    mixture = module.GMM(2, folder, initial_clusters=[[1.0, 2.0], [3.0, 4.0]])
    means = [[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]]
    named = module.GMM(2, folder, covariance_type="diag", initial_clusters=means)
    old = tf.contrib.learn.KMeansClustering(3, folder, relative_tolerance=0.1)
    batches = tf.contrib.learn.KMeansClustering(
        3, folder, "kmeans_plus_plus", "cosine", 4, False
    )
    wals = module.WALSMatrixFactorization(5, 7, 3, model_dir=folder)
    sharded = module.WALSMatrixFactorization(
        5, 7, 3, 0.2, 0.01, num_row_shards=2, num_col_shards=3, max_sweeps=4,
        model_dir=folder,
        use_factors_weights_cache_for_training=False,
        use_gramian_cache_for_training=False,
    )  # fmt: skip

    def projected():
        return _entries(tf, project_row=tf.constant(True))

    def weighed():
        weights = tf.placeholder(tf.float32, [None])
        return dict(projected(), projection_weights=weights)

    return {
        "mixture": _spec(tf, mixture, lambda: _batch(tf), "train"),
        "mixture infers": _spec(tf, mixture, lambda: _batch(tf), "infer"),
        "mixture of names": _spec(tf, named, lambda: _named(tf), "eval"),
        "old k-means": _spec(tf, old, lambda: _batch(tf), "train"),
        "old k-means of names": _spec(tf, batches, lambda: _named(tf), "eval"),
        "wals": _spec(tf, wals, lambda: _entries(tf), "train"),
        "wals of shards": _spec(tf, sharded, lambda: _entries(tf), "train"),
        "wals infers": _spec(tf, sharded, projected, "infer"),
        "wals infers with weights": _spec(tf, wals, weighed, "infer"),
        "wals evaluates": _spec(tf, sharded, projected, "eval"),
    }


def lists_of_features(tf, folder):
    """Lists become constants; ops are colocated with that of the first."""
    found = []
    makes = (tf.contrib.factorization.KMeansClustering, tf.contrib.factorization.GMM)
    for make in makes:
        estimator = make(2, folder, initial_clusters=np.float32([[1, 2], [3, 4]]))
        with tf.Graph().as_default() as graph:
            tf.train.get_or_create_global_step()
            features = {"y": [[1.0], [2.0], [3.0]], "x": [[4.0], [5.0], [6.0]]}
            if make is makes[0]:
                estimator.model_fn(features, None, "train", estimator.config)
            else:
                estimator._call_model_fn(features, None, "train")
            found.append(_outline(graph))
    with tf.Graph().as_default() as graph:
        for value in ([[1.0]], 2.0, "x", np.ones(2)):
            with graph.colocate_with(value):
                tf.no_op()
        found.append(_outline(graph))
    return {"found": found}


def _config(tf, kind):
    return kind(tf_random_seed=2, log_step_count_steps=None)


def mixture_estimator(tf, folder):
    config = _config(tf, tf.contrib.learn.RunConfig)
    made = tf.contrib.factorization.GMM(
        2, folder, random_seed=4, initial_clusters=np.float32(MEANS), config=config
    )

    def points():
        return tf.train.limit_epochs(tf.constant(POINTS), num_epochs=1), None

    def constant():
        return tf.constant(POINTS[:20]), None

    made.fit(input_fn=lambda: (tf.constant(POINTS), None), steps=3)
    made.fit(input_fn=lambda: (tf.constant(POINTS), None), steps=2)
    evaluated = made.evaluate(input_fn=constant, steps=3)
    return {
        "names": made.get_variable_names(),
        "parameters": rounded([made.weights(), made.clusters(), made.covariances()], 4),
        "classes": [int(index) for index in made.predict_assignments(points)],
        "score": rounded(made.score(constant, steps=2), 4),
        "evaluated": rounded([evaluated["loss"], evaluated["scores"]], 3),
    }


def old_kmeans(tf, folder):
    config = _config(tf, tf.contrib.learn.RunConfig)
    made = tf.contrib.learn.KMeansClustering(
        3, folder, initial_clusters="kmeans_plus_plus", random_seed=4,
        use_mini_batch=False, relative_tolerance=1e-3, config=config,
    )  # fmt: skip

    def points():
        return tf.train.limit_epochs(tf.constant(POINTS), num_epochs=1), None

    def constant():
        return tf.constant(POINTS), None

    made.fit(input_fn=constant, steps=20)
    one = next(made.transform(points, as_iterable=True))
    return {
        "steps": int(made.get_variable_value("global_step")),
        "names": made.get_variable_names(),
        "centers": rounded(made.clusters(), 4),
        "index": [int(index) for index in made.predict_cluster_idx(points)],
        "distances": rounded(made.transform(points)[:5], 3),
        "one": [sorted(one), rounded(one["all_scores"], 3)],
        "score": rounded(made.score(constant, steps=2), 3),
    }


def factors(tf, folder):
    """Sweeps by batches of rows; losses and projections."""
    matrix = matrix_factorization.MATRIX
    options = {k: v for k, v in matrix_factorization.SHARDS.items()
               if k != "regularization"}  # fmt: skip
    made = tf.contrib.factorization.WALSMatrixFactorization(
        5, 7, 3, regularization_coeff=0.01, max_sweeps=4, model_dir=folder,
        config=_config(tf, tf.contrib.learn.RunConfig), **options
    )  # fmt: skip

    def input_fn(**more):
        entries = tf.SparseTensor.from_value(matrix_factorization._entries(tf, matrix))
        others = tf.sparse_transpose(entries)
        return dict({"input_rows": entries, "input_cols": others}, **more), None

    def projected(row):
        return lambda: input_fn(
            project_row=tf.constant(row),
            projection_weights=tf.constant([0.5] * (5 if row else 7)),
        )

    def evaluated(row):
        return made.evaluate(
            input_fn=lambda: input_fn(project_row=tf.constant(row)), steps=1
        )

    def first(row, count):
        generator = made.get_projections(projected(row))
        return rounded([next(generator) for _ in range(count)], 3)

    made.fit(input_fn=input_fn, steps=1)
    early = rounded(made.get_row_factors(), 3)
    made.fit(input_fn=input_fn, steps=9)
    return {
        "early": early,
        "steps": [int(made.get_variable_value(name))
                  for name in ("global_step", "completed_sweeps")],
        "names": made.get_variable_names(),
        "factors": rounded([made.get_row_factors(), made.get_col_factors()], 3),
        "losses": rounded([evaluated(True)["loss"], evaluated(False)["loss"]], 4),
        "projected": [first(True, 5), first(False, 7)],
    }  # fmt: skip


PROGRAMS = [
    mixture_graphs, mixture_steps, refused, specs, lists_of_features,
    mixture_estimator, old_kmeans, factors,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
