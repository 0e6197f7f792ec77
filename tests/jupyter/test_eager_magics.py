"""Magics in eager programs: each works, or says what to use instead."""

from __future__ import annotations

from typing import Any

import pytest

from tests.eagerly import eagerly as eagerly
from tests.jupyter.test_magics import completed, run, shell  # noqa: F401
from tfteach.explain.devices.status import status
from tfteach.jupyter.magics.eager_hints import HERE, INSTEAD, PIPELINES

pytestmark = pytest.mark.usefixtures("eagerly")

SETUP = """\
x = tf.constant([1.0, 2.0])
w = tf.Variable([3.0, 4.0], name="w")
f = tf.function(lambda a: a * 2.0)
y = f(x)
ds = tf.data.Dataset.range(3)
"""
HAS_VALUE = f"`x` has a value, and is in no graph: {INSTEAD}"
IS_VARIABLE = "`w` belongs to no graph, but to its Python object, as its value does"
HAS_TRACES = "`f` has a graph for each of its traces: `%trace f` shows them."


@pytest.fixture
def program(shell: Any) -> Any:  # noqa: F811
    assert run(shell, SETUP).success
    return shell


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%graph", HERE),
        ("%graph x", HAS_VALUE),
        ("%graph w", IS_VARIABLE),
        ("%graph f", HAS_TRACES),
        ("%%graph --default\ntf.add(x, w)", HERE),
        ("%why x", HAS_VALUE),
        ("%why w", IS_VARIABLE),
        ("%why x --fetch x", HAS_VALUE),
        ("%placement", HERE),
        ("%timeline x", HERE),
        ("%sessions", HERE),
        ("%step x", HERE),
        ("%optimizing x", HERE),
        ("%schedule x", HAS_VALUE),
        ("%schedule f", HAS_TRACES),
        ("%sharing", HERE),
        ("%collections", HERE),
        ("%pipeline", HERE),
        ("%elements ds", "Loop over it, `for x in dataset.take(3): print(x)`"),
    ],
)
def test_what_to_use_instead(
    program: Any, capsys: pytest.CaptureFixture[str], cell: str, said: str
) -> None:
    assert not run(program, cell).success
    out, err = capsys.readouterr()
    assert "UsageError" in out + err
    assert said in out + err
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%run\nz = tf.add(x, w)", f"No Session.run in this cell. {HERE}"),
        ("%%pipeline --text\nfor e in ds: pass", PIPELINES),
        ("%%step --text\nz = tf.add(x, w)", "Add"),
        ("%%graph --text\nb = tf.add(1.0, 2.0, name='b')", "b/  Add float32 scalar"),
        ("%graph f.traces[0].graph --text", "mul/"),
        ("%trace f --text", "1 trace"),
    ],
)
def test_what_works(
    program: Any, capsys: pytest.CaptureFixture[str], cell: str, said: str
) -> None:
    assert run(program, cell).success
    assert said in capsys.readouterr().out


def test_graphs_and_sessions_inside_an_eager_program(
    program: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    built = "with tf.Graph().as_default():\n  t = tf.random_normal([], name='t')\n"
    assert run(program, f"{built}  s = tf.Session()").success
    for cell in ("%graph t --text", "%step t --text", "%why t --fetch t"):
        assert run(program, cell).success
        assert "t" in capsys.readouterr().out
    assert not run(program, "%timeline x --session s").success
    assert HAS_VALUE in "".join(capsys.readouterr())
    run(program, "s.close()")


def test_the_tab_key(program: Any) -> None:
    assert completed(program, "%step x") == []
    assert completed(program, "%trace ") == ["f"]
    built = "with tf.Graph().as_default() as g:\n  total = tf.ones([], name='one')"
    assert run(program, built).success
    assert completed(program, "%why tot") == ["total"]
    found = set(completed(program, "%why "))
    assert {"one", "total"} <= found
    assert not {"x", "w", "y"} & found
    assert "g" in completed(program, "%graph ")


def test_the_state_of_an_eager_program() -> None:
    assert status().sections["Default graph"] == [("", "none: ops run eagerly")]


def test_values_print_as_in_tensorflow(
    program: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run(program, "x")
    tensor = "shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    assert tensor in capsys.readouterr().out
    run(program, "w")
    assert "<tf.Variable 'w:0' shape=(2,) dtype=float32" in capsys.readouterr().out
