"""Several dependencies that are saved and restored together.

Source: contrib/checkpoint/python/split_dependency.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.trackable import VARIABLE_VALUE_KEY, Trackable
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.ops.core.control_flow_ops import no_op


class _CallbackSaveable(SaveableObject):
    """A tensor that a function makes, and another one takes when it is restored."""

    def __init__(
        self,
        name: str,
        dtype: Any,
        device: str,
        save_callback: Callable[[], Any],
        restore_callback: Callable[[Any], Any],
    ) -> None:
        self._restore_callback = restore_callback
        spec = SaveSpec(save_callback, "", name, dtype, device)
        super().__init__(save_callback, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """What the function returns: an Operation."""
        [tensor] = restored_tensors
        return self._restore_callback(tensor)


class _Buffers:
    """What the parts of a split dependency share.

    Attributes:
      saved, restored: tensors by name, that not all parts have fetched, or filled in.
    """

    def __init__(
        self,
        count: int,
        fill: Callable[[dict[str, Any]], Any],
        consume: Callable[[dict[str, Any]], Any],
    ) -> None:
        self.saved: dict[str, Any] = {}
        self.restored: dict[str, Any] = {}
        self.count, self.fill, self.consume = count, fill, consume


class _SplitDependency(Trackable):
    """A part, which looks like a variable."""

    def __init__(self, name: str, dtype: Any, device: str, buffers: _Buffers) -> None:
        self._name, self._dtype, self._device = name, dtype, device
        self._buffers = buffers

    def _unsynchronized(self, what: str) -> AssertionError:
        return AssertionError(
            f"Split dependency {self._name} ({self}) unsynchronized. Split "
            f"dependencies must be {what} together."
        )

    def _save(self) -> Any:
        saved = self._buffers.saved
        if self._name not in saved:
            if saved:
                raise self._unsynchronized("saved")
            self._buffers.fill(saved)
        return saved.pop(self._name)

    def _restore(self, tensor: Any) -> Any:
        restored = self._buffers.restored
        if self._name in restored:
            raise self._unsynchronized("restored")
        restored[self._name] = tensor
        if len(restored) < self._buffers.count:
            return no_op()
        done = self._buffers.consume(restored)
        restored.clear()
        return done

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        make = functools.partial(
            _CallbackSaveable,
            dtype=self._dtype,
            device=self._device,
            save_callback=self._save,
            restore_callback=self._restore,
        )
        return {VARIABLE_VALUE_KEY: make}


@export("contrib.checkpoint.split_dependency")
def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[DTypeLike],
    fill_save_buffer_fn: Callable[[dict[str, Any]], Any],
    consume_restore_buffer_fn: Callable[[dict[str, Any]], Any],
    device: str,
) -> dict[str, Trackable]:
    """Dependencies for the parts of a value, which one op saves and restores.

    Args:
      component_names: the names of the parts.
      component_dtypes: the type of each.
      fill_save_buffer_fn: adds a Tensor for each name to a dict.
      consume_restore_buffer_fn: restores from such a dict; returns an Operation.
      device: where both run.

    Returns:
      A dict from the names to objects.  If one is saved, all must be.

    Example:
      >>> v = tf.Variable([1.0, 2.0])
      >>> def fill(parts):
      ...     parts["a"], parts["b"] = tf.unstack(v.read_value())
      >>> parts = tf.contrib.checkpoint.split_dependency(
      ...     ["a", "b"], [tf.float32] * 2, fill,
      ...     lambda parts: v.assign([parts["a"], parts["b"]]), "")
      >>> checkpoint = tf.train.Checkpoint(**parts)

    Source: contrib/checkpoint/python/split_dependency.py.
    """
    count = len(component_names)
    buffers = _Buffers(count, fill_save_buffer_fn, consume_restore_buffer_fn)
    return {
        name: _SplitDependency(name, dtype, device, buffers)
        for name, dtype in zip(component_names, component_dtypes, strict=True)
    }
