from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.explain.steps.recording import Recording
from tfteach.explain.steps.stepping import record
from tfteach.jupyter import StepView

FEED = {"x:0": [[1.0, 2.0], [3.0, -4.0]]}


def recorded(**options: Any) -> Recording:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.name_scope("layer"):
            w = tf.Variable([[1.0], [2.0]], name="w")
            y = tf.matmul(x, w, name="y")
        loss = tf.reduce_sum(tf.log(y, name="log"), name="loss")
        session.run(w.initializer)
        return record(session, loss, FEED, **options)


def looped(failing: bool = False) -> Recording:
    with tf.Graph().as_default(), tf.Session() as session:
        _, a = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a * 0.5), [0, 8.0], name="halve"
        )
        a = tf.log(a - 2.0 if failing else a)
        return record(session, tf.check_numerics(a, "too small", name="check"))


def test_what_the_page_gets() -> None:
    view = StepView(recorded())
    state = view.get_state()
    state |= {key: json.loads(state[key]) for key in ("_values", "_steps", "_loops")}
    names = [row[0] for row in view._rows]
    ops = [names[step[0]] for step in state["_steps"]]
    assert ops == ["layer/w/read", "layer/y", "log", "loss"]
    _, _, inputs, outputs, _, device, elapsed_us, live_bytes = state["_steps"][1]
    x, w = [state["_values"][i] for i in inputs]
    assert x[0] == "x:0"
    assert x[1:3] == ["float32", [2, 2]]
    assert x[8] == [["1", "2"], ["3", "-4"]]
    # what one step made and another took travels once
    assert inputs[1] == state["_steps"][0][3][0]
    assert state["_steps"][2][2] == outputs
    assert device == "CPU:0"
    assert elapsed_us > 0
    assert live_bytes == 8
    wrong = state["_values"][state["_steps"][2][3][0]]
    assert (wrong[0], wrong[4], wrong[5]) == ("log:0", "2×1 · 1 NaN", [1, 0])
    assert state["_spoilers"] == [2]
    assert (state["fetches"], state["feeds"]) == (["loss:0"], ["x:0"])
    assert repr(view) == "StepView(4 steps)"
    assert w[0] == "layer/w/read:0"


def test_large_values_travel_as_figures() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [100, 100], name="x")
        view = StepView.of(
            session, tf.negative(x), {x: np.arange(1e4).reshape(100, -1)}
        )
    _, dtype, shape, text, short, wrong, figures, bins, cells, _ = view._values[1]
    assert (dtype, shape, wrong, cells) == ("float32", [100, 100], [0, 0], [])
    assert text.startswith("[-0., -1., -2., ...]")
    assert short == "100×100 · -1e4…0"
    assert figures == ["-9999", "-5000", "-0"]
    assert sum(bins) == 10_000


def test_loops_and_their_iterations() -> None:
    view = StepView(looped())
    [[name, starts, last, times, is_function]] = view._loops
    assert (name, len(starts), times, is_function) == ("halve", 4, 3, False)
    multiplied = [s for s in view._steps if view._rows[s[0]][0] == "halve/mul"]
    assert [step[1] for step in multiplied] == [[0, 0], [0, 1], [0, 2]]
    assert starts[0] <= last < len(view.run)
    # what Merge handed on is the value that was made in the iteration before
    merged = view._values[multiplied[1][2][0]]
    assert merged[0] == "halve/Identity_1:0"
    # and what goes in first is the constant that it began with
    entered = next(view._values[i] for i in view._steps[0][2])
    assert entered[0] == "halve/Merge:0"
    assert view._values[entered[9]][0] == "halve/Const:0"
    half = view._values[multiplied[0][3][0]]
    assert half[9] == multiplied[0][3][0]


def test_copies_between_devices_are_in_no_graph() -> None:
    tf.simulate_gpus(1, memory="1MiB")
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2], name="x")
            with tf.device("/gpu:0"):
                y = tf.square(x, name="y").op
            view = StepView.of(session, y, {x: [1.0, 2.0]})
    finally:
        tf.simulate_gpus(0)
    added = [name for name, _ in view._words["added"]]
    assert [kind for _, kind in view._words["added"]] == ["_Send", "_Recv"]
    assert [step[0] for step in view._steps] == [-1, -2, 1]
    assert view.run[0].op == added[0]
    assert view.run[2].device == "GPU:0"
    assert view.static_bundle()["text/plain"].count("_Recv") == 1


def test_where_it_begins() -> None:
    run = recorded(when=lambda step, *_: step.op == "layer/y")
    assert StepView(run).at == 1
    assert StepView(run, at=3).at == 3
    assert StepView(run, at=99).at == 3
    assert StepView(run, break_nan=True, break_on="loss").stops() == [1, 2, 3]
    plain = recorded()
    assert StepView(plain).at == 0
    assert StepView(plain, break_nan=True).at == 2
    assert StepView(plain, break_on=["lo*"]).stops() == [2, 3]
    with tf.Graph().as_default():
        tensor = tf.constant(1.0, name="loss")
    assert StepView(plain, break_on=[tensor]).break_on == ["loss"]


def test_the_error_that_ended_it() -> None:
    run = looped(failing=True)
    view = StepView(run)
    assert view.at == len(run)
    words = view._words
    assert words["error"] == "InvalidArgumentError"
    assert words["message"] == "too small : Tensor had NaN values"
    assert view._rows[words["failed"][0]][0] == "check"
    assert "ended by InvalidArgumentError at check: too small" in view.to_text()
    svg = view.static_bundle()["image/svg+xml"]
    assert "failed here" in svg


def test_still_picture_and_table() -> None:
    view = StepView(recorded(), at=1, break_nan=True)
    bundle = view.static_bundle()
    lines = bundle["text/plain"].splitlines()
    assert lines[0] == "4 steps for loss:0"
    assert lines[3].startswith(">   2  log")
    svg = bundle["image/svg+xml"]
    assert "2×1 · 1…2" in svg  # inside of the scope of the step in view, which is open
    assert "now" in svg
    assert "NaN" not in svg
    svg = StepView(recorded(), break_nan=True).static_bundle()["image/svg+xml"]
    assert "2×1 · 1 NaN" in svg
    assert "now: makes NaN" in svg
    assert 'alt="4 steps for loss:0"' in bundle["text/html"]
    assert "<pre>4 steps" in bundle["text/html"]


def test_what_a_notebook_saves_stays_small() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [100, 100], name="x")
        for i in range(200):
            with tf.name_scope(f"layer{i}"):
                for _ in range(5):
                    x = tf.sin(x)
        run = record(session, tf.reduce_sum(x), {"x:0": np.ones([100, 100])})
    view = StepView(run, break_on=["layer100/Sin_2"])
    bundle = view.static_bundle()
    assert "image/svg+xml" not in bundle  # of 200 boxes: too large
    assert sum(len(part) for part in bundle.values()) < 150_000
    text = bundle["text/plain"]
    assert len(text.splitlines()) < 70
    assert "layer100/Sin_2" in text
    assert "... " in text


def test_a_long_run_shows_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfteach.jupyter.step_wire.MOST_STEPS", 5)
    whole, failed = StepView(looped()), StepView(looped(failing=True))
    assert len(whole._steps) == len(failed._steps) == 5
    assert whole._words["first"] == 0
    assert failed._words["first"] == len(failed.run) - 5


def test_only_recordings() -> None:
    with pytest.raises(TypeError, match=r"StepView\.of"):
        StepView(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="No session"):
        StepView.of(None, "x")


BUILD = """
import numpy as np
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.name_scope("parts"):
        root = tf.log(x, name="log")
    total = tf.reduce_sum(root, name="total")
sess = tf.Session(graph=graph)
batch = [1.0, -1.0]
"""


def test_the_magic(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    before = set(shell.user_ns)
    assert run(shell, "%step total --session sess --feed x=batch --break-nan").success
    assert len(shell.shown) == 2
    assert ">   0  parts/log" in shell.shown[1]["text/plain"]
    assert {name for name in set(shell.user_ns) - before if name[0] != "_"} == set()
    assert run(
        shell, "%step total --session sess --feed-dict {x:batch} --static"
    ).success
    assert len(shell.shown) == 3
    lines = [
        "--feed 'x=np.array([ 1, 2 ])' --when 'op == \"total\"'",
        "--feed x=batch --break total",
        "--feed x=batch --break 'tot*'",
        "--feed x=batch --when 'value > 99 or np.isnan(value)'",
    ]
    for line in lines[:3]:
        assert run(shell, f"%step total --session sess {line} --text").success
        out = capsys.readouterr().out
        assert ">   1  total" in out
        assert ">   0" not in out
    assert run(
        shell, "%step total --feed x=batch --when np.isnan(value) --text"
    ).success
    assert ">   0  parts/log" in capsys.readouterr().out


def test_what_the_magic_refuses(shell: Any) -> None:  # noqa: F811
    run(shell, BUILD)
    for line, words in [
        ("totl --session sess", "Did you mean total"),
        ("total --session ses", "Did you mean sess"),
        (
            "total --session sess --feed x=bach",
            "--feed x=bach: name 'bach' is not defined",
        ),
        ("total --session sess --feed y=batch", "'y' is not an op"),
        ("total --session sess --feed x", "say what to feed"),
        ("total --session sess --feed-dict batch", "is not a dict"),
        ("total --session sess --feed x=batch --break totl", "Did you mean total"),
        ("total --session sess --feed x=batch --when value+", "--when value"),
        ("total --session sess --feed x=batch --when valu>1", "NameError"),
        ("total --session sess --feed x=batch --when turn==2", "`iteration`, from 0"),
        ("total --session sess --depth 0", "--depth counts"),
    ]:
        with pytest.raises(UsageError, match=words):
            shell.run_line_magic("step", line)
