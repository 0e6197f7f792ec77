"""Further models of `tf.contrib.learn` in TensorFlow 1.15:
`python contrib_learn_models.py contrib_learn_models.json`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import os

try:
    from tests.golden import contrib_learn as models
    from tests.golden import contrib_learn_actions as actions
    from tests.golden import kmeans
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import contrib_learn as models
    import contrib_learn_actions as actions
    import kmeans
    import training_loops as loops

outcome = actions.outcome
POINTS = kmeans.POINTS


def described(ops):
    """What a model function returned, as names and classes."""
    tensors = [ops.loss, ops.train_op, *[
        value for held in (ops.predictions, ops.eval_metric_ops)
        for _, value in sorted((held or {}).items())
    ]]  # fmt: skip
    hooks = [type(hook).__name__.strip("_") for hook in ops.training_hooks]
    return [ops.mode, [getattr(t, "name", str(t)) for t in tensors], hooks]


def clustering(tf, folder):
    """Graphs, centers, scores and errors of KMeansClustering."""
    learn = tf.contrib.learn
    make = learn.KMeansClustering
    far = make.KMEANS_PLUS_PLUS_INIT
    whole = {"use_mini_batch": False, "initial_clusters": POINTS[[1, 2, 50]]}
    found = []
    for options in (
        {}, {"relative_tolerance": 0.1, "use_mini_batch": False},
        {"initial_clusters": far, "distance_metric": make.COSINE_DISTANCE},
    ):  # fmt: skip
        estimator = make(3, os.path.join(folder, "graphs"), **options)
        for features in ("whole", "parts"):
            with tf.Graph().as_default() as graph:
                tf.train.create_global_step()
                points = tf.placeholder(tf.float32, [None, 4], name="X")
                if features == "parts":
                    points = {"b": points, "a": tf.placeholder(tf.float32, [None, 1])}
                ops = estimator._call_model_fn(points, None, "train")
                found.append([described(ops), kmeans.structure(graph)])

    def input_fn():
        return tf.constant(POINTS), None

    estimator = make(3, os.path.join(folder, "trained"), relative_tolerance=1e-3,
                     **whole)  # fmt: skip
    estimator.fit(input_fn=input_fn, steps=9)
    index = list(estimator.predict_cluster_idx(input_fn=input_fn))
    scores = estimator.transform(input_fn=input_fn)
    each = list(estimator.transform(input_fn=input_fn, as_iterable=True))
    values = [
        estimator.clusters(), estimator.score(input_fn=input_fn, steps=1), index,
        scores[:4], [sorted(one) for one in each[:1]], len(each),
        estimator.evaluate(input_fn=input_fn, steps=1),
        sorted(estimator.params), sorted(estimator.get_variable_names()),
    ]  # fmt: skip
    found.append(models.rounded(values, 4))

    def labelled():
        return tf.constant(POINTS), tf.constant(1.0)

    calls = [
        lambda: make(3, folder, "other").fit(input_fn=input_fn, steps=1),
        lambda: make(3, folder, distance_metric="other").fit(
            input_fn=input_fn, steps=1),
        lambda: make(3, folder).fit(input_fn=labelled, steps=1),
        lambda: make(3, folder).clusters(),
        lambda: make(3, folder).score(input_fn=input_fn),
    ]  # fmt: skip
    found.append([outcome(call)[0] for call in calls])
    return {"found": found}


PROGRAMS = [clustering]

if __name__ == "__main__":
    loops.main(PROGRAMS)
