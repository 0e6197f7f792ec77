"""Checks of the lessons 1 to 5: graphs, runs, variables and scopes."""

from __future__ import annotations

from typing import Any

import tfteach as tf

from .verdict import not_a_tensor, report

# ---- lesson 1


def check_build_and_run(answer: Any) -> None:
    """Check (a + b)(a - b) / 2 for a = 7 and b = 3, with names and scope."""
    report(_problem_of_answer, answer)


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
    report(_problem_of_runs, at_100, of_sun, both)


def _problem_of_runs(at_100: Any, of_sun: Any, both: Any) -> str | None:
    sigma = 5.670374e-8

    def near(value: Any, expected: float) -> bool:
        try:
            return abs(float(value) - expected) <= 1e-4 * abs(expected)
        except (TypeError, ValueError):
            return False

    for name, value in (("power_at_100", at_100), ("power_of_sun", of_sun)):
        if isinstance(value, tf.Tensor):
            return f"`{name}` is a tensor, not a number: pass it to `body.run`."
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


# ---- lesson 3


def check_running_mean(running_mean: Any) -> None:
    """Check the mean after each of several runs, in two sessions."""
    report(_problem_of_mean, running_mean)


def _problem_of_mean(running_mean: Any) -> str | None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        mean = running_mean(x)
        variables = tf.global_variables()
        init = tf.global_variables_initializer()
    problem = not_a_tensor(mean, "what `running_mean` returns")
    if problem is not None:
        return problem
    if mean.shape.as_list() != []:
        return f"the mean has shape {mean.shape}, and should be one number."
    if not variables:
        return "there is no variable, so nothing stays from run to run."
    for numbers in ([4.0, 8.0, 0.0], [1.0, 2.0]):
        with tf.Session(graph=graph) as session:
            session.run(init)
            for i, number in enumerate(numbers):
                found = float(session.run(mean, {x: number}))
                wanted = sum(numbers[: i + 1]) / (i + 1)
                if not abs(found - wanted) < 1e-6:
                    return (
                        f"after {numbers[: i + 1]} it gives {found:g}, but the mean is "
                        f"{wanted:g}. Does each run update both variables, and does "
                        "the division take the updated values?"
                    )
    return None


# ---- lesson 4


def check_sharing(compare: Any) -> None:
    """Check that two inputs go through one encoder, and that the distance is right."""
    report(_problem_of_comparison, compare)


def _problem_of_comparison(compare: Any) -> str | None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = (tf.placeholder(tf.float32, [None, 2], name=name) for name in "ab")
        found = compare(a, b)
        problem = not_a_tensor(found, "what `compare` returns")
        if problem is not None:
            return problem
        names = sorted(v.op.name for v in tf.trainable_variables())
        if not names:
            return (
                "there are no variables: send both inputs through "
                '`tf.layers.dense(..., 3, name="encoder")`.'
            )
        if len(names) > 2:
            return (
                f"there are {len(names)} variables: {', '.join(names)}. One layer has "
                "two, kernel and bias. Give both layers one name, and the second "
                "`reuse=True`."
            )
        if names != ["encoder/bias", "encoder/kernel"]:
            return f"the variables are {names}; the layer should be called `encoder`."
        if found.shape.as_list() != [None]:
            return (
                f"the result has shape {found.shape.as_list()}, not one number a row: "
                "sum over axis 1."
            )
        kernel = next(v for v in tf.trainable_variables() if "kernel" in v.name)
        if kernel.shape.as_list() != [2, 3]:
            return f"the layer has {kernel.shape[1]} units; it should have 3."
        session.run(tf.global_variables_initializer())
        feed = {a: [[1, 2], [1, 2]], b: [[1, 2], [5, 1]]}
        (same, other), weights = session.run([found, kernel], feed)
    if same != 0 or other <= 0:
        return "equal rows should have distance 0, other rows more."
    squared = float((([-4.0, 1.0] @ weights) ** 2).sum())
    if abs(other - squared) > 1e-4 * squared:
        return (
            f"the distance of (1, 2) and (5, 1) is {other:g}; the *squared* distance "
            f"of their codes is {squared:g}."
        )
    return None


# ---- lesson 5


def check_avoid_lazy_loading(graph: Any, growth: Any, final: Any) -> None:
    """Check that a training loop runs and converges without growing its graph."""
    report(_problem_of_loop, graph, growth, final)


def _problem_of_loop(graph: Any, growth: Any, final: Any) -> str | None:
    if final is None or isinstance(final, tf.Tensor | tf.Variable):
        return f"`final` is {final!r}, not a number: keep what `sess.run(w)` gives."
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
            "the graph no longer grows, but nothing prevents it from growing. Call "
            "`graph.finalize()` before the first run."
        )
    return None
