"""Checks for NaN and infinity, of a tensor and of every float tensor in a graph.

Source: core/ops/array_ops.cc, CheckNumerics; python/ops/numerics.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, float16, float32, float64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.op import StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext, TensorLike
from tfteach.ops.core.control_flow_ops import group, with_dependencies


class CheckNumerics(StatefulOp):
    """`tensor`, checked for NaN and infinity.  Source: array_ops.cc."""

    signature = "tensor: T -> output: T"
    T = dtypes_of("bfloat16 float16 float32 float64")
    message: str
    aliases: ClassVar[bool] = True

    def infer_shape(self, tensor: Shape) -> Shape:
        return tensor

    def compute(self, ctx: KernelContext, tensor: Any) -> Any:
        xp = ctx.xp
        if not bool(xp.all(xp.isfinite(tensor))):
            found = ["Inf"] * bool(xp.any(xp.isinf(tensor)))
            found += ["NaN"] * bool(xp.any(xp.isnan(tensor)))
            raise invalid_argument(
                f"{self.message} : Tensor had {' and '.join(found)} values"
            )
        return tensor

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        message = (
            "Not a number (NaN) or infinity (Inf) values detected in gradient. "
            f"{op.get_attr('message')}"
        )
        return [CheckNumerics(message)(grad)]


@export("check_numerics", "debugging.check_numerics")
def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """`tensor`; the run fails if it contains NaN or infinity.

    Args:
      tensor: a float Tensor.
      message: a prefix of the error message.
      name: the op's name.

    Returns:
      A Tensor equal to `tensor`.

    Raises:
      InvalidArgumentError: (in a run) it does.

    Source: CheckNumerics in core/ops/array_ops.cc.
    """
    return CheckNumerics(message)(tensor, name=name)


@export("verify_tensor_all_finite", "debugging.assert_all_finite")
def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """`t`, available only if it contains neither NaN nor infinity.

    Args:
      t: a float Tensor.
      msg: a prefix of the error message.
      name: the name scope of the new operations.
      x: newer name of `t`.
      message: newer name of `msg`.

    Returns:
      A Tensor equal to `t`.

    Source: python/ops/numerics.py, verify_tensor_all_finite.
    """
    value: Any = t if x is None else x
    text: Any = msg if message is None else message
    with name_scope(name, "VerifyFinite", [value]):
        value = convert(value, name="t")
        with get_default_graph().colocate_with(value):
            check = check_numerics(value, text)
            result: Tensor = with_dependencies([check], value)
            return result


@export("add_check_numerics_ops")
def add_check_numerics_ops() -> Any:
    """An op that fails when any float tensor of the graph contains NaN or infinity.

    It adds a check to each float output that is now in the default graph; the error
    names the first bad one, in the order in which ops were created.

    Returns:
      An `Operation` to run together with the others.

    Raises:
      ValueError: the graph has branches or loops, where this check is not possible.
      InvalidArgumentError: (in a run) a tensor contains NaN or infinity.

    Example:
      >>> check = tf.add_check_numerics_ops()
      >>> sess.run([train_op, check])

    Source: python/ops/numerics.py.
    """
    require_graph(
        "add_check_numerics_ops() is not compatible with eager execution. To check "
        "for Inf's and NaN's under eager execution, call "
        "tfe.seterr(inf_or_nan='raise') once before executing the checked operations."
    )
    checks: list[Any] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in (float16, float32, float64):
                continue
            if op.control_flow_context is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow "
                    "control flow operations such as `tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(checks):
                message = f"{op.name}:{output.value_index}"
                checks = [check_numerics(output, message=message)]
    return group(*checks)
