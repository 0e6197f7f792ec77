"""Checks of the lessons on eager execution and `tf.function`."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfteach as tf

from .verdict import report

# ---- lesson 19


def check_fit_line(fit_line: Any) -> None:
    """Check that the line fits, by the gradients of a tape."""
    report(_problem_of_fit, fit_line)


def _problem_of_fit(fit_line: Any) -> str | None:
    if not tf.executing_eagerly():
        return "this is no eager program. Restart the kernel, and run the first cell."
    x = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
    y = np.array([-3.1, -1.4, 0.1, 1.4, 3.0], np.float32)
    found = fit_line(x, y)
    if found is None:
        return "`fit_line` returns None. Is there a `return` missing?"
    slope, offset = np.polyfit(x, y, 1)
    w, b = (float(value) for value in found)
    if not np.isfinite([w, b]).all():
        return (
            f"w and b became {w} and {b}: each step went further away. The loss grows "
            "along its gradient, so `assign_sub`, not `assign_add`."
        )
    if (w, b) == (0.0, 0.0):
        return (
            "w and b are still 0. The line that computes the loss belongs into the "
            "block of a tape, and `tape.gradient(loss, [w, b])` returns dw and db."
        )
    if abs(w - slope) > 0.02 or abs(b - offset) > 0.02:
        return (
            f"w = {w:.3f}, b = {b:.3f}, but the best line has w = {slope:.3f}, "
            f"b = {offset:.3f}."
        )
    one_step, _ = fit_line(x, y, 1)
    wanted = 0.1 * 2 * float(np.mean(x * y))
    if abs(float(one_step) - wanted) > 1e-3:
        return (
            f"the first step takes w to {float(one_step):.3f}, and 0.1 times the "
            f"gradient would take it to {wanted:.3f}."
        )
    return None


# ---- lesson 20


def check_one_trace(make_step: Any) -> None:
    """Check that one trace serves all rates and batches, and that it is right."""
    report(_problem_of_traces, make_step)


def _problem_of_traces(make_step: Any) -> str | None:
    if not tf.executing_eagerly():
        return "this is no eager program. Restart the kernel, and run the first cell."
    w = tf.Variable(0.0)
    step = make_step(w)
    if step is None:
        return "`make_step` returns None. Is there a `return` missing?"
    expected = 0.0
    for size, rate in ((4, 0.2), (4, 0.1), (3, 0.05), (4, 0.025)):
        x = np.linspace(1, 2, size, dtype=np.float32)
        step(x, 3 * x, rate)
        expected -= rate * 2 * float(np.mean(x * (expected * x - 3 * x)))
        if abs(float(w.numpy()) - expected) > 1e-3:
            return (
                f"w should be {expected:.3f} after a step with the rate {rate}, but it "
                f"is {float(w.numpy()):.3f}."
            )
    traces = getattr(step, "traces", None)
    if traces is None:
        return "`step` is no `tf.function`: each call goes through Python for each op."
    if len(traces) == 1:
        return None
    causes = "the rate, a Python number," if len(traces) == 4 else "the size of a batch"
    return (
        f"4 steps made {len(traces)} traces, since {causes} changes. One "
        "`input_signature` describes all three arguments."
    )
