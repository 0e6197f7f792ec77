"""Heads and canned estimators as they are called and refuse, in real TF 1.15.

estimator_calls.json has calls with the result's `repr`, or the error's class and
message, as in feature_column_calls.py.  `python -m tests.golden.estimator_calls`, with
TensorFlow's Python, answers all anew; add a call with any answer.
"""

import functools
import json
import os
import tempfile
from pathlib import Path

import numpy as np

from tests.golden.composites import inner
from tests.golden.feature_column_calls import plain

PATH = Path(__file__).with_suffix(".json")


def loss(tf, head, labels, logits, features=None):
    """The value of a head's loss; labels and features may be functions of Tensors."""

    def given(value):
        return value() if callable(value) or value is None else tf.constant(value)

    labels = None if labels is None else given(labels)
    features = {key: given(value) for key, value in (features or {}).items()}
    total = head.create_loss(features, "eval", given(logits), labels)[0]
    with tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        return float(f"{session.run(total):.6g}")


def spec(tf, head, mode, logits, labels=None, **options):
    """What `create_estimator_spec` returns: its mode, its loss, its metrics."""
    if labels is not None and not isinstance(labels, dict):
        labels = tf.constant(labels)
    if isinstance(labels, dict):
        labels = {key: tf.constant(value) for key, value in labels.items()}
    made = head.create_estimator_spec({}, mode, tf.constant(logits), labels, **options)
    return made.mode, getattr(made.loss, "name", None), list(made.eval_metric_ops)


def numbers(tf, head, mode, logits, labels=None, features=None, **options):
    """What a spec of `tf.estimator.Head` evaluates or predicts, as numbers by name."""
    as_tensors = functools.partial(_tensors, tf)
    if mode == "train":
        options.setdefault("train_op_fn", lambda loss: tf.identity(loss) + 1.0)
    made = head.create_estimator_spec(
        as_tensors(features or {}), mode, as_tensors(logits), as_tensors(labels),
        **options,
    )  # fmt: skip
    fetched = {"loss": made.loss, "train_op": made.train_op}
    metrics = {key: pair[0] for key, pair in made.eval_metric_ops.items()}
    updates = [pair[1] for pair in made.eval_metric_ops.values()]
    predictions = made.predictions if mode == "infer" else {}
    served = sorted(str(name) for name in made.export_outputs or {})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        found = session.run({k: v for k, v in fetched.items() if v is not None})
        session.run(updates)
        found.update(session.run({**metrics, **predictions}))
        summaries = tf.summary.merge_all()
        text = b"" if summaries is None else session.run(summaries)
    tags = [value.tag for value in tf.Summary.FromString(text).value]
    shown = {str(k): np.asarray(v).tolist() for k, v in sorted(found.items(), key=str)}
    return json.loads(
        json.dumps([shown, served, tags], default=str), parse_float=_short
    )


def _tensors(tf, given):
    if given is None or isinstance(given, dict):
        return given and {k: _tensors(tf, v) for k, v in given.items()}
    return given() if callable(given) else tf.constant(given)


def _short(text):
    return float(f"{float(text):.5g}")


def config(tf, tf_config, **options):
    """The properties of a RunConfig that depend on TF_CONFIG."""
    os.environ["TF_CONFIG"] = json.dumps(tf_config)
    try:
        made = tf.estimator.RunConfig(**options)
    finally:
        del os.environ["TF_CONFIG"]
    names = "task_type task_id master evaluation_master is_chief num_ps_replicas "
    names += "num_worker_replicas global_id_in_cluster protocol"
    found = [getattr(made, name) for name in names.split()]
    filters = made.session_config and list(made.session_config.device_filters)
    return found, made.cluster_spec.as_dict(), filters


def answer(tf, call):
    """What a call returns or raises, as text."""
    make = tf.contrib.estimator
    names = {
        "tf": tf, "np": np, "est": tf.estimator, "functools": functools,
        "R": make.regression_head, "B": make.binary_classification_head,
        "M": make.multi_class_head, "ML": make.multi_label_head,
        "P": make.poisson_regression_head, "L": make.logistic_regression_head,
        "H": make.multi_head, "num": tf.feature_column.numeric_column,
        "numbers": functools.partial(numbers, tf),
        "config": functools.partial(config, tf), "Cluster": tf.train.ClusterSpec,
        "export": inner(tf, "estimator.export.export_lib"),
        "receivers": inner(tf, "estimator.export.export"),
        "optimizers": inner(tf, "estimator.canned.optimizers"),
        "loss": functools.partial(loss, tf), "spec": functools.partial(spec, tf),
        "sparse": lambda *args: lambda: tf.SparseTensor(*args),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        names["folder"] = folder
        try:
            return plain(repr(eval(call, names)))
        except Exception as error:
            return plain(f"{type(error).__name__}: {error}").replace(folder, "DIR")


if __name__ == "__main__":
    import tensorflow

    found = {call: answer(tensorflow, call) for call in json.loads(PATH.read_text())}
    PATH.write_text(json.dumps(found, indent=1) + "\n")
