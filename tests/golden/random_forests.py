"""Estimators of random forests in TensorFlow 1.15, recorded as by kmeans.py.

    python random_forests.py random_forests.json

tests/lib/contrib/tensor_forest/test_random_forest.py compares: graphs, when leaves are
split, what given trees predict, hooks and metrics.
"""

import numpy as np

try:
    from tests.golden import contrib_learn as models
    from tests.golden import kmeans, tensor_forests
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import contrib_learn as models
    import kmeans
    import tensor_forests
    import training_loops as loops

POINTS = np.random.RandomState(1).rand(80, 2).astype(np.float32)


def _modules(tf):
    if "tfteach" in tf.__name__:
        package = tf.contrib.tensor_forest
        return package.python.tensor_forest, package.client.random_forest
    from tensorflow.contrib.tensor_forest.client import random_forest
    from tensorflow.contrib.tensor_forest.python import tensor_forest

    return tensor_forest, random_forest


def _sparse(tf):
    return tf.sparse_placeholder(tf.float32, [4, 4])


def _dense(tf):
    return tf.placeholder(tf.float32, [None, 4])


def _named(tf):
    part = tf.placeholder(tf.int32, [None, 1])
    return {"b": part, "a": tf.placeholder(tf.float32, [None, 3])}


def forest_graphs(tf, folder):
    """Training and inference of forests of each kind."""
    cases = {
        "regression": (_dense, {"num_classes": 1, "regression": True}),
        "sparse": (_sparse, {}),
        "names": (_named, {"inference_tree_paths": True, "split_name": "less"}),
        "bagged": (_dense, {"bagging_fraction": 0.5, "base_random_seed": 3}),
    }
    found = {}
    for name, (inputs, options) in cases.items():
        with tf.Graph().as_default() as graph:
            module, params = tensor_forests.forest(tf, **options)
            data, labels = inputs(tf), tf.placeholder(tf.int64, [None])
            made = module.RandomForestGraphs(params)
            outputs = [made.training_graph(data, labels), *made.inference_graph(data)]
            outputs += [made.validation_loss(data, labels), made.average_size()]
            outputs.append(made.feature_importances())
            message = module.build_params_proto(params).SerializeToString()
            found[name] = [
                kmeans.structure(graph)[:3], [output.name for output in outputs],
                [str(output.dtype) for output in outputs[1:]], list(bytearray(message)),
            ]  # fmt: skip
    return found


def _initialize(tf, session):
    handles = tf.get_collection("resources")
    session.run([tf.global_variables_initializer(), *(h.create for h in handles)])


def first_splits(tf, folder):
    """After how many examples a root is split."""
    found = []
    for candidates, least, batch, regression in (
        (10, 10, 1, False), (10, 10, 5, False), (10, 20, 2, False), (5, 10, 1, False),
        (3, 10, 1, False), (10, 5, 1, True), (5, 10, 3, True),
    ):  # fmt: skip
        with tf.Graph().as_default(), tf.Session() as session:
            module, params = tensor_forests.forest(
                tf, num_trees=1, num_classes=1 if regression else 2, num_features=2,
                regression=regression, split_after_samples=least,
                num_splits_to_consider=candidates,
            )  # fmt: skip
            made = module.RandomForestGraphs(params)
            x = tf.placeholder(tf.float32, [None, 2])
            y = tf.placeholder(tf.float32, [None])
            train, size = made.training_graph(x, y), made.average_size()
            _initialize(tf, session)
            seen = 0
            while session.run(size) == 1 and seen < 70:
                rows = POINTS[seen : seen + batch]
                session.run(train, {x: rows, y: rows[:, 0] > 0.5})
                seen += batch
            found.append(seen)
    return {"found": found}


def _tree(tf, threshold, kind):
    """A message of a tree with one split, of feature 1."""
    if "tfteach" in tf.__name__:
        from tfteach.framework.protos.pool import proto_module

        model = proto_module("generic_tree_model").Model()
    else:
        from tensorflow.contrib.decision_trees.proto import generic_tree_model_pb2

        model = generic_tree_model_pb2.Model()
    root = model.decision_tree.nodes.add().binary_node
    root.left_child_id.value, root.right_child_id.value = 1, 2
    test = root.inequality_left_child_test
    test.feature_id.id.value = "1"
    test.threshold.float_value, test.type = threshold, kind
    for node, values in ((1, [3.0, 1.0]), (2, [0.0, 2.0])):
        leaf = model.decision_tree.nodes.add()
        leaf.node_id.value = node
        for value in values:
            leaf.leaf.vector.value.add().float_value = value
    return model.SerializeToString()


def given_trees(tf, folder):
    """Predictions, and paths, of trees that are given; of dense and sparse features."""
    found = []
    indices, values = [[0, 1], [1, 0], [2, 1], [3, 1]], [1.0, 2.0, -1.0, 0.5]
    dense = np.zeros([5, 3], np.float32)
    dense[tuple(np.transpose(indices))] = values
    dense[4, 1] = np.nan
    for threshold in (-0.5, 0.5):
        for kind in (0, 1):
            for regression in (False, True):
                with tf.Graph().as_default(), tf.Session() as session:
                    module, params = tensor_forests.forest(
                        tf, num_trees=1, num_classes=2, num_features=3,
                        regression=regression, inference_tree_paths=True,
                    )  # fmt: skip
                    config = _tree(tf, threshold, kind)
                    made = module.RandomForestGraphs(params, [config])
                    sparse = tf.SparseTensor(indices, values, [5, 3])
                    outputs = [made.inference_graph(x)[:2] for x in (dense, sparse)]
                    _initialize(tf, session)
                    (first, paths), (second, _) = session.run(outputs)
                    shown = [list(bytearray(path)) for path in paths[:2, 0]]
                    found.append([models.rounded([first, second], 5), shown])
    return {"found": found}


def _describe(spec, graph):
    hooks = [type(hook).__name__ for hook in spec.training_hooks]
    at_end = sorted(spec.training_hooks[0]._ops)
    predictions = {k: v.name for k, v in spec.predictions.items()}
    others = getattr(spec, "output_alternatives", None)
    if others is None:
        others = getattr(spec, "export_outputs", None)
    others = sorted(map(str, others or ()))
    named = [getattr(v, "name", None) for v in (spec.loss, spec.train_op)]
    metrics = sorted(map(str, spec.eval_metric_ops))
    outline = kmeans.structure(graph)[:3]
    return [outline, hooks, at_end, predictions, others, named, metrics]


def estimator_graphs(tf, folder):
    forest, client = _modules(tf)
    numbers = {"num_classes": 1, "regression": True}
    weighed = {"weight_column": "w", "report_feature_importances": True}
    whole = {"keys_column": "k", "include_all_in_serving": True}
    numeric = tf.feature_column.numeric_column("x", 4, normalizer_fn=lambda x: x * 2.0)
    real = tf.contrib.layers.real_valued_column("x", 4)
    cases = [
        ("train", {}, {}), ("eval", {}, {"early_stopping_rounds": 0}),
        ("train", {"num_classes": 2}, {}), ("train", numbers, weighed),
        ("infer", {"inference_tree_paths": True}, whole), ("infer", numbers, {}),
    ]  # fmt: skip
    found = {}
    for kind in ("old", "core", "old columns", "core columns"):
        is_core, has_columns = kind.startswith("core"), kind.endswith("columns")
        make = client.CoreTensorForestEstimator if is_core else (
            client.TensorForestEstimator)  # fmt: skip
        for number, (mode, hyper, options) in enumerate(
            cases[: 1 if has_columns else 9]
        ):
            if has_columns and number:
                break
            with tf.Graph().as_default() as graph:
                params = {"num_classes": 3, "num_features": 4, "num_trees": 2}
                params = forest.ForestHParams(**dict(params, **hyper))
                if has_columns:
                    options = {"feature_columns": [numeric if is_core else real]}
                estimator = make(params, model_dir=folder, **options)
                tf.train.get_or_create_global_step()
                features = {"x": tf.placeholder(tf.float32, [None, 4])}
                if "weight_column" in options:
                    features["w"] = tf.placeholder(tf.float32, [None])
                if "keys_column" in options:
                    features["k"] = tf.placeholder(tf.int32, [None, 1])
                labels = None
                if mode != "infer":
                    labels = tf.placeholder(tf.int32, [None])
                if is_core:
                    spec = estimator.model_fn(features, labels, mode, estimator.config)
                else:
                    spec = estimator._call_model_fn(features, labels, mode)
                found[f"{kind} {number}"] = _describe(spec, graph)
    return found


def loss_hook(tf, folder):
    _, client = _modules(tf)
    found = []

    class Context:
        def request_stop(self):
            found.append("stop")

    class Values:
        results = None

    for threshold, steps in (
        (0.3, [(1, 5.0), (2, 4.0), (3, 2.0), (4, 1.9), (5, 1.8), (6, 1.7), (7, 1.6),
               (3, 1.0), (4, 0.9), (6, 0.8), (9, 0.7)]),
        (0.1, [(1, -5.0), (2, -5.0), (3, -5.2), (4, -5.7), (5, -6.3), (6, -6.3)]),
    ):  # fmt: skip
        hook = client.TensorForestLossHook(2, threshold, tf.constant(1.0))
        for step, loss in steps:
            Values.results = {"global_step": step, "current_loss": loss}
            hook.after_run(Context(), Values)
            found.append([hook.min_loss, hook.last_step, hook.steps])
    return {"found": found}


def metrics(tf, folder):
    if "tfteach" in tf.__name__:
        module = tf.contrib.tensor_forest.client.eval_metrics
    else:
        from tensorflow.contrib.tensor_forest.client import eval_metrics as module
    found = {}
    for name in (
        "accuracy", "r2", "predictions", "precision", "recall", "softmax_entropy",
        "sigmoid_entropy", "classification_log_loss", "top_5",
    ):  # fmt: skip
        with tf.Graph().as_default() as graph, tf.Session() as session:
            given = {
                "probabilities": tf.constant([[0.1, 0.5, 0.1, 0.1, 0.1, 0.1],
                                              [0.6, 0.1, 0.2, 0.1, 0.0, 0.0],
                                              [0.2, 0.3, 0.2, 0.1, 0.1, 0.1]]),
                "classes": tf.constant([1, 0, 1]),
                "scores": tf.constant([[1.0], [2.0], [3.0]]),
            }  # fmt: skip
            key = module.get_prediction_key(name)
            made = module.get_metric(name)(given[key], tf.constant([[1], [0], [0]]))
            outline = kmeans.structure(graph)[:3]
            session.run(tf.local_variables_initializer())
            values = session.run(list(made) if isinstance(made, tuple) else made)
            last = values[1] if isinstance(made, tuple) else values
            found[name] = [key, outline, models.rounded(last, 5)]
    return found


PROGRAMS = [
    forest_graphs, first_splits, given_trees, estimator_graphs, loss_hook, metrics,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
