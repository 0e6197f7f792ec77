"""Update rules as ops, dense or by rows, with inputs identified by the signature.

A rule defines its arithmetic once, in `step`; its four ops (dense and by rows, on
references and on handles) differ only in their signatures.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, NamedTuple

from tfteach.framework.errors import invalid_argument
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.training.jit_update_rules import Step
from tfteach.ops.training.training_ops import _Dense, _Sparse, update, update_rows


class Layout(NamedTuple):
    """Positions of a rule's inputs."""

    cells: int  # the number of variables, which come first
    grad: int
    indices: int | None
    scalars: tuple[int, ...]


@cache
def layout_of(kind: Any) -> Layout:
    """Positions of the inputs of an op class."""
    names = [arg.name for arg in kind.inputs]
    cells = sum(arg.is_ref or arg.name in kind.by_handle for arg in kind.inputs)
    grad = names.index("delta" if "delta" in names else "grad")
    indices = names.index("indices") if "indices" in names else None
    rest = range(cells, len(names))
    scalars = tuple(i for i in rest if i not in (grad, indices))
    return Layout(cells, grad, indices, scalars)


def on_handles(signature: str) -> str:
    """The signature of the same rule for resource variables."""
    return signature.replace("ref T", "resource").removesuffix(" out: resource")


class Rule:
    """Mixin for the ops of one rule."""

    def step(self, *scalars: Any) -> Step:
        """The arithmetic, for the scalar inputs in the signature's order."""
        raise NotImplementedError

    def check(self, *scalars: Any) -> None:
        """Raise TF's errors for invalid inputs."""

    def compute(self, ctx: KernelContext, *inputs: Any) -> Any:
        kind: Any = type(self)
        where = layout_of(kind)
        cells, grad = inputs[: where.cells], inputs[where.grad]
        scalars = [inputs[i] for i in where.scalars]
        self.check(*scalars)
        step = self.step(*scalars)
        if where.indices is None:
            update(ctx, cells, grad, step, 0)
        else:
            update_rows(ctx, cells, grad, inputs[where.indices], step, 0)
        return cells[0]


class DenseRule(Rule, _Dense, abstract=True):
    """A rule for whole variables."""

    use_locking: bool = False
    aliases: ClassVar[bool] = True


class SparseRule(Rule, _Sparse, abstract=True):
    """A rule for some rows; duplicate rows are updated repeatedly."""

    use_locking: bool = False
    aliases: ClassVar[bool] = True


def check_positive(value: Any, name: str) -> None:
    """Raise unless a rate is positive."""
    if not value > 0:
        raise invalid_argument(f"{name} is not a positive scalar: []")


def check_not_negative(value: Any, name: str) -> None:
    """Raise if a regularization strength is negative."""
    if value < 0:
        raise invalid_argument(f"{name} is not a non-negative scalar: []")
