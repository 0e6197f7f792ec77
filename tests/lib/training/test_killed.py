"""A training goes on after a lost session, and after its process was killed."""

import json
import sys
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import killed_training

PROGRAM = Path(killed_training.__file__)


def test_a_killed_training_goes_on_from_its_last_checkpoint():
    code, outcome = json.loads(PROGRAM.with_suffix(".json").read_text())["kill"]
    command = [sys.executable, "-m", "tfteach", "run", str(PROGRAM)]
    found_code, found = killed_training.outcomes(command, ["kill"])["kill"]
    assert found_code == code
    assert found["starts"] == outcome["starts"]
    assert found["runs"] == outcome["runs"]
    assert found["saved"] == pytest.approx(outcome["saved"], rel=1e-6)


@pytest.mark.parametrize("failure", ["none", "AbortedError", "UnavailableError"])
def test_a_lost_session_is_replaced(failure, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", tf)
    code, outcome = json.loads(PROGRAM.with_suffix(".json").read_text())[failure]
    with tf.Graph().as_default():
        found = killed_training.train(str(tmp_path), 12, failure)
    tf.summary.FileWriterCache.clear()
    assert code == 0
    assert found == {**outcome, "saved": pytest.approx(outcome["saved"], rel=1e-6)}
