from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.jupyter import CollectionsView, SharingView


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        for _ in range(2):
            with tf.name_scope("side"), tf.variable_scope("net", reuse=tf.AUTO_REUSE):
                w = tf.get_variable("w", [2])
                tf.identity(w, name="out")
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w))
        tf.global_variables_initializer()
        tf.Variable(1.0, name="late", trainable=False)
        yield graph


def test_calls_and_names_go_to_the_page(graph: tf.Graph) -> None:
    view = SharingView(graph)
    scopes = [(row[0], row[1], row[2], row[3]) for row in view._scopes]
    assert scopes == [
        (-1, "side", "name_scope", "side"),
        (0, "net", "variable_scope", "net"),
        (-1, "side_1", "name_scope", "side"),
        (2, "net", "variable_scope", "net"),
    ]
    assert [row[:2] for row in view._variables] == [
        ["net/w", "float32 [2]"], ["late", "float32 []"]
    ]  # fmt: skip
    first, second, late = view._calls
    assert (first[0], first[1], first[4], first[8]) == (0, 1, True, ["side/net/out"])
    assert (second[1], second[4], second[5]) == (3, False, "tf.AUTO_REUSE")
    assert (late[1], late[3]) == (-1, "tf.Variable")
    assert [part[:2] for part in view._names["side_1/net/out"]] == [
        ["side_1", "name_scope"], ["net", "variable_scope"], ["out", "own"]
    ]  # fmt: skip
    assert [part[0] for part in view._names["net/w"]] == ["net", "w"]
    assert all(len(line) == 3 for line in view._lines)
    with graph.as_default():
        tf.get_variable("more", [])
    view.refresh()
    assert len(view._variables) == 3
    assert repr(view).startswith("SharingView(3 variables")


def test_makers_and_takers_go_to_the_page(graph: tf.Graph) -> None:
    view = CollectionsView(graph)
    names = [name for name, *_ in view._collections]
    assert names[:2] == ["GLOBAL_VARIABLES", "TRAINABLE_VARIABLES"]
    takers = {call: takes for call, _, takes in view._takers}
    assert takers["tf.train.Optimizer.minimize"] == [[1, 1, "", [0]]]
    assert takers["tf.global_variables_initializer"][0][:2] == [0, 1]
    (problem,) = view._problems
    assert (problem[0], problem[1]) == (0, "late")
    assert repr(view).endswith("1 problem)")


def test_still_pictures(graph: tf.Graph) -> None:
    with graph.as_default():
        for i in range(100):
            tf.get_variable(f"v{i}", [])
    for view in (SharingView(graph), CollectionsView(graph)):
        bundle = view.static_bundle()
        assert "image/svg+xml" in bundle
        assert len(str(bundle)) < 60_000
        assert "late" in bundle["text/plain"]
    assert "and 62 more" in SharingView(graph).static_bundle()["image/svg+xml"]
    with tf.Graph().as_default():
        assert "image/svg+xml" not in SharingView().static_bundle()
        assert "image/svg+xml" not in CollectionsView().static_bundle()


BUILD = """
with tf.variable_scope("net"):
    w = tf.get_variable("w", [2])
"""


def test_the_magics(shell: Any, capsys: Any) -> None:  # noqa: F811
    with tf.Graph().as_default():
        run(shell, BUILD)
        assert run(shell, "%sharing w").success
        assert run(shell, "%collections").success
        assert len(shell.shown) == 4
        assert run(shell, "%sharing net/w --text").success
        assert 'net: tf.variable_scope("net"), line 1' in capsys.readouterr().out
        assert run(shell, "%sharing --text").success
        assert "1 variable, 1 get_variable call" in capsys.readouterr().out
        assert run(shell, "%collections --text").success
        assert "tf.GraphKeys.GLOBAL_VARIABLES: 1 item" in capsys.readouterr().out
        with pytest.raises(UsageError, match="is not an op or tensor"):
            shell.run_line_magic("sharing", "nothing")
