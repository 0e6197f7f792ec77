from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tests.lib.distributed_runtime.conftest import free_addresses
from tfteach.jupyter import PlacementView
from tfteach.jupyter.widgets.placement import colours_of


@pytest.fixture
def session() -> Iterator[tf.Session]:
    tf.simulate_gpus(2, memory="1MiB")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [8, 8], name="x")
        with tf.device("/gpu:0"):
            y = tf.square(x, name="y")
        with tf.device("/gpu:1"), tf.name_scope("far"):
            tf.add(y, y, name="z")
        with tf.Session() as session:
            yield session
    tf.simulate_gpus(0)


def test_a_closed_session(session: tf.Session) -> None:
    view = PlacementView(session, "far/z", "x")
    session.close()
    view.refresh()
    assert view.problem == ""
    assert len(view.get_state()["_placed"]) == 2
    late = PlacementView(session, "far/z", "x")
    assert late.problem.startswith("The session is closed")


def test_what_the_page_gets(session: tf.Session) -> None:
    view = PlacementView(session, "far/z", "x")
    state = view.get_state()
    assert [d["label"] for d in state["_devices"]] == ["CPU:0", "GPU:0", "GPU:1"]
    assert [d["simulated"] for d in state["_devices"]] == [False, True, True]
    assert state["_placed"] == [
        [1, "/device:GPU:0", 1, "asked for", "explicit"],
        [2, "/device:GPU:1", 2, "asked for", "explicit"],
    ]
    assert state["_copies"] == [
        [0, 0, 0, 1, "256 B", False, True, False, [1]],  # x, fed, to y
        [1, 0, 1, 2, "256 B", False, False, False, [2]],  # y to far/z
    ]


def test_other_fetches_and_a_run_are_looked_at_again(session: tf.Session) -> None:
    view = PlacementView(session, "far/z", "x")
    view.fetches = ["y:0"]
    assert [row[0] for row in view._placed] == [1]
    view.fetches = []
    assert [row[0] for row in view._placed] == [0, 1, 2]
    view.fetches = ["nowhere"]  # may still come: the whole graph, until then
    assert len(view._placed) == 3
    assert view._devices[1]["peak"] == 0
    session.run("y:0", {"x:0": [[1.0] * 8] * 8})
    view.refresh()
    assert view._devices[1]["peak"] == 512


def test_still_picture_and_text(session: tf.Session) -> None:
    view = PlacementView(session, "far/z", "x", depth=2)
    bundle = view.static_bundle()
    assert bundle["text/plain"].startswith("2 ops: 1 on GPU:0 (simulated), 1 on GPU:1")
    assert "# explicit" in bundle["text/plain"]
    assert "GPU:1" in bundle["image/svg+xml"]
    assert "256 B" in bundle["image/svg+xml"]
    assert colours_of(2)[0] in bundle["image/svg+xml"]
    assert 'alt="2 ops: 1 on GPU:0' in bundle["text/html"]
    assert "<pre>2 ops: 1 on GPU:0" in bundle["text/html"]  # the log can be read there
    assert colours_of(7) == colours_of(1)


def test_the_graphs_of_the_devices(session: tf.Session) -> None:
    view = PlacementView(session, "far/z:0", "x", partitions=True)
    parts = view.get_state()["_parts"]
    names = [row[0] for row in parts["ops"]["rows"]]
    assert parts["devices"] == [
        {"label": "CPU:0", "colour": 0},
        {"label": "GPU:0", "colour": 1},
        {"label": "GPU:1", "colour": 2},
    ]
    links = [[names[a], names[b], *rest] for a, b, *rest in parts["links"]]
    assert links == [
        ["CPU:0/_arg_x_0_0/_0", "GPU:0/_arg_x_0_0/_1", 0, 1, "x:0",
         "float32 [8, 8], 256 B", "8×8 · 256 B", 256],
        ["GPU:0/y/_2", "GPU:1/y/_3", 1, 2, "y:0",
         "float32 [8, 8], 256 B", "8×8 · 256 B", 256],
        ["GPU:1/far/z/_4", "CPU:0/far/z/_5", 2, 0, "far/z:0",
         "float32 [8, 8], 256 B", "8×8 · 256 B", 256],
    ]  # fmt: skip
    assert view.to_text().startswith("3 graphs: 4 nodes on CPU:0, 3 nodes on GPU:0")
    assert "# to GPU:1: y:0, float32 [8, 8], 256 B" in view.to_text()
    # the static picture: a box for each device, and what is sent between them
    bundle = view.static_bundle()
    svg = bundle["image/svg+xml"]
    assert svg.count("8×8 · 256 B") == 3
    assert all(f">{label}</text>" in svg for label in ("CPU:0", "GPU:0", "GPU:1"))
    assert colours_of(2)[0] in svg
    # what comes and goes stands at the top of its device
    inside = {box.id: [child.id for child in box.children or ()]
              for box in view.still().root.children or ()}  # fmt: skip
    assert "GPU:1/far/z/_4" in inside["GPU:1/"]
    view.partitions = False
    assert view._parts == {}
    assert "# explicit" in view.to_text()
    session.close()
    view.partitions = True
    assert view.problem.startswith("The session is closed")


def test_what_a_notebook_saves_stays_small() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        for _ in range(100):
            x = tf.square(x)
        with tf.Session() as session:
            view = PlacementView(session)
    assert "... and 41 more" in view.static_bundle()["text/plain"]
    assert len(view.to_text().splitlines()) == 104


def test_what_cannot_be_placed(session: tf.Session) -> None:
    with tf.device("/gpu:9"):
        tf.constant(1.0, name="lost")
    view = PlacementView(session)
    assert "lost" in view.problem
    assert view._placed == []
    assert "explicitly assigned to /device:GPU:9" in view.to_text()
    with pytest.raises(tf.errors.InvalidArgumentError):
        view.placement()


def test_it_needs_a_session() -> None:
    with pytest.raises(ValueError, match="No session"):
        PlacementView()


BUILD = """
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [2], name="x")
    total = tf.add(x, 1.0, name="total")
sess = tf.Session(graph=graph)
"""


def test_the_magic(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    assert run(shell, "%placement total --feed x --session sess").success
    assert len(shell.shown) == 2
    assert "2 ops: 2 on CPU:0" in shell.shown[1]["text/plain"]
    assert run(shell, "%placement --static --session sess").success
    assert len(shell.shown) == 3
    assert run(shell, "%placement total --partitions --session sess --text").success
    assert "1 graph: " in capsys.readouterr().out
    run(shell, "with sess.as_default():\n    %placement --text")
    assert "total: (Add): /job:localhost" in capsys.readouterr().out
    for line, words in [
        ("--session ses", "Did you mean sess"),
        ("--session tf", "is not a session"),
        ("totl --session sess", "Did you mean total"),
        ("--depth 0", "--depth counts"),
    ]:
        with pytest.raises(UsageError, match=words):
            shell.run_line_magic("placement", line)


TASKS = """
tf.reset_default_graph()
with tf.device("/job:ps/task:0"):
    w = [tf.get_variable(f"w{i}", []) for i in range(3)]
with tf.device("/job:worker/task:1"):
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    for i in range(3):
        x = tf.add(x, w[i], name=f"y{i}")
"""


def test_a_graph_of_tasks_is_planned_without_a_cluster(
    shell: Any,  # noqa: F811
    capsys: Any,
) -> None:
    run(shell, TASKS)
    assert run(shell, "%placement y2 --feed x:0 --partitions --text").success
    said = capsys.readouterr().out
    assert said.startswith("A plan for 1 ps task and 1 worker task: no such cluster")
    assert "2 graphs: 9 nodes on ps:0, " in said
    assert "; 3 values sent, 12 B a run" in said
    run(shell, "other = tf.Session(graph=tf.Graph())")  # of another graph
    assert run(shell, "%placement --text").success
    assert "ps:0: 30 ops, 3 variables, 12 B" in capsys.readouterr().out


def test_a_graph_of_tasks_is_planned_for_the_cluster_of_its_session(
    shell: Any,  # noqa: F811
    capsys: Any,
) -> None:
    address = free_addresses(1)[0]
    server = tf.train.Server({"ps": [address]}, "ps")
    try:
        run(shell, "import tfteach as tf\ntf.reset_default_graph()")
        run(shell, 'with tf.device("/job:ps"):\n    one = tf.constant(1.0, name="one")')
        run(shell, f"on_ps = tf.Session({server.target!r})")
        run(shell, "other = tf.Session(graph=tf.Graph())")
        assert run(shell, "%placement one --text").success
        said = capsys.readouterr().out
        assert said.startswith(f"1 ps task of the servers at grpc://{address}.")
        run(shell, "on_ps.close()")
        assert run(shell, "%placement one --text").success
        assert capsys.readouterr().out.startswith("A plan for 1 ps task: no such")
    finally:
        server._stop()


def test_the_plan_of_a_sessions_graph(shell: Any) -> None:  # noqa: F811
    with tf.Graph().as_default() as graph:
        run(shell, TASKS.replace("tf.reset_default_graph()", ""))
        graph = tf.get_default_graph()
    with tf.Session(graph=graph) as session:
        view = PlacementView(session, "y2:0", "x:0", partitions=True)
        alone = PlacementView(graph, "y2:0", "x:0", partitions=True)
    assert view.problem == alone.problem == ""
    assert view._folded["text"].startswith("A plan for 1 ps task and 1 worker task")
    assert [d["label"] for d in view._devices] == ["ps:0", "worker:1"]
    assert view._parts["links"] == alone._parts["links"]
    # more than two values from one task to another stand in a scope of their own
    names = [row[0] for row in view._parts["ops"]["rows"]]
    sent = [name for name in names if name.startswith("ps:0/to worker:1/")]
    assert len(sent) == 3
    assert "3 values · 12 B" in (view.static_bundle()["image/svg+xml"])
    with graph.as_default():
        tf.constant(1.0, name="later")
    alone.refresh()
    alone.fetches, alone.partitions = [], False
    assert "later: (Const): /job:ps/replica:0/task:0" in alone.to_text()


def test_the_magic_takes_lists(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD + "both = [total, (total,)]\nfar = {'a': total, 'b': [1.0]}")
    assert run(shell, "%placement both --feed x --text").success
    assert "total" in capsys.readouterr().out
    failed = run(shell, "%placement far --feed x").error_in_exec
    assert str(failed) == "'far' holds a float that is not in the graph."
