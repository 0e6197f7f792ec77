"""What is generated from the formula of an update rule."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_constants_have_the_arrays_type_in_a_loop() -> None:
    text = "var = maximum(var, 0) / (2 + lr * grad)"
    source = UpdateFormula(text, ("var",), ("lr",))._loop_source("float32", False)
    assert "maximum(var, float32(0)) / (float32(2) + lr * grad)" in source


@pytest.mark.parametrize("text", ["del var", "var[0] = grad", "var = other = grad"])
def test_only_assignments_to_names_are_formulas(text: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        UpdateFormula(text, ("var",), ())
