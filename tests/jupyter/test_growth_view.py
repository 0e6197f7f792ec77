from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tests.jupyter.test_magics import kinds, run, shell  # noqa: F401
from tfteach.explain.building.graph_log import watch_graphs
from tfteach.explain.building.growth import Growth, watch_growth
from tfteach.explain.eager.eager_growth import watch_eager
from tfteach.jupyter import GrowthView
from tfteach.jupyter.shown_growth import ShownGrowth, corners

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
    assert corners(ShownGrowth("", grown(lazy=False))) == [(0, 2), (0, 3), (4, 3)]
    way = corners(ShownGrowth("", grown(lazy=True)))
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


PREDICT = """\
def predict(batch):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(batch, name="x")
        w = tf.Variable(2.0, name="w")
        sess.run(tf.global_variables_initializer())
        return sess.run(tf.multiply(x, w, name="y"))

answers = [predict(float(i)) for i in range(5)]
"""


def test_magic_shows_a_family_of_graphs_as_one(shell: Any, capsys: Any) -> None:  # noqa: F811
    result = run(shell, f"%%lazy\n{PREDICT}")
    assert result.success
    assert shell.user_ns["answers"] == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert kinds(shell) == ["live", "still"]
    printed = capsys.readouterr().out
    assert printed.startswith("Rebuilt: In [1] line 3 made 5 graphs of the same 7 ops")
    assert "Not drawn" not in printed
    said = " ".join(printed.split())
    assert "once, outside `predict`; then only run, and feed the data" in said
    assert 'In [1] line 4, `x = tf.constant(batch, name="x")`, embeds data' in said
    text = shell.shown[-1]["text/plain"]
    assert text.startswith("5 graphs, 5 sessions\n  graphs 1, 2, 3, ..., 5 (In [1] ")
    assert "7 ops added, 2 runs" in text
    root = ElementTree.fromstring(shell.shown[-1]["image/svg+xml"])
    words = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("text")]
    assert {"graph 1", "graph 5", "1 run, closed", "35 ops"} <= set(words)
    assert words.count("built 5 times") == 2  # above the tracks, and of the meter
    run(shell, f"%%lazy --text\n{PREDICT}")
    printed = capsys.readouterr().out
    assert printed.count("Rebuilt:") == 1


def test_magic_drops_no_graph_in_silence(shell: Any, capsys: Any) -> None:  # noqa: F811
    code = "\n".join(
        f"with tf.Graph().as_default(), tf.Session() as s: s.run(tf.square({i}.0))"
        for i in range(6)
    )
    run(shell, f"%%lazy\n{code}")
    assert kinds(shell) == ["live"] * 4 + ["still"] * 4
    assert capsys.readouterr().out == (
        "Not drawn: 2 graphs more.\n"
        "  graph 5 (In [1] line 6): 2 ops built in "
        + "{} ms; session 5 opened, 1 run, closed\n"
        + "  graph 6 (In [1] line 7): 2 ops built in "
        + "{} ms; session 6 opened, 1 run, closed\n"
    ).format(*_built_ms(shell))
    assert "6 graphs, 6 sessions" in shell.shown[4]["text/plain"]


def _built_ms(shell: Any) -> list[str]:  # noqa: F811
    """How long graphs 5 and 6 took, as the first view says it."""
    lines = shell.shown[4]["text/plain"].splitlines()
    return [line.split(" built in ")[1].split(" ms")[0] for line in lines[5:7]]


def test_the_page_gets_the_copies_of_a_graph() -> None:
    def predict(value: float) -> None:
        with tf.Graph().as_default(), tf.Session() as sess:
            sess.run(tf.square(value))

    with watch_graphs() as log:
        predict(0.0)
        view = GrowthView(log)
        batches: list[dict[str, Any]] = []
        view.send_batch = batches.append  # type: ignore[method-assign]
        predict(1.0)
        predict(2.0)
        view.refresh()
    (lives,) = json.loads(json.dumps(view.get_state(["_lives"])["_lives"]))
    assert (lives["number"], lives["kind"], lives["sign"]) == (
        1, "rebuilt", "built 3 times",
    )  # fmt: skip
    assert [track["graph"] for track in lives["tracks"]] == [1, 2, 3]
    kinds = [kind for kind, *_ in lives["tracks"][1]["stretches"]]
    assert kinds == ["open", "build", "compile", "run"]
    (second, third) = lives["copies"]
    number, rounds = second
    assert (number, third[0]) == (2, 3)
    assert [entry[:2] for entry in rounds] == [[2, 1]]
    assert rounds[0][4] == "sess.run(tf.square(value))"
    (finding,) = lives["findings"]
    assert finding["headline"].startswith("Rebuilt: test_growth_view.py line ")
    assert "tf.placeholder" in finding["code"]
    assert corners(view.parts[0]) == [
        (0, 0), (0, 2), (1, 2), (1, 4), (2, 4), (2, 6), (3, 6),
    ]  # fmt: skip
    view.close()
    # one graph with one session has no tracks, but in comparison it has
    with watch_graphs() as kept:
        predict(1.0)
    (alone,) = GrowthView(kept)._lives
    assert alone["tracks"] == []
    _, beside = GrowthView(rebuilt=log, kept=kept)._lives
    assert len(beside["tracks"]) == 1


def test_a_recording_without_a_graph() -> None:
    with watch_graphs() as log:
        pass
    with pytest.raises(ValueError, match="no graph was built"):
        GrowthView(log)


EAGER = """\
x, y = tf.constant(1.0), tf.constant(2.0)
for i in range(3):
    z = tf.add(x, y)
"""

BOTH = (
    EAGER
    + """\
with tf.Graph().as_default(), tf.Session() as sess:
    x, y = tf.constant(1.0), tf.constant(2.0)
    for i in range(3):
        sess.run(tf.add(x, y))
"""
)


def panes_of(view: GrowthView) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        json.dumps(view.get_state(["_panes"])["_panes"])
    )
    return found


def test_a_loop_of_eager_code_beside_one_that_builds(
    shell: Any,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    eagerly: None,
) -> None:
    result = run(shell, f"%%lazy\n{BOTH}")
    assert result.success
    assert kinds(shell) == ["live", "still"]  # one view of both
    capsys.readouterr()
    run(shell, f"%%lazy --text\n{BOTH}")
    said = capsys.readouterr().out
    assert "eager: 3 ops ran eagerly in 3 iterations" in said
    assert "The loop at In [2] line 3 ran 3 times, 1 op each time" in said
    assert "graph: 5 ops added, 3 runs\nLazy loading: In [2] line 8 adds 1 op" in said


def test_the_pane_of_eager_code(eagerly: None) -> None:
    with watch_eager() as growth:
        for _ in range(3):
            tf.sqrt(2.0)
        view = GrowthView(growth)  # as it is so far
        tf.sqrt(2.0)
    assert panes_of(view)[0]["eager"]["ops"] == 3
    view.refresh()
    (pane,) = panes_of(view)
    assert pane["ops"]["rows"] == []
    assert [round_[:3] for round_ in pane["rounds"]] == [[0, 3, 0]]
    assert pane["verdict"]["kind"] == "eager"
    assert (pane["eager"]["ops"], pane["eager"]["held"]) == (4, ["no tensor"] * 2)
    assert [line["ops"] for line in pane["eager"]["lines"]] == [3, 1]
    words = [e.text for e in ElementTree.fromstring(view.to_svg()).iter() if e.text]
    assert {"eager: nothing grows", "iterations →", "0 ops"} <= set(words)
    assert repr(view) == "GrowthView(eager, 0 ops, 3 runs)"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (EAGER, "3 ops ran eagerly in 3 iterations"),
        ("y = 1", "No graph was built or run in this cell."),
        ("with tf.Graph().as_default(): tf.constant(1.0)", "1 op added, 0 runs"),
    ],
)
def test_a_cell_of_an_eager_program(
    shell: Any,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    eagerly: None,
    cell: str,
    said: str,
) -> None:
    run(shell, f"%%lazy --text\n{cell}")
    assert capsys.readouterr().out.startswith(said)


def test_a_fresh_graph_in_an_eager_program_is_shown_as_it_grows(
    shell: Any,  # noqa: F811
    eagerly: None,
) -> None:
    shell.user_ns["shell"] = shell
    cell = "x = tf.sqrt(2.0); shown = len(shell.shown)"
    run(shell, f"%%lazy --fresh\n{cell}")
    assert shell.user_ns["shown"] == 1


def test_tensors_that_are_kept(
    shell: Any,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    eagerly: None,
) -> None:
    run(shell, "%%lazy\nkept = []\nfor i in range(4): kept.append(tf.sqrt(2.0))")
    said = capsys.readouterr().out
    assert said.startswith("But Python keeps tensors of each iteration: 1 tensor (4 by")
