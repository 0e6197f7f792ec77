"""The check of the lesson on clusters."""

from __future__ import annotations

from typing import Any

import tfteach as tf

from .verdict import report

# ---- lesson 22

WORKER = "/job:worker/task:1"


def check_device_setter(make_setter: Any) -> None:
    """Check that variables alternate between servers, and all else is on the worker."""
    report(_problem_of_setter, make_setter)


def _problem_of_setter(make_setter: Any) -> str | None:
    for ps_tasks in (2, 3):
        setter = make_setter(WORKER, ps_tasks)
        if setter is None:
            return "`make_setter` returns None. Is there a `return` missing?"
        problem = _problem_of_devices(setter, ps_tasks)
        if problem is not None:
            return problem
    return None


def _problem_of_devices(setter: Any, ps_tasks: int) -> str | None:
    with tf.Graph().as_default() as graph, tf.device(setter):
        x = tf.placeholder(tf.float32, [4], name="x")
        for number in range(4):
            w = tf.get_variable(f"w{number}", [4], initializer=tf.zeros_initializer())
            x = tf.add(x, w, name=f"sum{number}")
    operations = graph.get_operations()
    variables = [op for op in operations if op.type == "VariableV2"]
    for number, op in enumerate(variables):
        wanted = f"/job:ps/task:{number % ps_tasks}"
        if not op.device.startswith("/job:ps"):
            return (
                f"{op.name} is a variable, and asks for {op.device or 'no device'!r}."
            )
        if op.device != wanted:
            return (
                f"with {ps_tasks} servers the variables take turns, so {op.name} "
                f"belongs to {wanted}, and asks for {op.device}."
            )
    others = ["x", *(f"sum{number}" for number in range(4))]
    for op in operations:
        if op.name in others and op.device != WORKER:
            asked = op.device or "no device"
            return (
                f"{op.name} is no variable, so it belongs to {WORKER}, and asks for "
                f"{asked!r}."
            )
    return None
