"""SequenceQueueingStateSaver against real TensorFlow: golden/state_savers.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import state_savers as golden

GOLDEN: dict[str, Any] = json.loads(
    Path(golden.__file__).with_suffix(".json").read_text()
)


@pytest.mark.parametrize("call", golden.GRAPHS, ids=lambda call: call.__name__)
def test_graph_is_tensorflows(call: Any) -> None:
    found, nodes = golden.nodes_of(call, tf)
    expected, expected_nodes = GOLDEN["graphs"][call.__name__]
    assert found == expected
    assert nodes == expected_nodes


@pytest.mark.parametrize("name", golden.ERRORS)
def test_error_is_tensorflows(name: str) -> None:
    assert golden.error_of(golden.ERRORS[name], tf) == GOLDEN["errors"][name]


def test_segments_are_tensorflows() -> None:
    with tf.Graph().as_default():
        found = golden.segments(tf)
    assert json.loads(json.dumps(found)) == GOLDEN["segments"]


def test_a_segment_of_padding_has_no_length() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        saver = golden.saver(tf, batch_size=1, input_length=1)
        batch = saver.next_batch
        save = batch.save_state("s", batch.state("s") + 1.0)
        session.run(saver.prefetch_op)
        lengths = [session.run([batch.length, save])[0].tolist() for _ in range(2)]
    assert lengths == [[1], [0]]
