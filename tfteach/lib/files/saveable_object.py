"""What a Saver saves: objects of one or several tensors.

Source: python/training/saving/saveable_object.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Tensor


class SaveSpec:
    """One tensor of a checkpoint.

    Args:
      tensor: the Tensor (or variable) to save, or a function that makes it.
      slice_spec: the part of the tensor that it is, such as "4 2 0,2:0,2"; "" for all.
      name: its name in the checkpoint.
      dtype: the type; required if `tensor` is a function.
      device: where it is; required if `tensor` is a function.

    Raises:
      AssertionError: the type or the device of a function's tensor is missing.

    Source: python/training/saving/saveable_object.py.
    """

    def __init__(
        self,
        tensor: Any,
        slice_spec: str,
        name: str,
        dtype: DType | None = None,
        device: str | None = None,
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError(
                    "When passing a callable `tensor` to a SaveSpec, an explicit dtype "
                    f"and device must be provided: got dtype={dtype!r} and "
                    f"device={device!r} for {name!r}"
                )
            self.dtype, self.device = dtype, device
        else:
            self.dtype, self.device = tensor.dtype, tensor.device

    @property
    def tensor(self) -> Any:
        """The Tensor; a function makes a new one each time."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """Base of objects that a Saver saves and restores; `restore` must be overridden.

    Args:
      op: what is saved, such as a variable or a table.  A Saver accepts it once.
      specs: a `SaveSpec` for each of its tensors, all on the same device.
      name: its name, by which `var_list` is sorted.

    Source: python/training/saving/saveable_object.py.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint may lack it; see `assert_consumed`."""
        return False

    @property
    def device(self) -> str:
        """The device of its tensors."""
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """The Operation that sets the object to tensors of a checkpoint.

        Args:
          restored_tensors: a Tensor for each of `specs`.
          restored_shapes: the shapes to give them, for `Saver(reshape=True)`; else
            None.

        Raises:
          ValueError: the class does not override this method.
        """
        raise ValueError(
            "Calling an abstract method. Subclasses of SaveableObject define restore: "
            f"{type(self).__name__} does not"
        )
