"""`tf.contrib.training.SequenceQueueingStateSaver`: long sequences in segments.

Source: contrib/training/python/training/sequence_queueing_state_saver.py (API, names of
nodes, messages).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from tfteach.control.case import Assert
from tfteach.framework import dtypes
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import (
    colocate_with,
    control_dependencies,
    name_scope,
)
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.training.sequence_checks import (
    check_dimensions,
    check_multiple_of,
    check_rank,
    check_shape_of,
    known_shape,
)
from tfteach.lib.contrib.training.sequence_inputs import (
    SequenceInputWrapper,
    Tensors,
    if_it_fits,
    named_tensors,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.slicing import slice
from tfteach.ops.array.tile import tile
from tfteach.ops.array.where_select import where
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import (
    expand_dims,
    identity,
    reshape,
    squeeze,
)
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math import range as ranges
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater_equal, less_equal, logical_not
from tfteach.ops.math.division import div
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.queues.barrier import Barriers
from tfteach.ops.queues.queues import FIFOQueue
from tfteach.ops.text.string_conversion import as_string
from tfteach.ops.text.string_ops import string_join

_TICKET = 21051976  # what the queue of capacity holds for each sequence
# The barrier's components before those of sequences, context and states.
_LENGTH, _TOTAL_LENGTH, _NEXT_KEY, _SEQUENCE, _SEQUENCE_COUNT = range(5)
_FIRST_TYPES = [
    dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32,
]  # fmt: skip


@export("contrib.training.SequenceQueueingStateSaver")
class SequenceQueueingStateSaver:
    """Batches of segments of long sequences, whose states go from one to the next.

    Each sequence is cut into segments of `num_unroll` steps.  The first one waits in a
    barrier with the initial states; a later one until `NextQueuedSequenceBatch.
    save_state` has saved those after its predecessor.  So each run of a training loop
    gets a batch of segments of different sequences with their states: truncated
    backpropagation through time.

    Args:
      batch_size: the number of segments in a batch, an int or an int32 scalar.
      num_unroll: the number of steps in a segment.
      input_length: the number of steps of a sequence, an int32 scalar.
      input_key: its name, a string scalar; no two in the barrier may be equal.
      input_sequences: name -> tensor, one step a row.  They have equal numbers of rows,
        a multiple of `num_unroll`.
      input_context: name -> tensor, what belongs to the whole sequence.
      initial_states: name -> tensor, the states before the first step.
      capacity: the largest number of sequences in the barrier; None for no limit.
      allow_small_batch: whether batches may be smaller once the barrier is closed.
      name: the ops' name.

    Raises:
      TypeError: the types of length or key are others; a name is no string.
      ValueError: there is no sequence or no state; a shape is not fully known;
        `capacity` is less than `batch_size`.
      tf.errors.InvalidArgumentError: in a run, the sequences' numbers of rows differ,
        or are no multiple of `num_unroll`, or less than `input_length`.

    Example:
      >>> saver = tf.contrib.training.SequenceQueueingStateSaver(
      ...     batch_size=2, num_unroll=3, input_length=5, input_key="a",
      ...     input_sequences={"x": tf.zeros([6, 4])}, input_context={},
      ...     initial_states={"c": tf.zeros([8])})
      >>> batch = saver.next_batch
      >>> save = batch.save_state("c", batch.state("c") + 1.0)
      >>> threads_run = saver.prefetch_op

    Source: contrib/training/python/training/sequence_queueing_state_saver.py.
    """

    def __init__(
        self,
        batch_size: TensorLike,
        num_unroll: int,
        input_length: TensorLike,
        input_key: TensorLike,
        input_sequences: Mapping[str, TensorLike],
        input_context: Mapping[str, TensorLike],
        initial_states: Mapping[str, TensorLike],
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        if capacity is not None:
            input_key = if_it_fits(input_key, capacity, batch_size)
        self._batch_size, self._num_unroll = batch_size, int(num_unroll)
        self.allow_small_batch = allow_small_batch
        self.capacity_queue = FIFOQueue(
            -1 if capacity is None else capacity, [dtypes.int32], [[]]
        )
        self._lock = threading.Lock()
        self._prefetch_op: Operation | None = None
        self._next_batch: NextQueuedSequenceBatch | None = None
        values = [
            input_length, input_key, *input_sequences.values(),
            *input_context.values(), *initial_states.values(),
        ]  # fmt: skip
        with (
            self.beside_queue(),
            name_scope(name, "InputQueueingStateSaver", values) as scope,
        ):
            self._scope = scope
            inputs = SequenceInputWrapper(
                input_length, input_key, input_sequences, input_context
            )
            if not initial_states:
                raise ValueError(
                    "initial_states may not be empty: at least one state variable is "
                    "required to properly enqueue split sequences to run in separate "
                    "iterations"
                )
            self.context = inputs.context
            self.states = named_tensors(initial_states, "state")
            self._check_inputs(inputs)
            self._make_barrier()

    def _check_inputs(self, inputs: SequenceInputWrapper) -> None:
        length = check_rank(inputs.length, 0)
        self._key = check_rank(inputs.key, 0)
        first = next(iter(inputs.sequences.values()))
        rows = identity(shape(first)[0], name="padded_length")
        rows = check_multiple_of(rows, self._num_unroll)
        self.sequences: Tensors = OrderedDict(
            (key, check_dimensions(value, [0], [rows], f"sorted_sequences_{key}"))
            for key, value in inputs.sequences.items()
        )
        is_padded = Assert(
            less_equal(length, rows),
            [
                "Input length should be <= than length from sequences:",
                length,
                " vs. ",
                rows,
            ],
        )
        with control_dependencies([is_padded]):
            self._length = identity(length)
        self._padded_length = rows

    def _make_barrier(self) -> None:
        segment = TensorShape([self._num_unroll])
        shapes = [TensorShape([])] * len(_FIRST_TYPES)
        shapes += [
            segment.concatenate(known_shape(value, f"sequence {key}", 1))
            for key, value in self.sequences.items()
        ]
        for what, values in (("context", self.context), ("state", self.states)):
            shapes += [known_shape(v, f"{what} {key}") for key, v in values.items()]
        every = [
            *self.sequences.values(),
            *self.context.values(),
            *self.states.values(),
        ]
        types = [*_FIRST_TYPES, *(value.dtype for value in every)]
        self._barrier = Barriers(types, shapes, name="barrier")

    def beside_queue(self) -> AbstractContextManager[None]:
        """A context whose ops are colocated with the queue that limits the barrier."""
        found: AbstractContextManager[None] = colocate_with(
            self.capacity_queue.queue_ref
        )
        return found

    def component_of(self, kind: Tensors, key: str) -> int:
        """The index in the barrier of a sequence, context or state."""
        before = len(_FIRST_TYPES)
        for other in (self.sequences, self.context, self.states):
            if other is kind:
                break
            before += len(other)
        return before + list(kind).index(key)

    @property
    def name(self) -> str:
        """The name scope of its ops."""
        return self._scope

    @property
    def barrier(self) -> Barriers:
        """The barrier that holds the segments."""
        return self._barrier

    @property
    def batch_size(self) -> TensorLike:
        """The number of segments in a batch."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """The number of steps in a segment."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Operation:
        """The op that inserts the input's segments; threads run it again and again."""
        with self._lock:
            if self._prefetch_op is None:
                with name_scope(None), name_scope(self._scope):
                    self._prefetch_op = self._make_prefetch_op()
            return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The next segments, which each run removes from the barrier."""
        prefetch = self.prefetch_op
        assert prefetch is not None
        with self._lock:
            if self._next_batch is None:
                with name_scope(None), name_scope(self._scope):
                    self._next_batch = NextQueuedSequenceBatch(self)
            return self._next_batch

    def close(
        self, cancel_pending_enqueues: bool = False, name: str | None = None
    ) -> Operation:
        """An op that closes the barrier and the queue that limits it.

        Args:
          cancel_pending_enqueues: whether what waits to be inserted is cancelled.
          name: the op's name.
        """
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            queue = self.capacity_queue.close(cancel_pending_enqueues, "FIFOClose")
            closed: Operation = group(barrier, queue, name=scope)
            return closed

    def _make_prefetch_op(self) -> Operation:
        count = div(self._padded_length, self._num_unroll)
        one_each = ones(expand_dims(count, 0), dtype=dtypes.int32)
        numbers = ranges.range(count)
        lengths = minimum(
            self._num_unroll, maximum(0, self._length - self._num_unroll * numbers)
        )
        total_lengths, counts = self._length * one_each, count * one_each
        parts = as_string(numbers, width=5, fill="0"), "_of_"
        total = as_string(count, width=5, fill="0")
        keys = string_join(
            [*parts, total, ":", self._key], name="StringJoinCurrentKeys"
        )
        rest = slice(keys, [1], [-1])
        stop = string_join(["STOP:", self._key], name="StringJoinStop")
        next_keys = concat([rest, expand_dims(stop, 0)], 0, name="concat_next_keys")
        sequences = [
            (key, self._segments(key, value, count))
            for key, value in self.sequences.items()
        ]
        context = [
            (key, self._repeated(key, value, count))
            for key, value in self.context.items()
        ]
        insert = self._barrier.insert_many
        first = insert(_SEQUENCE, keys, numbers, name="BarrierInsertSequence")
        inserts = [
            first,
            insert(_SEQUENCE_COUNT, keys, counts, name="BarrierInsertSequenceCount"),
            insert(_NEXT_KEY, keys, next_keys, name="BarrierInsertNextKey"),
            insert(_LENGTH, keys, lengths, name="BarrierInsertLength"),
            insert(_TOTAL_LENGTH, keys, total_lengths, name="BarrierInsertTotalLength"),
        ]
        later = [
            insert(
                self.component_of(kind, key), keys, value, f"BarrierInsert{what}_{key}"
            )
            for what, kind, values in (
                ("Context", self.context, context),
                ("Sequences", self.sequences, sequences),
            )
            for key, value in values
        ]
        enqueue = self.capacity_queue.enqueue([_TICKET])
        # The states last: they make the first segment ready.
        with control_dependencies([enqueue, first]):
            states = [
                insert(
                    self.component_of(self.states, key),
                    stack([keys[0]]),
                    stack([value]),
                    name=f"BarrierInitialInsertState_{key}",
                )
                for key, value in self.states.items()
            ]
        every = [enqueue, *inserts, *states, *later]
        prefetch: Operation = group(*every, name="StateSaverPrefetchGroup")
        return prefetch

    def _segments(self, key: str, value: Tensor, count: Tensor) -> Tensor:
        """A sequence as `[segments, num_unroll, ...]`."""
        rest: list[Any] = value.shape.as_list()[1:]
        sizes = [expand_dims(count, 0), expand_dims(self._num_unroll, 0)]
        whole = concat(
            [*sizes, np.array(rest, np.int32)],
            0,
            f"concat_sequences_{key}",
        )
        cut = reshape(value, whole, name=f"reshape_sequences_{key}")
        wanted = [count, self._num_unroll, *rest]
        label = f"reshaped_sequences_{key}"
        return check_dimensions(cut, range(len(wanted)), wanted, label)

    def _repeated(self, key: str, value: Tensor, count: Tensor) -> Tensor:
        """A context for each segment."""
        sizes: list[Any] = value.shape.as_list()
        row = expand_dims(value, 0)
        times = concat(
            [expand_dims(count, 0), np.ones(len(sizes), np.int32)],
            0,
            f"concat_context_{key}",
        )
        tiled = tile(row, times, name=f"tile_context_{key}")
        wanted = [count, *sizes]
        label = f"expanded_context_{key}"
        return check_dimensions(tiled, range(len(wanted)), wanted, label)


@export("contrib.training.NextQueuedSequenceBatch")
class NextQueuedSequenceBatch:
    """A batch of segments with their states.

    Args:
      state_saver: the `SequenceQueueingStateSaver` that they come from.

    Source: contrib/training/python/training/sequence_queueing_state_saver.py.
    """

    def __init__(self, state_saver: SequenceQueueingStateSaver) -> None:
        self._saver = saver = state_saver
        self._insertion_index, self._key, values = saver.barrier.take_many(
            saver.batch_size, saver.allow_small_batch, name="BarrierTakeMany"
        )
        self._length, self._total_length = values[_LENGTH], values[_TOTAL_LENGTH]
        self._next_key = values[_NEXT_KEY]
        self._sequence, self._sequence_count = (
            values[_SEQUENCE],
            values[_SEQUENCE_COUNT],
        )
        self._batch_size = squeeze(shape(self._length))
        self._is_done = greater_equal(self._sequence + 1, self._sequence_count)
        ended = reduce_sum(cast(self._is_done, dtypes.int32))
        dequeue: Any = saver.capacity_queue.dequeue_many(ended)
        self._sequences, self._context, states = (
            OrderedDict((key, values[saver.component_of(kind, key)]) for key in kind)
            for kind in (saver.sequences, saver.context, saver.states)
        )
        with control_dependencies([dequeue]):
            self._states = {key: identity(value) for key, value in states.items()}

    @property
    def batch_size(self) -> Tensor:
        """The number of segments, an int32 scalar."""
        return self._batch_size

    @property
    def insertion_index(self) -> Tensor:
        """int64 [batch]: the order in which the segments came, from -2**63."""
        return self._insertion_index

    @property
    def key(self) -> Tensor:
        """The segments' keys, strings [batch]: "00000_of_00003:name"."""
        return self._key

    @property
    def next_key(self) -> Tensor:
        """The keys of the next segments, strings [batch]; "STOP:name" at the end."""
        return self._next_key

    @property
    def sequence(self) -> Tensor:
        """int32 [batch]: the number of the segment in its sequence, from 0."""
        return self._sequence

    @property
    def sequence_count(self) -> Tensor:
        """int32 [batch]: the number of segments of the sequence."""
        return self._sequence_count

    @property
    def length(self) -> Tensor:
        """int32 [batch]: the number of steps in the segment that are no padding."""
        return self._length

    @property
    def total_length(self) -> Tensor:
        """int32 [batch]: the length of the whole sequence."""
        return self._total_length

    @property
    def sequences(self) -> Tensors:
        """name -> Tensor `[batch, num_unroll, ...]`."""
        return self._sequences

    @property
    def context(self) -> Tensors:
        """name -> Tensor `[batch, ...]`."""
        return self._context

    def state(self, state_name: str) -> Tensor:
        """The state before these segments: `[batch, ...]`.

        Raises:
          KeyError: there is no such state.
        """
        return self._states[state_name]

    def save_state(
        self, state_name: str, value: TensorLike, name: str | None = None
    ) -> Operation:
        """An op that saves the state after these segments, for the next ones.

        Args:
          state_name: of the state.
          value: a tensor of the shape of `state(state_name)`.
          name: the op's name.

        Raises:
          KeyError: there is no such state.
          ValueError: the static shape is another one.
          tf.errors.InvalidArgumentError: in a run, the shape is another one.
        """
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        saver = self._saver
        with (
            saver.beside_queue(),
            name_scope(name, "InputQueueingStateSaver_SaveState", [value]),
        ):
            continued = reshape(where(logical_not(self._is_done)), [-1])
            keys = gather(self._next_key, continued)
            tensor = identity(value, name=f"convert_{state_name}")
            tensor = check_shape_of(tensor, self._states[state_name])
            component = saver.component_of(saver.states, state_name)
            return saver.barrier.insert_many(
                component,
                keys,
                gather(tensor, continued),
                name=f"BarrierInsertState_{state_name}",
            )
