"""The seeds of datasets.  Source: python/data/util/random_seed.py."""

from __future__ import annotations

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.math.compare import equal, logical_and
from tfteach.ops.random.random_ops import get_seed

_LARGEST = 2**31 - 1


def seed_tensors(seed: TensorLike | None) -> tuple[Tensor, Tensor]:
    """The two int64 seeds of a dataset, from the graph's seed and its own."""
    first, second = get_seed(seed)  # type: ignore[arg-type]  # it may be a tensor
    one = _tensor(first or 0, "seed") if first is None else _tensor(first, "seed")
    if second is None:
        return one, constant(0, int64, name="seed2")
    with name_scope("seed2") as scope:
        two = convert(second, int64)
        are_zero = logical_and(equal(one, 0), equal(two, 0))
        return one, where(are_zero, constant(_LARGEST, int64), two, name=scope)


def _tensor(value: TensorLike, name: str) -> Tensor:
    return convert(value, int64, name)
