"""Activation functions of neural networks, with their gradient ops.

Source: core/ops/nn_ops.cc, core/kernels/relu_op_functor.h, python/ops/nn_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.where_select import where
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import exp, sigmoid
from tfteach.ops.math.unary import negative

REALS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
)
FLOATS = dtypes_of("half bfloat16 float32 float64")
# Klambauer et al. 2017: the fixed point of mean 0 and variance 1.
SELU_SCALE = 1.0507009873554804934193349852946
SELU_SCALE_ALPHA = 1.7580993408473768599402175208123
# Elements from which zeros in an array are compared faster than one zero.
_MIN_VECTORIZED = 1 << 12


class _Activation(Op, abstract=True):
    is_elementwise: ClassVar[bool] = True

    def infer_shape(self, features: Shape) -> Shape:
        return features


class _ActivationGrad(Op, abstract=True):
    is_elementwise: ClassVar[bool] = True

    def infer_shape(self, gradients: Shape, features: Shape) -> Shape:
        return shapes.merge(gradients, features)

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        first, second = shapes
        message = (
            f"Inputs to operation {{name}} of type {self.op_type} must have the same "
            "size and shape.  Input 0: %s != input 1: %s"
        )
        require(first == second, message, first, second)


def _zeros_as(x: Tensor) -> Tensor:
    return fill.zeros(shape_ops.shape(x), x.dtype)


@with_card_kernel(lambda xp, features: xp.maximum(features, features.dtype.type(0)))
def _rectified(xp: ArrayModule, features: Any) -> Any:
    """max(x, 0).  NumPy vectorizes that for two arrays, not for a number."""
    if features.size < _MIN_VECTORIZED:
        return xp.maximum(features, features.dtype.type(0))
    zeros = xp.zeros_like(features)
    return xp.maximum(features, zeros, out=zeros)


class Relu(_Activation):
    """max(x, 0).  Source: core/ops/nn_ops.cc, Relu."""

    signature = "features: T -> activations: T"
    T = (*REALS, *dtypes_of("qint8"))

    def compute(self, xp: ArrayModule, features: Array) -> Any:
        return _rectified(xp, features)

    def scalar_expression(self, features: str) -> str:
        # Equals NumPy's maximum bitwise: NaN is preserved, -0 becomes 0.
        return f"(0 if {features} <= 0 else {features})"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [ReluGrad()(grad, op.outputs[0])]


class ReluGrad(_ActivationGrad):
    """The gradient where Relu's input (or output) is positive, otherwise 0.

    Source: core/ops/nn_ops.cc, ReluGrad.
    """

    signature = "gradients: T, features: T -> backprops: T"
    T = REALS
    is_mostly_zero: ClassVar[bool] = True

    def compute(self, xp: ArrayModule, gradients: Array, features: Array) -> Any:
        return gradients * (features > 0)

    def expression(self, gradients: str, features: str) -> str:
        return f"{gradients} * ({features} > 0)"

    def scalar_expression(self, gradients: str, features: str) -> str:
        return f"{gradients} * (1 if {features} > 0 else 0)"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x = op.inputs[1]
        return [ReluGrad()(grad, x), _zeros_as(x)]


class Relu6(_Activation):
    """min(max(x, 0), 6).  Source: core/ops/nn_ops.cc, Relu6."""

    signature = "features: T -> activations: T"
    T = REALS
    card_formula: ClassVar[str | None] = "minimum(maximum({0}, 0), 6)"

    def compute(self, xp: ArrayModule, features: Array) -> Any:
        return xp.minimum(_rectified(xp, features), features.dtype.type(6))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [Relu6Grad()(grad, op.outputs[0])]


class Relu6Grad(_ActivationGrad):
    """The gradient between 0 and 6, otherwise 0.

    Source: core/ops/nn_ops.cc, Relu6Grad.
    """

    signature = "gradients: T, features: T -> backprops: T"
    T = REALS
    card_formula: ClassVar[str | None] = "{0} * (1 if {1} > 0 and {1} < 6 else 0)"

    def compute(self, xp: ArrayModule, gradients: Array, features: Array) -> Any:
        return gradients * ((features > 0) & (features < 6))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x = op.inputs[1]
        return [Relu6Grad()(grad, x), _zeros_as(x)]


class Elu(_Activation):
    """x, or exp(x) - 1 below zero.  Source: core/ops/nn_ops.cc, Elu."""

    signature = "features: T -> activations: T"
    T = FLOATS
    card_formula: ClassVar[str | None] = "(expm1({0}) if {0} < 0 else {0})"

    def compute(self, xp: ArrayModule, features: Array) -> Any:
        return xp.where(features < 0, xp.expm1(features), features)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [EluGrad()(grad, op.outputs[0])]


class EluGrad(_ActivationGrad):
    """The gradient times Elu's slope, computed from Elu's outputs.

    Source: core/ops/nn_ops.cc, EluGrad.
    """

    signature = "gradients: T, outputs: T -> backprops: T"
    T = FLOATS
    card_formula: ClassVar[str | None] = "(({1} + 1) * {0} if {1} < 0 else {0})"

    def infer_shape(self, gradients: Shape, outputs: Shape) -> Shape:
        return shapes.merge(gradients, outputs)

    def compute(self, xp: ArrayModule, gradients: Array, outputs: Array) -> Any:
        return xp.where(outputs < 0, (outputs + 1) * gradients, gradients)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        y = op.inputs[1]
        by_gradient = EluGrad()(grad, y)
        bent = where(y < 0, grad * op.inputs[0], fill.zeros_like(y))
        return [by_gradient, bent]


class Selu(_Activation):
    """s x, or s a (exp(x) - 1) below zero.  Source: core/ops/nn_ops.cc, Selu."""

    signature = "features: T -> activations: T"
    T = FLOATS

    def compute(self, xp: ArrayModule, features: Array) -> Any:
        kind = features.dtype.type
        scale, below = kind(SELU_SCALE), kind(SELU_SCALE_ALPHA)
        return xp.where(features < 0, below * xp.expm1(features), scale * features)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [SeluGrad()(grad, op.outputs[0])]


class SeluGrad(_ActivationGrad):
    """The gradient times Selu's slope, computed from Selu's outputs.

    Source: core/ops/nn_ops.cc, SeluGrad.
    """

    signature = "gradients: T, outputs: T -> backprops: T"
    T = FLOATS

    def infer_shape(self, gradients: Shape, outputs: Shape) -> Shape:
        return shapes.merge(gradients, outputs)

    def compute(self, xp: ArrayModule, gradients: Array, outputs: Array) -> Any:
        kind = outputs.dtype.type
        slope = xp.where(
            outputs < 0, outputs + kind(SELU_SCALE_ALPHA), kind(SELU_SCALE)
        )
        return gradients * slope

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        y = op.inputs[1]
        by_gradient = SeluGrad()(grad, y)
        bent = where(y < 0.0, grad * op.inputs[0], fill.zeros_like(y))
        return [by_gradient, bent]


class LeakyRelu(_Activation):
    """x, or alpha x below zero.  Source: core/ops/nn_ops.cc, LeakyRelu."""

    signature = "features: T -> activations: T"
    alpha: float = 0.2
    T = FLOATS
    T_default = float32

    def compute(self, xp: ArrayModule, features: Array) -> Any:
        slope = features.dtype.type(np.float32(self.alpha))  # attributes are float32
        return xp.where(features > 0, features, features * slope)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [LeakyReluGrad(self.alpha)(grad, op.inputs[0])]


class LeakyReluGrad(_ActivationGrad):
    """The gradient, multiplied by alpha where the input is not positive.

    Source: core/ops/nn_ops.cc, LeakyReluGrad.
    """

    signature = "gradients: T, features: T -> backprops: T"
    alpha: float = 0.2
    T = FLOATS
    T_default = float32

    def compute(self, xp: ArrayModule, gradients: Array, features: Array) -> Any:
        slope = gradients.dtype.type(np.float32(self.alpha))
        return xp.where(features > 0, gradients, gradients * slope)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x = op.inputs[1]
        return [LeakyReluGrad(self.alpha)(grad, x), _zeros_as(x)]


class Softplus(_Activation):
    """log(1 + exp(x)).  Source: core/ops/nn_ops.cc, Softplus."""

    signature = "features: T -> activations: T"
    T = FLOATS
    card_formula: ClassVar[str | None] = "maximum({0}, 0) + log1p(exp(-abs({0})))"

    def compute(self, xp: ArrayModule, features: Array) -> Any:
        # exp of non-positive numbers only, so that it cannot overflow.
        positive = xp.maximum(features, features.dtype.type(0))
        return positive + xp.log1p(xp.exp(-abs(features)))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad * sigmoid(op.inputs[0])]


class SoftplusGrad(_ActivationGrad):
    """g / (1 + exp(-x)).  Source: core/ops/nn_ops.cc, SoftplusGrad."""

    signature = "gradients: T, features: T -> backprops: T"
    T = FLOATS
    card_formula: ClassVar[str | None] = "{0} / (exp(-{1}) + 1)"

    def compute(self, xp: ArrayModule, gradients: Array, features: Array) -> Any:
        return gradients / (xp.exp(-features) + 1)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        dy, x = op.inputs
        with get_default_graph().control_dependencies([grad]):
            by_gradient = SoftplusGrad()(grad, x)
            by_input = grad * dy / (exp(-x) + 2.0 + exp(x))
        return [by_gradient, by_input]


class Softsign(_Activation):
    """x / (1 + |x|).  Source: core/ops/nn_ops.cc, Softsign."""

    signature = "features: T -> activations: T"
    T = FLOATS

    def compute(self, xp: ArrayModule, features: Array) -> Any:
        return features / (abs(features) + 1)

    def expression(self, features: str) -> str:
        return f"{features} / (abs({features}) + 1)"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [SoftsignGrad()(grad, op.inputs[0])]


class SoftsignGrad(_ActivationGrad):
    """g / (1 + |x|)^2.  Source: core/ops/nn_ops.cc, SoftsignGrad."""

    signature = "gradients: T, features: T -> backprops: T"
    T = FLOATS

    def compute(self, xp: ArrayModule, gradients: Array, features: Array) -> Any:
        return gradients / (abs(features) + 1) ** 2


# ---- functions


@export("nn.relu")
def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """`max(x, 0)`, element-wise.

    Args:
      features: real Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor like `features`.

    Example:
      >>> tf.nn.relu([-1.0, 2.0])  # [0., 2.]

    Source: Nair and Hinton 2010; Relu in core/ops/nn_ops.cc.
    """
    return Relu()(features, name=name)


@export("nn.relu6")
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """`min(max(x, 0), 6)`; see `tf.nn.relu`.

    Source: Krizhevsky 2010; Relu6 in core/ops/nn_ops.cc.
    """
    with name_scope(name, "Relu6", [features]) as scope:
        features = convert(features, name="features")
        return Relu6()(features, name=scope)


@export("nn.elu")
def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """`x` if x > 0, else `exp(x) - 1`; see `tf.nn.relu`.

    Source: Clevert et al. 2015 (arXiv:1511.07289); Elu in core/ops/nn_ops.cc.
    """
    return Elu()(features, name=name)


@export("nn.selu")
def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """`1.0507 x` if x > 0, else `1.7581 (exp(x) - 1)`; see `tf.nn.relu`.

    Source: Klambauer et al. 2017 (arXiv:1706.02515); Selu in core/ops/nn_ops.cc.
    """
    return Selu()(features, name=name)


@export("nn.leaky_relu")
def leaky_relu(
    features: TensorLike, alpha: float = 0.2, name: str | None = None
) -> Tensor:
    """`x` if x > 0, else `alpha x`.

    Args:
      features: Tensor of floats, or of integers, which are converted to float32.
      alpha: the slope below zero, a number.
      name: the op's name.

    Returns:
      A float Tensor of the same shape.

    Example:
      >>> tf.nn.leaky_relu([-1.0, 2.0])  # [-0.2, 2.]

    Source: Maas et al. 2013; LeakyRelu in core/ops/nn_ops.cc.
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert(features, name="features")
        if features.dtype.is_integer:
            features = cast(features, float32)
        return LeakyRelu(float(alpha))(features, name=scope)


@export("nn.softplus", "math.softplus")
def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + exp(x))`; see `tf.nn.relu`.  Source: Softplus in core/ops/nn_ops.cc."""
    return Softplus()(features, name=name)


@export("nn.softsign", "math.softsign")
def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """`x / (1 + |x|)`; see `tf.nn.relu`.  Source: Softsign in core/ops/nn_ops.cc."""
    return Softsign()(features, name=name)


@export("nn.crelu")
def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """`relu(x)` and `relu(-x)`, concatenated.

    Args:
      features: real Tensor of rank 1 or more.
      name: the name scope of the ops.
      axis: the axis to concatenate along; its size doubles.

    Returns:
      A Tensor of the same type.

    Source: Shang et al. 2016 (arXiv:1603.05201).
    """
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert(features, name="features")
        both = concat([features, -features], axis, name=scope)
        return Relu()(both)


@export("math.log_sigmoid", "log_sigmoid")
def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the sigmoid, without underflow, element-wise.

    y = ln(1 / (1 + exp(-x))) = -softplus(-x)

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert(x, name="x")
        return negative(softplus(-x), name=scope)
