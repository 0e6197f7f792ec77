"""What `view.save` writes: one file, small, complete, with the kernel's answers."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
import tfteach.jupyter as tfj
from tests.jupyter.test_all_magics import (
    BUILD,
    CALLS,
    FAR,
    TEXT_ONLY,
    magics,
    options,
)
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.jupyter.graph_stream import MOST_WITH_ATTRS
from tfteach.jupyter.widgets.view_base import Shown

LIMIT_BYTES = 1_000_000


def contents(view: Shown, tmp_path: Path) -> list[dict[str, Any]]:
    """The views in the page that a view is saved to."""
    path = tmp_path / "page.html"
    view.save(path)
    return unpacked(path)["views"]  # type: ignore[no-any-return]


def unpacked(path: Path) -> Any:
    found = re.search(r'id="saved">([^<]*)</script>', path.read_text("utf-8"))
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def answer(view: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """What the page answers after these traits have changed."""
    answers = view["answers"]
    now = [changed.get(name, view["state"][name]) for name in answers["asked"]]
    for case in answers["cases"]:
        if case["when"] == now:
            return {k: answers["values"][n] for k, n in case["answer"].items()}
    found: dict[str, Any] = answers["otherwise"]
    return found


@pytest.fixture
def large() -> Any:
    """A session of a graph of about 1,000 ops, its training op and feeds."""
    tf.simulate_gpus(2)
    with tf.Graph().as_default() as graph:
        x = h = tf.placeholder(tf.float32, [None, 16], name="x")
        for i in range(20):
            with tf.device(f"/gpu:{i % 2}"), tf.variable_scope(f"layer_{i}"):
                w = tf.get_variable("w", [16, 16])
                b = tf.get_variable("b", [16], initializer=tf.zeros_initializer())
                h = tf.nn.relu(tf.matmul(h, w) + b)
        loss = tf.reduce_mean(h, name="loss")
        train = tf.train.AdamOptimizer(0.1).minimize(loss, name="train")
        init = tf.global_variables_initializer()
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(graph=graph, config=config) as sess:
        sess.run(init)
        yield sess, train, {x: np.ones([4, 16])}
    tf.simulate_gpus(0)


def test_a_graph_of_1000_ops_fits_into_a_megabyte(large: Any, tmp_path: Path) -> None:
    sess, train, feed = large
    assert 900 < len(sess.graph.get_operations()) < 1100
    step = tfj.StepView.of(sess, train, feed)
    step.unfolded = True
    views = [
        tfj.GraphView(sess.graph, [train]),
        tfj.RunView(sess.graph, [train], list(feed), session=sess),
        tfj.PlacementView(sess, [train], list(feed)),
        tfj.OptimizingView(sess, [train], list(feed)),
        step,
    ]
    for view in views:
        path = tmp_path / "page.html"
        view.save(path)
        assert path.stat().st_size < LIMIT_BYTES / 2, view  # half of what is promised


def test_the_same_view_gives_the_same_page(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        tf.constant(1.0)
        view = tfj.GraphView()
    view.save(tmp_path / "a.html")
    view.save(str(tmp_path / "b.html"))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_all_attributes_are_in_the_page_of_a_large_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        for i in range(MOST_WITH_ATTRS + 1):
            tf.placeholder(tf.float32, [i], name="x")
    [view] = contents(tfj.GraphView(graph), tmp_path)
    ops = view["state"]["_ops"]
    *_, more = ops["rows"][-1]
    assert ops["shared"][more]["attrs"]["shape"] == f"[{MOST_WITH_ATTRS}]"


def test_ops_added_after_the_view_are_in_the_page(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        view = tfj.GraphView()
        tf.constant(1.0, name="late")
    [saved] = contents(view, tmp_path)
    assert [row[0] for row in saved["state"]["_ops"]["rows"]] == ["late"]
    assert saved["state"]["_batches"] == 0


@pytest.fixture
def folded() -> Any:
    """A session, a product of which a part is constant, and its placeholder."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.multiply(x, tf.add(2.0, 3.0, name="five"), name="y")
        yield sess, y, x


def test_answers_are_those_of_the_kernel(folded: Any, tmp_path: Path) -> None:
    sess, y, x = folded
    made: list[tuple[Any, list[dict[str, Any]]]] = [
        (tfj.RunView(sess.graph, [y], [x], session=sess), [{"unfolded": True}]),
        (tfj.ScheduleView(sess, [y], [x]), [{"unfolded": True}]),
        (
            tfj.PlacementView(sess, [y], [x]),
            [{"unfolded": True}, {"partitions": True}],
        ),
    ]
    for view, changes in made:
        [saved] = contents(view, tmp_path)
        for change in changes:
            ((name, value),) = change.items()
            told = answer(saved, **change)
            setattr(view, name, value)
            state = view.get_state()
            assert told
            assert told == json.loads(json.dumps({k: state[k] for k in told}))
            setattr(view, name, not value)


def test_a_run_that_was_not_saved_is_refused(folded: Any, tmp_path: Path) -> None:
    sess, y, x = folded
    for make in (tfj.PlacementView, tfj.ScheduleView, tfj.OptimizingView):
        [saved] = contents(make(sess, [y], [x]), tmp_path)
        told = answer(saved, fetches=["five:0"])
        assert "saved for the run that fetches y:0. Another" in told["problem"], make
    [saved] = contents(tfj.RunView(sess.graph, [y], [x], session=sess), tmp_path)
    told = answer(saved, fetches=["five:0"])
    assert "is not in the saved page" in told["_folded"]["text"]


def test_runs_of_a_cell_have_an_answer_each(folded: Any, tmp_path: Path) -> None:
    sess, y, x = folded
    from tfteach.explain import watch_runs

    with watch_runs() as runs:
        sess.run(y, {x: 1.0})
        sess.run("five:0")
    [saved] = contents(tfj.RunView(runs=runs), tmp_path)
    rows = saved["state"]["_run_list"]
    told = [
        answer(saved, chosen=i, fetches=row["fetches"], feeds=row["feeds"])
        for i, row in enumerate(rows)
    ]
    assert len(told) == 2
    assert told[0]["_folded"]["text"] != told[1]["_folded"]["text"]


def test_a_recorded_run_is_not_made_again(folded: Any, tmp_path: Path) -> None:
    sess, y, x = folded
    with sess.graph.as_default():
        count = tf.get_variable("count", initializer=0.0)
        total = tf.assign_add(count, y)
        sess.run(count.initializer)
    for make in (tfj.StepView.of, tfj.TimelineView.of):
        view: Any = make(sess, total, {x: 1.0})
        before = sess.run(count)
        [saved] = contents(view, tmp_path)
        assert [case["when"] for case in saved["answers"]["cases"]] == [[False]]
        assert sess.run(count) == before
        view.unfolded = True
        [saved] = contents(view, tmp_path)
        ways = [case["when"] for case in saved["answers"]["cases"]]
        assert sorted(ways) == [[False], [True]]
        assert view.unfolded
        assert saved["state"]["unfolded"]


def test_a_closed_session_leaves_what_is_shown(folded: Any, tmp_path: Path) -> None:
    sess, y, x = folded
    view = tfj.PlacementView(sess, [y], [x])
    sess.close()
    [saved] = contents(view, tmp_path)
    assert len(saved["answers"]["cases"]) == 1
    assert answer(saved)["_placed"]
    assert "Another run" in answer(saved, partitions=True)["problem"]


def test_the_text_of_a_page_is_escaped(tmp_path: Path) -> None:
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    graph = GraphDef()
    graph.node.add(name="<script>alert(1)</script>", op="</title><b>")
    path = tmp_path / "page.html"
    tfj.GraphView(graph, depth=3).save(path)
    text = path.read_text("utf-8")
    assert text.count("<script") == text.count("</script") == 2
    assert "&lt;script&gt;alert(1)&lt;" in text
    assert "<b>" not in text


@pytest.mark.parametrize("where", ["", "nowhere/page.html"])
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, where: str) -> None:
    with tf.Graph().as_default():
        tf.constant(1.0)
        view = tfj.GraphView()
    with pytest.raises(OSError, match=r"is a directory:|there is no directory"):
        view.save(tmp_path / where)
    assert list(tmp_path.iterdir()) == []


DRAWING = [name for name in magics() if name not in TEXT_ONLY]


@pytest.mark.parametrize("magic", DRAWING)
def test_every_magic_saves_its_view(
    shell: Any,  # noqa: F811
    capsys: Any,
    tmp_path: Path,
    magic: str,
) -> None:
    assert "--save" in options(magics()[magic])
    assert run(shell, BUILD).success
    if magic == "%cluster":
        assert run(shell, FAR).success
    path = tmp_path / "page.html"
    assert run(shell, CALLS[magic].format(f"--static --save {path}")).success
    assert f"Saved {path}" in capsys.readouterr().out
    assert unpacked(path)["views"]
    assert (tmp_path / "page_2.html").exists() == (magic == "%timeline")
    if magic == "%cluster":
        shell.user_ns["far"].close()
        shell.user_ns["server"]._stop()
    for name in ("sess", "other"):
        shell.user_ns[name].close()


def test_save_says_what_is_wrong(shell: Any, tmp_path: Path) -> None:  # noqa: F811
    assert run(shell, BUILD).success
    result = run(shell, f"%graph graph --static --save {tmp_path}/none/page.html")
    assert "there is no directory" in str(result.error_in_exec)
    for name in ("sess", "other"):
        shell.user_ns[name].close()
