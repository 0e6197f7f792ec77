"""RMSProp's update rules, plain and centered.

Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

from typing import ClassVar

from tfteach.ops.training.update_rules import (
    DenseRule,
    OnHandles,
    Rule,
    SparseRule,
    on_handles,
)


class _RMSProp(Rule):
    formula = """
        ms += (grad * grad - ms) * (1 - rho)
        mom *= momentum
        mom += grad * lr / sqrt(ms + epsilon)
        var -= mom
    """


class _CenteredRMSProp(Rule):
    formula = """
        ms += (grad * grad - ms) * (1 - rho)
        mg += (grad - mg) * (1 - rho)
        mom *= momentum
        mom += grad * lr / sqrt(ms - mg * mg + epsilon)
        var -= mom
    """


class ApplyRMSProp(_RMSProp, DenseRule):
    """ms = rho ms + (1 - rho) grad^2;
    mom = momentum mom + lr grad / sqrt(ms + epsilon); var -= mom.

    Source: Tieleman and Hinton 2012; training_ops.cc, ApplyRMSProp.
    """

    signature = (
        "var: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, epsilon: T, "
        "grad: T -> out: ref T"
    )


class ResourceApplyRMSProp(OnHandles, ApplyRMSProp):
    """ApplyRMSProp for resource variables.

    Source: training_ops.cc, ResourceApplyRMSProp.
    """

    signature = on_handles(ApplyRMSProp.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "ms", "mom")


class SparseApplyRMSProp(_RMSProp, SparseRule):
    """ApplyRMSProp for some rows.  Source: training_ops.cc, SparseApplyRMSProp."""

    signature = (
        "var: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, epsilon: T, "
        "grad: T, indices: Tindices -> out: ref T"
    )


class ResourceSparseApplyRMSProp(OnHandles, SparseApplyRMSProp):
    """SparseApplyRMSProp for resource variables.

    Source: training_ops.cc, ResourceSparseApplyRMSProp.
    """

    signature = on_handles(SparseApplyRMSProp.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "ms", "mom")


class ApplyCenteredRMSProp(_CenteredRMSProp, DenseRule):
    """RMSProp with the gradients' variance ms - mg^2, where mg is their moving average.

    Source: Graves 2013 (arXiv:1308.0850); training_ops.cc, ApplyCenteredRMSProp.
    """

    signature = (
        "var: ref T, mg: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, "
        "epsilon: T, grad: T -> out: ref T"
    )


class ResourceApplyCenteredRMSProp(OnHandles, ApplyCenteredRMSProp):
    """ApplyCenteredRMSProp for resource variables.

    Source: training_ops.cc, ResourceApplyCenteredRMSProp.
    """

    signature = on_handles(ApplyCenteredRMSProp.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "mg", "ms", "mom")


class SparseApplyCenteredRMSProp(_CenteredRMSProp, SparseRule):
    """ApplyCenteredRMSProp for some rows.

    Source: training_ops.cc, SparseApplyCenteredRMSProp.
    """

    signature = (
        "var: ref T, mg: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, "
        "epsilon: T, grad: T, indices: Tindices -> out: ref T"
    )


class ResourceSparseApplyCenteredRMSProp(OnHandles, SparseApplyCenteredRMSProp):
    """SparseApplyCenteredRMSProp for resource variables.

    Source: training_ops.cc, ResourceSparseApplyCenteredRMSProp.
    """

    signature = on_handles(SparseApplyCenteredRMSProp.signature)
    by_handle: ClassVar[tuple[str, ...]] = ("var", "mg", "ms", "mom")
