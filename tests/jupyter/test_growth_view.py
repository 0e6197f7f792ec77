from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import kinds, run, shell  # noqa: F401
from tfteach.explain.growth import Growth, watch_growth
from tfteach.jupyter import GrowthView
from tfteach.jupyter.growth_svg import corners

LOOP = """\
x = tf.Variable(10, name="x")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        value = sess.run(tf.square(x))
"""


def grown(lazy: bool) -> Growth:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(1.0, name="x")
        y = tf.constant(2.0, name="y")
        with watch_growth(graph) as growth:
            z = tf.add(x, y)
            for _ in range(4):
                sess.run(tf.add(x, y) if lazy else z)
    return growth


def test_what_the_page_gets() -> None:
    view = GrowthView(normal=grown(lazy=False), lazy=grown(lazy=True))
    normal, lazy = json.loads(json.dumps(view.get_state(["_panes"])["_panes"]))
    assert (normal["title"], normal["before"]) == ("normal", 2)
    assert [round_[:2] for round_ in normal["rounds"]] == [[3, 4]]
    assert [round_[:2] for round_ in lazy["rounds"]] == [[4, 1], [5, 1], [6, 1], [7, 1]]
    assert [len(round_) for round_ in lazy["rounds"]] == [5, 3, 3, 3]
    assert lazy["twins"] == [0, 1, 2, 2, 2, 2, 2]
    assert [row[0] for row in lazy["ops"]["rows"]][:4] == ["x", "y", "Add", "Add_1"]
    assert normal["verdict"]["kind"] == "clean"
    assert lazy["verdict"]["kind"] == "lazy"
    assert lazy["verdict"]["lines"][0]["text"].startswith("sess.run(tf.add(x, y)")
    assert repr(view) == (
        "GrowthView(normal: clean, 3 ops, 4 runs; lazy: lazy, 7 ops, 4 runs)"
    )


def test_growth_goes_on_while_it_is_watched() -> None:
    batches: list[dict[str, Any]] = []
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        with watch_growth(graph) as growth:
            view = GrowthView(growth)
            view.send_batch = batches.append  # type: ignore[method-assign]
            for _ in range(3):
                sess.run(tf.add(1.0, 2.0))
            view.refresh()
        tf.add(1.0, 2.0)  # no longer watched
        view.refresh()
    rows = [row.name for batch in batches for row in batch["rows"]]
    assert rows == [op.name for op in graph.get_operations()][:9]
    twins = [twin for batch in batches for twin in batch["twins"]]
    assert twins == [0, 1, 2, 0, 1, 2, 0, 1, 2]
    (pane,) = view._panes
    assert len(pane["ops"]) == 9
    assert pane["twins"] == twins
    rounds: list[Any] = []
    for batch in batches:
        rounds[batch["rounds_from"] :] = batch["rounds"]
    assert [round_[:2] for round_ in rounds] == [[3, 1], [6, 1], [9, 1]]
    assert rounds == pane["rounds"]
    assert batches[-1]["verdict"]["kind"] == "lazy"
    view.close()


def test_the_still_picture() -> None:
    view = GrowthView(normal=grown(lazy=False), **{"<lazy> & co": grown(lazy=True)})
    bundle = view.static_bundle()
    root = ElementTree.fromstring(bundle["image/svg+xml"])
    words = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("text")]
    assert {"normal", "<lazy> & co", "3 ops", "7 ops"} <= set(words)
    assert bundle["text/plain"].startswith("normal: 1 op added, 4 runs\nNo op was")
    assert "Lazy loading: test_growth_view.py line" in bundle["text/plain"]
    assert "data:image/svg+xml;base64," in bundle["text/html"]
    assert view.static_bundle() == bundle  # the same each time


def test_the_way_of_the_meter() -> None:
    assert corners(grown(lazy=False)) == [(0, 2), (0, 3), (4, 3)]
    way = corners(grown(lazy=True))
    assert way[:5] == [(0, 2), (0, 4), (1, 4), (1, 5), (2, 5)]
    assert way[-1] == (4, 7)


def test_what_it_shows() -> None:
    with pytest.raises(TypeError, match="watch_growth"):
        GrowthView()
    with pytest.raises(TypeError, match="not Graph"):
        GrowthView(tf.Graph())
    empty = GrowthView(Growth(tf.Graph()))
    assert empty._panes[0]["verdict"]["kind"] == "none"
    assert "0 ops" in empty.to_svg()


def test_magic_names_the_line(shell: Any, capsys: Any) -> None:  # noqa: F811
    result = run(shell, f"%%lazy --fresh\n{LOOP}")
    assert result.success
    assert shell.user_ns["value"] == 100
    assert kinds(shell) == ["live", "still"]
    printed = capsys.readouterr().out
    assert printed.startswith("Lazy loading: In [1] line 6 adds 1 op to the graph")
    assert "`op = tf.square(x)`" in printed
    assert "RuntimeError at In [1] line 6" in " ".join(printed.split())
    run(shell, f"%%lazy --fresh --static\n{LOOP}")  # begins anew
    assert kinds(shell)[2:] == ["still"]
    assert "9 ops added, 5 runs" in shell.shown[-1]["text/plain"]


def test_magic_finds_the_graphs(shell: Any, capsys: Any) -> None:  # noqa: F811
    with tf.Graph().as_default() as mine:
        shell.user_ns["x"] = tf.constant(1.0)
        shell.user_ns["sess"] = tf.Session()
        run(
            shell,
            "%%lazy\nwith tf.Graph().as_default():\n  tf.constant(1.0)\n"
            "one = sess.run(x)",
        )
    assert mine.version == 1
    assert kinds(shell) == ["live", "live", "still", "still"]
    assert "1 op added, 0 runs" in shell.shown[2]["text/plain"]
    assert "0 ops added, 1 run\nNo op was added" in shell.shown[3]["text/plain"]
    assert capsys.readouterr().out == ""
    run(shell, "%%lazy\ny = 1")
    assert "No graph was built or run" in capsys.readouterr().out


def test_magic_after_an_error(shell: Any, capsys: Any) -> None:  # noqa: F811
    result = run(shell, f"%%lazy --fresh\n{LOOP}\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert kinds(shell) == ["live", "still"]
    assert "Lazy loading" in capsys.readouterr().out
    result = run(shell, "%%lazy --height -1\ny = 1")
    assert isinstance(result.error_in_exec, UsageError)
