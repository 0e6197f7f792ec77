"""Gradients of TensorArrays: a write becomes a read, and a read becomes a write.

Each call of `tf.gradients` has separate TensorArrays, identified by its name scope.
Source: python/ops/tensor_array_grad.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.control.tensor_array import TensorArray
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import DTypeLike
from tfteach.ops.state.tensor_array_ops import (
    TensorArrayConcatV3,
    TensorArrayGatherV3,
    TensorArrayReadV3,
    TensorArrayScatterV3,
    TensorArraySplitV3,
    TensorArrayWriteV3,
)


@gradient_of(TensorArrayReadV3)
def _read_gradient(op: Operation, grad: Any) -> list[Any]:
    """Add the element's gradient at its index."""
    index, flow = op.inputs[1:]
    array = _gradient_array(op, op.get_attr("dtype"), flow, grad)
    return [None, None, array.write(index, grad).flow]


@gradient_of(TensorArrayWriteV3)
def _write_gradient(op: Operation, flow: Any) -> list[Any]:
    """The value's gradient: the sum accumulated at its index."""
    array = _gradient_array(op, op.get_attr("T"), flow, flow)
    return [None, None, array.read(op.inputs[1]), flow]


@gradient_of(TensorArrayGatherV3)
def _gather_gradient(op: Operation, grad: Any) -> list[Any]:
    """Add the rows at their indices."""
    indices, flow = op.inputs[1:]
    array = _gradient_array(op, op.get_attr("dtype"), flow, grad)
    return [None, None, array.scatter(indices, grad).flow]


@gradient_of(TensorArrayScatterV3)
def _scatter_gradient(op: Operation, flow: Any) -> list[Any]:
    """The rows accumulated at the indices."""
    array = _gradient_array(op, op.get_attr("T"), flow, flow)
    return [None, None, array.gather(op.inputs[1]), flow]


@gradient_of(TensorArrayConcatV3)
def _concat_gradient(op: Operation, grad: Any, _: Any) -> list[Any]:
    """Add each part to its element."""
    array = _gradient_array(op, op.get_attr("dtype"), op.inputs[1], grad)
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@gradient_of(TensorArraySplitV3)
def _split_gradient(op: Operation, flow: Any) -> list[Any]:
    """All accumulated elements, concatenated."""
    array = _gradient_array(op, op.get_attr("T"), flow, flow)
    return [None, array.concat(), None, flow]


def _gradient_array(op: Operation, dtype: DTypeLike, flow: Any, named: Any) -> Any:
    # A dynamic array's size is final once the flow is available.
    forward = TensorArray(
        dtype=dtype,
        handle=op.inputs[0],
        flow=flow,
        colocate_with_first_write_call=False,
    )
    return forward.grad(source=_source_of(named), flow=flow)


def _source_of(grad: Tensor) -> str:
    """The name scope of the `tf.gradients` call that created `grad`.

    Raises:
      ValueError: no part of the name starts with "gradients".
    """
    tokens = grad.name.split("/")
    found = [i for i, token in enumerate(tokens) if token.startswith("gradients")]
    if not found:
        raise ValueError(
            "Expected op/tensor name to start with gradients (excluding scope), got: "
            f"{grad.name}. This means that a tf.gradients op with this op in its "
            "dependency path has a custom name that does not start with 'gradients'. "
            "Please make sure all calls to tf.gradients that have non-empty 'name' "
            "arguments use names that start with 'gradients'."
        )
    # In a function's body it is the call around it, whose nodes share its arrays.
    outer: str | None = getattr(grad.graph, "gradient_scope", None)
    return outer or "/".join(tokens[: found[-1] + 1])
