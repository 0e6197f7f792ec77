from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import kinds, run, shell  # noqa: F401

BUILD = """
graph = tf.get_default_graph()
x = tf.constant(1.0, name="x")
before = graph.as_graph_def()
y = tf.add(x, 2.0, name="y")
sess = tf.Session()
with tf.Graph().as_default() as other:
    tf.constant(3.0, name="x")
"""


@pytest.fixture
def built(shell: Any) -> Iterator[Any]:  # noqa: F811
    with tf.Graph().as_default():
        run(shell, BUILD)
        yield shell
        shell.user_ns["sess"].close()


def test_two_graphs(built: Any, capsys: Any) -> None:
    for line in ("before", "before graph", "before sess", "before y.graph"):
        assert run(built, f"%diff {line} --text").success
        printed = capsys.readouterr().out
        assert printed.startswith("2 ops added, 0 removed, 0 changed, 1 the same")
        assert "+ y (Add)" in printed
    assert run(built, "%diff graph other").success
    assert kinds(built) == ["live", "still"]
    assert "~ x: value: 1 -> 3" in built.shown[1]["text/plain"]
    assert run(built, "%diff graph other --static").success
    assert kinds(built)[2:] == ["still"]


def test_what_a_cell_does(built: Any, capsys: Any) -> None:
    assert run(built, "%%diff --text\nz = tf.square(y, name='z')").success
    assert "+ z (Square)" in capsys.readouterr().out
    assert built.user_ns["z"].name == "z:0"
    result = run(built, "%%diff other --text\ntf.constant(1.0, name='new')\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "+ new (Const)" in capsys.readouterr().out  # also after an error


def test_misuse_is_told(built: Any) -> None:
    for line, words in [
        ("", "There are graph, before, sess, other"),
        ("befor", "Did you mean before"),
        ("before graph other", "compares two graphs, got 3"),
        ("graph 3", "got int"),
        ("graph[", "%diff graph"),
    ]:
        with pytest.raises(UsageError, match=words.replace("[", r"\[")):
            built.run_line_magic("diff", line)
    with pytest.raises(UsageError, match="cannot change before"):
        built.run_cell_magic("diff", "before", "pass")
    with provisionalcompleter():
        found = {c.text for c in built.Completer.completions("%diff b", 7)}
    assert "before" in found
