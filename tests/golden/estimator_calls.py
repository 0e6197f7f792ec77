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
