"""Checks of the lessons 11 to 13: devices, steps and times."""

from __future__ import annotations

from typing import Any

import tfteach as tf

from .verdict import near, not_a_tensor, report

# ---- lesson 11


def check_towers(two_towers: Any) -> None:
    """Check that each half runs on its own card, and that no row is lost."""
    report(_problem_of_towers, two_towers)


def _problem_of_towers(two_towers: Any) -> str | None:
    def layer(part: Any) -> Any:
        return tf.multiply(part, 2.0, name="layer")

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [6, 4], name="x")
        joined = two_towers(x, layer)
        layers = [op for op in graph.get_operations() if op.type == "Mul"]
    wanted = ["/device:GPU:0", "/device:GPU:1"]
    if len(layers) != 2:
        times = "once" if len(layers) == 1 else f"{len(layers)} times"
        return f"`layer` was called {times}; call it once for each half."
    problem = not_a_tensor(joined, "what `two_towers` returns")
    if problem is not None:
        return f"{problem} Join the two results: tf.concat(results, axis=0)."
    devices = [_end_of(op.device) for op in layers]
    if sorted(devices) != wanted:
        said = " and ".join(repr(device) for device in devices)
        return f'the layers ask for {said}. Build each in `with tf.device("/gpu:...")`.'
    sizes = {op.outputs[0].shape.as_list()[0] for op in layers}
    if sizes != {3}:
        return "each tower should get half of the rows: tf.split(x, 2, axis=0)."
    if _end_of(joined.op.device) not in ("/device:CPU:0", "/device:CPU:*"):
        return f"the result is joined on {joined.op.device!r}, not on the CPU."
    value = [[float(4 * row + column) for column in range(4)] for row in range(6)]
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(graph=graph, config=config) as session:
        found = session.run(joined, {x: value})
    if found.tolist() != [[2 * number for number in row] for row in value]:
        return "the rows are not those of layer(x), in the same order."
    return None


def _end_of(device: str) -> str:
    """A device name without the machine: "/device:GPU:0"."""
    return device[device.find("/device:") :] if "/device:" in device else device


# ---- lesson 12


def check_safe_length(safe_length: Any) -> None:
    """Check the lengths, and that their gradient is never NaN, even for zeros."""
    report(_problem_of_length, safe_length)


def _problem_of_length(safe_length: Any) -> str | None:
    values = [[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 2], name="rows")
        found = safe_length(rows)
        problem = not_a_tensor(found, "what `safe_length` returns")
        if problem is not None:
            return problem
        (slope,) = tf.gradients(found, rows)
        lengths = session.run(found, {rows: values})
        if lengths.shape != (3,):
            return f"for 3 rows the result is {list(lengths.shape)}, not [3]."
        if not near(lengths, [5.0, 0.0, 1.0]):
            return f"the lengths are {lengths.tolist()}; they should be 5, 0 and 1."
        if slope is None:
            return "there is no gradient: the lengths do not come from the rows."
        slopes = session.run(slope, {rows: values})
    if (slopes != slopes).any():
        return (
            "the lengths are right, and the gradient is still NaN. Both branches of a "
            "`tf.where` are computed, and differentiated: the root must never see a "
            "zero, so choose *before* `tf.sqrt`. Step through it with --break-nan."
        )
    wanted = [0.6, 0.8, 0.0, 0.0, -1.0, 0.0]
    if not near(slopes.ravel(), wanted):
        return (
            f"the gradient is {slopes.tolist()}; it should be each row divided by its "
            "length, and zeros for the row of zeros."
        )
    return None


# ---- lesson 13


def check_distances(distances: Any) -> None:
    """Check the distances, and that few ops compute them."""
    report(_problem_of_distances, distances)


def _problem_of_distances(distances: Any) -> str | None:
    from tfteach.explain import explain_run

    rows = [[float(i), float(i % 3)] for i in range(7)]
    wanted = [[(a - c) ** 2 + (b - d) ** 2 for c, d in rows[:5]] for a, b in rows]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        points = tf.placeholder(tf.float32, [None, 2], name="points")
        centres = tf.placeholder(tf.float32, [5, 2], name="centres")
        result = distances(points, centres)
        problem = not_a_tensor(result, "what `distances` returns")
        if problem is not None:
            return problem
        found = session.run(result, {points: rows, centres: rows[:5]})
        count = len(explain_run(graph, result, [points, centres]).needed)
    if found.shape != (7, 5):
        return (
            f"for 7 points and 5 centres the result is {list(found.shape)}, not [7, 5]."
        )
    if abs(found - wanted).max() > 1e-4:
        return "the shape is right, the numbers are not."
    if count >= 15:
        return (
            f"right, but {count} ops run. Let broadcasting make the pairs: points as "
            "[n, 1, 2], centres as [1, m, 2]."
        )
    return None


# ---- lesson 21


def check_average(average_gradients: Any) -> None:
    """Check the means, their variables, and what becomes of a gradient of None."""
    report(_problem_of_average, average_gradients)


def _problem_of_average(average_gradients: Any) -> str | None:
    with tf.Graph().as_default(), tf.Session() as session:
        w, b, unused = (tf.Variable(0.0, name=name) for name in ("w", "b", "unused"))
        gradients = [(1.0, 6.0), (2.0, None), (6.0, 8.0)]
        towers = [
            [
                (None if value is None else tf.constant(value), variable)
                for value, variable in zip((*values, None), (w, b, unused), strict=True)
            ]
            for values in gradients
        ]
        found = average_gradients(towers)
        if not isinstance(found, list) or not all(
            isinstance(pair, tuple) and len(pair) == 2 for pair in found
        ):
            return "return a list of pairs (gradient, variable)."
        named = {variable.op.name: gradient for gradient, variable in found}
        if "unused" in named:
            return "no tower has a gradient of `unused`: leave it out."
        if missing := [name for name in ("w", "b") if named.get(name) is None]:
            return f"`{missing[0]}` has no gradient; two or three towers have one."
        if len(found) != 2:
            return f"there are {len(found)} pairs for 2 variables: one for each."
        means = dict(zip(named, session.run(list(named.values())), strict=True))
    if (mean := float(means["w"])) != 3.0:
        why = {9.0: " That is the sum.", 1.0: " That is the first tower's."}
        return f"the mean of 1, 2 and 6 is 3, not {mean}.{why.get(mean, '')}"
    if (mean := float(means["b"])) != 7.0:
        return f"6, None and 8 have the mean 7 over the two towers, not {mean:.3g}."
    return None
