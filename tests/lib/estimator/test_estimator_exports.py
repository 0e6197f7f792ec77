"""Models exported for several modes, and SavedModels as Estimators."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import estimator_exports

RECORDED = json.loads(Path(estimator_exports.__file__).with_suffix(".json").read_text())

# Loads a SavedModel as an Estimator, trains it on, and exports it again.
PROGRAM = """
import json, sys
import tensorflow as tf
import estimator_exports

print(json.dumps(estimator_exports.trained_on(tf, *sys.argv[1:])))
"""


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()
    yield
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()


@pytest.mark.parametrize(
    "program", estimator_exports.PROGRAMS, ids=lambda program: program.__name__
)
def test_as_in_tensorflow(program):
    found = estimator_exports.run(tf, program)
    recorded = RECORDED[program.__name__]
    assert set(found) == set(recorded)
    for key, value in recorded.items():
        assert found[key] == value, key


@pytest.mark.oracle
def test_a_saved_model_goes_to_tensorflow_and_back(tmp_path, tensorflow):
    made, path = estimator_exports.trained(tf, str(tmp_path))
    place = Path(estimator_exports.__file__).parent
    printed = tensorflow.run(PROGRAM, path, str(tmp_path / "theirs"), folder=place)
    evaluated, predicted, back = json.loads(printed.splitlines()[-1])
    assert evaluated["global_step"] == 5
    made.train(estimator_exports.inputs(tf), steps=3)
    results = made.evaluate(estimator_exports.inputs(tf, 1))
    assert evaluated["loss"] == pytest.approx(float(results["loss"]), rel=1e-4)
    own = estimator_exports.trained_on(tf, back, str(tmp_path / "ours"), 0)
    assert own[0] == pytest.approx(evaluated, rel=1e-5)
    assert own[1] == pytest.approx(predicted, rel=1e-5)
