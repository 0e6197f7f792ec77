"""Single calls against real TensorFlow: nodes, static shapes, values, gradients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import good_calls
from tests.ops.test_calls import close

GOLDEN: dict[str, Any] = json.loads(
    Path(good_calls.__file__).with_suffix(".json").read_text()
)


@pytest.mark.parametrize("call", good_calls.calls())
def test_call_gives_what_tensorflow_does(call: str) -> None:
    ours, theirs = good_calls.record(tf, call), GOLDEN[call]
    if "error" in theirs:
        kind, words = ours.get("error", ["none", ""])
        assert kind == theirs["error"][0]
        assert words.startswith(theirs["error"][1].rstrip("."))
        return
    assert "error" not in ours, ours["error"]
    assert ours["static"] == theirs["static"]
    assert close(ours["value"], theirs["value"]), ours["value"]
    assert ours["nodes"] == theirs["nodes"]


def test_graphs_keep_no_more_elements_than_were_given() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant([1.0, 2.0], shape=[2, 3], name="short")
        tf.constant([1.0, 2.0, 2.0], shape=[3], name="whole")
        short, whole = graph.as_graph_def().node
        assert list(short.attr["value"].tensor.float_val) == [1.0, 2.0]
        assert len(whole.attr["value"].tensor.tensor_content) == 12
        asked = graph.get_operation_by_name("short").get_attr("value")
        assert list(asked.float_val) == [1.0, 2.0]


def test_every_call_was_put_to_tensorflow() -> None:
    assert set(good_calls.calls()) == GOLDEN.keys()
