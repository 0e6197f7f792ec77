"""Further models of `tf.contrib.learn` in TensorFlow 1.15:
`python contrib_learn_models.py contrib_learn_models.json`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import importlib
import os

import numpy as np

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


def logistic(tf, folder):
    """Graphs and numbers of LogisticRegressor."""
    learn, found = tf.contrib.learn, []
    rows = tf.contrib.learn.datasets.load_iris()
    chosen = rows.target < 2

    def input_fn():
        labels = tf.constant(rows.target[chosen][:, None], tf.float32)
        return tf.constant(rows.data[chosen], tf.float32), labels

    def model_fn(features, labels, mode):
        logits = tf.contrib.layers.linear(
            features, 1, weights_initializer=tf.zeros_initializer(),
            biases_initializer=tf.constant_initializer(-2.0),
        )  # fmt: skip
        loss = None
        if labels is not None:
            loss = tf.losses.sigmoid_cross_entropy(labels, logits)
        step = tf.train.get_global_step()
        train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "Adagrad") if (
            mode == "train") else tf.no_op()  # fmt: skip
        return tf.sigmoid(logits), loss, train

    for number, thresholds in enumerate((None, [0.25, 0.75])):
        place = os.path.join(folder, str(number))
        model = learn.LogisticRegressor(model_fn, thresholds, place)
        for mode in ("train", "eval", "infer"):
            with tf.Graph().as_default() as graph:
                tf.train.create_global_step()
                features, labels = input_fn()
                ops = model._call_model_fn(
                    features, None if mode == "infer" else labels, mode)  # fmt: skip
                metrics = sorted(
                    [key, value.name, update.name]
                    for key, (value, update) in (ops.eval_metric_ops or {}).items()
                )
                kinds = {key: kind for key, (kind, _) in
                         ops.output_alternatives.items()}  # fmt: skip
                found.append([metrics, kinds, models.structure(graph)])
        model.fit(input_fn=input_fn, steps=20)
        found.append(models.rounded(model.evaluate(input_fn=input_fn, steps=1), 4))
        found.append([type(model).__name__, sorted(model.params)])

    def more(features, labels, mode):
        return learn.ModelFnOps(mode, features, tf.constant(1.0), tf.no_op())

    found.append(outcome(lambda: learn.LogisticRegressor(more, None, folder).fit(
        input_fn=input_fn, steps=1)))  # fmt: skip
    return {"found": found}


def sequences(tf, folder):
    """Cells of models of sequences, and the activations that these use."""
    module = importlib.import_module(
        "tfteach.lib.contrib.learn.rnn_common" if tf.__name__ == "tfteach" else
        "tensorflow.contrib.learn.python.learn.estimators.rnn_common")  # fmt: skip
    found = []
    for options in (
        {"num_units": 5}, {"num_units": [3, 4], "cell_type": "lstm"},
        {"num_units": (3,), "cell_type": "gru"},
        {"num_units": 5, "cell_type": tf.nn.rnn_cell.GRUCell},
        {"num_units": [3, 4], "dropout_keep_probabilities": [0.625, 0.5, 0.75]},
        {"num_units": 4, "dropout_keep_probabilities": [0.5, 1.0]},
        {"num_units": [3, 4], "dropout_keep_probabilities": [0.5]},
        {"num_units": []}, {"num_units": 5, "cell_type": "other"},
    ):  # fmt: skip
        with tf.Graph().as_default() as graph:
            try:
                cell = module.construct_rnn_cell(**options)
            except (TypeError, ValueError) as error:
                found.append(type(error).__name__)
                continue
            cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
            found.append([type(cell).__name__, str(cell.state_size), cell.output_size,
                          models.structure(graph)])  # fmt: skip
    cells = [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2)]
    dropped = module.apply_dropout(cells, [0.5, 0.5, 0.5], random_seed=3)
    with tf.Graph().as_default() as graph:
        for cell in dropped:
            cell(tf.zeros([1, 2]), cell.zero_state(1, tf.float32))
        found.append([len(dropped), models.structure(graph)])
    for known in (True, False):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            steps = 4 if known else None
            activations = tf.placeholder(tf.float32, [None, steps, 2], name="x")
            labels = tf.placeholder(tf.int32, [None, steps], name="y")
            lengths = tf.placeholder(tf.int32, [None], name="n")
            tensors = [
                module.select_last_activations(activations, lengths),
                module.mask_activations_and_labels(activations, labels, lengths),
                module.mask_activations_and_labels(activations, labels, None),
            ]
            values = np.arange(24.0).reshape(3, 4, 2)
            feeds = {activations: values, labels: values[..., 0], lengths: [1, 4, 2]}
            shapes = [str(t.shape) for t in (tensors[0], *tensors[1], *tensors[2])]
            found.append([shapes, models.structure(graph),
                          models.rounded(session.run(tensors, feeds))])  # fmt: skip
    keys = [module.RNNKeys, module.PredictionType]
    found.append([
        sorted([k, v] for k, v in vars(one).items() if k[0] != "_") for one in keys
    ])  # fmt: skip
    return {"found": found}


PROGRAMS = [clustering, logistic, sequences]

if __name__ == "__main__":
    loops.main(PROGRAMS)
