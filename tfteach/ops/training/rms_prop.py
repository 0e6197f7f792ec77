"""RMSProp's update rules, plain and centered.

Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.type_aliases import ArrayModule, KernelContext
from tfteach.framework.variable_cell import Cell
from tfteach.ops.training.jit_update_rules import Step
from tfteach.ops.training.training_ops import (
    _Dense,
    _Resource,
    _Sparse,
    update,
    update_rows,
)


def rms_prop_step(lr: Any, rho: Any, momentum: Any, epsilon: Any) -> Step:
    """ms: average of grad^2; mom = momentum mom + lr grad / sqrt(ms + epsilon)."""
    rest = 1 - rho

    def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
        var, ms, mom = state
        s, t = spare
        xp.multiply(grad, grad, out=s)
        xp.subtract(s, ms, out=s)
        xp.multiply(s, rest, out=s)
        xp.add(ms, s, out=ms)
        xp.add(ms, epsilon, out=s)
        _move(xp, var, mom, grad, s, t, lr, momentum)

    return step


def centered_step(lr: Any, rho: Any, momentum: Any, epsilon: Any) -> Step:
    """RMSProp with the variance ms - mg^2 instead of the mean square ms."""
    rest = 1 - rho

    def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
        var, mg, ms, mom = state
        s, t = spare
        xp.multiply(grad, grad, out=s)
        xp.subtract(s, ms, out=s)
        xp.multiply(s, rest, out=s)
        xp.add(ms, s, out=ms)
        xp.subtract(grad, mg, out=s)
        xp.multiply(s, rest, out=s)
        xp.add(mg, s, out=mg)
        xp.multiply(mg, mg, out=s)
        xp.subtract(ms, s, out=s)
        xp.add(s, epsilon, out=s)
        _move(xp, var, mom, grad, s, t, lr, momentum)

    return step


def _move(
    xp: ArrayModule,
    var: Any,
    mom: Any,
    grad: Any,
    s: Any,
    t: Any,
    lr: Any,
    momentum: Any,
) -> None:
    """mom = momentum mom + lr grad / sqrt(s); var -= mom."""
    xp.sqrt(s, out=s)
    xp.multiply(grad, lr, out=t)
    xp.divide(t, s, out=t)
    xp.multiply(mom, momentum, out=mom)
    xp.add(mom, t, out=mom)
    xp.subtract(var, mom, out=var)


class ApplyRMSProp(_Dense):
    """ms = rho ms + (1 - rho) grad^2;
    mom = momentum mom + lr grad / sqrt(ms + epsilon); var -= mom.

    Source: Tieleman and Hinton 2012; training_ops.cc, ApplyRMSProp.
    """

    signature = (
        "var: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, epsilon: T, "
        "grad: T -> out: ref T"
    )
    use_locking: bool = False

    def compute(
        self, ctx: KernelContext, var: Cell, ms: Cell, mom: Cell, *rest: Any
    ) -> Any:
        *scalars, grad = rest
        update(ctx, (var, ms, mom), grad, rms_prop_step(*scalars), 2)
        return var


class ResourceApplyRMSProp(_Resource, ApplyRMSProp):
    """ApplyRMSProp for resource variables.

    Source: training_ops.cc, ResourceApplyRMSProp.
    """

    signature = (
        "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, "
        "epsilon: T, grad: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "ms", "mom")


class SparseApplyRMSProp(_Sparse):
    """ApplyRMSProp for some rows.  Source: training_ops.cc, SparseApplyRMSProp."""

    signature = (
        "var: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, epsilon: T, "
        "grad: T, indices: Tindices -> out: ref T"
    )
    use_locking: bool = False

    def compute(
        self, ctx: KernelContext, var: Cell, ms: Cell, mom: Cell, *rest: Any
    ) -> Any:
        *scalars, grad, indices = rest
        step = rms_prop_step(*scalars)
        update_rows(ctx, (var, ms, mom), grad, indices, step, 2)
        return var


class ResourceSparseApplyRMSProp(_Resource, SparseApplyRMSProp):
    """SparseApplyRMSProp on handles.

    Source: training_ops.cc, ResourceSparseApplyRMSProp.
    """

    signature = (
        "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, "
        "epsilon: T, grad: T, indices: Tindices ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "ms", "mom")


class ApplyCenteredRMSProp(_Dense):
    """RMSProp with the gradients' variance ms - mg^2, where mg is their moving average.

    Source: Graves 2013 (arXiv:1308.0850); training_ops.cc, ApplyCenteredRMSProp.
    """

    signature = (
        "var: ref T, mg: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, "
        "epsilon: T, grad: T -> out: ref T"
    )
    use_locking: bool = False

    def compute(
        self, ctx: KernelContext, var: Cell, mg: Cell, ms: Cell, mom: Cell, *rest: Any
    ) -> Any:
        *scalars, grad = rest
        update(ctx, (var, mg, ms, mom), grad, centered_step(*scalars), 2)
        return var


class ResourceApplyCenteredRMSProp(_Resource, ApplyCenteredRMSProp):
    """ApplyCenteredRMSProp on handles.

    Source: training_ops.cc, ResourceApplyCenteredRMSProp.
    """

    signature = (
        "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, "
        "momentum: T, epsilon: T, grad: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "mg", "ms", "mom")


class SparseApplyCenteredRMSProp(_Sparse):
    """ApplyCenteredRMSProp on some rows.

    Source: training_ops.cc, SparseApplyCenteredRMSProp.
    """

    signature = (
        "var: ref T, mg: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, "
        "epsilon: T, grad: T, indices: Tindices -> out: ref T"
    )
    use_locking: bool = False

    def compute(
        self, ctx: KernelContext, var: Cell, mg: Cell, ms: Cell, mom: Cell, *rest: Any
    ) -> Any:
        *scalars, grad, indices = rest
        step = centered_step(*scalars)
        update_rows(ctx, (var, mg, ms, mom), grad, indices, step, 2)
        return var


class ResourceSparseApplyCenteredRMSProp(_Resource, SparseApplyCenteredRMSProp):
    """SparseApplyCenteredRMSProp on handles.

    Source: training_ops.cc, ResourceSparseApplyCenteredRMSProp.
    """

    signature = (
        "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, "
        "momentum: T, epsilon: T, grad: T, indices: Tindices ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "mg", "ms", "mom")
