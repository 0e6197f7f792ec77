from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.jupyter import OptimizingView, explore


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        two = tf.sqrt(tf.constant(4.0, name="four"), name="two")
        y = tf.multiply(x, two, name="y")
        again = tf.multiply(x, two, name="again")
        tf.add(y, again, name="sum")
        with tf.Session() as session:
            yield session


def test_what_goes_to_the_page(session: tf.Session) -> None:
    view = OptimizingView(session, "sum", "x", [(3, 4)])
    names = [each["name"] for each in view._passes]
    assert names == [
        "all", "remove_identities", "fold_constants", "merge_duplicates",
        "remove_dead", "specialize", "fusion",
    ]  # fmt: skip
    folded = view._passes[2]
    assert (folded["from"], folded["to"]) == (4, 3)
    assert folded["reasons"] == {"two": ["all its inputs are constant"]}
    for stage in view._stages:
        assert {row[0] for row in stage["rows"]} >= {"x", "sum"}
    assert repr(view) == "OptimizingView(4 ops asked for, 2 kernels called)"


def test_it_follows_what_is_fetched(session: tf.Session) -> None:
    view = OptimizingView(session, feeds="x", feed_shapes=[(3, 4)])
    assert view.problem.startswith("Nothing is fetched")
    assert view._passes == []
    assert "Nothing is fetched" in view.static_bundle()["text/plain"]
    view.fetches = ["y:0", "gone:0"]
    assert view.problem == ""
    assert "again" not in view._passes[0]["reasons"]
    view.feeds = ["x:0", "four:0"]
    assert "specialize" not in [each["name"] for each in view._passes]
    with pytest.raises(ValueError, match="1 feeds, but 2 shapes"):
        OptimizingView(session, "y", "x", [(), ()])
    panel = explore(session, "sum", "x")
    panel.selected_index = panel.titles.index("Optimizer")
    assert panel.views["Optimizer"].optimizer_log.of("two")


def test_still_picture(session: tf.Session) -> None:
    bundle = OptimizingView(session, "sum", "x", [(3, 4)]).static_bundle()
    assert bundle["text/plain"].startswith("4 ops asked for, 2 kernels called")
    for word in ("folded", "merged", "removed"):
        assert word in bundle["image/svg+xml"]


BUILD = """
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None], name="x")
    total = tf.size(tf.add(x, 1.0, name="more"), name="total")
sess = tf.Session(graph=graph)
"""


def test_the_magic(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    assert run(shell, "%optimizing total --feed x --session sess").success
    assert len(shell.shown) == 2
    line = "%optimizing total --session sess --feed-dict {x:[1]} --text"
    assert run(shell, line).success
    assert "the shape is known" in capsys.readouterr().out
    for line, words in [
        ("totl --session sess", "Did you mean total"),
        ("total --session sess --feed-dict 3", "is not a dict"),
    ]:
        with pytest.raises(UsageError, match=words):
            shell.run_line_magic("optimizing", line)
    shell.user_ns["sess"].close()
