"""Callbacks after each op of an eager program, such as a search for NaN.

Source: python/eager/execution_callbacks.py.
"""

from __future__ import annotations

import enum
import functools
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfteach.engine.eager.context import eager_graph
from tfteach.engine.eager.function_program import FunctionRun
from tfteach.framework import nest
from tfteach.framework.dtypes import DType
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graphdef.graph_def import attributes_of
from tfteach.framework.observers import OpRan
from tfteach.framework.operation import Operation
from tfteach.framework.shape import TensorShape

# op_type, inputs, attrs, outputs, op_name
Callback = Callable[[str, tuple[Any, ...], tuple[Any, ...], list[Any], str | None], Any]

logger = logging.getLogger("tensorflow")


@export("contrib.eager.ExecutionCallback")
class ExecutionCallback(enum.Enum):
    """What happens when an op returns infinity or NaN.

    Attributes:
      IGNORE: nothing.
      PRINT: a line is printed.
      RAISE: an InfOrNanError.
      WARN: a warning in the log.

    Source: python/eager/execution_callbacks.py.
    """

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An op has returned infinity or NaN.

    Attributes:
      op_type: the type of the op, such as "RealDiv".
      op_name: the name that the caller gave, or None.
      output_index: the number of the output, from 0.
      num_outputs: how many outputs the op has.
      value: the output, an array.
    """

    def __init__(
        self,
        op_type: str,
        op_name: str | None,
        output_index: int,
        num_outputs: int,
        value: Any,
    ) -> None:
        self.op_type, self.op_name = op_type, op_name
        self.output_index, self.num_outputs = output_index, num_outputs
        self.value = value
        counts = {
            "inf(s)": np.count_nonzero(np.isinf(value)),
            "nan(s)": np.count_nonzero(np.isnan(value)),
        }
        found = " and ".join(f"{n} {kind}" for kind, n in counts.items() if n)
        name = None if op_name is None else f"'{op_name}'"
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} "
            f"(name: {name}) contains {found} out of a total of {np.size(value)} "
            f"element(s). Tensor value: {value}"
        )


# ---- callbacks


@export("contrib.eager.inf_nan_callback")
def inf_nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[EagerTensor],
    op_name: str | None,
    check_inf: bool = True,
    check_nan: bool = True,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """A callback for `add_execution_callback`: looks for infinity and NaN in outputs.

    Args:
      op_type: the type of the op.
      inputs, attrs: unused.
      outputs: the op's outputs.
      op_name: the name that the caller gave, or None.
      check_inf, check_nan: what to look for.
      action: an `ExecutionCallback` or its value; not IGNORE.

    Raises:
      InfOrNanError: there is such an element, and the action is RAISE.
      ValueError: the action is unknown.

    Source: python/eager/execution_callbacks.py.
    """
    action = ExecutionCallback(action)
    for index, output in enumerate(outputs):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = output.numpy()
        has_inf = check_inf and np.isinf(value).any()
        if not (has_inf or (check_nan and np.isnan(value).any())):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action is ExecutionCallback.PRINT:
            print(f"Warning: {error}")
        elif action is ExecutionCallback.WARN:
            logger.warning("%s", error)
        elif action is ExecutionCallback.RAISE:
            raise error
        else:
            raise ValueError(
                f"Invalid action for inf_nan_callback: {action}. Valid actions are: "
                "{PRINT | WARN | RAISE}"
            )


@export("contrib.eager.inf_callback")
def inf_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[EagerTensor],
    op_name: str | None,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """`inf_nan_callback` for infinity only.

    Args:
      op_type, inputs, attrs, outputs, op_name, action: as there.

    Raises:
      InfOrNanError: there is infinity, and the action is RAISE.

    Source: python/eager/execution_callbacks.py.
    """
    inf_nan_callback(
        op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action
    )


@export("contrib.eager.nan_callback")
def nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[EagerTensor],
    op_name: str | None,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """`inf_nan_callback` for NaN only.

    Args:
      op_type, inputs, attrs, outputs, op_name, action: as there.

    Raises:
      InfOrNanError: there is NaN, and the action is RAISE.

    Source: python/eager/execution_callbacks.py.
    """
    inf_nan_callback(
        op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action
    )


# ---- who is called


class _Caller:
    """Calls a callback for each op and each traced function that has run.

    Args:
      callback: the callback.
    """

    def __init__(self, callback: Callback) -> None:
        self.callback = callback

    def __call__(self, event: OpRan | FunctionRun) -> None:
        if isinstance(event, FunctionRun):
            event.at_end.append(functools.partial(self._function_ran, event))
        elif event.error is None:
            op = event.op
            inputs, outputs = tuple(op.inputs), list(op.outputs)
            attrs = _attributes(op)
            self.callback(op.type, inputs, attrs, outputs, event.given_name)

    def _function_ran(
        self, event: FunctionRun, outputs: Sequence[Any] | None, _: float
    ) -> None:
        if outputs is not None:
            name = event.graph.name
            self.callback(name, tuple(event.inputs), (), list(outputs), None)


def _attributes(op: Operation) -> tuple[Any, ...]:
    """Names and values in turn; the types of inputs are numbers, as in TensorFlow."""
    fields = type(op.spec).fields
    inferred = [name for name in attributes_of(op) if name not in fields]
    found: list[Any] = []
    for name in (*fields, *inferred):
        value = attributes_of(op)[name]
        if name in inferred:
            value = nest.map_structure(_number, value)
        found += [name, TensorShape(value) if name == "shape" else value]
    return tuple(found)


def _number(value: Any) -> Any:
    return value.as_datatype_enum if isinstance(value, DType) else value


@export("contrib.eager.add_execution_callback")
def add_execution_callback(callback: Callback) -> None:
    """Call a function after each op and each traced function that runs eagerly.

    Several are called in the order in which they were added.  What one raises, the call
    of the op raises.

    Args:
      callback: a function `f(op_type, inputs, attrs, outputs, op_name)`, where `attrs`
        are names of attributes and their values in turn, and `op_name` is what the
        caller gave, or None.  The type of a traced function is its Python name.  Ops
        that the callback calls call it again.

    Example:
      >>> tf.enable_eager_execution()
      >>> tf.contrib.eager.add_execution_callback(tf.contrib.eager.inf_nan_callback)
      >>> y = tf.log(2.0)  # tf.log(0.0) would raise an InfOrNanError

    Source: python/eager/execution_callbacks.py.
    """
    eager_graph().observe(_Caller(callback))


@export("contrib.eager.clear_execution_callbacks")
def clear_execution_callbacks() -> None:
    """Remove all callbacks of `add_execution_callback`.

    Source: python/eager/execution_callbacks.py.
    """
    _keep_callbacks([])


def _callbacks() -> list[Callback]:
    graph = eager_graph()
    return [o.callback for o in graph.observers if isinstance(o, _Caller)]


def _keep_callbacks(callbacks: Sequence[Callback]) -> None:
    graph = eager_graph()
    with graph.lock:
        others = [o for o in graph.observers if not isinstance(o, _Caller)]
        graph.observers = (*others, *map(_Caller, callbacks))


@export("contrib.eager.seterr")
def seterr(
    inf_or_nan: ExecutionCallback | str | None = None,
) -> dict[str, ExecutionCallback]:
    """Set what happens when an op returns infinity or NaN.

    Args:
      inf_or_nan: an `ExecutionCallback` or its value; None changes nothing.

    Returns:
      A dict from "inf_or_nan" to the action until now.

    Raises:
      ValueError: the action is unknown.

    Example:
      >>> tf.contrib.eager.seterr(inf_or_nan="raise")
      {'inf_or_nan': <ExecutionCallback.IGNORE: 'ignore'>}

    Source: python/eager/execution_callbacks.py.
    """
    action = None if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    before, others = ExecutionCallback.IGNORE, []
    for callback in _callbacks():
        is_partial = isinstance(callback, functools.partial)
        if is_partial and callback.func is inf_nan_callback:  # type: ignore[attr-defined]
            keywords = callback.keywords  # type: ignore[attr-defined]
            before = keywords.get("action", ExecutionCallback.RAISE)
        elif callback is inf_nan_callback:
            before = ExecutionCallback.RAISE
        else:
            others.append(callback)
    if action is not None:
        if action is not ExecutionCallback.IGNORE:
            others.append(functools.partial(inf_nan_callback, action=action))
        _keep_callbacks(others)
    return {"inf_or_nan": before}


@export("contrib.eager.errstate")
@contextmanager
def errstate(inf_or_nan: ExecutionCallback | str | None = None) -> Iterator[None]:
    """A block with an action for infinity and NaN; in a graph without effect.

    The action until then is restored after an exception, too; TensorFlow restores it
    only at the end of the block.

    Args:
      inf_or_nan: an `ExecutionCallback` or its value; None changes nothing.

    Raises:
      ValueError: the action is unknown.

    Example:
      >>> tf.enable_eager_execution()
      >>> with tf.contrib.eager.errstate(inf_or_nan="print"):
      ...     y = tf.log(2.0)  # prints for tf.log(0.0)

    Source: python/eager/execution_callbacks.py.
    """
    if not get_default_graph().is_eager:
        yield
        return
    before = seterr(inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)
