"""The optimizers' update rules, applied to variables in place.

Each rule exists dense and by rows (Sparse), for reference and for resource variables;
its arithmetic is defined once, in `_step`.
Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.numba_loops import Loop
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.shape import Shape
from tfteach.framework.threads import cores, share
from tfteach.framework.type_aliases import ArrayModule, KernelContext
from tfteach.framework.variable_cell import (
    IN_PLACE_FROM,
    Cell,
    update_in_place,
    writable_copy,
)
from tfteach.ops.array.row_access import are_distinct, put_rows, take_rows
from tfteach.ops.state.resource_variables import NUMBERS, require_value
from tfteach.ops.training.jit_update_rules import Step, compiled_step

# Elements per block of a large update, so that a step's arrays stay in the cache (Adam
# on 8M floats: 29 ms in blocks of 4k, 17 of 16k, 15.5 from 32k on).  Blocks divided
# among threads are larger, otherwise the threads wait for each other at each call.
_BLOCK = 1 << 15
_SHARED_BLOCK = 1 << 17
_ROW_ELEMENTS = 1 << 12  # of rows, from which compiling a loop pays off


def update(
    ctx: KernelContext, cells: Sequence[Cell], grad: Any, step: Step, temporaries: int
) -> None:
    """Run `step` on all elements of the variables, in place, block by block."""
    xp = ctx.xp
    if len(cells) > 1:
        _check_slots(ctx, cells)
    shape = cells[0].value.shape
    if shape != grad.shape:
        names = [] if ctx.op is None else [a.name for a in type(ctx.op.spec).inputs]
        name = "delta" if "delta" in names else "grad"
        raise invalid_argument(
            f"var and {name} do not have the same shape"
            f"{shapes.text(shape)} {shapes.text(grad.shape)}"
        )
    if grad.size < IN_PLACE_FROM:
        spare = [xp.empty_like(grad) for _ in range(temporaries)]
        with cells[0].lock:
            state = [writable_copy(cell.value) for cell in cells]
            step(xp, state, grad, spare)
            for cell, array in zip(cells, state, strict=True):
                cell.put(array)
        return

    def run(state: list[Any]) -> None:
        if grad.size <= _BLOCK or xp is not np:
            spare = [xp.empty_like(grad) for _ in range(temporaries)]
            step(xp, state, grad, spare)
            return
        flat = [array.reshape(-1) for array in state]
        _by_blocks(flat, grad.reshape(-1), step, temporaries)

    update_in_place(cells, run, ctx.may_defer)


def _check_slots(ctx: KernelContext, cells: Sequence[Cell]) -> None:
    """Check that slots have the variable's shape."""
    shape = cells[0].value.shape
    for cell in cells:
        if cell.value.shape != shape:
            slot = type(ctx.op.spec).inputs[cells.index(cell)].name
            raise invalid_argument(
                f"var and {slot} do not have the same shape{shapes.text(shape)} "
                f"{shapes.text(cell.value.shape)}"
            )


def _by_blocks(flat: list[Any], grad: Any, step: Step, temporaries: int) -> None:
    size = grad.size
    is_shared = size > _SHARED_BLOCK and cores() > 1
    block = _SHARED_BLOCK if is_shared else _BLOCK
    compiled = compiled_step(step, grad.dtype, len(flat), temporaries)
    if compiled is not None and all(array.dtype == grad.dtype for array in flat):
        loop, numbers = compiled
        share(
            range(0, size, _SHARED_BLOCK),
            lambda some: _run_loop(loop, flat, grad, numbers, some),
        )
        return

    def run(starts: Sequence[int]) -> None:
        spare = [np.empty(block, grad.dtype) for _ in range(temporaries)]
        for start in starts:
            end = min(start + block, size)
            step(
                np,
                [array[start:end] for array in flat],
                grad[start:end],
                [array[: end - start] for array in spare],
            )

    starts = range(0, size, block)
    if is_shared:
        share(starts, run)
    else:
        run(starts)


def _run_loop(
    loop: Loop, flat: list[Any], grad: Any, numbers: list[Any], starts: Sequence[int]
) -> None:
    for start in starts:
        part = slice(start, start + _SHARED_BLOCK)
        loop(*(array[part] for array in flat), grad[part], *numbers)


def update_rows(
    ctx: KernelContext,
    cells: Sequence[Cell],
    grad: Any,
    indices: Any,
    step: Step,
    spare: int,
) -> None:
    """Run `step` on some rows; duplicate rows are updated repeatedly."""
    xp = ctx.xp
    _check_slots(ctx, cells)
    _check_rows(cells[0].value.shape, grad, indices)

    def run(state: list[Any]) -> None:
        if grad.size >= _ROW_ELEMENTS and xp is np:
            compiled = compiled_step(step, grad.dtype, len(state), spare, by_rows=True)
            if compiled and all(array.dtype == grad.dtype for array in state):
                loop, numbers = compiled
                places = np.ascontiguousarray(indices, np.int64)
                *tables, rows = (a.reshape(len(a), -1) for a in (*state, grad))
                loop(*tables, places, np.ascontiguousarray(rows), *numbers)
                return
        for positions in _distinct(xp, indices):
            index, part = indices[positions], grad[positions]
            parts = [take_rows(xp, array, index) for array in state]
            step(xp, parts, part, [xp.empty_like(part) for _ in range(spare)])
            for array, changed in zip(state, parts, strict=True):
                put_rows(xp, array, index, changed)

    update_in_place(cells, run, ctx.may_defer, (indices, grad.shape[1:]))


def _check_rows(shape: tuple[int, ...], grad: Any, indices: Any) -> None:
    if not shape:
        raise invalid_argument("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise invalid_argument("indices must be one-dimensional")
    if grad.ndim != len(shape):
        raise invalid_argument(
            f"var and grad must have the same rank: {len(shape)} and {grad.ndim}"
        )
    for axis in range(1, len(shape)):
        if shape[axis] != grad.shape[axis]:
            raise invalid_argument(f"var and grad must match in dimension {axis}")
    if grad.shape[0] != indices.shape[0]:
        raise invalid_argument(
            "grad must be the same size as indices in the first dimension."
        )
    if indices.size and not (indices.min() >= 0 and indices.max() < shape[0]):
        offset = int(((indices < 0) | (indices >= shape[0])).argmax())
        raise invalid_argument(
            f"Index {int(indices[offset])} at offset {offset} in indices is out of "
            "range"
        )


def _distinct(xp: ArrayModule, indices: Any) -> Iterator[Any]:
    """Positions in `indices`, grouped so that no group has duplicate rows."""
    if not indices.size:
        return
    if are_distinct(xp, indices):
        yield slice(None)
        return
    left = xp.arange(indices.size)
    while left.size:
        _, first = xp.unique(indices[left], return_index=True)
        yield left[first]
        keep = xp.ones(left.size, bool)
        keep[first] = False
        left = left[keep]


# ---- base classes


class _Dense(StatefulOp, abstract=True):
    T = NUMBERS
    aliases: ClassVar[bool] = True

    def infer_shape(self, *inputs: Any) -> Any:
        """The variables and the gradient have one shape, all others are scalars."""
        whole: Shape = None
        for arg, shape in zip(type(self).inputs, inputs, strict=True):
            if arg.is_ref or arg.name in (*self.by_handle, "grad", "delta"):
                whole = shapes.merge(whole, shape)
            else:
                shapes.with_rank(shape, 0)
        return whole if type(self).outputs else []


class _Sparse(StatefulOp, abstract=True):
    T = NUMBERS
    Tindices = dtypes_of("int32 int64")
    aliases: ClassVar[bool] = True

    def infer_shape(self, *inputs: Any) -> Any:
        """The gradient has the variables' shape except for the number of rows."""
        whole: Shape = None
        for arg, shape in zip(type(self).inputs, inputs, strict=True):
            if arg.is_ref or arg.name in self.by_handle:
                whole = shapes.merge(whole, shape)
            elif arg.name == "indices":
                shapes.with_rank(shape, 1)
            elif arg.name == "grad":
                if whole is not None and shape is not None:
                    shapes.merge((None, *whole[1:]), shape)
            else:
                shapes.with_rank(shape, 0)
        return whole if type(self).outputs else []


class _Resource(NoOutputOp, abstract=True):
    """Mixin for rules on resource variables: handles as inputs, no output."""

    aliases: ClassVar[bool] = False

    def compute(self, ctx: KernelContext, *inputs: Any) -> Any:
        for cell in inputs[: len(self.by_handle)]:
            require_value(cell)
        super().compute(ctx, *inputs)
        return ()


# ---- gradient descent


class ApplyGradientDescent(_Dense):
    """var -= alpha * delta.  Source: training_ops.cc, ApplyGradientDescent."""

    signature = "var: ref T, alpha: T, delta: T -> out: ref T"
    use_locking: bool = False

    def compute(self, ctx: KernelContext, var: Cell, alpha: Any, delta: Any) -> Any:
        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            xp.multiply(grad, alpha, out=spare[0])
            xp.subtract(state[0], spare[0], out=state[0])

        update(ctx, (var,), delta, step, 1)
        return var


class ResourceApplyGradientDescent(_Resource, ApplyGradientDescent):
    """var -= alpha * delta.  Source: training_ops.cc, ResourceApplyGradientDescent."""

    signature = "var: resource, alpha: T, delta: T ->"
    by_handle: ClassVar[tuple[str, ...]] = ("var",)


# ---- momentum


def momentum_step(lr: Any, momentum: Any, nesterov: bool) -> Step:
    """accum = momentum * accum + grad; var -= lr * accum (or Nesterov's look-ahead)."""

    def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
        var, accum = state
        xp.multiply(accum, momentum, out=accum)
        xp.add(accum, grad, out=accum)
        if nesterov:
            xp.multiply(accum, momentum, out=spare[0])
            xp.multiply(spare[0], lr, out=spare[0])
            xp.multiply(grad, lr, out=spare[1])
            xp.add(spare[1], spare[0], out=spare[0])
        else:
            xp.multiply(accum, lr, out=spare[0])
        xp.subtract(var, spare[0], out=var)

    return step


class ApplyMomentum(_Dense):
    """accum = momentum accum + grad; var -= lr accum.

    Source: training_ops.cc, ApplyMomentum.
    """

    signature = "var: ref T, accum: ref T, lr: T, grad: T, momentum: T -> out: ref T"
    use_locking: bool = False
    use_nesterov: bool = False

    def compute(
        self,
        ctx: KernelContext,
        var: Cell,
        accum: Cell,
        lr: Any,
        grad: Any,
        momentum: Any,
    ) -> Any:
        step = momentum_step(lr, momentum, self.use_nesterov)
        update(ctx, (var, accum), grad, step, 2)
        return var


class ResourceApplyMomentum(_Resource, ApplyMomentum):
    """ApplyMomentum for resource variables.

    Source: training_ops.cc, ResourceApplyMomentum.
    """

    signature = "var: resource, accum: resource, lr: T, grad: T, momentum: T ->"
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


class SparseApplyMomentum(_Sparse):
    """ApplyMomentum for some rows.  Source: training_ops.cc, SparseApplyMomentum."""

    signature = (
        "var: ref T, accum: ref T, lr: T, grad: T, indices: Tindices, momentum: T "
        "-> out: ref T"
    )
    use_locking: bool = False
    use_nesterov: bool = False

    def compute(
        self,
        ctx: KernelContext,
        var: Cell,
        accum: Cell,
        lr: Any,
        grad: Any,
        indices: Any,
        momentum: Any,
    ) -> Any:
        step = momentum_step(lr, momentum, self.use_nesterov)
        update_rows(ctx, (var, accum), grad, indices, step, 2)
        return var


class ResourceSparseApplyMomentum(_Resource, SparseApplyMomentum):
    """SparseApplyMomentum on handles.

    Source: training_ops.cc, ResourceSparseApplyMomentum.
    """

    signature = (
        "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, "
        "momentum: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


# ---- Adagrad


def adagrad_step(lr: Any, update_slots: bool) -> Step:
    """accum += grad^2; var -= lr grad / sqrt(accum)."""

    def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
        var, accum = state
        if update_slots:
            xp.multiply(grad, grad, out=spare[0])
            xp.add(accum, spare[0], out=accum)
        xp.sqrt(accum, out=spare[0])
        xp.multiply(grad, lr, out=spare[1])
        xp.divide(spare[1], spare[0], out=spare[0])
        xp.subtract(var, spare[0], out=var)

    return step


class ApplyAdagrad(_Dense):
    """accum += grad^2; var -= lr grad / sqrt(accum).

    Source: training_ops.cc, ApplyAdagrad.
    """

    signature = "var: ref T, accum: ref T, lr: T, grad: T -> out: ref T"
    use_locking: bool = False
    update_slots: bool = True

    def compute(
        self, ctx: KernelContext, var: Cell, accum: Cell, lr: Any, grad: Any
    ) -> Any:
        update(ctx, (var, accum), grad, adagrad_step(lr, self.update_slots), 2)
        return var


class ResourceApplyAdagrad(_Resource, ApplyAdagrad):
    """ApplyAdagrad for resource variables.

    Source: training_ops.cc, ResourceApplyAdagrad.
    """

    signature = "var: resource, accum: resource, lr: T, grad: T ->"
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


class SparseApplyAdagrad(_Sparse):
    """ApplyAdagrad for some rows.  Source: training_ops.cc, SparseApplyAdagrad."""

    signature = (
        "var: ref T, accum: ref T, lr: T, grad: T, indices: Tindices -> out: ref T"
    )
    use_locking: bool = False
    update_slots: bool = True

    def compute(
        self,
        ctx: KernelContext,
        var: Cell,
        accum: Cell,
        lr: Any,
        grad: Any,
        indices: Any,
    ) -> Any:
        step = adagrad_step(lr, self.update_slots)
        update_rows(ctx, (var, accum), grad, indices, step, 2)
        return var


class ResourceSparseApplyAdagrad(_Resource, SparseApplyAdagrad):
    """SparseApplyAdagrad on handles.

    Source: training_ops.cc, ResourceSparseApplyAdagrad.
    """

    signature = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices ->"
    by_handle: ClassVar[tuple[str, ...]] = ("var", "accum")


# ---- Adam


def adam_step(
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    *,
    nesterov: bool,
) -> Callable[[Any], Step]:
    """m, v: moving averages of grad, grad^2; var -= lr' m / (sqrt(v) + epsilon)."""

    def with_xp(xp: ArrayModule) -> Step:
        rate = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
        rest1, rest2 = 1 - beta1, 1 - beta2

        def step(xp: ArrayModule, state: Any, grad: Any, spare: Any) -> None:
            var, m, v = state
            s, t = spare
            xp.subtract(grad, m, out=s)
            xp.multiply(s, rest1, out=s)
            xp.add(m, s, out=m)
            xp.multiply(grad, grad, out=s)
            xp.subtract(s, v, out=s)
            xp.multiply(s, rest2, out=s)
            xp.add(v, s, out=v)
            xp.sqrt(v, out=s)
            xp.add(s, epsilon, out=s)
            if nesterov:
                ahead = grad * rest1 + beta1 * m
                xp.multiply(ahead, rate, out=t)
            else:
                xp.multiply(m, rate, out=t)
            xp.divide(t, s, out=t)
            xp.subtract(var, t, out=var)

        return step

    return with_xp


class ApplyAdam(_Dense):
    """m += (1 - b1) (grad - m); v += (1 - b2) (grad^2 - v);
    var -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon).

    Source: Kingma and Ba 2014 (arXiv:1412.6980); training_ops.cc, ApplyAdam.
    """

    signature = (
        "var: ref T, m: ref T, v: ref T, beta1_power: T, beta2_power: T, lr: T, "
        "beta1: T, beta2: T, epsilon: T, grad: T -> out: ref T"
    )
    use_locking: bool = False
    use_nesterov: bool = False

    def compute(
        self, ctx: KernelContext, var: Cell, m: Cell, v: Cell, *rest: Any
    ) -> Any:
        *scalars, grad = rest
        step = adam_step(*scalars, nesterov=self.use_nesterov)(ctx.xp)
        update(ctx, (var, m, v), grad, step, 2)
        return var


class ResourceApplyAdam(_Resource, ApplyAdam):
    """ApplyAdam for resource variables.  Source: training_ops.cc, ResourceApplyAdam."""

    signature = (
        "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, "
        "lr: T, beta1: T, beta2: T, epsilon: T, grad: T ->"
    )
    by_handle: ClassVar[tuple[str, ...]] = ("var", "m", "v")
