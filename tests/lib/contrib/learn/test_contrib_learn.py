"""`tf.contrib.learn` builds TensorFlow's graphs and gives its numbers."""

import json
import logging
import math
import operator
import re
import threading
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import (
    contrib_learn,
    contrib_learn_actions,
    contrib_learn_experiment,
    contrib_learn_input,
    contrib_learn_models,
    contrib_learn_monitors,
    contrib_learn_parts,
    training_loops,
)
from tfteach.framework import deprecation

MODULES = (
    contrib_learn,
    contrib_learn_actions,
    contrib_learn_experiment,
    contrib_learn_input,
    contrib_learn_models,
    contrib_learn_monitors,
    contrib_learn_parts,
)
RECORDED = {
    name: recorded
    for module in MODULES
    for name, recorded in json.loads(
        Path(module.__file__).with_suffix(".json").read_text()
    ).items()
}
PROGRAMS = [program for module in MODULES for program in module.PROGRAMS]
RESOURCE = re.compile(r"'_\d+_")
NUMBER = re.compile(r"\b\d+\.\d+(?:e-?\d+)?\b")


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()
    yield
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()


def without_resource_numbers(results):
    """Results without the number of a queue, which counts those of the process."""
    return json.loads(RESOURCE.sub("'", json.dumps(results)))


def alike(found, recorded):
    """Whether two results are equal, but for the last digits of floats."""
    if isinstance(recorded, list):
        return (
            isinstance(found, list)
            and len(found) == len(recorded)
            and all(map(alike, found, recorded))
        )
    if isinstance(recorded, float):
        return math.isclose(found, recorded, rel_tol=1e-4, abs_tol=2e-5)
    if isinstance(recorded, str) and found != recorded:
        # Lines of the log, with numbers.
        pairs = zip(*map(NUMBER.findall, (found, recorded)), strict=False)
        return NUMBER.sub("", found) == NUMBER.sub("", recorded) and all(
            alike(float(a), float(b)) for a, b in pairs
        )
    return found == recorded


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    before = threading.active_count()
    found = without_resource_numbers(training_loops.run(tf, program))
    recorded = without_resource_numbers(RECORDED[program.__name__])
    assert found.keys() == recorded.keys()
    for key, value in recorded.items():
        if not alike(found[key], value):
            assert found[key] == value, key
    assert threading.active_count() <= before


REFUSED = """
    DynamicRnnEstimator learn_runner.tune SVM
    read_keyed_batch_examples_shared_queue read_keyed_batch_features_shared_queue
    monitors.ExportMonitor"""


@pytest.mark.parametrize("name", REFUSED.split())
def test_what_is_not_implemented_says_what_to_use(name):
    with pytest.raises(NotImplementedError, match=r"tf\.contrib\.\w+\.\w+"):
        operator.attrgetter(name)(tf.contrib.learn)(1)


@pytest.mark.parametrize(
    ("call", "name", "when", "advice"),
    [
        (
            lambda: tf.contrib.learn.infer(None, {"a": tf.constant(1.0)}),
            "infer (from tensorflow.contrib.learn.python.learn.graph_actions)",
            "after 2017-02-15",
            "graph_actions.py will be deleted.",
        ),
        (
            lambda: tf.contrib.learn.io.queue_parsed_features({"a": tf.zeros([1])}),
            "queue_parsed_features "
            "(from tensorflow.contrib.learn.python.learn.learn_io.graph_io)",
            "in a future version",
            "Use tf.data.",
        ),
        (
            tf.contrib.learn.monitors.BaseMonitor,
            "BaseMonitor.__init__ "
            "(from tensorflow.contrib.learn.python.learn.monitors)",
            "after 2016-12-05",
            "Monitors are deprecated. Please use tf.train.SessionRunHook.",
        ),
    ],
)
def test_old_names_say_what_replaced_them(
    call, name, when, advice, caplog, monkeypatch
):
    """As in TensorFlow's log."""
    monkeypatch.setattr(deprecation, "_warned", set())
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    call()
    text = caplog.text
    assert f"{name} is deprecated and will be removed {when}.\n" in text
    assert f"Instructions for updating:\n{advice}" in text
