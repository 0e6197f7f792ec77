"""`tf.contrib.slim`'s readers, decoders and summaries build TensorFlow's graphs."""

import json
import threading
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import slim_data, training_loops

RECORDED = json.loads(Path(slim_data.__file__).with_suffix(".json").read_text())


def differences(found, expected, path=""):
    """Where two nested answers differ."""
    if isinstance(found, list) and isinstance(expected, list):
        if len(found) == len(expected):
            for index, (one, two) in enumerate(zip(found, expected, strict=True)):
                yield from differences(one, two, f"{path}[{index}]")
            return
    elif isinstance(found, dict) and found.keys() == expected.keys():
        for key in found:
            yield from differences(found[key], expected[key], f"{path}.{key}")
        return
    if found != expected:
        yield path, found, expected


@pytest.mark.parametrize("program", slim_data.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    before = threading.active_count()
    found = training_loops.run(tf, program)
    assert list(differences(found, RECORDED[program.__name__])) == []
    assert threading.active_count() <= before
