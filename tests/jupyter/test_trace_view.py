from __future__ import annotations

import json
import time
from typing import Any

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tests.jupyter.test_magics import completed, kinds, run, shell  # noqa: F401
from tfteach.explain.functions.function_calls import watch_functions
from tfteach.jupyter import TraceView
from tfteach.jupyter.widgets import trace

pytestmark = pytest.mark.usefixtures("eagerly")


@tf.function
def collatz(n: Any, steps: Any) -> Any:
    for _ in tf.range(steps):
        if n > 10:  # noqa: SIM108  # an expression is another function of AutoGraph
            n = n // 2
        else:
            n = 3 * n + 1
    return n


CELL = """\
@tf.function
def power(x, n):
    for _ in range(n):
        x = x * x
    return x

for n in range(4):
    power(tf.constant(1.0), n)
"""


def state_of(view: TraceView) -> dict[str, Any]:
    state: dict[str, Any] = view.get_state()
    return state | {key: json.loads(state[key]) for key in ("_functions", "_graphs")}


def test_what_the_page_gets() -> None:
    @tf.function
    def scale(x: Any, n: int) -> Any:
        return x * n

    with watch_functions() as log:
        for n in (1, 2, 3, 2):
            scale(tf.constant(1), n)
    view = TraceView(log)
    state = state_of(view)
    (row,) = state["_functions"]
    assert (row["name"], row["count"]) == ("scale", 4)
    assert [call[3:5] for call in row["calls"]] == [
        [1, True],
        [2, True],
        [3, True],
        [2, False],
    ]
    assert row["calls"][0][1] == "scale(tf.constant(1), n)"
    assert row["calls"][3][6] == ["int32 scalar", "2"]
    trace = row["traces"][2]
    assert trace["differences"] == [["n", "python", "2", "3"]]
    assert trace["compared"] == 2
    assert trace["arguments"] == [["x", "int32 scalar"], ["n", "3"]]
    assert row["verdict"]["is_waste"]
    assert row["verdict"]["code"] == "scale(tf.constant(1), tf.constant(n))"
    assert set(state["_graphs"]) == {"0:1", "0:2", "0:3"}
    # it begins with the last trace of the worst function
    assert (state["function"], state["call"]) == (0, 3)
    assert repr(view) == "TraceView(scale: traced 3 times)"


def test_the_lines_of_ops_in_loops_and_branches_and_the_code_of_autograph() -> None:
    collatz(tf.constant(3), tf.constant(2))
    state = state_of(TraceView(collatz))
    (row,) = state["_functions"]
    graph = state["_graphs"]["0:1"]
    names = [op[0] for op in graph["ops"]["rows"]]
    inner = graph["inner"]
    product = next(name for name in names if name.endswith("else_branch/mul"))
    assert inner[product][0] == "test_trace_view.py"
    texts = {
        block["first"] + i: text.strip()
        for block in row["code"]
        for i, (text, _) in enumerate(block["lines"])
    }
    assert texts[inner[product][1]] == "n = 3 * n + 1"
    converted = row["converted"]
    written = [text.strip() for text, _ in converted["lines"]]
    at = written.index("n = 3 * n + 1")
    assert converted["origins"][at] == inner[product][1]
    assert row["is_changed"]
    assert row["count"] == 0


def test_it_begins_with_the_function_that_wastes_most() -> None:
    @tf.function
    def slow(x: Any) -> Any:
        time.sleep(0.1)
        return x

    scale = tf.function(lambda x, n: x * n)
    with watch_functions() as log:
        slow(tf.constant(1))
        for n in range(3):
            scale(tf.constant(1), n)
    state = state_of(TraceView(log))
    assert [row["name"] for row in state["_functions"]] == ["slow", "scale"]
    assert (state["function"], state["call"]) == (1, 3)


def test_graphs_of_many_ops_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    many = tf.function(lambda x, n: sum([x] * n))
    for n in (1, 9, 2):
        many(tf.constant(1), n)
    monkeypatch.setattr(trace, "MOST_ROWS", 12)
    assert set(state_of(TraceView(many))["_graphs"]) == {"0:1", "0:3"}


def test_what_autograph_leaves_as_it_is() -> None:
    state = state_of(TraceView(tf.function(lambda x: x + 1.0)))
    (row,) = state["_functions"]
    assert not row["is_changed"]
    assert row["converted"] is not None
    assert state["_graphs"] == {}

    def numbers() -> Any:
        yield tf.constant(1.0)

    (row,) = state_of(TraceView(tf.function(numbers)))["_functions"]
    assert row["converted"] is None
    assert row["problem"].startswith("AutoGraph leaves it as it is: ")


def test_a_reader_s_choice_stays() -> None:
    f = tf.function(lambda x: x)
    with watch_functions() as log:
        f(tf.constant(1.0))
        view = TraceView(log)
        assert view.call == 1
        for size in range(1, 4):
            f(tf.ones([size]))
        view.refresh()
        assert view.call == 4
        view.call = 2
        f(tf.ones([9]))
        view.refresh()
    assert view.call == 2


def test_text_and_pictures() -> None:
    with watch_functions() as log:
        for n in range(3):
            collatz(tf.constant(3), n + 20)
    view = TraceView(log)
    assert view.to_text().startswith("collatz (test_trace_view.py line ")
    assert "Fix: Pass `steps` as a Tensor" in view.to_text()
    bundle = view.static_bundle()
    picture = bundle["image/svg+xml"]
    assert "traced 3 times" in picture
    box = picture.index("Identity<")  # of the trace, below its plot
    assert picture.index("polyline") < picture.index('<svg y="200"') < box
    assert "Retracing: " in bundle["text/html"]
    with watch_functions() as empty:
        pass
    assert "<svg" in TraceView(empty).to_svg()
    assert repr(TraceView(empty)) == "TraceView(no calls)"


def test_only_traced_functions() -> None:
    with pytest.raises(TypeError, match=r"explains what tf\.function"):
        TraceView(len)


# ---- magics


def test_a_cell_watched(shell: Any, capsys: Any) -> None:  # noqa: F811
    assert run(shell, f"%%trace\n{CELL}").success
    assert kinds(shell) == ["live", "still"]
    out = capsys.readouterr().out
    assert "Retracing: In [1] line 9 calls `power`, and each of 4 calls" in out
    assert "power(tf.constant(1.0), tf.constant(n))" in out
    assert "4 calls, 4 traces" in shell.shown[1]["text/plain"]


def test_in_a_program_of_graphs(shell: Any, capsys: Any) -> None:  # noqa: F811
    cell = f"with tf.Graph().as_default():\n{CELL}".replace("\n", "\n    ")
    assert run(shell, f"%%trace --text\n{cell}").success
    assert "4 calls, 4 traces" in capsys.readouterr().out
    assert shell.shown == []


def test_functions_by_name(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, CELL)
    assert run(shell, "%trace power power --text").success
    out = capsys.readouterr().out
    assert out.count("power (In [1] line 1): 4 traces") == 2
    assert "trace 3: n is 2, before 1" in out


def test_a_cell_without_functions(shell: Any, capsys: Any) -> None:  # noqa: F811
    assert run(shell, "%%trace\nq = tf.square(2.0)").success
    assert "No traced function was called in this cell." in capsys.readouterr().out
    assert shell.shown == []


def test_a_cell_that_fails(shell: Any) -> None:  # noqa: F811
    cell = "f = tf.function(lambda x: x)\nf(tf.constant(1.0))\n1 / 0"
    result = run(shell, f"%%trace\n{cell}")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "1 call, 1 trace" in shell.shown[1]["text/plain"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%trace", "%trace FUNCTION: which?"),
        ("%trace nothing", "name 'nothing' is not defined"),
        ("%trace len", "explains what tf.function"),
        ("%%trace power\npass", "shows the functions that the cell calls"),
    ],
)
def test_misuse_is_told(shell: Any, line: str, said: str) -> None:  # noqa: F811
    result = run(shell, line)
    assert isinstance(result.error_in_exec, UsageError)
    assert said in str(result.error_in_exec)
    assert shell.shown == []


def test_names_of_functions_are_completed(shell: Any) -> None:  # noqa: F811
    run(shell, CELL)
    assert completed(shell, "%trace po") == ["power"]
