from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.jupyter.test_magics import shell  # noqa: F401
from tfteach.explain.runs.row_updates import RowUpdates, watch_rows
from tfteach.jupyter import RowsView


def trained(
    optimizer: Any, row_count: int = 5, batches: Any = ([0], [1])
) -> RowUpdates:
    with tf.Graph().as_default():
        ones = tf.ones_initializer()
        emb = tf.get_variable("emb", [row_count, 2], initializer=ones)
        ids = tf.placeholder(tf.int32, [None])
        loss = tf.reduce_sum(tf.nn.embedding_lookup(emb, ids) ** 2)
        train = optimizer.minimize(loss)
        with tf.Session() as sess, watch_rows() as rows:
            sess.run(tf.global_variables_initializer())
            for batch in batches:
                sess.run(train, {ids: batch})
    return rows


def test_titles_and_slots() -> None:
    adam = trained(tf.train.AdamOptimizer(0.1))
    lazy = trained(tf.contrib.opt.LazyAdamOptimizer(0.1))
    view = RowsView({"Adam": adam, "LazyAdam": lazy.track()})
    assert [panel["title"] for panel in view._panels] == ["Adam", "LazyAdam"]
    own = [m["variable"] for m in view._panels[0]["heat_maps"]]
    assert own == ["emb", "emb/Adam", "emb/Adam_1"]
    # step, row, level, read, distance: row 0 moves in step 2, too, a little less far.
    first, again, other = view._panels[0]["heat_maps"][0]["cells"]
    assert (first[:2], first[3]) == ([0, 0], 1)
    assert (again[:2], again[3]) == ([1, 0], 0)
    assert (other[:2], other[3]) == ([1, 1], 1)
    assert float(first[4]) == pytest.approx(0.1 * 2**0.5, abs=1e-3)
    assert again[2] < first[2]
    text = view.to_text()
    assert text.startswith("Adam: emb (5 x 2) in session ")
    assert "\nLazyAdam: emb (5 x 2)" in text
    assert str(view) == text
    assert repr(view) == "RowsView(2 variables)"


def test_a_still_picture() -> None:
    view = RowsView(trained(tf.train.AdamOptimizer(0.1)))
    svg = view.static_bundle()["image/svg+xml"]
    assert svg.count("<circle") == 2 + 2  # read twice, and the legend
    assert "did not read" in svg
    assert ">emb</text>" in svg


def test_of_many_rows_the_others_are_counted() -> None:
    steps = [[i] for i in range(60)]
    rows = trained(tf.train.AdamOptimizer(0.1), 500, steps)
    heat_map = RowsView(rows)._panels[0]["heat_maps"][0]
    assert heat_map["rows"] == list(range(20, 60))
    assert heat_map["others"] == 460
    assert heat_map["others_moved"][0] == [1, 4]
    assert heat_map["others_moved"][-1][0] == 20


def test_what_it_does_not_show() -> None:
    with pytest.raises(TypeError, match="watch_rows recorded"):
        RowsView([])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'a': expected recorded rows"):
        RowsView({"a": 1})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="got none"):
        RowsView({"a": RowUpdates()})
    with pytest.raises(ValueError, match="2 names for 1 variables: emb in session"):
        RowsView(trained(tf.train.AdamOptimizer(0.1)), ["a", "b"])
    assert RowsView(RowUpdates()).to_text() == "No run selected rows of a variable."


CELL = """\
import tfteach as tf
with tf.Graph().as_default(), tf.Session() as sess:
    emb = tf.get_variable("emb", [3, 2], initializer=tf.ones_initializer())
    rows = tf.gather(emb, [2])
    sess.run(tf.global_variables_initializer())
    sess.run(rows)
    other = tf.Session()
"""


def test_the_magic(shell: Any, capsys: Any) -> None:  # noqa: F811
    shell.run_cell_magic("rows", "--names reader --text", CELL)
    assert "reader: emb (3 x 2) in session" in (out := capsys.readouterr().out)
    assert "  row 2  ○" in out.splitlines()
    shell.run_cell_magic("rows", "--session other --text", CELL)
    assert "No run of this cell selected rows" in capsys.readouterr().out
    shell.run_cell_magic("rows", "", "1 + 1")
    assert "No run of this cell selected rows" in capsys.readouterr().out
    with pytest.raises(Exception, match="%%rows --names: 2 names for 1 variables"):
        shell.run_cell_magic("rows", "--names a b --text", CELL)
