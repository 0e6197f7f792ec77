"""A cell that attends to a memory.

Source: contrib/seq2seq/python/ops/attention_wrapper.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfteach.control.checks.values import assert_equal
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.contrib.framework.shapes import with_same_shape
from tfteach.lib.contrib.seq2seq.attention import AttentionMechanism, size_of
from tfteach.lib.layers.core import Dense
from tfteach.lib.rnn.cell import RNNCell, require_cell, zero_tensors
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, identity, squeeze
from tfteach.ops.linalg.matmul import matmul


@export("contrib.seq2seq.AttentionWrapperState")
class AttentionWrapperState(NamedTuple):
    """The state of an `AttentionWrapper`.

    Attributes:
      cell_state: the state of the wrapped cell.
      attention: a Tensor [batch, depth], the previous step's attention.
      time: int32 scalar, the number of steps so far.
      alignments: a Tensor [batch, time of memory]; a tuple of them if there are
        several mechanisms (the same for the next two).
      alignment_history: a TensorArray of the alignments of all steps, or ().
      attention_state: the mechanism's state.
    """

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """A copy with some parts replaced, whose shapes must be equal.

        Raises:
          ValueError: a shape differs, or a part is nested differently.

        Example:
          >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.zeros([2, 5, 3]))
          >>> cell = tf.nn.rnn_cell.GRUCell(4)
          >>> cell = tf.contrib.seq2seq.AttentionWrapper(cell, attention)
          >>> state = cell.zero_state(2, tf.float32)
          >>> state = state.clone(cell_state=tf.ones([2, 4]))
        """

        def checked(old: Any, new: Any) -> Any:
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                if not get_default_graph().is_eager:
                    return with_same_shape(old, new)
                if old.shape.as_list() != new.shape.as_list():
                    raise ValueError(
                        "The shape of the AttentionWrapperState is expected to be same "
                        f"as the one to clone. self.shape: {old.shape}, input.shape: "
                        f"{new.shape}"
                    )
            return new

        state: AttentionWrapperState = nest.map_structure(
            checked, self, self._replace(**kwargs)
        )
        return state


def attend(
    attention_mechanism: Any,
    cell_output: Tensor,
    attention_state: Any,
    attention_layer: Any,
) -> tuple[Any, Any, Any]:
    """(attention, alignments, the mechanism's next state)."""
    alignments, state = attention_mechanism(cell_output, state=attention_state)
    # alignments [batch, 1, time] x values [batch, time, depth]
    context = matmul(expand_dims(alignments, 1), attention_mechanism.values)
    context = squeeze(context, [1])
    if attention_layer is not None:
        context = attention_layer(concat([cell_output, context], 1))
    return context, alignments, state


@export("contrib.seq2seq.AttentionWrapper")
class AttentionWrapper(RNNCell):
    """A cell with attention: its input includes the previous step's attention.

    The context is the sum of the memory's values weighted by alignments; the attention
    is the context, or a layer's output for cell output and context.

    Args:
      cell: an RNNCell.
      attention_mechanism: an AttentionMechanism, or a list of them.
      attention_layer_size: the size of a layer without bias, one per mechanism; None
        for no layer.
      alignment_history: record the alignments of all steps in the state.
      cell_input_fn: a function from input and attention to the cell's input;
        concatenates them if None.
      output_attention: whether to output the attention instead of the cell's output.
      initial_cell_state: the cell's part of `zero_state`, instead of zeros.
      name: the name.
      attention_layer: a layer, one per mechanism, instead of its size.
      attention_fn: a function from (mechanism, cell's output, mechanism's state, layer)
        to (attention, alignments, next state).
      dtype: the type.

    Raises:
      TypeError: `cell` or a mechanism has an unsupported type.
      ValueError: the numbers of layers and mechanisms differ; both layers and sizes.

    Example:
      >>> memory = tf.random_normal([2, 5, 3])
      >>> attention = tf.contrib.seq2seq.BahdanauAttention(4, memory)
      >>> cell = tf.contrib.seq2seq.AttentionWrapper(
      ...     tf.nn.rnn_cell.GRUCell(4), attention, attention_layer_size=4)
      >>> output, state = cell(tf.zeros([2, 6]), cell.zero_state(2, tf.float32))

    Source: contrib/seq2seq/python/ops/attention_wrapper.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        require_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._attention_mechanisms = _mechanisms(attention_mechanism)
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(
                "cell_input_fn must be callable, saw type: "
                f"{type(cell_input_fn).__name__}"
            )
        self._cell_input_fn = cell_input_fn or (lambda x, y: concat([x, y], -1))
        self._cell, self._attention_fn = cell, attention_fn or attend
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._set_layers(attention_layer_size, attention_layer)
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = initial_cell_state
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                checks = self._check_batch_size(
                    size_of(last, 0),
                    f"When constructing AttentionWrapper {self._base_name}: "
                    "Non-matching batch sizes between the memory (encoder output) and "
                    "initial_cell_state.  Are you using the BeamSearchDecoder?  You "
                    "may need to tile your initial state via the "
                    "tf.contrib.seq2seq.tile_batch function with argument "
                    "multiple=beam_width.",
                )
                with control_dependencies(checks):
                    self._initial_cell_state = nest.map_structure(
                        lambda part: identity(part, name="check_initial_cell_state"),
                        initial_cell_state,
                    )

    def _set_layers(self, layer_size: Any, layer: Any) -> None:
        """Create the layers, and record the total size of the attention."""
        mechanisms = self._attention_mechanisms
        if layer_size is not None and layer is not None:
            raise ValueError(
                "Only one of attention_layer_size and attention_layer should be set"
            )
        self._attention_layers: tuple[Any, ...] | None = None
        if layer_size is not None:
            sizes = _as_tuple(layer_size)
            _check_count("attention_layer_size", "integer", sizes, mechanisms)
            self._attention_layers = tuple(
                Dense(
                    size, name="attention_layer", use_bias=False, dtype=mechanism.dtype
                )
                for size, mechanism in zip(sizes, mechanisms, strict=True)
            )
        elif layer is not None:
            self._attention_layers = _as_tuple(layer)
            _check_count("attention_layer", "layer", self._attention_layers, mechanisms)
            depths = [self._cell.output_size + _depth(m.values) for m in mechanisms]
            sizes = tuple(
                _last(each.compute_output_shape([None, depth]))
                for each, depth in zip(self._attention_layers, depths, strict=True)
            )
        else:
            sizes = tuple(_depth(mechanism.values) for mechanism in mechanisms)
        self._attention_layer_size = sum(sizes)

    def _check_batch_size(self, batch_size: Any, message: str) -> list[Operation]:
        return [
            assert_equal(batch_size, mechanism.batch_size, message=message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, items: Iterable[Any]) -> Any:
        """A single item for one mechanism, a tuple for a list of mechanisms."""
        found = tuple(items)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Any:
        """The size of the attention, or that of the cell's output."""
        if self._output_attention:
            return self._attention_layer_size
        return self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """The sizes of the state's parts."""
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(
                m.alignments_size if self._alignment_history else () for m in mechanisms
            ),
        )

    def zero_state(self, batch_size: TensorLike, dtype: Any) -> AttentionWrapperState:
        """The initial state: zeros, or `initial_cell_state` for the cell.

        Args:
          batch_size: an int or a scalar Tensor, equal to the memory's: with beam
            search, to that of the memory tiled by `tile_batch`.
          dtype: the type of the zeros.

        Raises:
          InvalidArgumentError: (building or run) the memory's batch size differs.
        """
        mechanisms = self._attention_mechanisms
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(
                    batch_size=batch_size, dtype=dtype
                )
            checks = self._check_batch_size(
                batch_size,
                f"When calling zero_state of AttentionWrapper {self._base_name}: "
                "Non-matching batch sizes between the memory (encoder output) and the "
                "requested batch size.  Are you using the BeamSearchDecoder?  If so, "
                "make sure your encoder output has been tiled to beam_width via "
                "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to "
                "zero_state is batch_size * beam_width.",
            )
            with control_dependencies(checks):
                cell_state = nest.map_structure(
                    lambda part: identity(part, name="checked_cell_state"), cell_state
                )
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]

            def history(first: Tensor) -> Any:
                if not self._alignment_history:
                    return ()
                return TensorArray(
                    dtype, size=0, dynamic_size=True, element_shape=first.shape
                )

            return AttentionWrapperState(
                cell_state=cell_state,
                time=zeros([], dtype=int32),
                attention=zero_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in mechanisms
                ),
                alignment_history=self._item_or_tuple(map(history, alignments)),
            )

    def call(self, inputs: Tensor, state: Any) -> tuple[Any, AttentionWrapperState]:
        """Run one step; returns (output, next state)."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(cell_inputs, state.cell_state)
        checks = self._check_batch_size(
            size_of(output, 0),
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes "
            "between the memory (encoder output) and the query (decoder output).  Are "
            "you using the BeamSearchDecoder?  You may need to tile your memory input "
            "via the tf.contrib.seq2seq.tile_batch function with argument "
            "multiple=beam_width.",
        )
        with control_dependencies(checks):
            output = identity(output, name="checked_cell_output")
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        layers = self._attention_layers or [None] * len(self._attention_mechanisms)
        rows = []
        for mechanism, old, history, layer in zip(
            self._attention_mechanisms, states, histories, layers, strict=True
        ):
            row = self._attention_fn(mechanism, output, old, layer)
            kept = history.write(state.time, row[1]) if self._alignment_history else ()
            rows.append((*row, kept))
        contexts, alignments, states, histories = zip(*rows, strict=True)
        attention = concat(list(contexts), 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return (attention if self._output_attention else output), next_state


def _mechanisms(given: Any) -> tuple[Any, ...]:
    """The mechanisms, one or several.

    Raises:
      TypeError: one is not an AttentionMechanism.
    """
    is_multi = isinstance(given, list | tuple)
    what = "must be an AttentionMechanism or list of multiple AttentionMechanism"
    if is_multi:
        what = "must contain only instances of AttentionMechanism"
    else:
        what += " instances"
    for mechanism in _as_tuple(given):
        if not isinstance(mechanism, AttentionMechanism):
            raise TypeError(
                f"attention_mechanism {what}, saw type: {type(mechanism).__name__}"
            )
    return _as_tuple(given)


def _as_tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _check_count(
    argument: str, what: str, given: tuple[Any, ...], mechanisms: tuple[Any, ...]
) -> None:
    if len(given) != len(mechanisms):
        raise ValueError(
            f"If provided, {argument} must contain exactly one {what} per "
            f"attention_mechanism, saw: {len(given)} vs {len(mechanisms)}"
        )


def _depth(values: Tensor) -> Any:
    return _last(values.shape)


def _last(shape: Any) -> Any:
    return TensorShape(shape).as_list()[-1]
