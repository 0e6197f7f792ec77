"""A quick slice of the fuzzer; what it found has tests beside what was repaired."""

import pytest

import tfteach as tf
from tests.fuzz.damaged_graphs import examine


@pytest.mark.parametrize("case", range(7_000_000, 7_000_080))
def test_a_damaged_graph_ends_as_tensorflow_does(case):
    before = tf.get_default_graph().version
    outcome = examine(case)
    assert not outcome.kind, f"{outcome.kind}\n{outcome.text}"
    assert outcome.steps[0].startswith("parse: ")
    assert tf.get_default_graph().version == before
