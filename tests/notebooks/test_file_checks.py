"""The checks of the lessons on checkpoints and SavedModels explain each mistake."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tfteach as tf


def saved_shapes(checkpoint: str) -> dict[str, list[int]]:
    return dict(tf.train.list_variables(checkpoint))


def what_fits(variables, checkpoint):
    saved = saved_shapes(checkpoint)
    fit = [v for v in variables if saved.get(v.op.name) == v.shape.as_list()]
    return tf.train.Saver(fit)


def what_has_the_name(variables, checkpoint):
    saved = saved_shapes(checkpoint)
    return tf.train.Saver([v for v in variables if v.op.name in saved])


def what_fits_but_scalars(variables, checkpoint):
    saved = saved_shapes(checkpoint)
    fit = [v for v in variables if saved.get(v.op.name)]
    return tf.train.Saver([v for v in fit if saved[v.op.name] == v.shape.as_list()])


def one_of_two(variables, checkpoint):
    return tf.train.Saver([v for v in variables if v.op.name == "steps"])


@pytest.mark.parametrize(
    ("saver", "said"),
    [
        (what_fits, "Right"),
        (lambda v, c: tf.train.Saver(v), "the Saver has `output/bias`"),
        (what_has_the_name, "`output/kernel` is [3, 4] in the graph"),
        (what_fits_but_scalars, "`steps` [] is in the checkpoint"),
        (one_of_two, "`hidden/kernel` [2, 3] is in the checkpoint"),
        (lambda v, c: v, "is not a tf.train.Saver"),
    ],
)
def test_lesson_14(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], saver, said: str
) -> None:
    checks.check_saver(saver)
    printed = capsys.readouterr().out
    assert said in printed
    assert "Restoring parameters" not in printed


def frozen_net() -> Any:
    """A GraphDef with the ends of lesson 15's."""
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
        flat = tf.reshape(images, [-1, 784])
        weights = np.sin(np.arange(7840.0)).reshape(784, 10)
        tf.nn.softmax(tf.matmul(flat, tf.constant(weights, tf.float32)) / 10, name="p")
        tf.identity(graph.get_tensor_by_name("p:0"), name="probabilities")
        return graph.as_graph_def()


def saves(
    digit: Any = lambda p: tf.argmax(p, 1),
    probability: Any = lambda p: tf.reduce_max(p, axis=1),
    names: tuple[str, ...] = ("image", "digit", "probability"),
) -> Any:
    def serve(graph_def: Any, export_dir: str) -> None:
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            ends = ["images:0", "probabilities:0"]
            images, found = tf.import_graph_def(graph_def, return_elements=ends)
            outputs = {names[1]: digit(found), names[2]: probability(found)}
            inputs = {names[0]: images}
            tf.saved_model.simple_save(session, export_dir, inputs, outputs)

    return serve


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (saves(), "Right"),
        (lambda graph_def, export_dir: None, "there is no SavedModel"),
        (saves(names=("image", "digit", "p")), "is image -> digit, p; it should"),
        (saves(names=("x", "digit", "probability")), "is x -> digit, probability"),
        (saves(probability=lambda p: p), "`probability` [5, 10]; both should be [5]"),
        (saves(digit=lambda p: tf.argmax(p, 1, output_type=tf.int32)), "is int32"),
        (saves(digit=lambda p: tf.argmin(p, 1)), "`digit` is ["),
        (saves(probability=lambda p: tf.reduce_mean(p, axis=1)), "not that of this"),
        (lambda graph_def: None, "it ends with TypeError"),
        (3, "'int' object is not callable"),
    ],
)
def test_lesson_15(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], serve: Any, said: str
) -> None:
    checks.check_served_model(serve, frozen_net())
    assert said in capsys.readouterr().out
