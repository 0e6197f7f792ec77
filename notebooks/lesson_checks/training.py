"""Checks of the lessons 6 to 10: training."""

from __future__ import annotations

from typing import Any

import tfteach as tf

from .verdict import near, not_a_tensor, report

# ---- lesson 6


def check_gradients_and_optimizers(graph: Any, step: Any) -> None:
    """Check that `step` is momentum, written with two variables."""
    report(_problem_of_momentum, graph, step)


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
    if not near(first[1], [100.0, 1.0]):
        return (
            f"after one step the velocity is {first[1].tolist()}; it should be the "
            "gradient, [100.0, 1.0]. Assign 0.9 * velocity + gradient."
        )
    if not near(first[0], [0.0, 0.99]):
        return (
            f"after one step w is {first[0].tolist()}; with the new velocity it is "
            "[0.0, 0.99]. Use what `velocity.assign` returns."
        )
    if not near(second, [-0.9, 0.9711]):
        return (
            f"the first step is right, the second gives {second.tolist()} instead of "
            "[-0.9, 0.9711]: the velocity should keep 0.9 of itself."
        )
    return None


# ---- lesson 7


def check_convnet(block: Any, conv_relu: Any, max_pool: Any) -> None:
    """Check the block's shape and scopes, and that it shares variables by name."""
    report(_problem_of_block, block)


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
                    f"4 filters it should be (3, 3, {depth}, 4). `second` takes the "
                    "output of `first`."
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


# ---- lesson 8


def check_while_loop(fibonacci: Any) -> None:
    """Check that `fibonacci(n)` is the n-th number, computed by a single loop."""
    report(_problem_of_loop_in_graph, fibonacci)


def _problem_of_loop_in_graph(fibonacci: Any) -> str | None:
    patience = tf.RunOptions(timeout_in_ms=1500)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        n = tf.placeholder(tf.int32, [], name="n")
        answer = fibonacci(n)
        problem = not_a_tensor(answer, "fibonacci(n)")
        if problem is not None:
            return f"{problem} Return one of the three values of the loop."
        loops = [op for op in graph.get_operations() if op.type == "LoopCond"]
        if len(loops) != 1:
            return f"there are {len(loops)} loops; build one `tf.while_loop`."
        for count, wanted in ((1, 1), (2, 1), (3, 2), (10, 55), (30, 832040)):
            try:
                value = int(session.run(answer, {n: count}, options=patience))
            except tf.errors.DeadlineExceededError:
                return f"for n = {count} the loop does not end. Does its counter count?"
            if value != wanted:
                return (
                    f"for n = {count} it gives {value} instead of {wanted}. Begin with "
                    "(1, 1, 1) and go on while i < n."
                )
    return None


# ---- lesson 9


def check_embeddings(regularized_loss: Any) -> None:
    """Check that the loss is right and its gradient sparse."""
    report(_problem_of_sparse_loss, regularized_loss)


def _problem_of_sparse_loss(regularized_loss: Any) -> str | None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable(
            "table", initializer=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        )
        ids = tf.placeholder(tf.int32, [None], name="ids")
        loss = regularized_loss(table, ids)
        problem = not_a_tensor(loss, "the loss")
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


# ---- lesson 10


def check_control_dependencies(graph: Any, step: Any) -> None:
    """Check that `step` descends first, and then averages the new weight."""
    report(_problem_of_average, graph, step)


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
    if not near([weight, average], [2.0, 3.0]):
        return (
            f"after one step w is {weight} and its average {average}; they should be "
            "2.0 and 3.0. Keep the rates as they were."
        )
    return None
