from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.explain.profiling.timing import times_and_stats
from tfteach.jupyter.widgets.memory import MemoryView
from tfteach.jupyter.widgets.timeline import TimelineView

FEED = {"x:0": [[0.5] * 1024] * 256}


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    tf.simulate_gpus(1, memory="4MiB")
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [256, 1024], name="x")
        with tf.device("/gpu:0"), tf.name_scope("layer"):
            y = tf.square(x, name="y")
            z = tf.add(tf.exp(y, name="e"), y, name="z")
            tf.concat([y, z, x, x, x], 0, name="huge")
        with tf.device("/cpu:0"):
            tf.reduce_sum(z, name="total")
        yield graph
    tf.simulate_gpus(0)


def test_lanes_ops_and_totals(graph: tf.Graph) -> None:
    with tf.Session() as session:
        view = TimelineView.of(session, "total:0", FEED, runs=2)
        again = TimelineView(times_and_stats(session, "total:0", FEED, 1)[1])
    state = view.get_state()
    for lane, other in zip(again._lanes, state["_lanes"], strict=True):
        assert lane | {"busy": 0} == other | {"busy": 0}
    lanes = {lane["label"]: lane["simulated"] for lane in state["_lanes"]}
    assert lanes == {"CPU:0": False, "GPU:0": True}
    where = {op[0]: state["_lanes"][op[2]]["label"] for op in state["_ops"]}
    assert where["layer/y"] == "GPU:0"
    assert where["total"] == "CPU:0"
    copies = [(state["_ops"][i], state["_ops"][j]) for i, j in state["_copies"]]
    assert {(send[1], receive[1]) for send, receive in copies} == {("_Send", "_Recv")}
    assert {(where[send[0]], where[receive[0]]) for send, receive in copies} == {
        ("CPU:0", "GPU:0"),
        ("GPU:0", "CPU:0"),
    }
    assert all(0 < lane["busy"] <= 1 for lane in state["_lanes"])
    assert state["_models"] == {}
    assert {row[0] for row in state["_types"]} >= {"Square", "Exp", "Sum", "_Send"}
    assert "layer/" in {row[0] for row in state["_scopes"]}
    assert repr(view).startswith("TimelineView(")
    bundle = view.static_bundle()
    assert bundle["text/plain"].startswith("2 runs, the fastest")
    assert "layer/y" in bundle["image/svg+xml"]
    assert "bounds the step" in bundle["image/svg+xml"]
    with pytest.raises(TypeError, match="RunMetadata"):
        TimelineView(3)


def test_a_model_says_so(graph: tf.Graph) -> None:
    tf.simulate_gpus(1, like="P100", link="pcie3")
    with tf.Session() as session:
        state = TimelineView.of(session, "total:0", FEED, runs=1).get_state()
    assert [lane["model"] for lane in state["_lanes"]] == ["", "P100"]
    assert state["_models"]["layer/y"].startswith("5 us to launch + max(262 kFLOP")
    assert "a model of P100 at peak rates, not measured" in state["_summary"]
    path = state["_path"]
    kinds = {bound["kind"] for bound in path["bounds"]}
    assert kinds == {"host", "copy", "compute", "launch"}
    launch = next(bound for bound in path["bounds"] if bound["kind"] == "launch")
    assert path["bounds"][launch["of"]]["name"] == "the compute of GPU:0"
    ops = [state["_ops"][part[0]][0] for part in path["parts"] if part[2]]
    assert ops[-2:] == ["layer/z/_3", "total"]
    assert path["because"]["total"] == "needs layer/z/_3"


def test_memory_of_a_run_and_of_sessions(graph: tf.Graph) -> None:
    grows = tf.ConfigProto()
    grows.gpu_options.allow_growth = True
    first, second = tf.Session(config=grows), tf.Session()
    view = MemoryView({"grows": first, "all": second})
    first.run("total:0", FEED)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        second.run("layer/huge:0", FEED)
    view.refresh()
    growing, fixed = view.get_state()["_curves"]
    assert growing["title"] == "grows · GPU:0"
    assert growing["simulated"]
    assert growing["limit"] == 4 << 20
    assert growing["points"][0][1:] == [0, 0]
    assert [run[2:] for run in growing["runs"]] == [["total:0", ""]]
    assert fixed["exhausted"][0][2].startswith("OOM when allocating")
    times = [point[0] for point in fixed["points"]]
    assert times == sorted(times)
    svg = view.static_bundle()["image/svg+xml"]
    assert "out of memory" in svg
    view.close()
    _, stats = times_and_stats(first, "total:0", FEED, 1)
    traced = MemoryView(stats)
    curves = {curve["title"]: curve for curve in traced._curves}
    assert "layer/y" in [name for name, _ in curves["GPU:0"]["holders"]]
    assert "layer/y" in traced.to_text()
    first.close()
    second.close()


def test_memory_needs_a_session(graph: tf.Graph) -> None:
    with pytest.raises(ValueError, match="No session"):
        MemoryView()
    with pytest.raises(TypeError, match=r"tf\.Sessions"):
        MemoryView(3)


BUILD = """
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [200], name="x")
    total = tf.exp(tf.add(x, 1.0, name="more"), name="total")
sess = tf.Session(graph=graph)
feed = {x: [1.0] * 200}
"""


def test_the_magic(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    assert run(shell, "%timeline total --feed-dict feed --session sess").success
    assert len(shell.shown) == 2
    assert "Exp" in shell.shown[1]["text/plain"]
    capsys.readouterr()
    assert run(shell, "%why total --fetch total --feed-dict feed").success
    assert "'total' is on the critical path of the last" in capsys.readouterr().out
    line = "%timeline total --feed-dict {x:[0]*200} --session sess --memory --text"
    assert run(shell, line).success
    out = capsys.readouterr().out
    assert "op type" in out
    assert "CPU:0: peak" in out
    for line, words in [
        ("totl --session sess", "Did you mean total"),
        ("total --session sess --feed-dict 3", "is not a dict"),
        ("total --session sess --feed-dict nope", "nope"),
        ("total --session sess --runs 0", "--runs counts"),
    ]:
        with pytest.raises(UsageError, match=words):
            shell.run_line_magic("timeline", line)
