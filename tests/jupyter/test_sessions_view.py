from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.jupyter import SessionsView


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        tf.assign_add(w, 1.0, name="more")
        tf.group(w.initializer, name="init")
        yield graph


def test_runs_reach_the_page(graph: tf.Graph) -> None:
    with tf.Session() as a, tf.Session() as b:
        view = SessionsView({"a": a, "b": b})
        assert view._start == {"a": {"w": None}, "b": {"w": None}}
        assert view._variables == [{"name": "w", "type": "float32 []"}]
        a.run("init")
        b.run("init")
        b.run("more:0")
        view.refresh()
        changes = [(row["session"], row["changes"]) for row in view._log]
        assert changes == [("a", {"w": "0"}), ("b", {"w": "0"}), ("b", {"w": "1"})]
        assert view._log[0]["text"] == 'a.run("init")'
        assert "b.run(more:0)  w: 0 -> 1" in view.to_text()
        view.close()
        assert not graph.observers
        assert repr(view) == "SessionsView(a, b; 3 runs)"


def test_still_picture(graph: tf.Graph) -> None:
    with tf.Session() as a, tf.Session() as b:
        view = SessionsView({"<a>": a, "b": b})
        a.run("init")
        bundle = view.static_bundle()
    assert bundle["text/plain"].startswith("2 sessions on one graph")
    assert "&lt;a&gt;" in bundle["text/html"]
    assert "uninitialized" in bundle["text/html"]
    assert "tfteach-static" in bundle["text/html"]


def test_what_a_notebook_saves_stays_small(graph: tf.Graph) -> None:
    with tf.Session() as a:
        view = SessionsView({"a": a})
        a.run("init")
        for _ in range(99):
            a.run("more")
        bundle = view.static_bundle()
    lines = bundle["text/plain"].splitlines()
    assert len(lines) == 3 + 60
    assert lines[3].startswith("41. a.run(more)")
    assert "<ol start='41'>" in bundle["text/html"]
    assert bundle["text/html"].count("<li>") == 60


def test_a_closed_session(graph: tf.Graph) -> None:
    a = tf.Session()
    view = SessionsView(a)
    a.close()
    view.refresh()
    assert view._sessions[0]["closed"]
    assert "closed" in view.static_bundle()["text/html"]


def test_what_it_does_not_show(graph: tf.Graph) -> None:
    b = tf.Session(graph=tf.Graph())
    with tf.Session() as a:
        with pytest.raises(ValueError, match="these have 2"):
            SessionsView([a, b])
        with pytest.raises(TypeError, match="not 3"):
            SessionsView([3])
        assert list(SessionsView().session_log.sessions) == [f"session {a.number}"]
    b.close()


BUILD = """
with tf.Graph().as_default() as graph:
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
one, two = tf.Session(graph=graph), tf.Session(graph=graph)
other = tf.Session(graph=tf.Graph())
"""


def test_the_magic(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    assert run(shell, "%sessions one two").success
    assert len(shell.shown) == 2
    assert "one            two" in shell.shown[1]["text/plain"]
    capsys.readouterr()
    run(shell, "one.run(w.initializer)\n%sessions --text")
    printed = capsys.readouterr().out
    assert "w  1    uninitialized" in printed
    assert printed.count("on one graph") == 2  # and the other graph's
    for line, words in [("on", "Did you mean one"), ("w", "is not a session")]:
        with pytest.raises(UsageError, match=words):
            shell.run_line_magic("sessions", line)
    with provisionalcompleter():
        found = {c.text for c in shell.Completer.completions("%sessions t", 11)}
    assert "two" in found
    for name in ("one", "two", "other"):
        shell.user_ns[name].close()


def test_status_magic(shell: Any) -> None:  # noqa: F811
    assert run(shell, "%tfteach").success
    (bundle,) = shell.shown
    assert bundle["text/plain"].startswith("Versions\n  tfteach ")
    assert "<b>Devices</b>" in bundle["text/html"]
