"""Update rules that scale by the size or the sign of past gradients.

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

# ---- Adadelta


class _Adadelta(Rule):
    formula = """
        accum = accum * rho + grad * grad * (1 - rho)
        change = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * grad
        var -= change * lr
        accum_update = accum_update * rho + change * change * (1 - rho)
    """


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


class ResourceApplyAdadelta(OnHandles, ApplyAdadelta):
    """ApplyAdadelta for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyAdadelta.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum", "accum_update")


class SparseApplyAdadelta(_Adadelta, SparseRule):
    """ApplyAdadelta for some rows.  Source: training_ops.cc."""

    signature = (
        "var: ref T, accum: ref T, accum_update: ref T, lr: T, rho: T, epsilon: T, "
        "grad: T, indices: Tindices -> out: ref T"
    )


class ResourceSparseApplyAdadelta(OnHandles, SparseApplyAdadelta):
    """SparseApplyAdadelta for resource variables.  Source: training_ops.cc."""

    signature = on_handles(SparseApplyAdadelta.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum", "accum_update")


# ---- Adagrad with an epsilon


class _AdagradV2(Rule):
    update_slots: Any

    def formula_for(self, *scalars: Any) -> str:
        step = "var -= grad * lr / (sqrt(accum) + epsilon)"
        return f"accum += grad * grad\n{step}" if self.update_slots else step


class ApplyAdagradV2(_AdagradV2, DenseRule):
    """accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon).

    Source: training_ops.cc, ApplyAdagradV2.
    """

    signature = "var: ref T, accum: ref T, lr: T, epsilon: T, grad: T -> out: ref T"
    update_slots: bool = True


class ResourceApplyAdagradV2(OnHandles, ApplyAdagradV2):
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


class ResourceSparseApplyAdagradV2(OnHandles, SparseApplyAdagradV2):
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

    formula = """
        rate = lr / (1 - beta1_power)
        m += (grad - m) * (1 - beta1)
        v = maximum(v * beta2, abs(grad))
        var -= rate * m / (v + epsilon)
    """


class ResourceApplyAdaMax(OnHandles, ApplyAdaMax):
    """ApplyAdaMax for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyAdaMax.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m", "v")


class ResourceApplyAdamWithAmsgrad(OnHandles, DenseRule):
    """Adam divided by vhat, the maximum of all v so far.

    Source: Reddi et al. 2018 (arXiv:1904.09237); training_ops.cc.
    """

    signature = (
        "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, "
        "beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m", "v", "vhat")

    formula = """
        rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
        m += (grad - m) * (1 - beta1)
        v += (grad * grad - v) * (1 - beta2)
        vhat = maximum(vhat, v)
        var -= m * rate / (sqrt(vhat) + epsilon)
    """


# ---- momentum that accumulates the step itself


class _KerasMomentum(Rule):
    use_nesterov: Any

    def formula_for(self, *scalars: Any) -> str:
        step = "accum * momentum - grad * lr" if self.use_nesterov else "accum"
        return f"accum = accum * momentum - grad * lr\nvar += {step}"


class ResourceApplyKerasMomentum(_KerasMomentum, OnHandles, DenseRule):
    """accum = momentum accum - lr grad; var += accum.  Source: training_ops.cc."""

    signature = "var: resource, accum: resource, lr: T, grad: T, momentum: T ->"
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")
    use_nesterov: bool = False


class ResourceSparseApplyKerasMomentum(_KerasMomentum, OnHandles, SparseRule):
    """ResourceApplyKerasMomentum for some rows.  Source: training_ops.cc."""

    signature = (
        "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, "
        "momentum: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")
    use_nesterov: bool = False


# ---- rules based on the gradient's sign


class ApplyAddSign(DenseRule):
    """m = beta m + (1 - beta) grad;
    var -= lr (alpha + sign_decay sign(grad) sign(m)) grad.

    Source: Bello et al. 2017 (arXiv:1709.07417); training_ops.cc, ApplyAddSign.
    """

    signature = (
        "var: ref T, m: ref T, lr: T, alpha: T, sign_decay: T, beta: T, grad: T "
        "-> out: ref T"
    )

    formula = """
        m = m * beta + grad * (1 - beta)
        var -= lr * (alpha + sign_decay * (sign(grad) * sign(m))) * grad
    """


class ResourceApplyAddSign(OnHandles, ApplyAddSign):
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

    formula = """
        m = m * beta + grad * (1 - beta)
        var -= lr * exp(logbase * sign_decay * (sign(grad) * sign(m))) * grad
    """


class ResourceApplyPowerSign(OnHandles, ApplyPowerSign):
    """ApplyPowerSign for resource variables.  Source: training_ops.cc."""

    signature = on_handles(ApplyPowerSign.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m")
