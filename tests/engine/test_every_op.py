"""Every op case through a session: on the CPU, on a simulated GPU and on a card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tests.ops.case import Case, all_cases, node_of
from tfteach.engine.devices import devices
from tfteach.framework.dtypes import as_dtype, string
from tfteach.framework.op import StatefulOp
from tfteach.ops.core.placeholder import Placeholder

LOCAL = "/job:localhost/replica:0/task:0/device:"
# These mean nothing outside a loop.
LOOPS = ("Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration")
CASES = [
    case
    for case in all_cases()
    if not isinstance(case.op, StatefulOp)
    and case.op.op_type not in LOOPS
    and type(case.op).outputs
]
every_case = pytest.mark.parametrize("case", CASES, ids=map(str, CASES))


def run(case: Case, times: int = 1, **config: Any) -> tuple[list[Any], tf.Session]:
    """The outputs of the case's op, fed by placeholders."""
    with tf.Graph().as_default():
        arrays = case.flat
        feeds = [
            Placeholder(string if a.dtype == object else as_dtype(a.dtype), a.shape)()
            for a in arrays
        ]
        node = node_of(case, feeds)
        feed_dict = dict(zip(feeds, arrays, strict=True))
        with tf.Session(graph=node.graph, config=tf.ConfigProto(**config)) as sess:
            for _ in range(times):
                values = sess.run(list(node.outputs), feed_dict)
    return values, sess


def assert_same(case: Case, got: list[Any], expected: list[Any], rtol: float) -> None:
    assert len(got) == len(expected)
    for value, right in zip(got, expected, strict=True):
        value, right = np.asarray(value), np.asarray(right)
        assert value.dtype == right.dtype, str(case)
        assert value.shape == right.shape, str(case)
        if rtol and value.dtype.kind in "fcV":
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(
                value.astype(wide), right.astype(wide), rtol=rtol, atol=rtol
            )
        else:
            np.testing.assert_array_equal(value, right)


@every_case
@pytest.mark.usefixtures("no_cards")
def test_a_simulated_gpu_gives_what_the_cpu_gives(case: Case) -> None:
    expected, _ = run(case)
    tfteach.simulate_gpus(1)
    # Often enough for the generated source, which must give the same again.
    got, sess = run(case, times=14)
    assert_same(case, got, expected, 0.0)
    device = sess.placements["it"].assigned.removeprefix(LOCAL)
    assert device == ("CPU:0" if "no GPU" in sess.placements["it"].reason else "GPU:0")


@pytest.mark.gpu
@every_case
def test_a_card_gives_what_the_cpu_gives(case: Case) -> None:
    assert devices.cuda_cards() > 0
    expected, _ = run(case, device_count={"GPU": 0})
    got, sess = run(case, times=14)
    assert_same(case, got, expected, max(case.tolerance, 1e-4))
    assert "simulated" not in repr(sess.devices)
