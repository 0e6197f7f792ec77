"""Rejection resampling: elements drawn so that classes have given frequencies.

Source: python/data/experimental/ops/resampling.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.experimental.elements import scan
from tfteach.lib.data.experimental.interleaving import sample_from_datasets
from tfteach.ops.array.gather import gather
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.tile import tile
from tfteach.ops.core.fill import fill
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.debug.print_assert import Print_
from tfteach.ops.math.binary import add
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import less
from tfteach.ops.math.division import truediv
from tfteach.ops.math.reduce_functions import reduce_max, reduce_min, reduce_sum
from tfteach.ops.random.random_ops import random_uniform

Transformation = Callable[[Dataset], Dataset]
_BATCH = 32  # elements from which the frequencies are estimated at a time
_SMOOTHING = 10  # elements of each class that are assumed before the first


@export("data.experimental.rejection_resample", "contrib.data.rejection_resample")
def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: int | None = None,
) -> Transformation:
    """A transformation: (class, element) pairs, some rejected to change frequencies.

    Args:
      class_func: of an element, returns its class, an int32 scalar.
      target_dist: the target frequencies of the classes, floats.
      initial_dist: the frequencies in the dataset; estimated if None.
      seed: of the choice.

    Returns:
      A function for `Dataset.apply`.
    """

    def transform(dataset: Dataset) -> Dataset:
        target = convert(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        static: Any = None
        if initial_dist is not None:
            initial = convert(initial_dist, name="initial_dist")
            acceptance, original = _acceptance(initial, target)
            initials = Dataset.from_tensors(initial).repeat()
            acceptances = Dataset.from_tensors(acceptance).repeat()
            originals = Dataset.from_tensors(original).repeat()
            known = constant_value(initial), constant_value(target)
            if known[0] is not None and known[1] is not None:
                static = np.min(known[1] / known[0])
        else:
            initials = _estimated(target, classes)
            both = initials.map(lambda found: _acceptance(found, target))
            acceptances = both.map(lambda accepted, _: accepted)
            originals = both.map(lambda _, original: original)
        rejected = _filtered(dataset, acceptances, initials, classes, seed).prefetch(3)
        if static == 1:
            return Dataset.zip((classes, dataset))
        if static == 0:
            return rejected
        return sample_from_datasets(
            [Dataset.zip((classes, dataset)), rejected],
            weights=originals.map(lambda p: [(p, 1.0 - p)]),
            seed=seed,
        )

    return transform


def _filtered(
    dataset: Dataset,
    acceptances: Dataset,
    initials: Dataset,
    classes: Dataset,
    seed: int | None,
) -> Dataset:
    def warn_if_many(accepted: Any, initial: Tensor) -> Any:
        share = reduce_sum((1 - accepted) * initial)
        return cond(
            less(share, 0.5),
            lambda: accepted,
            lambda: Print_(
                accepted,
                [share, initial, accepted],
                message="Proportion of examples rejected by sampler is high: ",
                summarize=100,
                first_n=10,
            ),
        )

    checked = Dataset.zip((acceptances, initials)).map(warn_if_many)
    triples = Dataset.zip((classes, checked, dataset)).map(
        lambda own, accepted, data: (own, gather(accepted, own), data)
    )
    kept = triples.filter(lambda _1, p, _2: random_uniform([], seed=seed) < p)
    return kept.map(lambda own, _, data: (own, data))


def _estimated(target: Tensor, classes: Dataset) -> Dataset:
    count: Any = target.shape.as_list()[0] or shape(target)[0]

    def update(seen: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
        size: Any = seen.shape.as_list()[0]
        found = add(seen, reduce_sum(one_hot(batch, size, dtype=int64), 0))
        share = cast(truediv(found, reduce_sum(found)), float32)
        return found, tile(expand_dims(share, 0), [_BATCH, 1])

    first = fill([count], np.int64(_SMOOTHING))
    return classes.batch(_BATCH).apply(scan(first, update)).unbatch()


def _acceptance(initial: Tensor, target: Any) -> tuple[Tensor, Tensor]:
    """The probability to accept each class, and that to accept without looking."""
    kind: Any = initial.dtype.as_numpy_dtype
    tiny = np.finfo(kind).tiny
    ratio: Any = target / add(initial, tiny)
    largest: Any = reduce_max(ratio)
    smallest: Any = reduce_min(ratio)
    return (ratio - smallest) / (largest - smallest), smallest
