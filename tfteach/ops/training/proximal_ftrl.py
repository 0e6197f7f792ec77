"""Update rules with a proximal step for l1 and l2 regularization.

Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.errors import invalid_argument
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.training.jit_update_rules import Step
from tfteach.ops.training.training_ops import _Resource
from tfteach.ops.training.update_rules import (
    DenseRule,
    Rule,
    SparseRule,
    check_not_negative,
    check_positive,
    on_handles,
)


def shrunk(xp: ArrayModule, x: Any, by: Any) -> Any:
    """x moved towards 0 by `by`, but not beyond 0."""
    return xp.sign(x) * xp.maximum(abs(x) - by, 0)


def _check_strengths(lr: Any, l1: Any, l2: Any) -> None:
    check_positive(lr, "lr")
    check_not_negative(l1, "l1 regularization strength")
    check_not_negative(l2, "l2 regularization strength")


# ---- gradient descent


class _ProximalGradientDescent(Rule):
    def step(self, alpha: Any, l1: Any, l2: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            (var,) = state
            near = var - grad * alpha
            if l1 > 0:
                near = shrunk(xp, near, alpha * l1)
            var[...] = near / (1 + l2 * alpha)

        return step


class ApplyProximalGradientDescent(_ProximalGradientDescent, DenseRule):
    """p = var - alpha delta; var = sign(p) max(|p| - alpha l1, 0) / (1 + alpha l2).

    Source: Duchi and Singer 2009; training_ops.cc, ApplyProximalGradientDescent.
    """

    signature = "var: ref T, alpha: T, l1: T, l2: T, delta: T -> out: ref T"


class ResourceApplyProximalGradientDescent(_Resource, ApplyProximalGradientDescent):
    """ApplyProximalGradientDescent for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyProximalGradientDescent.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var",)


class SparseApplyProximalGradientDescent(_ProximalGradientDescent, SparseRule):
    """ApplyProximalGradientDescent for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, alpha: T, l1: T, l2: T, grad: T, indices: Tindices -> out: ref T"
    )


class ResourceSparseApplyProximalGradientDescent(
    _Resource, SparseApplyProximalGradientDescent
):
    """SparseApplyProximalGradientDescent for resource variables.

    Source: training_ops.cc.
    """

    signature = on_handles(SparseApplyProximalGradientDescent.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var",)


# ---- Adagrad


class _ProximalAdagrad(Rule):
    def check(self, lr: Any, l1: Any, l2: Any) -> None:
        _check_strengths(lr, l1, l2)

    def step(self, lr: Any, l1: Any, l2: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, accum = state
            accum += grad * grad
            rate = lr / xp.sqrt(accum)
            near = var - grad * rate
            if l1 > 0:
                near = shrunk(xp, near, rate * l1)
            var[...] = near / (1 + l2 * rate)

        return step


class ApplyProximalAdagrad(_ProximalAdagrad, DenseRule):
    """accum += grad^2; r = lr / sqrt(accum); p = var - r grad;
    var = sign(p) max(|p| - r l1, 0) / (1 + r l2).

    Source: training_ops.cc, ApplyProximalAdagrad.
    """

    signature = "var: ref T, accum: ref T, lr: T, l1: T, l2: T, grad: T -> out: ref T"


class ResourceApplyProximalAdagrad(_Resource, ApplyProximalAdagrad):
    """ApplyProximalAdagrad for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyProximalAdagrad.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


class SparseApplyProximalAdagrad(_ProximalAdagrad, SparseRule):
    """ApplyProximalAdagrad for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, lr: T, l1: T, l2: T, grad: T, indices: Tindices "
        "-> out: ref T"
    )


class ResourceSparseApplyProximalAdagrad(_Resource, SparseApplyProximalAdagrad):
    """SparseApplyProximalAdagrad for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyProximalAdagrad.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


# ---- Adagrad's dual averaging


class _AdagradDA(Rule):
    def step(self, lr: Any, l1: Any, l2: Any, global_step: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, total, squares = state
            steps = global_step.astype(grad.dtype)
            total += grad
            squares += grad * grad
            near = shrunk(xp, total, l1 * steps) if l1 > 0 else total
            var[...] = -lr * near / (l2 * steps * lr + xp.sqrt(squares))

        return step


class ApplyAdagradDA(_AdagradDA, DenseRule):
    """G += grad; S += grad^2; step T:
    var = -lr sign(G) max(|G| - l1 T, 0) / (l2 T lr + sqrt(S)).

    Source: Duchi et al. 2011; training_ops.cc, ApplyAdagradDA.
    """

    signature = (
        "var: ref T, gradient_accumulator: ref T, gradient_squared_accumulator: ref T, "
        "grad: T, lr: T, l1: T, l2: T, global_step: int64 -> out: ref T"
    )


_DUAL = ("var", "gradient_accumulator", "gradient_squared_accumulator")


class ResourceApplyAdagradDA(_Resource, ApplyAdagradDA):
    """ApplyAdagradDA for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyAdagradDA.signature)
    by_handle: ClassVar[tuple[str, ...]] = _DUAL


class SparseApplyAdagradDA(_AdagradDA, SparseRule):
    """ApplyAdagradDA for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, gradient_accumulator: ref T, gradient_squared_accumulator: ref T, "
        "grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64 "
        "-> out: ref T"
    )


class ResourceSparseApplyAdagradDA(_Resource, SparseApplyAdagradDA):
    """SparseApplyAdagradDA for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyAdagradDA.signature)
    by_handle: ClassVar[tuple[str, ...]] = _DUAL


# ---- follow the regularized leader


def _check_ftrl(lr: Any, l1: Any, l2: Any, lr_power: Any) -> None:
    _check_strengths(lr, l1, l2)
    if lr_power > 0:
        raise invalid_argument("lr_power is not a non-positive scalar: []")


def ftrl_step(lr: Any, l1: Any, l2: Any, lr_power: Any, shrinkage: Any = None) -> Step:
    """n += grad^2; z += grad - (n^-p - n_old^-p) / lr var;
    var = -sign(z) max(|z| - l1, 0) / (n^-p / lr + 2 l2), where p is `lr_power`."""

    def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
        var, accum, linear = state
        pulled = grad if shrinkage is None else grad + 2 * shrinkage * var
        power = xp.sqrt if lr_power == -0.5 else lambda x: x**-lr_power
        old = power(accum)
        accum += grad * grad
        new = power(accum)
        linear += pulled - (new - old) / lr * var
        var[...] = -shrunk(xp, linear, l1) / (new / lr + 2 * l2)

    return step


class _Ftrl(Rule):
    def check(self, lr: Any, l1: Any, l2: Any, lr_power: Any) -> None:
        _check_ftrl(lr, l1, l2, lr_power)

    def step(self, lr: Any, l1: Any, l2: Any, lr_power: Any) -> Step:
        return ftrl_step(lr, l1, l2, lr_power)


class _FtrlV2(Rule):
    def check(self, lr: Any, l1: Any, l2: Any, shrinkage: Any, lr_power: Any) -> None:
        _check_ftrl(lr, l1, l2, lr_power)
        check_not_negative(shrinkage, "l2 shrinkage regularization strength")

    def step(self, lr: Any, l1: Any, l2: Any, shrinkage: Any, lr_power: Any) -> Step:
        return ftrl_step(lr, l1, l2, lr_power, shrinkage)


_LEADER = ("var", "accum", "linear")


class ApplyFtrl(_Ftrl, DenseRule):
    """The best weights for all past gradients, with l1 and l2 regularization.

    Source: McMahan et al. 2013 (ad click prediction); training_ops.cc, ApplyFtrl.
    """

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, lr: T, l1: T, l2: T, "
        "lr_power: T -> out: ref T"
    )


class ResourceApplyFtrl(_Resource, ApplyFtrl):
    """ApplyFtrl for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyFtrl.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER


class SparseApplyFtrl(_Ftrl, SparseRule):
    """ApplyFtrl for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, indices: Tindices, lr: T, "
        "l1: T, l2: T, lr_power: T -> out: ref T"
    )


class ResourceSparseApplyFtrl(_Resource, SparseApplyFtrl):
    """SparseApplyFtrl for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyFtrl.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER


class ApplyFtrlV2(_FtrlV2, DenseRule):
    """ApplyFtrl whose gradients also shrink `var`.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, lr: T, l1: T, l2: T, "
        "l2_shrinkage: T, lr_power: T -> out: ref T"
    )


class ResourceApplyFtrlV2(_Resource, ApplyFtrlV2):
    """ApplyFtrlV2 for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyFtrlV2.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER


class SparseApplyFtrlV2(_FtrlV2, SparseRule):
    """ApplyFtrlV2 for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, indices: Tindices, lr: T, "
        "l1: T, l2: T, l2_shrinkage: T, lr_power: T -> out: ref T"
    )


class ResourceSparseApplyFtrlV2(_Resource, SparseApplyFtrlV2):
    """SparseApplyFtrlV2 for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyFtrlV2.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER
