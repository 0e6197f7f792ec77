"""State of Python in checkpoints: strings that objects make and read.

Source: python/training/tracking/{base,python_state}.py.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation
from tfteach.framework.scope import open_init_scope
from tfteach.framework.trackable import Trackable
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op


class NoRestoreSaveable(SaveableObject):
    """A tensor that is saved, and that nothing restores.

    Args:
      tensor: the Tensor, or a function that makes it.
      name: its name.
      dtype, device: the type and the device of a function's tensor.
    """

    def __init__(
        self, tensor: Any, name: str, dtype: Any = None, device: str | None = None
    ) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype, device)], name)

    @property
    def optional_restore(self) -> bool:
        return True

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """An Operation that does nothing."""
        return no_op()


class PythonStateSaveable(SaveableObject):
    """A string that stands for state of Python.

    Args:
      name: its key in the checkpoint.
      state_callback: returns the string; called for each checkpoint.
      restore_callback: called with the string that a checkpoint has; or None.
    """

    def __init__(
        self,
        name: str,
        state_callback: Callable[[], Any],
        restore_callback: Callable[[bytes], None] | None = None,
    ) -> None:
        self._restore_callback = restore_callback
        self._state_callback = state_callback
        with get_default_graph().device("/cpu:0"):
            self._held = constant("", string)
        super().__init__(self._held, [SaveSpec(self._held, "", name)], name)

    @property
    def optional_restore(self) -> bool:
        return self._restore_callback is None

    def _state(self) -> Any:
        with open_init_scope(get_default_graph()):
            return self._state_callback()

    def feed_dict_additions(self) -> dict[Any, Any]:
        """What a session is fed when it saves."""
        return {self._held: self._state()}

    def freeze(self) -> SaveableObject:
        """The state of the moment when it is saved, as a constant."""
        return NoRestoreSaveable(
            lambda: constant(self._state(), string), self.name, string, "cpu:0"
        )

    def python_restore(self, restored_strings: list[bytes]) -> None:
        """Set the state of Python."""
        if self._restore_callback is not None:
            [restored] = restored_strings
            self._restore_callback(restored)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """An Operation that does nothing: no tensor depends on the state."""
        return no_op()


@export("train.experimental.PythonState", "contrib.checkpoint.PythonStateWrapper")
class PythonState(Trackable, abc.ABC):
    """Base of objects whose state is no variable: checkpoints hold it as a string.

    It is restored as soon as `restore` finds the object, also in graphs.

    Example:
      >>> class Position(tf.train.experimental.PythonState):
      ...     row = 0
      ...     def serialize(self):
      ...         return str(self.row)
      ...     def deserialize(self, string_value):
      ...         self.row = int(string_value)
      >>> checkpoint = tf.train.Checkpoint(position=Position())

    Source: python/training/tracking/python_state.py.
    """

    @abc.abstractmethod
    def serialize(self) -> str | bytes:
        """The state as a string."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Set the state to that of a string."""

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        make = functools.partial(
            PythonStateSaveable,
            state_callback=self.serialize,
            restore_callback=self.deserialize,
        )
        return {"py_state": make}
