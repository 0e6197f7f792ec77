"""Update rules of gradient descent, momentum, Adagrad and Adam.

Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.ops.training.update_rules import (
    DenseRule,
    OnHandles,
    Rule,
    SparseRule,
    on_handles,
)

# ---- gradient descent


class ApplyGradientDescent(DenseRule):
    """var -= alpha * delta.  Source: training_ops.cc, ApplyGradientDescent."""

    signature = "var: ref T, alpha: T, delta: T -> out: ref T"
    formula = "var -= grad * alpha"


class ResourceApplyGradientDescent(OnHandles, ApplyGradientDescent):
    """var -= alpha * delta.  Source: training_ops.cc, ResourceApplyGradientDescent."""

    signature = on_handles(ApplyGradientDescent.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var",)


# ---- momentum


class _Momentum(Rule):
    use_nesterov: Any

    def formula_for(self, *scalars: Any) -> str:
        step = "accum * lr"
        if self.use_nesterov:
            step = "grad * lr + accum * momentum * lr"
        return f"accum *= momentum\naccum += grad\nvar -= {step}"


class ApplyMomentum(_Momentum, DenseRule):
    """accum = momentum accum + grad; var -= lr accum.

    Source: training_ops.cc, ApplyMomentum.
    """

    signature = "var: ref T, accum: ref T, lr: T, grad: T, momentum: T -> out: ref T"
    use_nesterov: bool = False


class ResourceApplyMomentum(OnHandles, ApplyMomentum):
    """ApplyMomentum for resource variables.

    Source: training_ops.cc, ResourceApplyMomentum.
    """

    signature = on_handles(ApplyMomentum.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


class SparseApplyMomentum(_Momentum, SparseRule):
    """ApplyMomentum for some rows.  Source: training_ops.cc, SparseApplyMomentum."""

    signature = (
        "var: ref T, accum: ref T, lr: T, grad: T, indices: Tindices, momentum: T "
        "-> out: ref T"
    )
    use_nesterov: bool = False


class ResourceSparseApplyMomentum(OnHandles, SparseApplyMomentum):
    """SparseApplyMomentum for resource variables.

    Source: training_ops.cc, ResourceSparseApplyMomentum.
    """

    signature = on_handles(SparseApplyMomentum.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


# ---- Adagrad


class _Adagrad(Rule):
    update_slots: Any

    def formula_for(self, *scalars: Any) -> str:
        step = "var -= grad * lr / sqrt(accum)"
        return f"accum += grad * grad\n{step}" if self.update_slots else step


class ApplyAdagrad(_Adagrad, DenseRule):
    """accum += grad^2; var -= lr grad / sqrt(accum).

    Source: training_ops.cc, ApplyAdagrad.
    """

    signature = "var: ref T, accum: ref T, lr: T, grad: T -> out: ref T"
    update_slots: bool = True


class ResourceApplyAdagrad(OnHandles, ApplyAdagrad):
    """ApplyAdagrad for resource variables.

    Source: training_ops.cc, ResourceApplyAdagrad.
    """

    signature = on_handles(ApplyAdagrad.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


class SparseApplyAdagrad(_Adagrad, SparseRule):
    """ApplyAdagrad for some rows.  Source: training_ops.cc, SparseApplyAdagrad."""

    signature = (
        "var: ref T, accum: ref T, lr: T, grad: T, indices: Tindices -> out: ref T"
    )
    update_slots: bool = True


class ResourceSparseApplyAdagrad(OnHandles, SparseApplyAdagrad):
    """SparseApplyAdagrad for resource variables.

    Source: training_ops.cc, ResourceSparseApplyAdagrad.
    """

    signature = on_handles(SparseApplyAdagrad.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


# ---- Adam


class ApplyAdam(DenseRule):
    """m += (1 - b1) (grad - m); v += (1 - b2) (grad^2 - v);
    var -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon).

    Source: Kingma and Ba 2014 (arXiv:1412.6980); training_ops.cc, ApplyAdam.
    """

    signature = (
        "var: ref T, m: ref T, v: ref T, beta1_power: T, beta2_power: T, lr: T, "
        "beta1: T, beta2: T, epsilon: T, grad: T -> out: ref T"
    )
    use_nesterov: bool = False

    def formula_for(self, *scalars: Any) -> str:
        mean = "m"
        if self.use_nesterov:
            mean = "(grad * (1 - beta1) + beta1 * m)"
        return f"""
            rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
            m += (grad - m) * (1 - beta1)
            v += (grad * grad - v) * (1 - beta2)
            var -= {mean} * rate / (sqrt(v) + epsilon)
        """


class ResourceApplyAdam(OnHandles, ApplyAdam):
    """ApplyAdam for resource variables.  Source: training_ops.cc, ResourceApplyAdam."""

    signature = on_handles(ApplyAdam.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m", "v")
