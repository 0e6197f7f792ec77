"""`tf.contrib.factorization.KMeans` in TensorFlow 1.15: `python kmeans.py kmeans.json`.

As in `training_loops.py`; tests/lib/contrib/test_factorization.py compares.
"""

import zlib

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


def structure(graph):
    """The outline of a graph, and checksums of its ops and of their colocation."""
    lines = []
    for node in graph.as_graph_def().node:
        classes = node.attr["_class"].list.s if "_class" in node.attr else ()
        lines.append(f"{node.name} {sorted(classes)}")
    return [zlib.crc32("\n".join(lines).encode()), *models.structure(graph)]


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
        # Several chains at once are a race in TensorFlow.
        "chains": {"initial_clusters": "kmc2", "kmc2_chain_length": 60,
                   "random_seed": 3},
        "cosine chains": {
            "initial_clusters": "kmc2", "kmc2_chain_length": 60, "random_seed": 3,
            "distance_metric": "cosine", "use_mini_batch": True,
        },
        "late cosine": {
            "distance_metric": "cosine", "use_mini_batch": True,
            "mini_batch_steps_per_iteration": 3,
        },
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
            shown = structure(graph)
            session.run(tf.global_variables_initializer())
            feeds = {x: POINTS}
            seen = []
            centers = graph.get_tensor_by_name("clusters:0")
            values = [centers, ids[0], distances[0], tf.reduce_mean(scores[0])]
            # The updates of batches are a race in TensorFlow.
            steps = 0 if options.get("use_mini_batch") else 3
            try:
                while not session.run(initialized):
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


def _described(spec):
    hooks = [type(hook).__name__.strip("_") for hook in spec.training_hooks]
    outputs = sorted(spec.export_outputs)
    tensors = [spec.loss, spec.train_op, *spec.eval_metric_ops["score"]]
    tensors += [spec.predictions[key] for key in sorted(spec.predictions)]
    return [spec.mode, hooks, outputs, [tensor.name for tensor in tensors]]


def estimator_graphs(tf, folder):
    contrib = tf.contrib.factorization.KMeansClustering
    core = tf.estimator.experimental.KMeans
    column = tf.feature_column.numeric_column
    columns = [column("b", [2]), column("a")]
    cases = {
        "default": (contrib, {}),
        "whole": (contrib, {
            "use_mini_batch": False, "relative_tolerance": 0.1,
            "initial_clusters": "kmeans_plus_plus", "distance_metric": "cosine",
        }),
        "features": (contrib, {"mini_batch_steps_per_iteration": 4}),
        "columns": (contrib, {"feature_columns": columns}),
        "core": (core, {}),
        "core, seeded": (core, {"seed": 5, "use_mini_batch": False}),
        "core, spread": (core, {"seed": 5, "initial_clusters": "kmeans_plus_plus"}),
    }  # fmt: skip
    found = {}
    for name, (kind, options) in cases.items():
        estimator = kind(3, model_dir=folder, **options)
        with tf.Graph().as_default() as graph:
            tf.train.get_or_create_global_step()
            points = tf.placeholder(tf.float32, [None, 2], name="X")
            if name in ("features", "columns"):
                points = {"b": points, "a": tf.placeholder(tf.float32, [None, 1])}
            mode = "eval" if name == "core" else "train"
            spec = estimator.model_fn(points, None, mode, estimator.config)
            found[name] = [structure(graph), _described(spec)]
    return found


def estimator(tf, folder):
    """Centers, assignments, distances and scores; the training ends by tolerance."""
    module = tf.contrib.factorization
    made = module.KMeansClustering(
        3, folder, relative_tolerance=1e-3, use_mini_batch=False, random_seed=4,
        initial_clusters=module.KMeansClustering.KMEANS_PLUS_PLUS_INIT,
        config=tf.estimator.RunConfig(tf_random_seed=3, log_step_count_steps=None),
    )  # fmt: skip
    early = outcome(made.cluster_centers)

    def points():
        return tf.train.limit_epochs(tf.constant(POINTS), num_epochs=1), None

    made.train(lambda: (tf.constant(POINTS), None), steps=20)
    return {
        "early": early[:1],
        "steps": int(made.get_variable_value("global_step")),
        "names": made.get_variable_names(),
        "centers": models.rounded(made.cluster_centers(), 4),
        "index": [int(index) for index in made.predict_cluster_index(points)],
        "distances": models.rounded(list(made.transform(points))[:5], 3),
        "score": models.rounded(made.score(points), 3),
        "constants": [
            getattr(module.KMeansClustering, name)
            for name in sorted(dir(module.KMeansClustering)) if name.isupper()
        ],
    }  # fmt: skip


def first_centers_of_small_batches(tf, folder):
    """Batches of one point: the hook asks for more until there are all centers."""
    points = POINTS[:5]

    def one_by_one():
        queue = tf.FIFOQueue(5, tf.int32, [])

        def more():
            return tf.group(queue.enqueue_many(tf.range(5)))

        fill = tf.cond(queue.size() <= 0, more, tf.no_op)
        with tf.control_dependencies([fill]):
            index = queue.dequeue_many(1)
        return tf.gather(tf.constant(points), index), None

    made = tf.contrib.factorization.KMeansClustering(
        5, folder, mini_batch_steps_per_iteration=100
    )
    made.train(one_by_one, steps=1)
    return {"centers": models.rounded(made.cluster_centers(), 5)}


def refused_estimators(tf, folder):
    kind = tf.contrib.factorization.KMeansClustering
    core = tf.estimator.experimental.KMeans
    calls = [
        lambda: kind(3, initial_clusters="kmc2"), lambda: kind(3, distance_metric="x"),
        lambda: core(3, initial_clusters="kmc2"), lambda: core(3, distance_metric="x"),
    ]  # fmt: skip
    return {"found": [outcome(call) for call in calls]}


PROGRAMS = [
    kmeans, refused, estimator_graphs, estimator, first_centers_of_small_batches,
    refused_estimators,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
