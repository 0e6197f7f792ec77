"""The variables of a WALSModel: factors and weights in shards, and local copies.

Source: contrib/factorization/python/ops/factorization_ops.py.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import float32
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import Array
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.add_n import add_n
from tfteach.ops.random.random_ops import random_normal
from tfteach.ops.state.ref_variables import assign
from tfteach.variables.base import Variable

# First factors: "random", an array, or one for each shard; weights: a number, likewise.
Initial: TypeAlias = "str | Array | Sequence[Any]"
Weights: TypeAlias = "float | Array | Sequence[Any] | None"


def _variable(value: Any, name: str, **options: Any) -> Any:
    make: Any = Variable  # the metaclass makes the kind of the variable scope
    return make(value, name=name, dtype=float32, **options)


def shard_size(count: int, num_shards: int) -> tuple[int, int]:
    """(rows of the smaller shards, the number of shards that have one more)."""
    return divmod(count, num_shards)


def _sizes(count: int, num_shards: int) -> list[int]:
    size, larger = shard_size(count, num_shards)
    return [size + (shard < larger) for shard in range(num_shards)]


def _by_shard(given: Any, num_shards: int, rank: int, name: str) -> list[Any]:
    """The initial values of each shard."""
    is_nested = len(given) == num_shards and np.ndim(given[0]) == rank
    if not is_nested and num_shards > 1:
        raise ValueError(
            f"{name} must be a list of {num_shards} arrays, one for each shard"
        )
    return list(given) if is_nested else [given]


def factor_shards(
    count: int, components: int, num_shards: int, init: Initial, name: str
) -> list[Any]:
    """Variables [rows of the shard, components].

    Raises:
      ValueError: `init` has not a value for each shard.
    """
    values: list[Any] = []
    for shape in ([size, components] for size in _sizes(count, num_shards)):
        values.append(lambda shape=shape: random_normal(shape))
    if not (isinstance(init, str) and init == "random"):
        given = _by_shard(init, num_shards, 2, name)
        values = [lambda value=value: value for value in given]
    return [_variable(v, f"{name}_shard_{i}") for i, v in enumerate(values)]


def weight_shards(
    given: Weights, count: int, num_shards: int, name: str
) -> list[Any] | None:
    """Variables [rows of the shard]; None without weights.

    Raises:
      ValueError: `given` has not weights for each shard.
    """
    if given is None:
        return None
    if isinstance(given, numbers.Real):
        sizes = _sizes(count, num_shards)
        values = [lambda size=size: given * ones([size]) for size in sizes]
    else:
        parts = _by_shard(given, num_shards, 1, name)
        values = [lambda part=part: part for part in parts]
    return [_variable(v, f"{name}_shard_{i}") for i, v in enumerate(values)]


def gramian_of(components: int, name: str) -> Any:
    """The variable of a Gramian, [components, components]."""
    return _variable(zeros([components, components]), name)


def prepared_gramian(factors: list[Any], gramian: Any) -> Operation:
    """Assigns the sum of the shards' F^T F."""
    graph, partial = get_default_graph(), []
    for shard in factors:
        with graph.colocate_with(shard, ignore_existing=True):
            partial.append(matmul(shard, shard, transpose_a=True))
    with graph.colocate_with(gramian, ignore_existing=True):
        total = partial[0] if len(partial) == 1 else add_n(partial)
        found: Operation = assign(gramian, total).op
        return found


class Shards(NamedTuple):
    """Values that updates read, and the ops by which they follow variables.

    Attributes:
      values: the variables, or local copies of them; None if there are none.
      update: copies the variables; None without values.
      reset: frees the copies' memory; None without values.
    """

    values: Any
    update: Operation | Tensor | None
    reset: Operation | Tensor | None

    @staticmethod
    def copied(shards: list[Any] | None, name: str, is_cached: bool) -> Shards:
        """Copies of all shards, if `is_cached`; one after the other is updated."""
        if shards is None:
            return Shards(None, None, None)
        if not is_cached:
            return Shards(shards, no_op(), no_op())
        copies = [_copy(f"{name}_shard_{i}") for i, _ in enumerate(shards)]
        update, resets = None, []
        for copy, shard in zip(copies, shards, strict=True):
            with control_dependencies([] if update is None else [update]):
                update = _assigned(copy, shard)
            resets.append(_assigned(copy, 1.0))
        return Shards(copies, update, group(*resets))

    @staticmethod
    def copied_one(variable: Any, name: str, is_cached: bool) -> Shards:
        """A copy of a variable, if `is_cached`."""
        if not is_cached:
            return Shards([variable], no_op(), no_op())
        copy = _copy(name)
        return Shards([copy], _assigned(copy, variable), _assigned(copy, 1.0))


def _copy(name: str) -> Any:
    return _variable(
        1.0, name, trainable=False, validate_shape=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
    )  # fmt: skip


def _assigned(copy: Any, value: Any) -> Any:
    with get_default_graph().colocate_with(copy, ignore_existing=True):
        return assign(copy, value, validate_shape=False)


def group_of(*ops: Any, name: str | None = None) -> Operation:
    """A group of the ops that exist."""
    return group(*(op for op in ops if op is not None), name=name)
