"""`tf.contrib.factorization.KMeans` in TensorFlow 1.15: `python kmeans.py kmeans.json`.

As in `training_loops.py`; tests/lib/contrib/test_factorization.py compares.
"""

import numpy as np

try:
    from tests.golden import contrib_learn as models
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import contrib_learn as models
    import training_loops as loops

outcome = loops.outcome
POINTS = np.random.RandomState(0).rand(60, 4).astype(np.float32) + np.repeat(
    np.float32([[0, 0, 0, 0], [3, 0, 3, 0], [0, 4, 0, 4]]), 20, axis=0
)


def _cases(tf):
    module = tf.contrib.factorization
    far = module.KMEANS_PLUS_PLUS_INIT
    return {
        "cosine batches": {"distance_metric": "cosine", "use_mini_batch": True},
        "cosine": {"distance_metric": "cosine"},
        "all points": {},
        "seeded": {"random_seed": 7, "use_mini_batch": True},
        "spread": {"initial_clusters": far, "random_seed": 3},
        "spread cosine": {
            "initial_clusters": far, "random_seed": 3, "distance_metric": "cosine",
            "use_mini_batch": True,
        },
        "late batches": {
            "initial_clusters": far, "use_mini_batch": True,
            "mini_batch_steps_per_iteration": 2, "random_seed": 5,
            "kmeans_plus_plus_num_retries": 0,
        },
        "given": {"initial_clusters": POINTS[[1, 2, 50]]},
        "made": {"initial_clusters": lambda inputs, n: inputs[0][:n] * 2.0,
                 "use_mini_batch": True},
        "many": {"num_clusters": 70},
    }  # fmt: skip


def kmeans(tf, folder):
    """Graphs, and centers step by step."""
    found = {}
    for name, options in _cases(tf).items():
        with tf.Graph().as_default() as graph, tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 4], name="X")
            arguments = dict({"num_clusters": 3, "inputs": x}, **options)
            made = tf.contrib.factorization.KMeans(**arguments)
            scores, ids, distances, initialized, init_op, train = made.training_graph()
            shown = models.structure(graph)
            session.run(tf.global_variables_initializer())
            feeds = {x: POINTS}
            seen = []
            centers = graph.get_tensor_by_name("clusters:0")
            values = [centers, ids[0], distances[0], tf.reduce_mean(scores[0])]
            # The updates of batches are a race in TensorFlow.
            steps = 0 if options.get("use_mini_batch") else 3
            try:
                session.run(init_op, feeds)
                seen.append(models.rounded(session.run(values, feeds), 5))
                for _ in range(steps):
                    session.run(train, feeds)
                    seen.append(models.rounded(session.run(values, feeds), 5))
            except tf.errors.OpError as error:
                seen.append(error.message[:60])
            seen.append(bool(session.run(initialized)))
            found[name] = [shown, len(scores), seen]
    return found


def refused(tf, folder):
    make = tf.contrib.factorization.KMeans
    calls = [
        lambda: make(POINTS, 3, "other"), lambda: make(POINTS, 3, "random", "other"),
    ]  # fmt: skip
    return {"found": [outcome(call) for call in calls]}


PROGRAMS = [kmeans, refused]

if __name__ == "__main__":
    loops.main(PROGRAMS)
