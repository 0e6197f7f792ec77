"""Checks of the lessons' exercises.

Each looks at what the learner made, says what is right, and explains the first thing
that is not: what was expected, what was found, and where to look.  A check never
raises, so that a lesson can be run from top to bottom before its exercise is solved.
"""

from __future__ import annotations

from typing import Any

import tfteach as tf


def _report(problem: str | None) -> None:
    """Print the verdict."""
    print("Right. Well done!" if problem is None else f"Not yet: {problem}")


# ---- lesson 1


def check_build_and_run(answer: Any) -> None:
    """Check (a + b)(a - b) / 2 for a = 7, b = 3, with its names and its scope."""
    _report(_problem_of_answer(answer))


def _problem_of_answer(answer: Any) -> str | None:
    if not isinstance(answer, tf.Tensor):
        return (
            f"`answer` is {answer!r}, not a tensor. Keep what the last function "
            "returns, and do not run it: the check does."
        )
    graph = answer.graph
    names = {op.name for op in graph.get_operations()}
    for name, hint in (
        ("a", 'Write tf.constant(7.0, name="a").'),
        ("b", 'Write tf.constant(3.0, name="b").'),
        ("parts/sum", 'Build it inside `with tf.name_scope("parts"):`.'),
        ("parts/difference", 'Use tf.subtract(a, b, name="difference") in the scope.'),
    ):
        if name not in names:
            like = sorted(n for n in names if n.split("/")[-1] == name.split("/")[-1])
            found = f" There is {like[0]!r}." if like else ""
            return f"the graph has no operation named {name!r}.{found} {hint}"
    with tf.Session(graph=graph) as session:
        value = session.run(answer)
        other = session.run(answer, {"a:0": 5.0, "b:0": 1.0})
    if abs(value - 20.0) > 1e-6:
        return f"`answer` is {value}, and (7 + 3)(7 - 3) / 2 is 20."
    if abs(other - 12.0) > 1e-6:
        return (
            "the value is right, but it does not come from `a` and `b`: fed with a = 5 "
            f"and b = 1 it gives {other} instead of 12."
        )
    return None


# ---- lesson 2


def check_fetch_feed_and_prune(at_100: Any, of_sun: Any, both: Any) -> None:
    """Check the three runs of the black-body exercise."""
    _report(_problem_of_runs(at_100, of_sun, both))


def _problem_of_runs(at_100: Any, of_sun: Any, both: Any) -> str | None:
    sigma = 5.670374e-8

    def near(value: Any, expected: float) -> bool:
        try:
            return abs(float(value) - expected) <= 1e-4 * abs(expected)
        except (TypeError, ValueError):
            return False

    if at_100 is None:
        return "`power_at_100` is still None. Fetch `glow` and feed `celsius`."
    if near(at_100, sigma * 100.0**4):
        return (
            "`power_at_100` is the power at 100 kelvin: you fed `kelvin`. Feed "
            "`celsius`, so that the addition runs."
        )
    if not near(at_100, sigma * 373.15**4):
        return f"`power_at_100` is {at_100!r}; a body of 100 °C radiates about 1099 W."
    if of_sun is None:
        return "`power_of_sun` is still None. Cut the graph: feed `kelvin` itself."
    if near(of_sun, sigma * (5772.0 + 273.15) ** 4):
        return (
            "`power_of_sun` is the power at 5772 °C: you fed `celsius`. Feed `kelvin`, "
            "and the addition is not run."
        )
    if not near(of_sun, sigma * 5772.0**4):
        return f"`power_of_sun` is {of_sun!r}; at 5772 K it is about 62.9 million W."
    if not isinstance(both, dict) or set(both) != {"K", "W"}:
        return f'`both` is {both!r}; fetch a dictionary: {{"K": kelvin, "W": glow}}.'
    if not near(both["K"], 273.15) or not near(both["W"], sigma * 273.15**4):
        return f"`both` is {both!r}; at 0 °C it is 273.15 K and about 316 W."
    return None


# ---- lesson 5


def check_avoid_lazy_loading(graph: Any, growth: Any, final: Any) -> None:
    """Check that a training loop runs, converges, and leaves its graph alone."""
    _report(_problem_of_loop(graph, growth, final))


def _problem_of_loop(graph: Any, growth: Any, final: Any) -> str | None:
    if abs(float(final) - 2.0) > 1e-3:
        return f"`final` is {float(final)}; 20 steps should bring w close to 2."
    if growth.runs < 20:
        return f"there were only {growth.runs} runs; keep the 20 steps of the loop."
    late = [step for step in growth.steps if step.after_runs > 0 and step.ops]
    if late:
        lines = {line for step in late for line in step.lines}
        texts = " and ".join(sorted(f"`{line.text}`" for line in lines))
        return (
            f"{growth.added_while_running} nodes were added after the first run, by "
            f"{texts}. Move what builds before the first `sess.run`."
        )
    if not graph.finalized:
        return (
            "the graph no longer grows, but nothing keeps it so. Call "
            "`graph.finalize()` before the first run."
        )
    return None
