"""Mirrored strategies on two CPUs, beside the answers of real TensorFlow 1.15."""

import json
import tempfile

import pytest

import tfteach as tf
from tests.golden import distribution
from tests.golden.distribution import PATH

GOLDEN = json.loads(PATH.read_text())


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def close(found, expected):
    """Compare nested values, floats to a relative 1e-6."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            close(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected), (found, expected)
        for one, other in zip(found, expected, strict=True):
            close(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6)
    else:
        assert found == expected


@pytest.mark.parametrize("program", GOLDEN)
def test_programs_return_what_tensorflow_returns(program):
    call = getattr(distribution, program)
    with tempfile.TemporaryDirectory() as folder:
        takes_folder = program in ("training", "without_servers")
        found = call(tf, folder) if takes_folder else call(tf)
    close(json.loads(json.dumps(found)), GOLDEN[program])
