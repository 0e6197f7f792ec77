from __future__ import annotations

from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import kinds, run, shell  # noqa: F401
from tfteach.explain.runs.runs import watch_runs
from tfteach.jupyter import RunView


@pytest.fixture
def graph() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        a = tf.square(x, name="a")
        tf.add(a, 1.0, name="b")
        tf.add(a, a, name="spare")
    return graph


def test_the_runs_of_a_cell(graph: tf.Graph) -> None:
    with tf.Session(graph=graph) as session, watch_runs() as seen:
        for i in range(3):
            session.run("b:0", {"x:0": i})
        session.run("spare", {"x:0": 1.0})
        with tf.Session(graph=tf.Graph()) as other, other.graph.as_default():
            other.run(tf.constant(1))
    view = RunView(runs=seen)
    assert view.graph is graph
    assert (view.fetches, view.feeds) == (["b:0"], ["x:0"])
    labels = [(row["label"], row["count"], row["needed"]) for row in view._run_list]
    assert labels == [("b:0", 3, 3), ("spare", 1, 2)]
    assert view.to_text().startswith("b:0 x3: 3 of 5 ops run\nspare: 2 of 5 ops run\n")
    assert "b:0 x3" in view.static_bundle()["text/plain"]
    assert len(view.needs().needed) == 3
    assert view.why("x").text == "'x' does not run: it is fed"


def test_options_are_the_graph_views(graph: tf.Graph) -> None:
    view = RunView(graph, "b:0", predict=True, depth=2, height=300)
    assert (view.predict, view.depth, view.height) == (True, 2, 300)
    assert view.score is None
    with pytest.raises(TypeError, match="wide"):
        RunView(graph, wide=3)


BUILD = """
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, name="x")
    total = tf.add(x, 1.0, name="total")
    spare = tf.add(x, 2.0, name="spare")
sess = tf.Session(graph=graph)
"""


def test_run_magic_shows_each_graph(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    result = run(shell, "%%run\nfor i in range(3):\n    y = sess.run(total, {x: i})")
    assert result.success
    assert shell.user_ns["y"] == 3.0
    assert "total:0 x3: 2 of 5 ops run" in shell.shown[1]["text/plain"]
    run(shell, "%why x")
    run(shell, "%why spare")
    run(shell, "%why x --fetch total")
    assert capsys.readouterr().out.splitlines() == [
        "'x' does not run: it is fed",
        "'spare' does not run: nothing reads it",
        "'x' runs: the fetch 'total' depends on it",
        "  x",
        "     total",
    ]


def test_run_magic_after_an_error(shell: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    result = run(shell, "%%run --static\nsess.run(total, {x: 1})\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert len(shell.shown) == 1


FAILING = """\
for fetches, feed in [("nowhere", {}), (total, {}), (total, {x: 1.0}), (total, {})]:
    try:
        sess.run(fetches, feed)
    except (ValueError, tf.errors.InvalidArgumentError):
        pass
"""


def test_runs_that_failed_or_were_refused(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    assert run(shell, f"%%run\n{FAILING}").success
    bundle = shell.shown[1]
    lines = bundle["text/plain"].splitlines()
    assert lines[0] == "nowhere: refused"
    assert lines[1].startswith("  ValueError: Fetch argument 'nowhere' cannot be")
    assert lines[2] == "total:0 x2: 3 of 5 ops needed, failed"
    assert lines[3].startswith("  InvalidArgumentError: You must feed a value for")
    assert lines[4] == "total:0: 2 of 5 ops run"
    assert " 3 of 5 needed for total\n" in bundle["text/plain"]
    assert "✕ nowhere: refused. ValueError" in bundle["image/svg+xml"]
    assert "✕ total:0 x2: 3 of 5 ops needed, failed." in bundle["image/svg+xml"]
    assert "✕ failed<" in bundle["image/svg+xml"]  # at the placeholder
    assert run(shell, f"%%run --text\n{FAILING}").success
    assert capsys.readouterr().out.splitlines()[:5] == lines[:5]
    run(shell, "%why x")
    assert "'x' does not run: it is fed" in capsys.readouterr().out  # the last begun
    run(shell, "%%run\nsess.close()\nsess.run(total)")
    assert shell.shown[-1]["text/plain"].startswith(
        "total:0: refused\n  RuntimeError: Attempted to use a closed Session.\n5 ops in"
    )


def test_a_graph_without_ops_and_feeds_that_are_none(shell: Any) -> None:  # noqa: F811
    run(shell, "%%run\ntf.Session(graph=tf.Graph()).run('x')")
    text = shell.shown[-1]["text/plain"]
    assert text.startswith("x: refused\n  RuntimeError: The Session graph is empty.")
    assert text.endswith("\n0 ops")
    run(shell, f"{BUILD}\nsess.run(x, {{x: 1.0}})")
    run(shell, "%%run\nsess.run(x, 3)")
    assert "TypeError: input must be a dictionary" in shell.shown[-1]["text/plain"]


def test_the_first_run_that_began_is_shown(graph: tf.Graph) -> None:
    with tf.Session(graph=graph) as session, watch_runs() as seen:
        with pytest.raises(ValueError, match="nowhere"):
            session.run("nowhere")
        session.run("b:0", {"x:0": 1.0})
    view = RunView(runs=seen)
    assert (view.chosen, view.fetches) == (1, ["b:0"])
    assert [row["refused"] for row in view._run_list] == [True, False]


def test_what_can_be_wrong(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    run(shell, "%%run\ny = 1")
    assert "No Session.run in this cell." in capsys.readouterr().out
    with shell.user_ns["graph"].as_default():
        for line, words in [
            ("total", "run a cell with %%run first"),
            ("totl --fetch total", "'totl' is not an op or tensor of the graph. Did"),
            ("x --fetch tootal --feed total", "'tootal' is not an op"),
        ]:
            with pytest.raises(UsageError, match=words):
                shell.run_line_magic("why", line)


def test_names_are_completed(shell: Any) -> None:  # noqa: F811
    with tf.Graph().as_default():
        tf.constant(1.0, name="weights")
        with provisionalcompleter():
            found = {c.text for c in shell.Completer.completions("%why wei", 8)}
    assert "weights" in found


def test_a_guess_is_not_given_away(graph: tf.Graph) -> None:
    view = RunView(graph, "b:0", predict=True)
    assert "2 of 5" not in view.to_text()
    plain = RunView(graph).to_svg()
    assert view.to_svg() == plain
    view.revealed = True
    assert view.to_svg() != plain


REBUILT = """\
def predict(value):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(tf.square(value))

answers = [predict(value) for value in (1.0, 2.0, 3.0)]
"""


def test_graphs_of_the_same_ops_are_shown_once(shell: Any, capsys: Any) -> None:  # noqa: F811
    assert run(shell, f"%%run\n{REBUILT}").success
    assert shell.user_ns["answers"] == [1.0, 4.0, 9.0]
    assert kinds(shell) == ["live", "still"]
    assert (
        "These runs took place in 3 graphs of the same ops" in capsys.readouterr().out
    )
    # another op, or another run, and they are shown separately
    run(shell, f"%%run\n{REBUILT}with tf.Graph().as_default(), tf.Session() as s:\n"
        "    y = s.run(tf.square(1.0))")  # fmt: skip
    assert kinds(shell)[2:] == ["live", "still"] * 2
    with watch_runs() as seen:
        for times in (1, 2):
            with tf.Graph().as_default(), tf.Session() as sess:
                y = tf.square(1.0)
                for _ in range(times):
                    sess.run(y)
    assert [len(family) for family in seen.families()] == [1, 1]
