"""Models trained by one source in both modes, with TensorFlow's numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eager_program
from tests.golden import models_in_both_modes as models

GOLDEN = json.loads(Path(models.__file__).with_suffix(".json").read_text())
each_model = pytest.mark.parametrize("name", sorted(models.MODELS))


def assert_equal(found, expected):
    np.testing.assert_allclose(found["losses"], expected["losses"], 1e-5)
    assert list(found["variables"]) == list(expected["variables"])
    for name, value in found["variables"].items():
        theirs = expected["variables"][name]
        np.testing.assert_allclose(value, theirs, 1e-4, 1e-6, err_msg=name)


@each_model
def test_in_a_graph(name):
    assert_equal(models.in_a_graph(tf, name), GOLDEN[name]["graph"])


@each_model
def test_eagerly(name):
    with eager_program():
        assert_equal(models.eagerly(tf, name), GOLDEN[name]["eager"])


@each_model
def test_with_a_loss_that_is_traced(name):
    with eager_program():
        found = models.eagerly(tf, name, tf.function)
        assert_equal(found, GOLDEN[name]["function"])


@each_model
def test_in_a_graph_of_an_eager_program(name):
    with eager_program():
        assert_equal(models.in_a_graph(tf, name), GOLDEN[name]["graph"])
