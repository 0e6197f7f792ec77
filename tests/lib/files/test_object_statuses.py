"""Statuses of `tf.train.Checkpoint.restore`, and the warnings when they are deleted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import object_statuses

GOLDEN = json.loads(Path(object_statuses.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("name", object_statuses.SCENARIOS)
def test_as_tensorflow(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert object_statuses.recorded(tf, name) == GOLDEN[name]


AT_THE_END = """
import tfteach as tf

v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
with tf.Session() as session:
    session.run([v.initializer, w.initializer])
    path = tf.train.Checkpoint(v=v, w=w).save("m")
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path)
    status.initialize_or_restore()
print("end")
"""


def test_warnings_at_the_end_of_a_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(tf.__file__).parents[1])},
        timeout=120,
    )
    assert done.stdout == "end\n"
    assert "Unresolved object in checkpoint: (root).w\n" in done.stderr
    assert "Exception" not in done.stderr
