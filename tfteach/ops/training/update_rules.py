"""Update rules as ops, dense or by rows, with inputs identified by the signature.

A rule defines its arithmetic once, as a formula; its four ops (dense and by rows, on
references and on handles) differ only in their signatures.
Source: core/ops/training_ops.cc, core/kernels/training_ops.cc.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.shape import Shape
from tfteach.framework.threads import cores, share, share_evenly
from tfteach.framework.type_aliases import ArrayModule, KernelContext
from tfteach.framework.variable_cell import (
    IN_PLACE_FROM,
    Cell,
    update_in_place,
)
from tfteach.ops.array.row_access import are_distinct, put_rows, take_rows
from tfteach.ops.state.resource_variables import NUMBERS, require_value
from tfteach.ops.training.row_kernel import MOST_IDS
from tfteach.ops.training.update_formula import UpdateFormula

# Elements per block of a large update, so that a step's arrays stay in the cache (Adam
# on 8M floats: 29 ms in blocks of 4k, 17 of 16k, 15.5 from 32k on).  Blocks divided
# among threads are larger, otherwise the threads wait for each other at each call.
_BLOCK = 1 << 15
_SHARED_BLOCK = 1 << 17
_ROW_ELEMENTS = 1 << 12  # of rows, from which compiling a loop pays off


class Layout(NamedTuple):
    """The roles of a rule's inputs.

    Attributes:
      cells: the names of the variables, which come first.
      indices: the position of the row indices among the inputs after the variables;
        None for a rule of whole variables.
      grad: the position of the gradient among those inputs.
      scalars: the names of the remaining inputs.
      others: the positions in `scalars` of inputs whose type differs from the
          variables'.
    """

    cells: tuple[str, ...]
    indices: int | None
    grad: int
    scalars: tuple[str, ...]
    others: tuple[int, ...]


@cache
def layout_of(kind: Any) -> Layout:
    """The roles of the inputs of an op class."""
    cells = tuple(a.name for a in kind.inputs if a.is_ref or a.name in kind.by_handle)
    rest = list(kind.inputs[len(cells) :])
    names = [arg.name for arg in rest]
    indices = None
    if "indices" in names:
        indices = names.index("indices")
        del rest[indices], names[indices]
    grad = names.index("delta" if "delta" in names else "grad")
    del rest[grad], names[grad]
    others = tuple(i for i, arg in enumerate(rest) if arg.type_attr != "T")
    return Layout(cells, indices, grad, tuple(names), others)


@cache
def _formula_of(kind: Any, text: str) -> UpdateFormula:
    where = layout_of(kind)
    return UpdateFormula(text, where.cells, where.scalars)


def on_handles(signature: str) -> str:
    """The signature of the same rule for resource variables."""
    return signature.replace("ref T", "resource").removesuffix(" out: resource")


class Rule:
    """Mixin for the ops of one rule."""

    formula: ClassVar[str] = ""

    def formula_for(self, *scalars: Any) -> str:
        """The arithmetic (see update_formula.py), in the signature's names.

        Args:
          *scalars: the scalar inputs in the signature's order.

        Raises:
          InvalidArgumentError: TF rejects the values.
        """
        return self.formula

    def card_formula_for(self, *scalars: Any) -> str:
        """The same on a card, which does not wait for a scalar's value to choose it.

        Nor does it check the values.
        """
        return self.formula_for(*scalars)

    def compute(self, ctx: KernelContext, *inputs: Any) -> Any:
        return self._apply(ctx, self.formula_for, inputs)

    def compute_on_card(self, ctx: Any, *inputs: Any) -> Any:
        return self._apply(ctx, self.card_formula_for, inputs)

    def _apply(
        self,
        ctx: KernelContext,
        formula_for: Callable[..., str],
        inputs: tuple[Any, ...],
    ) -> Any:
        kind: Any = type(self)
        where = layout_of(kind)
        count = len(where.cells)
        scalars = list(inputs[count:])
        indices = None if where.indices is None else scalars.pop(where.indices)
        grad = scalars.pop(where.grad)
        text = formula_for(*scalars)
        if where.others:
            for i in where.others:
                scalars[i] = scalars[i].astype(grad.dtype)
        formula = _formula_of(kind, text)
        if indices is None:
            _update(ctx, inputs[:count], grad, formula, scalars)
        else:
            _update_rows(ctx, inputs[:count], grad, indices, formula, scalars)
        return inputs[0]


class DenseRule(Rule, StatefulOp, abstract=True):
    """A rule for whole variables."""

    T = NUMBERS
    use_locking: bool = False
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


class SparseRule(Rule, StatefulOp, abstract=True):
    """A rule for some rows; duplicate rows are updated repeatedly."""

    T = NUMBERS
    Tindices = dtypes_of("int32 int64")
    use_locking: bool = False
    aliases: ClassVar[bool] = True
    row_ids: ClassVar[str] = "indices"

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


class OnHandles(NoOutputOp, abstract=True):
    """Mixin for rules on resource variables: handles as inputs, no output."""

    aliases: ClassVar[bool] = False

    def compute(self, ctx: KernelContext, *inputs: Any) -> Any:
        for cell in inputs[: len(self.by_handle)]:
            require_value(cell)
        super().compute(ctx, *inputs)
        return ()

    def compute_on_card(self, ctx: Any, *inputs: Any) -> Any:
        for cell in inputs[: len(self.by_handle)]:
            require_value(cell)
        super().compute_on_card(ctx, *inputs)
        return ()


# ---- whole variables


def _update(
    ctx: KernelContext,
    cells: Sequence[Cell],
    grad: Any,
    formula: UpdateFormula,
    scalars: Sequence[Any],
) -> None:
    """Apply the formula to all elements of the variables, in place, block by block."""
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
    functions = formula.functions(xp)
    if functions.at_once is not None:
        kernel = functions.at_once(grad.dtype)
        if kernel is not None:
            update_in_place(cells, lambda a: kernel(grad, *scalars, *a), ctx.may_defer)
            return
    numbers = functions.numbers(*scalars)
    if grad.size < IN_PLACE_FROM and grad.dtype.kind == "f":
        with cells[0].lock:
            old = [cell.value for cell in cells]
            new = functions.new_values(*old, grad, *numbers)
            for cell, value in zip(cells, new, strict=True):
                cell.put(value)
        return

    def run(state: list[Any]) -> None:
        _update_all(xp, state, grad, formula, numbers)

    update_in_place(cells, run, ctx.may_defer)


def _update_at_once(
    xp: ArrayModule,
    state: list[Any],
    grad: Any,
    formula: UpdateFormula,
    numbers: Sequence[Any],
) -> None:
    spare = [xp.empty_like(grad) for _ in range(formula.temporaries)]
    formula.functions(xp).update(*state, grad, *numbers, *spare)


@with_card_kernel(_update_at_once)
def _update_all(
    xp: ArrayModule,
    state: list[Any],
    grad: Any,
    formula: UpdateFormula,
    numbers: Sequence[Any],
) -> None:
    """Apply the formula in place, block by block if the arrays exceed the caches."""
    if grad.size <= _BLOCK:
        _update_at_once(xp, state, grad, formula, numbers)
        return
    flat = [array.reshape(-1) for array in state]
    _by_blocks(flat, grad.reshape(-1), formula, numbers)


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


def _by_blocks(
    flat: list[Any], grad: Any, formula: UpdateFormula, numbers: Sequence[Any]
) -> None:
    size = grad.size
    is_shared = size > _SHARED_BLOCK and cores() > 1
    block = _SHARED_BLOCK if is_shared else _BLOCK
    compiled = formula.loop(grad.dtype, numbers, size)
    if compiled is not None and all(array.dtype == grad.dtype for array in flat):
        loop, typed = compiled

        def run_loop(first: int, last: int) -> None:
            loop(*(array[first:last] for array in flat), grad[first:last], *typed)

        share_evenly(size, size, run_loop)
        return
    update = formula.functions(np).update

    def run(starts: Sequence[int]) -> None:
        spare = [np.empty(block, grad.dtype) for _ in range(formula.temporaries)]
        for start in starts:
            end = min(start + block, size)
            state = [array[start:end] for array in flat]
            parts = (array[: end - start] for array in spare)
            update(*state, grad[start:end], *numbers, *parts)

    starts = range(0, size, block)
    if is_shared:
        share(starts, run)
    else:
        run(starts)


# ---- some rows


def _update_rows(
    ctx: KernelContext,
    cells: Sequence[Cell],
    grad: Any,
    indices: Any,
    formula: UpdateFormula,
    scalars: Sequence[Any],
) -> None:
    """Apply the formula to some rows; duplicate rows are updated repeatedly."""
    xp = ctx.xp
    _check_slots(ctx, cells)
    _check_rows(xp, cells[0].value.shape, grad, indices)
    functions = formula.functions(xp)
    if functions.rows_at_once is not None and indices.size <= MOST_IDS:
        kernel = functions.rows_at_once(grad.dtype, indices.dtype)
        if kernel is not None:
            rows = indices, grad.shape[1:]
            launch = functools.partial(kernel, indices, grad, scalars)
            update_in_place(cells, launch, ctx.may_defer, rows)
            return
    numbers = functions.numbers(*scalars)

    def run(state: list[Any]) -> None:
        is_large = grad.size >= _ROW_ELEMENTS
        if is_large and _update_compiled(xp, state, grad, indices, formula, numbers):
            return
        for positions in _distinct(xp, indices):
            index, part = indices[positions], grad[positions]
            parts = [take_rows(xp, array, index) for array in state]
            spare = [xp.empty_like(part) for _ in range(formula.temporaries)]
            functions.update(*parts, part, *numbers, *spare)
            for array, changed in zip(state, parts, strict=True):
                put_rows(xp, array, index, changed)

    update_in_place(cells, run, ctx.may_defer, (indices, grad.shape[1:]))


def _not_compiled(
    xp: ArrayModule,
    state: list[Any],
    grad: Any,
    indices: Any,
    formula: UpdateFormula,
    numbers: Sequence[Any],
) -> bool:
    return False


@with_card_kernel(_not_compiled)
def _update_compiled(
    xp: ArrayModule,
    state: list[Any],
    grad: Any,
    indices: Any,
    formula: UpdateFormula,
    numbers: Sequence[Any],
) -> bool:
    """Update many rows by a compiled loop; returns False if there is none."""
    compiled = formula.loop(grad.dtype, numbers, grad.size, by_rows=True)
    if compiled is None or any(array.dtype != grad.dtype for array in state):
        return False
    loop, typed = compiled
    places = np.ascontiguousarray(indices, np.int64)
    *tables, rows = (a.reshape(len(a), -1) for a in (*state, grad))
    loop(*tables, places, np.ascontiguousarray(rows), *typed)
    return True


def _nothing_outside(xp: ArrayModule, indices: Any, rows: int) -> int | None:
    """Cards ignore such rows: the host would wait for the answer."""
    return None


@with_card_kernel(_nothing_outside)
def _first_outside(xp: ArrayModule, indices: Any, rows: int) -> int | None:
    """The position of the first index that is no row's; None if all are."""
    if not indices.size or (indices.min() >= 0 and indices.max() < rows):
        return None
    return int(((indices < 0) | (indices >= rows)).argmax())


def _check_rows(
    xp: ArrayModule, shape: tuple[int, ...], grad: Any, indices: Any
) -> None:
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
    offset = _first_outside(xp, indices, shape[0])
    if offset is not None:
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


# ---- checks of the scalars


def check_positive(value: Any, name: str) -> None:
    """Raise unless a rate is positive."""
    if not value > 0:
        raise invalid_argument(f"{name} is not a positive scalar: []")


def check_not_negative(value: Any, name: str) -> None:
    """Raise if a regularization strength is negative."""
    if value < 0:
        raise invalid_argument(f"{name} is not a non-negative scalar: []")
