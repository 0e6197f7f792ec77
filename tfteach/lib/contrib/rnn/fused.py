"""Networks that process a whole sequence in one call, with the interface of cells.

Source: contrib/rnn/python/ops/fused_rnn_cell.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tfteach.framework.export import export
from tfteach.lib.rnn.dynamic import dynamic_rnn
from tfteach.lib.rnn.static import static_rnn
from tfteach.ops.array.transpose_reverse import reverse, reverse_sequence
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.variables.scope.variable_scope import VariableScope


@export("contrib.rnn.FusedRNNCell")
class FusedRNNCell(ABC):
    """Base of classes that are called with a whole sequence.

    Source: contrib/rnn/python/ops/fused_rnn_cell.py.
    """

    @abstractmethod
    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: VariableScope | str | None = None,
    ) -> Any:
        """Run over a sequence.

        Args:
          inputs: a Tensor [time, batch, depth], or a list of Tensors [batch, depth].
          initial_state: the initial state.
          dtype: the type of the state; required without an initial one.
          sequence_length: int Tensor [batch].
          scope: the variable scope.

        Returns:
          (outputs like `inputs`, the final state).
        """


@export("contrib.rnn.FusedRNNCellAdaptor")
class FusedRNNCellAdaptor(FusedRNNCell):
    """An RNNCell as a fused cell, run by `static_rnn` or `dynamic_rnn`.

    Args:
      cell: an RNNCell.
      use_dynamic_rnn: run it in a while loop.

    Source: contrib/rnn/python/ops/fused_rnn_cell.py.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._is_dynamic = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: VariableScope | str | None = None,
    ) -> Any:
        is_list = isinstance(inputs, list)
        options = {
            "initial_state": initial_state,
            "dtype": dtype,
            "sequence_length": sequence_length,
            "scope": scope,
        }
        if self._is_dynamic:
            inputs = stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, inputs, time_major=True, **options)
            return unstack(outputs) if is_list else outputs, state
        steps = inputs if is_list else unstack(inputs)
        made, state = static_rnn(self._cell, steps, **options)
        return made if is_list else stack(made), state


@export("contrib.rnn.TimeReversedFusedRNN")
class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that receives the sequence in reverse.

    Args:
      cell: a FusedRNNCell.

    Example:
      >>> rnn = tf.contrib.rnn
      >>> cell = rnn.FusedRNNCellAdaptor(rnn.GRUCell(4), use_dynamic_rnn=True)
      >>> backward = rnn.TimeReversedFusedRNN(cell)
      >>> outputs, state = backward(tf.ones([5, 2, 3]), dtype=tf.float32)

    Source: contrib/rnn/python/ops/fused_rnn_cell.py.
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: VariableScope | str | None = None,
    ) -> Any:
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(steps: Any, lengths: Any) -> Any:
    """The steps in reverse; for a Tensor only up to each sequence's end."""
    if isinstance(steps, list):
        return list(reversed(steps))
    if lengths is None:
        return reverse(steps, [0])
    return reverse_sequence(steps, lengths, 0, 1)
