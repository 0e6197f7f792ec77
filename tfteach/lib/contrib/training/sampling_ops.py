"""`tf.contrib.training.stratified_sample` and `rejection_sample`.

Source: contrib/training/python/training/sampling_ops.py (API, names of nodes).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.case import Assert
from tfteach.control.checks.types import assert_integer
from tfteach.control.checks.values import (
    assert_equal,
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_positive,
)
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.queues.batch import batch, maybe_batch
from tfteach.ops.array.gather import gather
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import expand_dims, identity, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.debug.print_assert import Print_
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, less, logical_or, not_equal
from tfteach.ops.math.reduce_functions import reduce_all, reduce_max, reduce_sum
from tfteach.ops.math.rounding import is_nan
from tfteach.ops.random.random_ops import random_uniform
from tfteach.variables.base import Variable

_SUM_TOLERANCE = 1e-6  # by which the sum of probabilities may differ from 1
_FIRST_COUNT = 10  # of each class, before the first label


@export("contrib.training.rejection_sample")
def rejection_sample(
    tensors: Sequence[TensorLike],
    accept_prob_fn: Callable[[list[Tensor]], TensorLike],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """Batches of those examples that a random number accepts.

    Args:
      tensors: the parts of an example, or of several.
      accept_prob_fn: a function of the list of an example's parts, which returns the
        probability in [0, 1] of accepting it.
      batch_size: the number of examples in a batch.
      queue_threads: how many threads compute examples.
      enqueue_many: whether `tensors` are several examples, one a row.
      prebatch_capacity, prebatch_threads: of the queue that holds these rows.
      runtime_checks: whether a run checks the probability.
      name: the ops' name.

    Returns:
      The parts, a list of tensors with a further first dimension of size `batch_size`.

    Raises:
      ValueError: with `enqueue_many`, the tensors are not as many rows.
      tf.errors.InvalidArgumentError: in a run, with `runtime_checks`, the probability
        is not in [0, 1].

    Example:
      >>> x = tf.random_uniform([])
      >>> (large,) = tf.contrib.training.rejection_sample([x], lambda p: p[0], 32)

    Source: contrib/training/python/training/sampling_ops.py.
    """
    with name_scope(name, "rejection_sample", list(tensors)):
        parts = [convert(tensor) for tensor in tensors]
        if enqueue_many:
            rows = parts[0].shape.with_rank_at_least(1)[0]
            for part in parts[1:]:
                found = part.shape.with_rank_at_least(1)[0]
                Dimension(found).assert_is_compatible_with(Dimension(rows))
            parts = _one_by_one(parts, prebatch_threads, prebatch_capacity)
        probability = convert(accept_prob_fn(parts))
        if runtime_checks:
            checks = [
                assert_less_equal(0.0, probability),
                assert_less_equal(probability, 1.0),
            ]
            probability = with_dependencies(checks, probability)
            probability = identity(probability, name="prob_with_checks")
        is_accepted = less(random_uniform([]), probability)
        accepted: Any = maybe_batch(
            parts, is_accepted, batch_size, num_threads=queue_threads
        )
        return accepted if len(parts) > 1 else [accepted]


@export("contrib.training.stratified_sample")
def stratified_sample(
    tensors: Sequence[TensorLike],
    labels: TensorLike,
    target_probs: TensorLike,
    batch_size: int,
    init_probs: TensorLike | None = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Batches whose classes have given probabilities, by rejecting examples.

    An example of class `c` is accepted with a probability in proportion to
    target_probs[c] / init_probs[c].

    Args:
      tensors: the parts of an example, or of several.
      labels: the class of each example, an integer scalar or vector.
      target_probs: the probability of each class in the batches; their sum is 1.
      batch_size: the number of examples in a batch.
      init_probs: the probability of each class in the input; None to estimate it from
        all labels so far.
      enqueue_many: whether `tensors` and `labels` are several examples, one a row.
      queue_capacity: the number of examples that wait to be accepted or rejected.
      threads_per_queue: how many threads compute examples, and how many accept them.
      name: the ops' name.

    Returns:
      The parts, a list of tensors with a further first dimension of size `batch_size`,
      and the labels, `[batch_size]`.

    Raises:
      ValueError: the shapes of probabilities, labels or parts do not agree.
      TypeError: `labels` are not integers.
      tf.errors.InvalidArgumentError: in a run, probabilities are negative or their sum
        is not 1; a label is none of the classes; a class that never occurs should.

    Example:
      >>> x, label = tf.random_uniform([2]), tf.constant(1)
      >>> (data,), labels = tf.contrib.training.stratified_sample(
      ...     [x], label, [0.5, 0.5], 32, init_probs=[0.9, 0.1])

    Source: contrib/training/python/training/sampling_ops.py.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        parts = [convert(tensor) for tensor in tensors]
        labels = convert(labels)
        target_probs = convert(target_probs, dtypes.float32)
        if not enqueue_many:
            parts = [expand_dims(part, 0) for part in parts]
            labels = expand_dims(labels, 0)
        if init_probs is None:
            classes = target_probs.shape.with_rank(1)[0]
            init_probs = _estimate_data_distribution(labels, classes)
        else:
            init_probs = convert(init_probs, dtypes.float32)
        if init_probs.shape.with_rank(1) != target_probs.shape.with_rank(1):
            target_probs.shape.assert_is_fully_defined()
            raise ValueError("Probability parameters must have the same length.")
        parts, labels, (init_probs, target_probs) = _verify_input(
            parts, labels, [init_probs, target_probs]
        )
        accept_probs = _acceptance_probabilities(init_probs, target_probs)
        *parts, label = _one_by_one([*parts, labels], threads_per_queue, queue_capacity)
        accept_prob = gather(accept_probs, label)
        is_accepted = less(random_uniform([]), accept_prob)
        found: Any = maybe_batch(
            [*parts, label], is_accepted, batch_size, num_threads=threads_per_queue
        )
        return found[:-1], found[-1]


def _one_by_one(rows: list[Tensor], threads: int, capacity: int) -> list[Tensor]:
    """One row of each tensor after the other."""
    found: Any = batch(rows, 1, threads, capacity, enqueue_many=True)
    return [squeeze(one, [0]) for one in (found if len(rows) > 1 else [found])]


def _verify_input(
    tensor_list: Sequence[Tensor], labels: Tensor, probs_list: Sequence[Tensor]
) -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """The same tensors, which a run checks."""
    checked_probs = []
    for probs in probs_list:
        probs.shape.with_rank(1).assert_is_fully_defined()
        total = reduce_sum(probs)
        checks = [
            assert_non_negative(probs),
            assert_less(total, 1.0 + _SUM_TOLERANCE),
            assert_less(1.0 - _SUM_TOLERANCE, total),
        ]
        checked_probs.append(with_dependencies(checks, probs))
    labels.shape.with_rank(1)
    for tensor in tensor_list:
        rows = Dimension(tensor.shape.with_rank_at_least(1)[0])
        rows.assert_is_compatible_with(Dimension(labels.shape[0]))
    count = shape(labels)[0]
    is_positive = assert_positive(count)
    labels = with_dependencies([is_positive], labels)
    checked = [
        with_dependencies([is_positive, assert_equal(shape(tensor)[0], count)], tensor)
        for tensor in tensor_list
    ]
    classes = probs_list[0].shape[0]
    checks = [
        assert_integer(labels),
        assert_non_negative(labels),
        assert_less(labels, cast(int(classes), labels.dtype)),
    ]
    return checked, with_dependencies(checks, labels), checked_probs


def _estimate_data_distribution(
    labels: Tensor, num_classes: Any, smoothing_constant: int = _FIRST_COUNT
) -> Tensor:
    """The probability of each class, by a count of the labels of all runs so far."""
    count = int(num_classes)
    new_variable: Any = Variable  # its metaclass chooses the kind
    seen = new_variable(
        np.full(count, smoothing_constant, np.int64),
        trainable=False,
        name="class_count",
        dtype=dtypes.int64,
    )
    ones = one_hot(labels, count, dtype=dtypes.int64)
    # A copy: other threads go on counting.
    total = seen.assign_add(reduce_sum(ones, 0)) + 0
    share: Tensor = total / reduce_sum(total)
    return cast(share, dtypes.float32)


def _acceptance_probabilities(init_probs: Tensor, target_probs: Tensor) -> Tensor:
    """By class, the largest probabilities in proportion to target / init."""
    possible = logical_or(not_equal(init_probs, 0), equal(target_probs, 0))
    check = Assert(
        reduce_all(possible),
        [
            "All classes with zero initial probability must also have zero target "
            "probability: ",
            init_probs,
            target_probs,
        ],
    )
    init_probs = with_dependencies([check], init_probs)
    ratio = target_probs / init_probs
    ratio = where_v2(is_nan(ratio), zeros_like(ratio), ratio)  # 0 / 0
    accept_probs = ratio / reduce_max(ratio)
    rejected = reduce_sum((1.0 - accept_probs) * init_probs)
    found: Tensor = cond(
        less(rejected, 0.5),
        lambda: accept_probs,
        lambda: Print_(
            accept_probs,
            [accept_probs],
            message="Proportion of examples rejected by sampler is high.",
            first_n=10,
        ),
    )
    return found
