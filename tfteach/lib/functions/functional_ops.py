"""`If`, `While`, `For` and calls of functions that `Defun` makes.

TensorFlow has these in `tensorflow.python.ops.functional_ops`; none is public.
Source: python/ops/functional_ops.py (API, names and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.dtypes import as_dtype, float32, int32
from tfteach.framework.graph import get_default_graph
from tfteach.framework.input_conversion import list_dtypes as types_of
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.lib.functions.body_of_python_function import get_extra_args
from tfteach.lib.functions.defun import Defun, PythonFunction
from tfteach.ops.functions import calls, control_flow
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import abs as absolute


def _used(function: Any) -> Any:
    """The function, after it was added to the default graph's library.

    A name is that of a function which is there by the time of the run.
    """
    if not isinstance(function, str):
        function.add_to_graph(get_default_graph())
    return function


def _results(function: Any) -> tuple[Any, ...]:
    """The types of a function's results."""
    arguments = function.definition.signature.output_arg
    return tuple(as_dtype(argument.type) for argument in arguments)


def _in_host_memory(
    op: Operation, inputs: Sequence[int], outputs: Sequence[int]
) -> None:
    value = pool.message("AttrValue")
    for key, numbers in (("_input_hostmem", inputs), ("_output_hostmem", outputs)):
        made = value()
        made.list.i.extend(numbers)
        op._set_attr(key, made)


# ---- branches and loops


def If(
    cond: Any,
    inputs: Sequence[Any],
    then_branch: PythonFunction,
    else_branch: PythonFunction,
    name: str | None = None,
) -> list[Tensor]:
    """The results of one of two functions.

    Args:
      cond: decides for `then_branch`: a bool, a number other than 0, a string or an
        array that is not empty.
      inputs: the functions' arguments; captured inputs are not passed.
      then_branch: a function made by `Defun`.
      else_branch: another one, with results of the same types.
      name: the node's name.

    Returns:
      A list of Tensors, one for each result.

    Example:
      >>> functional_ops.If(x > 0.0, [x], double, negate)  # [double(x)] or [negate(x)]

    Source: python/ops/functional_ops.py, If.
    """
    results = _results(then_branch)
    made = control_flow.If(
        types_of(inputs), results, _used(then_branch), _used(else_branch)
    )
    return made(cond, list(inputs), name=name)


def While(
    input_: Sequence[Any],
    cond: PythonFunction,
    body: PythonFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
) -> list[Tensor]:
    """The values after `body` was applied as long as `cond` of them is true.

    Args:
      input_: the first values.
      cond: a function of all values, made by `Defun`, whose result counts as true or
        false as that of `If` does.
      body: a function of all values, made by `Defun`, that returns the next ones.  What
        it captures is passed as loop invariants.
      name: the node's name.
      hostmem: the numbers of the values that stay in the host's memory.

    Returns:
      The last values, a list of Tensors.

    Raises:
      ValueError: `cond` captures a tensor.

    Source: python/ops/functional_ops.py, While.
    """
    values, count = list(input_), len(input_)
    if cond.captured_inputs:
        raise ValueError(
            "While op 'cond' argument must be a function without implicitly captured "
            f"inputs: {cond.name} captures {cond.captured_inputs}. Pass them in input_ "
            "instead."
        )
    if cond.declared_input_types != body.declared_input_types:
        raise ValueError(
            "While op 'cond' and 'body' signatures do not match: "
            f"{cond.declared_input_types} vs {body.declared_input_types}"
        )
    if body.captured_inputs:
        values += body.captured_inputs
        cond, body = _without(cond, body.captured_inputs), _with_captures(body)
    made = control_flow.While(types_of(values), _used(cond), _used(body))
    found = made(values, name=name)
    if hostmem:
        _in_host_memory(found[0].op, hostmem, hostmem)
    return found[:count]


def _without(cond: PythonFunction, invariants: Sequence[Tensor]) -> PythonFunction:
    """A loop's condition that ignores the arguments of invariants."""
    types = cond.declared_input_types
    every = [*types, *(tensor.dtype.base_dtype for tensor in invariants)]
    made: PythonFunction = Defun(*every, func_name=f"{cond.name}_Wrapper")(
        lambda *args: cond(*args[: len(types)])
    )
    return made


def For(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: PythonFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
    rewrite_with_while: bool | None = None,
) -> list[Tensor]:
    """The values after `body` was applied to each number of a range and them.

    Args:
      start, limit, delta: int32 scalars; the numbers are `start`, `start + delta`, ...
        up to but without `limit`.
      inputs: the first values.
      body: a function of a number and all values, made by `Defun`, that returns the
        next values.  What it captures is passed as loop invariants.
      name: the node's name.
      hostmem: the numbers of the values that stay in the host's memory.
      rewrite_with_while: build a `While` node instead of a `For` node.

    Returns:
      The last values, a list of Tensors.

    Raises:
      InvalidArgumentError: (in a run) `start`, `limit` or `delta` is no scalar; the
        range is infinite; `body` returns another number of values.

    Source: python/ops/functional_ops.py, For.
    """
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name, hostmem)
    count = len(inputs)
    values = list(inputs)
    if body.captured_inputs:
        values += body.captured_inputs
        body = _with_captures(body)
    made = control_flow.For(types_of(values), _used(body))
    found = made(start, limit, delta, values, name=name)
    if hostmem:  # the inputs come after start, limit and delta
        _in_host_memory(found[0].op, [i + 3 for i in hostmem], hostmem)
    return found[:count]


def _with_captures(body: PythonFunction) -> PythonFunction:
    """A loop's body that takes what `body` captures as arguments and returns it."""

    def call(*args: Any) -> list[Any]:
        found: Any = body(*args)
        if isinstance(found, Operation):
            found = ()
        elif not isinstance(found, list | tuple):
            found = (found,)
        return [*found, *get_extra_args()]

    types = body.declared_input_types
    made: PythonFunction = Defun(*types, func_name=f"{body.name}_Wrapper")(call)
    return made


def _for_as_while(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: PythonFunction,
    name: str | None,
    hostmem: Sequence[int] | None,
) -> list[Tensor]:
    size = absolute(delta)
    steps = cast(
        cast(absolute(limit - start) + size - 1, float32) / cast(size, float32),
        int32,
    )
    types = [int32] * 4 + list(body.declared_input_types)[1:]

    def keep_going(i: Tensor, n: Tensor, *_: Any) -> Tensor:
        return i < n

    def step(i: Tensor, n: Tensor, start: Tensor, delta: Tensor, *args: Any) -> Any:
        found: Any = body(start + i * delta, *args)
        if not isinstance(found, list | tuple):
            found = () if isinstance(found, Operation) else (found,)
        return [i + 1, n, start, delta, *found]

    found = While(
        [0, steps, start, delta, *inputs],
        Defun(*types, func_name=f"{body.name}_Cond")(keep_going),
        Defun(*types, func_name=f"{body.name}_Body")(step),
        name=name,
        hostmem=[0, 1, 2, 3, *(i + 4 for i in hostmem or ())],
    )
    return found[4:]


# ---- calls


def symbolic_gradient(
    input: Sequence[Any], Tout: Sequence[Any], f: Any, name: str | None = None
) -> list[Tensor]:
    """The gradients of a function's arguments.

    Args:
      input: the arguments, then the gradients of the results.
      Tout: the types of the arguments.
      f: the function, made by `Defun`.
      name: the node's name.

    Source: core/ops/functional_ops.cc, SymbolicGradient.
    """
    values = list(input)
    made = calls.SymbolicGradient(
        types_of(values), tuple(map(as_dtype, Tout)), _used(f)
    )
    return made(values, name=name)


def Gradient(
    inputs: Sequence[Any], f: PythonFunction, name: str | None = None
) -> list[Tensor]:
    """The gradients of the arguments of a function made by `Defun`.

    Args:
      inputs: the arguments, then the gradients of the results.
      f: the function.
      name: the node's name.

    Example:
      >>> functional_ops.Gradient([x, 1.0], square)  # [2 * x]

    Source: python/ops/functional_ops.py, Gradient.
    """
    types = [as_dtype(argument.type) for argument in f.definition.signature.input_arg]
    return symbolic_gradient(inputs, types, f, name)


def remote_call(
    target: Any,
    args: Sequence[Any],
    Tout: Sequence[Any],
    f: Any,
    name: str | None = None,
) -> list[Tensor]:
    """The results of a function that runs on a device.

    Args:
      target: the device's name, a string scalar.
      args: the function's arguments.
      Tout: the types of its results.
      f: the function, made by `Defun`.
      name: the node's name.

    Source: core/ops/functional_ops.cc, RemoteCall.
    """
    values = list(args)
    made = calls.RemoteCall(types_of(values), tuple(map(as_dtype, Tout)), _used(f))
    return made(target, values, name=name)


def partitioned_call(
    args: Sequence[Any],
    f: Any,
    tout: Sequence[Any] | None = None,
    executing_eagerly: bool | None = None,
    config: Any = None,
    executor_type: str | None = None,
) -> list[Tensor] | Operation:
    """The results of a function whose ops may be on several devices.

    Args:
      args: the function's arguments, with those that it captures.
      f: the function, made by `Defun`.
      tout: the types of its results; those of its definition if None.
      executing_eagerly: must not be true: there is no eager execution.
      config: a serialized ConfigProto.
      executor_type: "", "DEFAULT" or "SINGLE_THREADED_EXECUTOR".

    Returns:
      A list of Tensors; the Operation if there are no results.

    Raises:
      NotFoundError: (in a run) there is no executor of that type.

    Source: python/ops/functional_ops.py, partitioned_call.
    """
    if executing_eagerly:
        raise NotImplementedError("partitioned_call: executing_eagerly=True")
    results = _results(f) if tout is None else tuple(map(as_dtype, tout))
    values = list(args)
    kind: Callable[..., Any] = calls.PartitionedCall
    if f.stateful_ops:
        kind = calls.StatefulPartitionedCall
    made = kind(
        Tin=types_of(values),
        Tout=results,
        f=_used(f),
        config_proto=_default_config() if config is None else config,
        executor_type=executor_type or "",
    )
    found: Any = made(values, name=None if results else "PartitionedFunctionCall")
    return found if results else found.op if isinstance(found, Tensor) else found


def _default_config() -> bytes:
    """Functions are not optimized on their own: the graph that calls them is."""
    config = pool.message("ConfigProto")()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    data: bytes = config.SerializeToString()
    return data
