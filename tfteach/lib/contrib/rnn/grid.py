"""LSTMs that run over the frequencies of a spectrum in each time step.

Source: contrib/rnn/python/ops/rnn_cell.py.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.lib.contrib.rnn.lstm_cells import peeped
from tfteach.lib.contrib.rnn.shared import sharded_variable
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.cells import clipped, warn_of_joined_state
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.padding import pad
from tfteach.ops.array.slicing import slice
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.exponential import sigmoid, tanh
from tfteach.ops.nn.bias_add import bias_add
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import get_variable, variable_scope


def _known_depth(inputs: Tensor) -> int:
    depth: int | None = dimension_value(inputs.shape.with_rank(2)[1])
    if depth is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return depth


def _count(depth: int, size: int | None, skip: int | None) -> int:
    """The number of windows of `size` with stride `skip`."""
    if size is None or skip is None:
        raise TypeError(
            "feature_size and frequency_skip must be ints, got "
            f"{size} and {skip}: they say how large windows are and how far apart."
        )
    return int((depth - size) / skip) + 1


@export("contrib.rnn.TimeFreqLSTMCell")
class TimeFreqLSTMCell(RNNCell):
    """An LSTM that runs over windows of its input, from low to high frequencies.

    A window's gates see the window, its output at the previous time step, and the
    previous window's output.

    Args:
      num_units: the size of the cell state.
      use_peepholes: let the gates see the cell state, with diagonal weights.
      cell_clip: the limit to which the cell state is clipped, if any.
      initializer: ignored, as in TensorFlow; the variable scope's is used.
      num_unit_shards: the number of partitions of the kernel.
      forget_bias: added to the forget gate.
      feature_size: the size of a window.
      frequency_skip: the distance between windows.
      reuse: whether the variables must exist.

    Raises:
      ValueError: the size of the inputs is not known.

    Source: Li et al., "LSTM time and frequency recurrence for automatic speech
    recognition", 2015; contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Any = None,
        frequency_skip: Any = 1,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size, self._skip = feature_size, frequency_skip

    @property
    def state_size(self) -> int:
        """[c, h] of one window; TensorFlow does not count the others."""
        return 2 * self._num_units

    @property
    def output_size(self) -> int:
        """The size of one window's output."""
        return self._num_units

    def _windows(self, inputs: Tensor) -> list[Tensor]:
        size, skip = self._feature_size, self._skip
        count = _count(_known_depth(inputs), size, skip)
        return [slice(inputs, [0, k * skip], [-1, size]) for k in range(count)]

    def _diagonals(self, dtype: DTypeLike) -> dict[str, Any]:
        if not self._use_peepholes:
            return dict.fromkeys("FIO")
        return {
            gate: get_variable(f"W_{gate}_diag", shape=[self._num_units], dtype=dtype)
            for gate in "FIO"
        }

    def call(self, inputs: Tensor, state: Any) -> Any:
        units, dtype = self._num_units, inputs.dtype
        windows = self._windows(inputs)
        depth: Any = windows[0].shape.as_list()[1]
        sizes = [depth + 2 * units, 4 * units]
        kernel = sharded_variable("W", sizes, dtype, self._shards)
        bias = get_variable("B", shape=sizes[1:], initializer=Zeros(), dtype=dtype)
        weights = self._diagonals(dtype)
        batch_size = dimension_value(inputs.shape[0]) or shape(inputs)[0]
        below = zeros([batch_size, units], dtype)
        states: Tensor | None = None
        outputs: Tensor | None = None
        for k, window in enumerate(windows):
            c = slice(state, [0, 2 * k * units], [-1, units])
            h = slice(state, [0, (2 * k + 1) * units], [-1, units])
            gates = bias_add(matmul(concat([window, h, below], 1), kernel), bias)
            i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
            kept = sigmoid(peeped(f + self._forget_bias, weights["F"], c)) * c
            c = kept + sigmoid(peeped(i, weights["I"], c)) * tanh(j)
            c = clipped(c, self._cell_clip)
            below = sigmoid(peeped(o, weights["O"], c)) * tanh(c)
            states = concat([c, below] if states is None else [states, c, below], 1)
            outputs = below if outputs is None else concat([outputs, below], 1)
        return outputs, states


@dataclass
class _Weights:
    """The weights of one of the two LSTMs of a grid."""

    kernel: Any
    bias: Any
    # Per gate: the weights of the cell states along frequency and time.
    diagonals: dict[str, tuple[Any, Any]]

    def peeped(self, gate: str, value: Tensor, memories: tuple[Any, Any]) -> Tensor:
        """A gate before its sigmoid, with peepholes at both cell states."""
        for diagonal, memory in zip(
            self.diagonals.get(gate, ()), memories, strict=False
        ):
            value = value + diagonal * memory
        return value


@export("contrib.rnn.GridLSTMCell")
class GridLSTMCell(RNNCell):
    """Two LSTMs over windows of the input: one along frequency, one along time.

    Args:
      num_units: the size of each cell state.
      use_peepholes: let the gates see both cell states, with diagonal weights.
      share_time_frequency_weights: let both share their variables.
      cell_clip: the limit to which cell states are clipped, if any.
      initializer: ignored, as in TensorFlow; the variable scope's is used.
      num_unit_shards: the number of partitions of a kernel.
      forget_bias: added to the forget gates.
      feature_size: the size of a window.
      frequency_skip: the distance between windows.
      num_frequency_blocks: a list with each block's number of windows.
      start_freqindex_list, end_freqindex_list: the range of each block; None for one
        block of all inputs.
      couple_input_forget_gates: use 1 - forget gate as the input gate.
      state_is_tuple: state is a named tuple, two entries per window; False: one Tensor.
      reuse: whether the variables must exist.

    Raises:
      ValueError: there are no blocks; their number of windows differs; the size of the
        inputs is not known.

    Source: Kalchbrenner et al., "Grid long short-term memory", 2015;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Any = None,
        frequency_skip: Any = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            warn_of_joined_state(self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._is_shared = share_time_frequency_weights
        self._cell_clip = cell_clip
        self._shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size, self._skip = feature_size, frequency_skip
        self._blocks = num_frequency_blocks
        self._begins, self._ends = start_freqindex_list, end_freqindex_list
        self._is_coupled = couple_input_forget_gates
        self._windows = sum(int(count) for count in num_frequency_blocks)
        self._state_tuple_type: Any = None
        self._state_size: Any = 2 * num_units * self._windows
        self._output_size = 2 * num_units * self._windows
        if state_is_tuple:
            self._name_states("GridLSTMStateTuple", [""])

    def _name_states(self, name: str, prefixes: list[str]) -> None:
        """Create the state's named tuple type, and the sizes."""
        fields = [
            f"{prefix}state_f{window:02d}_b{block:02d}_{part}"
            for prefix in prefixes
            for block, count in enumerate(self._blocks)
            for window in range(count)
            for part in "cm"
        ]
        self._state_tuple_type = namedtuple(name, fields)  # type: ignore[misc]
        self._state_size = self._state_tuple_type(*[self._num_units] * len(fields))

    @property
    def output_size(self) -> int:
        """The total size of both LSTMs' outputs over all windows."""
        return self._output_size

    @property
    def state_size(self) -> Any:
        """A named tuple of sizes, or their sum."""
        return self._state_size

    @property
    def state_tuple_type(self) -> Any:
        """The named tuple's type; None for states in one Tensor."""
        return self._state_tuple_type

    def call(self, inputs: Tensor, state: Any) -> Any:
        batch_size = dimension_value(inputs.shape[0]) or shape(inputs)[0]
        outputs: list[Tensor] = []
        states: list[Tensor] = []
        for block, windows in enumerate(self._windows_of(inputs)):
            made, new = self._run(windows, block, state, batch_size, "state")
            outputs += made
            states += new
        if self._state_tuple_type is not None:
            new_state = self._state_tuple_type(*states)
        else:
            new_state = concat(states, 1)
        return concat(outputs, 1), new_state

    # ---- the windows

    def _windows_of(self, inputs: Tensor, offset: int = 0) -> list[list[Tensor]]:
        """The windows of each block; `offset` shifts all of them."""
        depth = _known_depth(inputs)
        if offset:
            before, behind = max(-offset, 0), max(offset, 0)
            edges = constant([0, 0, before, behind], shape=[2, 2], dtype=int32)
            inputs = pad(inputs, edges, "CONSTANT")
        offset = max(offset, 0)
        return [
            [
                slice(
                    inputs,
                    [0, begin + offset + k * self._skip],
                    [-1, self._feature_size],
                )
                for k in range(count)
            ]
            for begin, count in self._ranges(depth)
        ]

    def _ranges(self, depth: int) -> list[tuple[int, int]]:
        """(start, number of windows) of each block."""
        blocks, begins, ends = self._blocks, self._begins, self._ends
        if not begins:
            if len(blocks) != 1:
                raise ValueError(
                    "Length of num_frequency_blocks is not 1, but instead is "
                    f"{len(blocks)}"
                )
            begins, ends = [0], [depth]
        elif len(begins) != len(ends):
            raise ValueError(
                "Length of start and end freqindex_list does not match "
                f"{len(begins)} {len(ends)}"
            )
        elif len(blocks) != len(begins):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list "
                f"{len(blocks)} {len(begins)}"
            )
        found = []
        for wanted, begin, end in zip(blocks, begins, ends, strict=True):
            count = _count(end - begin, self._feature_size, self._skip)
            if count != wanted:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {wanted} but gets {count},"
                    " please check the input size and filter config are correct."
                )
            found.append((begin, count))
        return found

    # ---- one block

    def _weights(
        self, block: int, depth: int, dtype: DTypeLike
    ) -> tuple[_Weights, _Weights]:
        """The weights along frequency and along time, which may be shared."""
        gates = 3 if self._is_coupled else 4
        sizes = [depth + 2 * self._num_units, gates * self._num_units]
        sides = ("freq",) if self._is_shared else ("freq", "time")
        found = []
        for side in sides:
            name = f"{side[0]}_{block}"
            kernel = sharded_variable(f"W_{name}", sizes, dtype, self._shards)
            bias = get_variable(f"B_{name}", sizes[1:], dtype, Zeros())
            found.append(_Weights(kernel, bias, {}))
        if self._use_peepholes:
            for side, weights in zip(sides, found, strict=True):
                for gate in "IO" if self._is_coupled else "FIO":
                    names = (f"W_{gate}_diag_{side}{end}_{block}" for end in "ft")
                    first, second = (
                        get_variable(name, [self._num_units], dtype) for name in names
                    )
                    weights.diagonals[gate] = first, second
        return found[0], found[-1]

    def _gates(self, weights: _Weights, inputs: Tensor) -> list[Any]:
        """i, j, f, o; without f if it is coupled to i."""
        whole = bias_add(matmul(inputs, weights.kernel), weights.bias)
        if not self._is_coupled:
            return list(split(value=whole, num_or_size_splits=4, axis=1))
        i, j, o = split(value=whole, num_or_size_splits=3, axis=1)
        return [i, j, None, o]

    def _memory(
        self,
        weights: _Weights,
        gates: list[Any],
        memories: tuple[Tensor, Tensor],
        own: Tensor,
    ) -> Tensor:
        i, j, f, _ = gates
        take = sigmoid(weights.peeped("I", i, memories))
        if self._is_coupled:
            keep = 1.0 - take
        else:
            keep = sigmoid(weights.peeped("F", f + self._forget_bias, memories))
        return clipped(keep * own + take * tanh(j), self._cell_clip)

    def _before(self, state: Any, prefix: str, block: int, k: int) -> tuple[Any, Any]:
        """A window's cell state and output of the previous time step."""
        if self._state_tuple_type is not None:
            name = f"{prefix}_f{k:02d}_b{block:02d}"
            return getattr(state, name + "_c"), getattr(state, name + "_m")
        # The same for all blocks, as in TensorFlow.
        units = self._num_units
        c = slice(state, [0, 2 * k * units], [-1, units])
        return c, slice(state, [0, (2 * k + 1) * units], [-1, units])

    def _run(
        self, windows: list[Tensor], block: int, state: Any, batch: Any, prefix: str
    ) -> tuple[list[Tensor], list[Tensor]]:
        """The outputs and the states of a block's windows."""
        units, dtype = self._num_units, windows[0].dtype
        depth: Any = windows[0].shape.as_list()[1]
        along, over = self._weights(block, depth, dtype)
        h_freq, c_freq = (zeros([batch, units], dtype) for _ in range(2))
        outputs: list[Tensor] = []
        states: list[Tensor] = []
        for k, window in enumerate(windows):
            c_time, h_time = self._before(state, prefix, block, k)
            inputs = concat([window, h_time, h_freq], 1)
            gates_freq = self._gates(along, inputs)
            gates_time = gates_freq
            if not self._is_shared:
                gates_time = self._gates(over, inputs)
            memories = c_freq, c_time
            new_freq = self._memory(along, gates_freq, memories, c_freq)
            new_time = self._memory(over, gates_time, memories, c_time)
            memories = new_freq, new_time
            h_freq = sigmoid(along.peeped("O", gates_freq[3], memories))
            h_freq = h_freq * tanh(new_freq)
            h_time = sigmoid(over.peeped("O", gates_time[3], memories))
            h_time = h_time * tanh(new_time)
            c_freq = new_freq
            states += [new_time, h_time]
            outputs += [h_time, h_freq]
        return outputs, states


@export("contrib.rnn.BidirectionalGridLSTMCell")
class BidirectionalGridLSTMCell(GridLSTMCell):
    """`GridLSTMCell` that runs over the windows in both directions.

    Args:
      backward_slice_offset: the shift of the backward pass's windows.
      The other arguments are those of `GridLSTMCell`; states are always tuples.

    Source: contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Any = None,
        frequency_skip: Any = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._offset = int(backward_slice_offset)
        self._name_states("BidirectionalGridLSTMStateTuple", ["fwd_", "bwd_"])
        self._output_size *= 2

    def call(self, inputs: Tensor, state: Any) -> Any:
        batch_size = dimension_value(inputs.shape[0]) or shape(inputs)[0]
        forward = self._windows_of(inputs)
        backward = forward
        if self._offset:
            backward = self._windows_of(inputs, self._offset)
        outputs: list[Tensor] = []
        states: list[Tensor] = []
        for direction, blocks in (("fwd", forward), ("bwd", backward)):
            with variable_scope(direction):
                for block, windows in enumerate(blocks):
                    if direction == "bwd":
                        windows = windows[::-1]
                    prefix = f"{direction}_state"
                    made, new = self._run(windows, block, state, batch_size, prefix)
                    outputs += made
                    states += new
        return concat(outputs, 1), self._state_tuple_type(*states)
