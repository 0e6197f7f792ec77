from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.eager.eager_recording import EagerRecording, record_eager
from tfteach.framework.operation import Operation


def by_name(program: EagerRecording) -> dict[str, Operation]:
    return {op.name: op for op in program.graph.get_operations()}


def reads(op: Operation) -> list[str]:
    return [tensor.name for tensor in op.inputs]


def gives(program: EagerRecording) -> dict[str, str]:
    """What each op gave, by the last step of its name."""
    return {s.op: "; ".join(o.text for o in s.outputs) for s in program.run}


def descent(steps: int = 2) -> EagerRecording:
    with record_eager() as program:
        w = tf.Variable([[3.0], [4.0]], name="w")
        x = tf.constant([[1.0, 2.0]])
        for _ in range(steps):
            with tf.GradientTape() as tape:
                with tf.name_scope("layer"):
                    y = tf.matmul(x, w)
                loss = tf.reduce_mean(tf.square(y - 5.0), name="loss")
            grad = tape.gradient(loss, w)
            w.assign_sub(0.1 * grad)
    return program


LOOP = f"for_line_{inspect.getsourcelines(descent)[1] + 4}"


def test_a_node_for_each_op_named_as_in_a_graph() -> None:
    program = descent(1)
    ops, first = by_name(program), f"{LOOP}/iteration_1"
    assert reads(ops[f"{first}/layer/MatMul"]) == [
        "x:0",
        f"{first}/layer/MatMul/ReadVariableOp:0",
    ]
    assert reads(ops[f"{first}/loss"])[0] == f"{first}/Square:0"
    assert ops[f"{first}/sub/y"].type == ops["x"].type == "Const"
    assert ops["w"].type == "VarHandleOp"
    assert ops["w"].outputs[0].dtype is tf.resource
    assert ops[f"{first}/layer/MatMul"].outputs[0].shape == [1, 1]
    source = ops[f"{first}/loss"].source
    assert source is not None
    assert source.text.startswith("loss = tf.reduce_mean")


def test_a_step_for_each_op_with_its_values() -> None:
    program = descent()
    values = gives(program)
    assert values[f"{LOOP}/iteration_1/layer/MatMul"] == "[[11.]]"
    assert values[f"{LOOP}/iteration_1/loss"] == "36"
    assert values[f"{LOOP}/iteration_2/layer/MatMul"] == "[[5.]]"
    step = program.run[program.run.breakpoints("*iteration_2/loss")[0]]
    assert step.iterations == ((LOOP, 1),)
    assert [seen.text for seen in step.inputs] == ["[[0.]]", "[0, 1]"]
    assert step.elapsed_us > 0
    assert step.device == "CPU:0"
    (loop,) = program.run.loops()
    assert (loop.name, loop.times) == (LOOP, 2)
    assert program.ops_ran == len(program.run)


def test_a_variable_before_and_after_each_change() -> None:
    run = descent().run
    first, second = [run[n] for n in run.breakpoints("*AssignSubVariableOp")]
    assert str(first).splitlines()[1:] == [
        "  takes w:0: float32 2x1 [[3.], [4.]]",
        f"  takes {LOOP}/iteration_1/mul:0: float32 2x1 [[1.2], [2.4]]",
        "  gives w:0: float32 2x1 [[1.8], [1.6]]",
    ]
    assert second.inputs[0].text == "[[1.8], [1.6]]"
    created = run[run.breakpoints("w/AssignVariableOp")[0]]
    assert created.inputs[0].text == "uninitialized"


def test_what_uses_a_variable_waits_for_its_last_change() -> None:
    ops = by_name(descent())
    first, second = (f"{LOOP}/iteration_{n}" for n in (1, 2))
    assert ops[f"{first}/layer/MatMul/ReadVariableOp"].control_inputs == []
    change = ops[f"{first}/AssignSubVariableOp"]
    assert ops[f"{second}/layer/MatMul/ReadVariableOp"].control_inputs == [change]
    assert ops[f"{second}/AssignSubVariableOp"].control_inputs == [change]


def test_the_tape_and_the_gradients() -> None:
    program = descent()
    first, second = program.tapes
    scope = f"{LOOP}/iteration_1"
    assert first.number, second.number == (1, 2)
    assert first.ops == [
        f"{scope}/{name}"
        for name in ("layer/MatMul/ReadVariableOp", "layer/MatMul", "sub", "Square")
    ] + [f"{scope}/loss"]
    assert first.gradients == [f"{scope}/gradients"]
    assert program.recorded_by[f"{scope}/loss"] == (1,)
    assert f"{scope}/mul" not in program.recorded_by
    backward = f"{scope}/gradients/layer/MatMul_grad/MatMul"
    assert program.gradient_of[backward] == f"{scope}/layer/MatMul"
    assert gives(program)[backward] == "[[12.], [24.]]"


def test_tapes_in_each_other() -> None:
    with record_eager() as program:
        x = tf.constant(3.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x
            slope = inner.gradient(y, x)
        curve = outer.gradient(slope, x)
    assert float(curve) == 18.0
    assert program.recorded_by["mul"] == (1, 2)
    assert program.tapes[0].gradients == ["gradients_1"]
    assert program.tapes[1].gradients == ["gradients"]
    inside = [op for op in program.tapes[0].ops if op.startswith("gradients/")]
    assert inside  # the outer tape recorded the first derivative, too
    assert not [op for op in program.tapes[1].ops if op.startswith("gradients")]


def test_a_persistent_tape_asked_twice() -> None:
    with record_eager() as program:
        x = tf.constant(3.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.square(x)
        tape.gradient(y, x)
        tape.gradient(y, x)
    assert program.tapes[0].gradients == ["gradients", "gradients_1"]


def test_a_traced_function_is_a_node_with_its_ops_inside() -> None:
    with record_eager() as program:
        w = tf.Variable(2.0, name="w")

        @tf.function
        def scale(a: Any) -> Any:
            return tf.nn.relu(a * w, name="out")

        with tf.GradientTape() as tape:
            y = scale(tf.constant([1.0, -1.0]))
        slope = tape.gradient(y, w)
    assert float(slope) == 1.0
    call = by_name(program)["scale"]
    assert call.type == "StatefulPartitionedCall"
    assert reads(call) == ["scale/a:0", "w:0"]
    function = call.get_attr("f").name
    assert [n.op for n in program.graph.functions[function].definition.node_def]
    names = [step.op for step in program.run]
    assert names.index("scale/out") < names.index("scale")
    values = gives(program)
    assert values["scale/out"] == values["scale"].partition(";")[0] == "[2., 0.]"
    (backward,) = [op for op in names if op.startswith("gradients/scale_grad/")][-1:]
    assert program.gradient_of[backward] == "scale"
    assert program.recorded_by["scale"] == (1,)


def test_a_function_that_changes_a_variable() -> None:
    with record_eager() as program:
        w = tf.Variable(1.0, name="w")

        @tf.function
        def grow() -> None:
            w.assign_add(1.0)

        grow()
        y = w * 2.0
    assert float(y) == 4.0
    ops = by_name(program)
    read = next(op for op in ops.values() if op.type == "ReadVariableOp")
    assert read.control_inputs == [ops["grow"]]


def test_an_op_that_fails_ends_the_recording() -> None:
    a = np.ones([2, 3])
    with (
        pytest.raises(tf.errors.InvalidArgumentError) as caught,
        record_eager() as program,
    ):
        tf.matmul(a, a, name="wrong")
    run = program.run
    assert run.error is caught.value
    assert run.failed is not None
    assert run.failed.op == "wrong"
    assert [seen.shape for seen in run.failed.inputs] == [(2, 3), (2, 3)]
    assert "ended by InvalidArgumentError at wrong: " in str(program)


def test_an_op_that_fails_inside_a_function() -> None:
    @tf.function
    def checked(x: Any) -> Any:
        return tf.check_numerics(tf.log(x, name="log"), "bad", name="check")

    with pytest.raises(tf.errors.InvalidArgumentError), record_eager() as program:
        checked(tf.constant([0.0]))
    failed = program.run.failed
    assert failed is not None
    assert failed.op == "checked/check"
    assert [step.op for step in program.run] == ["checked/log"]


def test_an_error_that_the_code_handles_is_no_end() -> None:
    with record_eager() as program:
        try:
            tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
        except tf.errors.InvalidArgumentError:
            tf.square(2.0, name="after")
    assert program.run.error is None
    assert program.run.failed is None
    assert program.run[-1].op == "after"


def test_ten_thousand_ops_are_counted_and_not_drawn() -> None:
    with record_eager() as program:
        x = tf.constant(0.0)
        for _ in range(10_000):
            x = x + 1.0
    assert float(x) == 10_000.0
    assert program.ops_ran == 10_000
    assert len(program.run) == 2000
    assert program.run.missed == 8000
    assert len(program.graph.get_operations()) < 5000
    (line,) = program.lines
    assert (line.count, len(line.ops)) == (10_000, 2000)
    text = str(program)
    assert "10,000 ops ran, the first 2,000 are shown, the others only counted" in text
    assert len(text.splitlines()) < 8
    assert len(str(program.run).splitlines()) < 210


def test_values_of_large_arrays_are_described() -> None:
    with record_eager() as program:
        data = tf.constant(np.arange(5000.0))
        tf.reduce_sum(data, name="total")
    assert by_name(program)["data"].type == "Placeholder"
    taken = program.run[0].inputs[0]
    assert (taken.name, taken.array, taken.shape) == ("data:0", None, (5000,))
    assert "from 0 to 4999" in taken.text


def test_the_second_op_of_a_name_has_what_it_needs_in_its_own_scope() -> None:
    with record_eager() as program:
        w = tf.Variable([[1.0]], name="w")
        tf.matmul(w, w)
        tf.matmul(w, w)
        again = tf.Variable([[1.0]], name="w")
        del again
    ops = by_name(program)
    assert reads(ops["MatMul_1"])[0] == "MatMul_1/ReadVariableOp:0"
    assert reads(ops["w_1/AssignVariableOp"])[0] == "w_1:0"


def test_lines_with_their_ops() -> None:
    program = descent()
    lines = {line.source.text.partition(" ")[0]: line for line in program.lines}
    assert lines["y"].count == 4
    assert lines["loss"].tapes == [1, 2]
    assert lines["grad"].backward == lines["grad"].count > 10
    assert (
        lines["w.assign_sub(0.1"].ops[-1] == f"{LOOP}/iteration_2/AssignSubVariableOp"
    )
    text = str(program)
    assert text.splitlines()[0].endswith("to compute gradients.")
    assert "4 ops, on tape 1, 2: 2 ReadVariableOp, 2 MatMul" in text


def test_stops_where_asked() -> None:
    def is_large(step: Any, *arrays: Any) -> bool:
        return any(float(np.max(a)) > 3 for a in arrays)

    with record_eager(is_large) as program:
        x = tf.constant(1.0)
        for _ in range(4):
            x = tf.multiply(x, 2.0)
    assert program.run.stops == (1, 2, 3)


def test_an_error_of_the_condition_is_raised_at_the_end() -> None:
    def wrong(step: Any, *arrays: Any) -> bool:
        raise KeyError("wrong")

    with pytest.raises(KeyError, match="wrong"), record_eager(wrong):
        tf.square(2.0)


def test_nothing_is_recorded_afterwards_and_elsewhere() -> None:
    with record_eager() as program:
        with tf.Graph().as_default():
            tf.square(3.0)
        tf.square(2.0)
    with record_eager():
        tf.square(5.0)
    assert program.ops_ran == 1
    with record_eager() as empty:
        pass
    assert str(empty) == "No op ran eagerly."


def test_the_block_is_eager_and_nothing_around_it() -> None:
    assert not tf.executing_eagerly()
    with record_eager():
        assert tf.executing_eagerly()
    assert not tf.executing_eagerly()
