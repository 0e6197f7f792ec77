"""Update rules with a proximal step for l1 and l2 regularization.

Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.errors import invalid_argument
from tfteach.ops.training.update_rules import (
    DenseRule,
    OnHandles,
    Rule,
    SparseRule,
    check_not_negative,
    check_positive,
    on_handles,
)


def _shrunk(x: str, by: str) -> str:
    """The formula of x moved towards 0 by `by`, but not beyond 0."""
    return f"sign({x}) * maximum(abs({x}) - {by}, 0)"


def _check_strengths(lr: Any, l1: Any, l2: Any) -> None:
    check_positive(lr, "lr")
    check_not_negative(l1, "l1 regularization strength")
    check_not_negative(l2, "l2 regularization strength")


# ---- gradient descent


class _ProximalGradientDescent(Rule):
    def formula_for(self, alpha: Any, l1: Any, l2: Any) -> str:
        return self._formula(_shrunk("near", "alpha * l1") if l1 > 0 else "near")

    def card_formula_for(self, *scalars: Any) -> str:
        return self._formula(_shrunk("near", "alpha * l1"))

    @staticmethod
    def _formula(near: str) -> str:
        return f"near = var - grad * alpha\nvar = {near} / (1 + l2 * alpha)"


class ApplyProximalGradientDescent(_ProximalGradientDescent, DenseRule):
    """p = var - alpha delta; var = sign(p) max(|p| - alpha l1, 0) / (1 + alpha l2).

    Source: Duchi and Singer 2009; training_ops.cc, ApplyProximalGradientDescent.
    """

    signature = "var: ref T, alpha: T, l1: T, l2: T, delta: T -> out: ref T"


class ResourceApplyProximalGradientDescent(OnHandles, ApplyProximalGradientDescent):
    """ApplyProximalGradientDescent for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyProximalGradientDescent.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var",)


class SparseApplyProximalGradientDescent(_ProximalGradientDescent, SparseRule):
    """ApplyProximalGradientDescent for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, alpha: T, l1: T, l2: T, grad: T, indices: Tindices -> out: ref T"
    )


class ResourceSparseApplyProximalGradientDescent(
    OnHandles, SparseApplyProximalGradientDescent
):
    """SparseApplyProximalGradientDescent for resource variables.

    Source: training_ops.cc.
    """

    signature = on_handles(SparseApplyProximalGradientDescent.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var",)


# ---- Adagrad


class _ProximalAdagrad(Rule):
    def formula_for(self, lr: Any, l1: Any, l2: Any) -> str:
        _check_strengths(lr, l1, l2)
        return self._formula(_shrunk("near", "rate * l1") if l1 > 0 else "near")

    def card_formula_for(self, *scalars: Any) -> str:
        return self._formula(_shrunk("near", "rate * l1"))

    @staticmethod
    def _formula(near: str) -> str:
        return f"""
            accum += grad * grad
            rate = lr / sqrt(accum)
            near = var - grad * rate
            var = {near} / (1 + l2 * rate)
        """


class ApplyProximalAdagrad(_ProximalAdagrad, DenseRule):
    """accum += grad^2; r = lr / sqrt(accum); p = var - r grad;
    var = sign(p) max(|p| - r l1, 0) / (1 + r l2).

    Source: training_ops.cc, ApplyProximalAdagrad.
    """

    signature = "var: ref T, accum: ref T, lr: T, l1: T, l2: T, grad: T -> out: ref T"


class ResourceApplyProximalAdagrad(OnHandles, ApplyProximalAdagrad):
    """ApplyProximalAdagrad for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyProximalAdagrad.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


class SparseApplyProximalAdagrad(_ProximalAdagrad, SparseRule):
    """ApplyProximalAdagrad for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, lr: T, l1: T, l2: T, grad: T, indices: Tindices "
        "-> out: ref T"
    )


class ResourceSparseApplyProximalAdagrad(OnHandles, SparseApplyProximalAdagrad):
    """SparseApplyProximalAdagrad for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyProximalAdagrad.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


# ---- Adagrad's dual averaging


class _AdagradDA(Rule):
    def formula_for(self, lr: Any, l1: Any, l2: Any, global_step: Any) -> str:
        return self._formula(self._NEAR if l1 > 0 else "gradient_accumulator")

    def card_formula_for(self, *scalars: Any) -> str:
        return self._formula(self._NEAR)

    _NEAR: ClassVar[str] = f"({_shrunk('gradient_accumulator', 'l1 * global_step')})"

    @staticmethod
    def _formula(near: str) -> str:
        return f"""
            gradient_accumulator += grad
            gradient_squared_accumulator += grad * grad
            scale = l2 * global_step * lr + sqrt(gradient_squared_accumulator)
            var = -lr * {near} / scale
        """


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


class ResourceApplyAdagradDA(OnHandles, ApplyAdagradDA):
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


class ResourceSparseApplyAdagradDA(OnHandles, SparseApplyAdagradDA):
    """SparseApplyAdagradDA for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyAdagradDA.signature)
    by_handle: ClassVar[tuple[str, ...]] = _DUAL


# ---- follow the regularized leader


def _check_ftrl(lr: Any, l1: Any, l2: Any, lr_power: Any) -> None:
    _check_strengths(lr, l1, l2)
    if lr_power > 0:
        raise invalid_argument("lr_power is not a non-positive scalar: []")


_ROOT, _POWER = "sqrt(accum)", "power(accum, -lr_power)"
_SHRUNK_GRAD = "(grad + 2 * l2_shrinkage * var)"


def _ftrl_formula(power: str, pulled: str = "grad") -> str:
    """n += grad^2; z += grad - (n^-p - n_old^-p) / lr var;
    var = -sign(z) max(|z| - l1, 0) / (n^-p / lr + 2 l2), where p is `lr_power`."""
    return f"""
        old = {power}
        accum += grad * grad
        new = {power}
        linear += {pulled} - (new - old) / lr * var
        var = -({_shrunk("linear", "l1")}) / (new / lr + 2 * l2)
    """


class _Ftrl(Rule):
    def formula_for(self, lr: Any, l1: Any, l2: Any, lr_power: Any) -> str:
        _check_ftrl(lr, l1, l2, lr_power)
        return _ftrl_formula(_ROOT if lr_power == -0.5 else _POWER)

    def card_formula_for(self, *scalars: Any) -> str:
        return _ftrl_formula(_POWER)


class _FtrlV2(Rule):
    def formula_for(
        self, lr: Any, l1: Any, l2: Any, shrinkage: Any, lr_power: Any
    ) -> str:
        _check_ftrl(lr, l1, l2, lr_power)
        check_not_negative(shrinkage, "l2 shrinkage regularization strength")
        power = _ROOT if lr_power == -0.5 else _POWER
        return _ftrl_formula(power, _SHRUNK_GRAD)

    def card_formula_for(self, *scalars: Any) -> str:
        return _ftrl_formula(_POWER, _SHRUNK_GRAD)


_LEADER = ("var", "accum", "linear")


class ApplyFtrl(_Ftrl, DenseRule):
    """The best weights for all past gradients, with l1 and l2 regularization.

    Source: McMahan et al. 2013 (ad click prediction); training_ops.cc, ApplyFtrl.
    """

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, lr: T, l1: T, l2: T, "
        "lr_power: T -> out: ref T"
    )


class ResourceApplyFtrl(OnHandles, ApplyFtrl):
    """ApplyFtrl for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyFtrl.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER


class SparseApplyFtrl(_Ftrl, SparseRule):
    """ApplyFtrl for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, indices: Tindices, lr: T, "
        "l1: T, l2: T, lr_power: T -> out: ref T"
    )


class ResourceSparseApplyFtrl(OnHandles, SparseApplyFtrl):
    """SparseApplyFtrl for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyFtrl.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER


class ApplyFtrlV2(_FtrlV2, DenseRule):
    """ApplyFtrl whose gradients also shrink `var`.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, lr: T, l1: T, l2: T, "
        "l2_shrinkage: T, lr_power: T -> out: ref T"
    )


class ResourceApplyFtrlV2(OnHandles, ApplyFtrlV2):
    """ApplyFtrlV2 for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyFtrlV2.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER


class SparseApplyFtrlV2(_FtrlV2, SparseRule):
    """ApplyFtrlV2 for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, linear: ref T, grad: T, indices: Tindices, lr: T, "
        "l1: T, l2: T, l2_shrinkage: T, lr_power: T -> out: ref T"
    )


class ResourceSparseApplyFtrlV2(OnHandles, SparseApplyFtrlV2):
    """SparseApplyFtrlV2 for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyFtrlV2.signature)
    by_handle: ClassVar[tuple[str, ...]] = _LEADER
