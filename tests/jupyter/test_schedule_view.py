from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.jupyter import ScheduleView


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        write = w.assign(5.0, name="write")
        tf.add(w, 1.0, name="sum")
        with tf.control_dependencies([write]):
            tf.add(w.read_value(), 2.0, name="after")
        yield graph


def test_what_goes_to_the_page(graph: tf.Graph) -> None:
    view = ScheduleView(graph, ["sum", "write"])
    names = [op[0] for op in view._ops]
    assert sorted(i for each in view._sets for i in each) == list(range(len(names)))
    (race,) = view._races
    assert (race["variable"], race["reads"]) == ("w", True)
    assert names[race["second"]] == "write"
    one, other = race["orders"]
    assert one[0] != other[0]
    assert sorted(one) == sorted(other)
    assert sum(race["alike"]) + len(one) == len(names)
    assert repr(view).startswith("ScheduleView(")
    for op in view._ops:
        assert all(names[i] in ("w", "w/read", "sum/y", "write/value") for i in op[2])


def test_it_follows_what_is_fetched(graph: tf.Graph) -> None:
    view = ScheduleView()
    assert view.problem.startswith("Nothing is fetched")
    assert view.to_text() == view.problem
    view.fetches = ["after:0"]
    assert view._races == []
    names = [op[0] for op in view._ops]
    (pair,) = view._ordered
    assert (pair[0], names[pair[1]]) == ("w", "write")
    assert any(op[3] for op in view._ops)
    view.fetches = []
    assert view._ops == view._sets == []


def test_still_picture(graph: tf.Graph) -> None:
    with graph.as_default():
        for i in range(50):
            tf.constant(1.0, name=f"c{i}")
        tf.add_n([graph.get_tensor_by_name(f"c{i}:0") for i in range(50)], name="all")
    bundle = ScheduleView(graph, ["sum", "write", "all"]).static_bundle()
    assert "sees the old value" in bundle["text/plain"]
    assert "<th" in bundle["text/html"]
    assert re.search(r"and 1\d more", bundle["text/html"])
    assert re.search(r"and 1\d more", bundle["text/plain"])
    assert len(bundle["text/html"]) + len(bundle["text/plain"]) < 8000
    assert "nothing says which comes first" in bundle["text/html"]


BUILD = """
w = tf.Variable(1.0, name="w")
change = w.assign(5.0)
more = tf.add(w, 1.0, name="sum")
"""


def test_the_magic(shell: Any, capsys: Any) -> None:  # noqa: F811
    with tf.Graph().as_default():
        run(shell, BUILD)
        assert run(shell, "%schedule change more").success
        assert len(shell.shown) == 2
        assert run(shell, "%schedule sum --text").success
        assert "Races" not in capsys.readouterr().out
        with pytest.raises(UsageError, match="Did you mean sum"):
            shell.run_line_magic("schedule", "summ")
