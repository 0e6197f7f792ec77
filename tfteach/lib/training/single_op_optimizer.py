"""Optimizers with one op per update, given by its slots and scalar inputs.

The ops' signatures define the order of their inputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import colocate_with
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.training.optimizer import Optimizer, hyper
from tfteach.ops.core.constant import constant
from tfteach.ops.math.cast import cast


class UpdateOps(NamedTuple):
    """The op of an update rule for each kind of variable."""

    of_ref: type[Op]
    of_resource: type[Op]


class RuleOptimizer(Optimizer):
    """Base of the optimizers that create one op for each variable.

    A subclass sets `_dense` and `_sparse`, the ops by kind of gradient, and `_state`,
    the names of the slots in the order of the ops' inputs; and fills `_numbers` with
    the ops' scalar inputs by name.
    """

    _dense: UpdateOps
    _sparse: UpdateOps
    _state: tuple[str, ...] = ()

    def __init__(self, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._given: dict[str, tuple[str, Any]] = {}  # input -> (its node, its value)
        self._numbers: dict[str, Any] = {}

    def _prepare(self) -> None:
        self._numbers = {
            name: hyper(value, node) for name, (node, value) in self._given.items()
        }

    def _number(self, name: str, var: Any, dtype: DTypeLike) -> Any:
        """A scalar input of the update of `var`, in the element type `dtype`."""
        return cast(self._numbers[name], dtype)

    def _apply(self, kind: type[Op], var: Any, is_handle: bool, **known: Any) -> Any:
        cells = [var, *(self.get_slot(var, name) for name in self._state)]
        if is_handle:
            cells = [cell.handle for cell in cells]
        names = [arg.name for arg in kind.inputs[len(cells) :]]
        if "delta" in names:
            known["delta"] = known.pop("grad")
        dtype = (known["grad"] if "grad" in known else known["delta"]).dtype.base_dtype
        inputs = [
            known[name] if name in known else self._number(name, var, dtype)
            for name in names
        ]
        made = kind(self._use_locking)(*cells, *inputs)
        return made.op if isinstance(made, Tensor) else made

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply(self._dense.of_ref, var, False, grad=grad)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply(self._dense.of_resource, handle, True, grad=grad)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply(
            self._sparse.of_ref, var, False, grad=grad.values, indices=grad.indices
        )

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply(
            self._sparse.of_resource, handle, True, grad=grad, indices=indices
        )

    def _constant_slot(self, var: Any, value: float, slot_name: str, name: str) -> Any:
        """A slot initialized to a constant `value`."""
        with colocate_with(var):
            start = self._start(value, var)
        return self._get_or_make_slot(var, start, slot_name, name)

    def _start(self, value: float, var: Any) -> Tensor:
        return constant(value, shape=var.get_shape(), dtype=var.dtype.base_dtype)


def check_strengths(**values: float) -> None:
    """Raise ValueError for negative regularization strengths."""
    for name, value in values.items():
        if value < 0.0:
            raise ValueError(f"{name} {value:f} needs to be positive or zero")
