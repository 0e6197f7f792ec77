from __future__ import annotations

import json
import time
from typing import Any

import pytest
from IPython.core.error import UsageError
from ipywidgets.widgets import widget

import tfteach as tf
from tests.jupyter.test_magics import kinds, run, shell, stopped_at  # noqa: F401
from tfteach.explain.eager.eager_recording import EagerRecording, record_eager
from tfteach.jupyter import EagerView, StepView

CELL = """\
x = tf.constant([[1.0, 2.0]])
w = tf.Variable([[3.0], [4.0]], name="w")
for _ in range(2):
    with tf.GradientTape() as tape:
        y = tf.matmul(x, w)
        loss = tf.reduce_mean(tf.square(y - 5.0), name="loss")
    w.assign_sub(0.1 * tape.gradient(loss, w))
"""


def program() -> EagerRecording:
    with record_eager() as found:
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.square(x, name="y")
        tape.gradient(y, x)
    return found


def state_of(view: Any) -> dict[str, Any]:
    state: dict[str, Any] = view.get_state()
    return state | {
        key: json.loads(state[key]) for key in ("_code", "_recorded") if key in state
    }


def test_what_the_page_gets() -> None:
    view = EagerView(program())
    state = state_of(view)
    (block,) = state["_code"]
    assert block["file"] == "test_eager_view.py"
    notes = {text.strip(): notes for text, notes in block["lines"]}
    assert [n[:2] for n in notes['y = tf.square(x, name="y")']] == [
        ["count", "1 op"],
        ["tape", ""],
    ]
    assert [n[0] for n in notes["tape.gradient(y, x)"]] == ["count", "backward"]
    assert notes["x = tf.constant(3.0)"] == []
    assert state["_taped"] == {"y": [1]}
    assert set(state["_gradient_of"].values()) == {"y"}
    assert state["_summary"].startswith("3 ops ran, 1 of them recorded by 1 tape, 2 to")
    names = [row[0] for row in view._rows]
    recorded = state["_recorded"]
    ops = [names[step[0]] for step in recorded["steps"]]
    assert ops[0] == "y"
    assert recorded["values"][recorded["steps"][0][3][0]][4] == "9"
    assert state["figures"]["y"]["time_us"] > 0


def test_the_lines_inside_a_traced_function() -> None:
    with record_eager() as found:

        @tf.function
        def double(a: Any) -> Any:
            return tf.multiply(a, 2.0, name="twice")

        double(tf.constant(1.0))
    state = state_of(EagerView(found))
    file, line = state["_inner"]["double/twice"]
    texts = {
        block["first"] + i: text
        for block in state["_code"]
        for i, (text, _) in enumerate(block["lines"])
    }
    assert file == "test_eager_view.py"
    assert "tf.multiply" in texts[line]


def test_text_and_pictures() -> None:
    view = EagerView(program())
    assert view.to_text().splitlines()[1].startswith("  test_eager_view.py line ")
    assert repr(view) == "EagerView(3 ops)"
    bundle = view.static_bundle()
    assert "y" in bundle["image/svg+xml"]
    assert "recorded by 1 tape" in bundle["text/html"]


def test_only_recordings() -> None:
    with pytest.raises(TypeError, match="record_eager"):
        EagerView(tf.get_default_graph())  # type: ignore[arg-type]


def test_a_recording_to_step_through() -> None:
    view = StepView(program(), break_on=["y"])
    assert view.stops() == [0]
    state = view.get_state()
    assert state["_taped"] == {"y": [1]}
    assert "tf.square" in state["_code"]
    assert view.to_text().startswith("3 steps\n")
    with tf.Graph().as_default(), tf.Session() as session:
        of_session = StepView.of(session, tf.square(2.0))
    assert of_session.get_state()["_code"] == "[]"


# ---- magics


def test_a_cell_traced(shell: Any) -> None:  # noqa: F811
    result = run(shell, f"%%graph --trace seen\n{CELL}")
    assert result.success
    assert kinds(shell) == ["live", "still"]
    assert " ops ran, 10 of them recorded by 2 tapes, " in shell.shown[1]["text/plain"]
    seen = shell.user_ns["seen"]
    assert isinstance(seen, EagerRecording)
    assert len(seen.tapes) == 2
    assert seen.graph.find_operation("for_line_4/iteration_2/loss") is not None
    assert not tf.executing_eagerly()  # only the cell
    text = shell.shown[1]["text/plain"]
    assert "In [1] line 6: y = tf.matmul(x, w)" in text


def test_a_recording_shown_and_replayed(shell: Any) -> None:  # noqa: F811
    run(shell, f"%%graph --trace seen --text\n{CELL}")
    assert shell.shown == []
    assert run(shell, "%graph seen --static").success
    assert "recorded by 2 tapes" in shell.shown[0]["text/plain"]
    assert run(shell, "%step seen --static --break '*loss'").success
    assert shell.shown[1]["text/plain"].count("\n> ") == 2


def test_a_cell_stepped(shell: Any, capsys: Any) -> None:  # noqa: F811
    assert run(shell, f"%%step --static --break '*loss' nothing\n{CELL}").success
    assert "--break nothing: no op of such a name has run" in capsys.readouterr().out
    assert shell.shown[0]["text/plain"].count("\n> ") == 2
    assert run(shell, f"%%step --static --when 'value > 30'\n{CELL}").success
    assert "\n>" in shell.shown[1]["text/plain"]
    assert run(shell, "%%step\nq = 1").success
    assert "No op ran eagerly in this cell." in capsys.readouterr().out


@pytest.mark.parametrize("magic", ["%%graph --trace", "%%step"])
def test_a_cell_that_fails(shell: Any, magic: str) -> None:  # noqa: F811
    a = "tf.constant([[1.0, 2.0]])"
    result = run(shell, f"{magic}\na = {a}\nb = tf.square(a)\ntf.matmul(a, a)")
    assert isinstance(result.error_in_exec, tf.errors.InvalidArgumentError)
    text = shell.shown[1]["text/plain"]
    assert "ended by InvalidArgumentError at MatMul: " in text
    if magic != "%%step":
        assert stopped_at(shell) == "In [1] line 4: tf.matmul(a, a)"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%%graph --trace --fetch x\npass", "nothing can be fetched or fed"),
        ("%%graph --trace --keep a\npass", "--trace has a graph of its own"),
        ("%graph --trace", "belong to %%graph"),
        ("%step seen --when True", "--when asks while code runs"),
        ("%graph seen --fetch x", "nothing can be fetched or fed"),
        ("%%step --when 'x +'\npass", "--when x +: invalid syntax"),
        ("%%step --when 'nothing'\ntf.square(2.0)", "NameError"),
    ],
)
def test_misuse_is_told(shell: Any, line: str, said: str) -> None:  # noqa: F811
    shell.user_ns["seen"] = program()
    result = run(shell, line)
    assert isinstance(result.error_in_exec, UsageError)
    assert said in str(result.error_in_exec)
    assert shell.shown == []


def test_growth_is_sent_while_the_cell_runs(shell: Any) -> None:  # noqa: F811
    def live_view() -> Any:
        live = shell.shown[0]["application/vnd.jupyter.widget-view+json"]
        return widget._instances[live["model_id"]]

    def wait_for(count: int) -> None:
        end_s = time.monotonic() + 60
        while live_view()._batches < count:
            assert time.monotonic() < end_s
            time.sleep(0.005)

    shell.user_ns["wait_for"] = wait_for
    cell = "for i in range(3):\n    tf.square(2.0)\n    wait_for(i + 1)"
    assert run(shell, f"%%graph --trace\n{cell}").success
    view = live_view()
    assert view._batches >= 3
    assert len(view._rows) == 6  # each with its constant
