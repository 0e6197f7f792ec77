"""Checkpoints of objects, and Savers, in eager programs; to and from TensorFlow."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tests.golden import eager_checkpoints

GOLDEN = json.loads(Path(eager_checkpoints.__file__).with_suffix(".json").read_text())
pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", eager_checkpoints.SCENARIOS)
def test_as_tensorflow(name):
    assert eager_checkpoints.recorded(tf, name) == GOLDEN[name]


def ask(tensorflow, task, path):
    place = Path(eager_checkpoints.__file__).parent
    program = "import eager_checkpoints; eager_checkpoints.main()"
    printed = tensorflow.run(program, task, str(path), folder=place)
    return json.loads(printed.splitlines()[-1])


def assert_same(ours, theirs):
    assert len(ours) == len(theirs) == 25
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.oracle
def test_tensorflow_restores_ours(tensorflow, tmp_path):
    path, values = eager_checkpoints.written(tf, "m")
    assert_same(ask(tensorflow, "read", tmp_path / path), values)


@pytest.mark.oracle
def test_ours_restores_tensorflows(tensorflow, tmp_path):
    path, values = ask(tensorflow, "write", tmp_path / "m")
    assert_same(eager_checkpoints.read(tf, path), values)
