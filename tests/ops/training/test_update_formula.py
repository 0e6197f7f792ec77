"""What is generated from the formula of an update rule."""

from __future__ import annotations

import numpy as np
import pytest

from tfteach.framework.loops import compiled_loops
from tfteach.ops.training import update_formula
from tfteach.ops.training.update_formula import UpdateFormula


def sources_of(formula: UpdateFormula) -> list[list[str]]:
    formula.functions(np)
    return [generated.source.split("\n") for generated in formula.generated]


def test_scalars_are_computed_once_and_temporaries_are_used_again() -> None:
    formula = UpdateFormula(
        """
        rate = lr * (1 - beta)
        m += (grad - m) * (1 - beta)
        var -= m * rate / (sqrt(m) + 1)
        """,
        ("var", "m"),
        ("lr", "beta"),
    )
    assert sources_of(formula) == [
        [
            "def numbers(lr, beta):",
            " rate = lr * (1 - beta)",
            " scalar0 = 1 - beta",
            " return (scalar0, rate, )",
        ],
        [
            "def new_values(var, m, grad, scalar0, rate):",
            " m = m + (grad - m) * scalar0",
            " var = var - m * rate / (sqrt(m) + 1)",
            " return var, m,",
        ],
        [
            "def update(var, m, grad, scalar0, rate, v0, v1):",
            " subtract(grad, m, out=v0)",
            " multiply(v0, scalar0, out=v0)",
            " add(m, v0, out=m)",
            " multiply(m, rate, out=v0)",
            " sqrt(m, out=v1)",
            " add(v1, 1, out=v1)",
            " divide(v0, v1, out=v1)",
            " subtract(var, v1, out=var)",
        ],
    ]
    assert formula.temporaries == 2


def test_new_values_leave_the_variables_and_updates_change_them() -> None:
    text = "near = var - grad\nfar = near * near\nvar = far - power(near, 2) + near"
    formula = UpdateFormula(text, ("var",), ())
    functions = formula.functions(np)
    var, grad = np.array([1.0, 5.0]), np.array([3.0, 1.0])
    (new,) = functions.new_values(var, grad)
    assert new.tolist() == [-2.0, 4.0]
    assert var.tolist() == [1.0, 5.0]
    functions.update(var, grad, *np.empty((formula.temporaries, 2)))
    assert var.tolist() == [-2.0, 4.0]
    assert grad.tolist() == [3.0, 1.0]


def test_a_loop_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    text = "var = maximum(var, 0) / (2 + lr * grad) + 0.1"
    formula = UpdateFormula(text, ("var",), ("lr",))
    for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        var = np.linspace(-1, 2, 12, dtype=dtype)
        (wanted,) = formula.functions(np).new_values(var, var, dtype.type(0.3))
        found = formula.loop(dtype, [0.3], var.size)
        by_rows = formula.loop(dtype, [0.3], var.size, by_rows=True)
        assert found is not None
        assert by_rows is not None
        flat, rows = var.copy(), var.copy().reshape(4, 3)
        found[0](flat, var, *found[1])
        grad = var.reshape(4, 3)[[3, 1]]
        by_rows[0](rows, np.array([3, 1]), grad, *by_rows[1])
        np.testing.assert_array_equal(flat, wanted)
        np.testing.assert_array_equal(rows[[1, 3]], wanted.reshape(4, 3)[[1, 3]])
        np.testing.assert_array_equal(rows[[0, 2]], var.reshape(4, 3)[[0, 2]])


def test_a_loops_work_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(update_formula, "is_installed", lambda: True)
    monkeypatch.setattr(update_formula, "loop_of", lambda *args: asked.append(args[2]))
    formula = UpdateFormula("m += grad * lr\nvar -= sqrt(m)", ("var", "m"), ("lr",))
    assert formula.loop(np.dtype(np.float32), [0.3], 1000) is None
    assert asked == [4 * (1000 + compiled_loops.CALL)]


@pytest.mark.parametrize("text", ["del var", "var[0] = grad", "var = other = grad"])
def test_only_assignments_to_names_are_formulas(text: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        UpdateFormula(text, ("var",), ())
