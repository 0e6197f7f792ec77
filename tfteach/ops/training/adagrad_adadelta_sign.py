"""Update rules that scale by the size or the sign of past gradients.

Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.training.jit_update_rules import Step
from tfteach.ops.training.training_ops import _Resource
from tfteach.ops.training.update_rules import DenseRule, Rule, SparseRule, on_handles

# ---- Adadelta


class _Adadelta(Rule):
    def step(self, lr: Any, rho: Any, epsilon: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, accum, accum_update = state
            accum *= rho
            accum += grad * grad * (1 - rho)
            change = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon)
            change *= grad
            var -= change * lr
            accum_update *= rho
            accum_update += change * change * (1 - rho)

        return step


class ApplyAdadelta(_Adadelta, DenseRule):
    """accum = rho accum + (1 - rho) grad^2;
    change = grad sqrt(accum_update + epsilon) / sqrt(accum + epsilon);
    accum_update = rho accum_update + (1 - rho) change^2; var -= lr change.

    Source: Zeiler 2012 (arXiv:1212.5701); training_ops.cc, ApplyAdadelta.
    """

    signature = (
        "var: ref T, accum: ref T, accum_update: ref T, lr: T, rho: T, epsilon: T, "
        "grad: T -> out: ref T"
    )


class ResourceApplyAdadelta(_Resource, ApplyAdadelta):
    """ApplyAdadelta for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyAdadelta.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum", "accum_update")


class SparseApplyAdadelta(_Adadelta, SparseRule):
    """ApplyAdadelta for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, accum_update: ref T, lr: T, rho: T, epsilon: T, "
        "grad: T, indices: Tindices -> out: ref T"
    )


class ResourceSparseApplyAdadelta(_Resource, SparseApplyAdadelta):
    """SparseApplyAdadelta for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyAdadelta.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum", "accum_update")


# ---- Adagrad with an epsilon


class _AdagradV2(Rule):
    update_slots: Any

    def step(self, lr: Any, epsilon: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, accum = state
            if self.update_slots:
                accum += grad * grad
            var -= grad * lr / (xp.sqrt(accum) + epsilon)

        return step


class ApplyAdagradV2(_AdagradV2, DenseRule):
    """accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon).

    Source: training_ops.cc, ApplyAdagradV2.
    """

    signature = "var: ref T, accum: ref T, lr: T, epsilon: T, grad: T -> out: ref T"
    update_slots: bool = True


class ResourceApplyAdagradV2(_Resource, ApplyAdagradV2):
    """ApplyAdagradV2 for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyAdagradV2.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


class SparseApplyAdagradV2(_AdagradV2, SparseRule):
    """ApplyAdagradV2 for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, lr: T, epsilon: T, grad: T, indices: Tindices "
        "-> out: ref T"
    )
    update_slots: bool = True


class ResourceSparseApplyAdagradV2(_Resource, SparseApplyAdagradV2):
    """SparseApplyAdagradV2 for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyAdagradV2.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


# ---- relatives of Adam


class ApplyAdaMax(DenseRule):
    """m += (1 - b1) (grad - m); v = max(b2 v, |grad|);
    var -= lr / (1 - b1^t) m / (v + epsilon).

    Source: Kingma and Ba 2014 (arXiv:1412.6980), section 7.1; training_ops.cc.
    """

    signature = (
        "var: ref T, m: ref T, v: ref T, beta1_power: T, lr: T, beta1: T, beta2: T, "
        "epsilon: T, grad: T -> out: ref T"
    )

    def step(
        self, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any
    ) -> Step:
        rate = lr / (1 - beta1_power)

        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, m, v = state
            m += (grad - m) * (1 - beta1)
            v[...] = xp.maximum(v * beta2, abs(grad))
            var -= rate * m / (v + epsilon)

        return step


class ResourceApplyAdaMax(_Resource, ApplyAdaMax):
    """ApplyAdaMax for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyAdaMax.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m", "v")


class ResourceApplyAdamWithAmsgrad(_Resource, DenseRule):
    """Adam divided by vhat, the maximum of all v so far.

    Source: Reddi et al. 2018 (arXiv:1904.09237); training_ops.cc.
    """

    signature = (
        "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, "
        "beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m", "v", "vhat")

    def step(
        self, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any,
        epsilon: Any,
    ) -> Step:  # fmt: skip
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, m, v, vhat = state
            rate = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
            m += (grad - m) * (1 - beta1)
            v += (grad * grad - v) * (1 - beta2)
            xp.maximum(vhat, v, out=vhat)
            var -= m * rate / (xp.sqrt(vhat) + epsilon)

        return step


# ---- momentum that accumulates the step itself


class _KerasMomentum(Rule):
    use_nesterov: Any

    def step(self, lr: Any, momentum: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, accum = state
            accum *= momentum
            accum -= grad * lr
            var += accum * momentum - grad * lr if self.use_nesterov else accum

        return step


class ResourceApplyKerasMomentum(_KerasMomentum, _Resource, DenseRule):
    """accum = momentum accum - lr grad; var += accum.  Source: training_ops.cc."""

    signature = "var: resource, accum: resource, lr: T, grad: T, momentum: T ->"
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")
    use_nesterov: bool = False


class ResourceSparseApplyKerasMomentum(_KerasMomentum, _Resource, SparseRule):
    """ResourceApplyKerasMomentum for some rows.  Source: training_ops.cc."""

    signature = (
        "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, "
        "momentum: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")
    use_nesterov: bool = False


# ---- rules based on the gradient's sign


def _agreement(xp: ArrayModule, m: Any, grad: Any, beta: Any) -> Any:
    """Move the mean `m` towards `grad`; returns 1 where signs agree, otherwise -1."""
    m *= beta
    m += grad * (1 - beta)
    return xp.sign(grad) * xp.sign(m)


class ApplyAddSign(DenseRule):
    """m = beta m + (1 - beta) grad;
    var -= lr (alpha + sign_decay sign(grad) sign(m)) grad.

    Source: Bello et al. 2017 (arXiv:1709.07417); training_ops.cc, ApplyAddSign.
    """

    signature = (
        "var: ref T, m: ref T, lr: T, alpha: T, sign_decay: T, beta: T, grad: T "
        "-> out: ref T"
    )

    def step(self, lr: Any, alpha: Any, sign_decay: Any, beta: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, m = state
            agree = _agreement(xp, m, grad, beta)
            var -= lr * (alpha + sign_decay * agree) * grad

        return step


class ResourceApplyAddSign(_Resource, ApplyAddSign):
    """ApplyAddSign for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyAddSign.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m")


class ApplyPowerSign(DenseRule):
    """m = beta m + (1 - beta) grad;
    var -= lr exp(logbase sign_decay sign(grad) sign(m)) grad.

    Source: Bello et al. 2017 (arXiv:1709.07417); training_ops.cc, ApplyPowerSign.
    """

    signature = (
        "var: ref T, m: ref T, lr: T, logbase: T, sign_decay: T, beta: T, grad: T "
        "-> out: ref T"
    )

    def step(self, lr: Any, logbase: Any, sign_decay: Any, beta: Any) -> Step:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, m = state
            agree = _agreement(xp, m, grad, beta)
            var -= lr * xp.exp(logbase * sign_decay * agree) * grad

        return step


class ResourceApplyPowerSign(_Resource, ApplyPowerSign):
    """ApplyPowerSign for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyPowerSign.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m")
