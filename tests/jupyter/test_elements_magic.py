"""`%elements`: whose session it reads a dataset in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.jupyter.test_magics import run, shell  # noqa: F401

BUILD = """
with tf.Graph().as_default() as graph:
    factor = tf.Variable(3, name="factor", use_resource=True)
    rows = tf.data.Dataset.range(4).map(lambda n: tf.cast(n, tf.int32) * factor)
elsewhere = tf.data.Dataset.range(2)
sess = tf.Session(graph=graph)
sess.run(factor.initializer)
"""


def test_a_session_of_another_graph_is_not_meant(
    shell: Any,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(shell, BUILD).success
    try:
        for magic in ("%elements rows --text", "%elements elsewhere --text"):
            assert run(shell, magic).success
    finally:
        shell.user_ns["sess"].close()
    printed = capsys.readouterr().out
    assert "2: 6" in printed  # in the session whose graph the dataset is of
    assert "1: 1" in printed  # in a session made for it
