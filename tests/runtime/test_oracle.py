"""The placer against real TensorFlow's own log of placements."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import pytest

import tfteach as tf
from tests.runtime import placements


@pytest.mark.oracle
@pytest.mark.usefixtures("no_cards")
def test_every_op_goes_where_tensorflow_puts_it(oracle: str) -> None:
    done = subprocess.run(
        [oracle, "-u", str(Path(placements.__file__))],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    _, *parts = done.stdout.split("# ")
    assert len(parts) == len(placements.GRAPHS), done.stderr[-2000:]
    for build, part in zip(placements.GRAPHS, parts, strict=True):
        expected = dict(
            line.split(": (", 1) for line in part.splitlines() if ": (" in line
        )
        with tf.Graph().as_default():
            fetches = build(tf)
            config = tf.ConfigProto(device_count={"CPU": placements.CPUS})
            not_ready = contextlib.suppress(tf.errors.OpError)
            with tf.Session(config=config) as sess, not_ready:
                sess.run(fetches)
        got = {p.name: f"{p.op_type}): {p.assigned}" for p in sess.placements.values()}
        assert len(got) > 5
        assert got == {name: expected.get(name) for name in got}
