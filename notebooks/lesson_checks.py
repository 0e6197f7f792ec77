"""Checks of the lessons' exercises.

Each looks at what the learner made, says what is right, and explains the first thing
that is not: what was expected, what was found, and where to look.  A check never
raises, so that a lesson can be run from top to bottom before its exercise is solved.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tfteach as tf


def _report(find_problem: Callable[..., str | None], *answers: Any) -> None:
    """Print the verdict; what an answer raises is one of its problems."""
    try:
        problem = find_problem(*answers)
    except Exception as error:
        problem = _words_of(error)
    print("Right. Well done!" if problem is None else f"Not yet: {problem}")


def _words_of(error: Exception) -> str:
    """What went wrong in the learner's code, and on which line of it."""
    text = (str(error).strip() or "no message").splitlines()[0]
    built_by = getattr(getattr(error, "op", None), "source", None)
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.line) for frame in frames]
    if built_by is not None:
        places.append((built_by.file, built_by.text))
    others = (Path(tf.__file__).parent, __file__, sys.prefix, sys.base_prefix)
    lines = [
        f" Your line: `{line}`"
        for file, line in places
        if line and not any(Path(file).is_relative_to(other) for other in others)
    ]
    return "".join([f"it ends with {type(error).__name__}: {text}", *lines[-1:]])


def _not_a_tensor(value: Any, whose: str) -> str | None:
    """The problem, if it is one; `whose` value it is begins the sentence."""
    if isinstance(value, tf.Tensor):
        return None
    if value is None:
        return f"{whose} is None. Is there a `return`, or an assignment, missing?"
    text = repr(value)
    if len(text) > 60:
        text = f"of type {type(value).__name__}"
    return f"{whose} is {text}, not a tensor."


# ---- lesson 1


def check_build_and_run(answer: Any) -> None:
    """Check (a + b)(a - b) / 2 for a = 7, b = 3, with its names and its scope."""
    _report(_problem_of_answer, answer)


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
    _report(_problem_of_runs, at_100, of_sun, both)


def _problem_of_runs(at_100: Any, of_sun: Any, both: Any) -> str | None:
    sigma = 5.670374e-8

    def near(value: Any, expected: float) -> bool:
        try:
            return abs(float(value) - expected) <= 1e-4 * abs(expected)
        except (TypeError, ValueError):
            return False

    for name, value in (("power_at_100", at_100), ("power_of_sun", of_sun)):
        if isinstance(value, tf.Tensor):
            return f"`{name}` is a tensor, not a number: hand it to `body.run`."
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
    _report(_problem_of_mean, running_mean)


def _problem_of_mean(running_mean: Any) -> str | None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        mean = running_mean(x)
        variables = tf.global_variables()
        init = tf.global_variables_initializer()
    problem = _not_a_tensor(mean, "what `running_mean` returns")
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
                        f"after {numbers[: i + 1]} it gives {found:g}, the mean is "
                        f"{wanted:g}. Does each run update both variables, and does "
                        "the division take the updated values?"
                    )
    return None


# ---- lesson 4


def check_sharing(compare: Any) -> None:
    """Check that two inputs go through one encoder, and that the distance is right."""
    _report(_problem_of_comparison, compare)


def _problem_of_comparison(compare: Any) -> str | None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = (tf.placeholder(tf.float32, [None, 2], name=name) for name in "ab")
        found = compare(a, b)
        problem = _not_a_tensor(found, "what `compare` returns")
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
    """Check that a training loop runs, converges, and leaves its graph alone."""
    _report(_problem_of_loop, graph, growth, final)


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
            "the graph no longer grows, but nothing keeps it so. Call "
            "`graph.finalize()` before the first run."
        )
    return None


# ---- lesson 6


def check_gradients_and_optimizers(graph: Any, step: Any) -> None:
    """Check that `step` is momentum, written with two variables."""
    _report(_problem_of_momentum, graph, step)


def _problem_of_momentum(graph: Any, step: Any) -> str | None:
    variables = {v.op.name: v for v in graph.get_collection("variables")}
    if not {"w", "velocity"} <= variables.keys():
        return "the graph should have the variables `w` and `velocity`."
    if [v.op.name for v in graph.get_collection("trainable_variables")] != ["w"]:
        return "`velocity` is not to be trained: keep `trainable=False`."
    if step is None:
        return "`step` is None: keep what `w.assign_sub(...)` returns."
    w, velocity = variables["w"], variables["velocity"]
    with graph.as_default(), tf.Session(graph=graph) as session:
        session.run([w.initializer, velocity.initializer])
        session.run(step)
        first = session.run([w, velocity])
        session.run(step)
        second = session.run(w)
    if list(first[0]) == [1.0, 1.0]:
        return "`w` stays where it is. Build `step` with `w.assign_sub(...)`."
    if not _near(first[1], [100.0, 1.0]):
        return (
            f"after one step the velocity is {first[1].tolist()}; it should be the "
            "gradient, [100.0, 1.0]. Assign 0.9 * velocity + gradient."
        )
    if not _near(first[0], [0.0, 0.99]):
        return (
            f"after one step w is {first[0].tolist()}; with the new velocity it is "
            "[0.0, 0.99]. Use what `velocity.assign` returns."
        )
    if not _near(second, [-0.9, 0.9711]):
        return (
            f"the first step is right, the second gives {second.tolist()} instead of "
            "[-0.9, 0.9711]: the velocity should keep 0.9 of itself."
        )
    return None


def _near(values: Any, expected: list[float]) -> bool:
    pairs = zip(values, expected, strict=True)
    return all(abs(value - wanted) < 1e-4 for value, wanted in pairs)


# ---- lesson 10


def check_control_dependencies(graph: Any, step: Any) -> None:
    """Check that `step` descends first and averages the new weight then."""
    _report(_problem_of_average, graph, step)


def _problem_of_average(graph: Any, step: Any) -> str | None:
    averages = [
        v for v in graph.get_collection("variables") if "ExponentialMoving" in v.name
    ]
    if not averages:
        return "there is no average yet: call `average.apply([w])`."
    if step is None:
        return "`step` is None: keep what `average.apply` returns."
    (w,) = graph.get_collection("trainable_variables")
    with graph.as_default(), tf.Session(graph=graph) as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        weight, average = session.run([w, averages[0]])
    if weight == 4.0:
        return (
            "a run of `step` does not descend. What you fetch must wait for `descend`: "
            "build it inside `with tf.control_dependencies([descend]):`."
        )
    if average == 4.0:
        return (
            "a run of `step` descends, but the average stays at 4.0: either the update "
            "is not run, or it takes the weight from before the step. Let `step` be "
            "what `average.apply` returns, built inside the `with`."
        )
    if not _near([weight, average], [2.0, 3.0]):
        return (
            f"after one step w is {weight} and its average {average}; they should be "
            "2.0 and 3.0. Keep the rates as they were."
        )
    return None


# ---- lesson 8


def check_while_loop(fibonacci: Any) -> None:
    """Check that `fibonacci(n)` is the n-th number, by one loop."""
    _report(_problem_of_loop_in_graph, fibonacci)


def _problem_of_loop_in_graph(fibonacci: Any) -> str | None:
    patience = tf.RunOptions(timeout_in_ms=1500)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        n = tf.placeholder(tf.int32, [], name="n")
        answer = fibonacci(n)
        problem = _not_a_tensor(answer, "fibonacci(n)")
        if problem is not None:
            return f"{problem} Return one of the three that the loop gives."
        loops = [op for op in graph.get_operations() if op.type == "LoopCond"]
        if len(loops) != 1:
            return f"there are {len(loops)} loops; build one `tf.while_loop`."
        for turn, wanted in ((1, 1), (2, 1), (3, 2), (10, 55), (30, 832040)):
            try:
                value = int(session.run(answer, {n: turn}, options=patience))
            except tf.errors.DeadlineExceededError:
                return f"for n = {turn} the loop does not end. Does its counter count?"
            if value != wanted:
                return (
                    f"for n = {turn} it gives {value} instead of {wanted}. Begin with "
                    "(1, 1, 1) and go on while i < n."
                )
    return None


# ---- lesson 9


def check_embeddings(regularized_loss: Any) -> None:
    """Check that the loss is right and its gradient sparse."""
    _report(_problem_of_sparse_loss, regularized_loss)


def _problem_of_sparse_loss(regularized_loss: Any) -> str | None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable(
            "table", initializer=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        )
        ids = tf.placeholder(tf.int32, [None], name="ids")
        loss = regularized_loss(table, ids)
        problem = _not_a_tensor(loss, "the loss")
        if problem is not None:
            return problem
        if loss.shape.as_list() != []:
            return f"the loss has shape {loss.shape}, and should be one number."
        (gradient,) = tf.gradients(loss, [table])
        if gradient is None:
            return "the loss does not depend on the table: look the rows up in it."
        if not isinstance(gradient, tf.IndexedSlices):
            return (
                "the gradient is dense: something uses the whole table. Regularize "
                "`rows`, not `table`."
            )
        session.run(tf.global_variables_initializer())
        value = float(session.run(loss, {ids: [0, 2]}))
    if abs(value - (66 / 4 + 0.1 * 33)) > 1e-4:
        return (
            f"for the rows (1, 2) and (5, 6) the loss is {value}; it should be "
            "16.5 + 0.1 * 33 = 19.8."
        )
    return None


# ---- lesson 7


def check_convnet(block: Any, conv_relu: Any, max_pool: Any) -> None:
    """Check the block's shape, its scopes, and that it shares variables by name."""
    _report(_problem_of_block, block)


def _problem_of_block(block: Any) -> str | None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 12, 8, 3], name="x")
        output = block(x, 4, "a")
        if not isinstance(output, tf.Tensor) or output is x:
            return "`block` should return the output of the pooling."
        names = {v.op.name for v in tf.trainable_variables()}
        wanted = {f"a/{n}/{v}" for n in ("first", "second") for v in ("kernel", "bias")}
        if names != wanted:
            return (
                f"the variables are {sorted(names)}; they should be {sorted(wanted)}. "
                "Build both convolutions inside `tf.variable_scope(scope_name)`."
            )
        for part, depth in (("first", 3), ("second", 4)):
            (kernel,) = (
                v for v in tf.trainable_variables() if v.op.name == f"a/{part}/kernel"
            )
            if kernel.shape.as_list() != [3, 3, depth, 4]:
                return (
                    f"the kernel of `{part}` has shape {kernel.shape}; with size 3 and "
                    f"4 filters it should be (3, 3, {depth}, 4). `second` takes what "
                    "`first` gives."
                )
        if output.shape.as_list() != [None, 6, 4, 4]:
            return (
                f"from 12 x 8 x 3 the block makes {output.shape}; it should be "
                "(?, 6, 4, 4): two convolutions with SAME, then a pooling of 2."
            )
        if not any(op.type == "MaxPool" for op in graph.get_operations()):
            return "the sides are halved, but not by a max pooling."
        block(x, 4, "a")
        if len(tf.trainable_variables()) != 4:
            return "used again under the same name, the block makes new variables."
        block(output, 4, "b")
        if len(tf.trainable_variables()) != 8:
            return "used under another name, the block should have its own variables."
    return None


# ---- lesson 11


def check_towers(two_towers: Any) -> None:
    """Check that each half runs on a card of its own, and that nothing is lost."""
    _report(_problem_of_towers, two_towers)


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
    problem = _not_a_tensor(joined, "what `two_towers` returns")
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
    """A device without its machine: "/device:GPU:0"."""
    return device[device.find("/device:") :] if "/device:" in device else device


# ---- lesson 12


def check_safe_length(safe_length: Any) -> None:
    """Check the lengths, and that their gradient is a number, for zeros too."""
    _report(_problem_of_length, safe_length)


def _problem_of_length(safe_length: Any) -> str | None:
    values = [[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 2], name="rows")
        found = safe_length(rows)
        problem = _not_a_tensor(found, "what `safe_length` returns")
        if problem is not None:
            return problem
        (slope,) = tf.gradients(found, rows)
        lengths = session.run(found, {rows: values})
        if lengths.shape != (3,):
            return f"for 3 rows the result is {list(lengths.shape)}, not [3]."
        if not _near(lengths, [5.0, 0.0, 1.0]):
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
    if not _near(slopes.ravel(), wanted):
        return (
            f"the gradient is {slopes.tolist()}; it should be each row divided by its "
            "length, and zeros for the row of zeros."
        )
    return None


# ---- lesson 13


def check_distances(distances: Any) -> None:
    """Check the distances, and that few ops make them."""
    _report(_problem_of_distances, distances)


def _problem_of_distances(distances: Any) -> str | None:
    from tfteach.explain import explain_run

    rows = [[float(i), float(i % 3)] for i in range(7)]
    wanted = [[(a - c) ** 2 + (b - d) ** 2 for c, d in rows[:5]] for a, b in rows]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        points = tf.placeholder(tf.float32, [None, 2], name="points")
        centres = tf.placeholder(tf.float32, [5, 2], name="centres")
        result = distances(points, centres)
        problem = _not_a_tensor(result, "what `distances` returns")
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
