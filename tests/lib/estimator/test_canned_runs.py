"""Canned estimators train, evaluate, predict, save and stop as TensorFlow's."""

import json
import threading
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import canned_runs

RECORDED = json.loads(Path(canned_runs.__file__).with_suffix(".json").read_text())


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()
    yield
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()


@pytest.mark.parametrize("program", canned_runs.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    before = threading.active_count()
    found = canned_runs.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        assert_same(found[key], value)
    assert threading.active_count() <= before


def assert_same(ours, theirs):
    """Equal, but for the last digits of numbers, also of those in text."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs)
        ours, theirs = ([side[key] for key in sorted(side)] for side in (ours, theirs))
    if isinstance(theirs, list):
        assert len(ours) == len(theirs), (ours, theirs)
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine, other)
    elif isinstance(theirs, str):
        number = canned_runs.NUMBER
        assert number.sub("#", ours) == number.sub("#", theirs)
        assert [float(n) for n in number.findall(ours)] == pytest.approx(
            [float(n) for n in number.findall(theirs)], rel=1e-4
        ), theirs
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    else:
        assert ours == theirs
