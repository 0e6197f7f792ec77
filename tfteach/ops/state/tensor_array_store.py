"""The elements of a TensorArray during a run, with checks of reads and writes.

Source: core/kernels/tensor_array.h, tensor_array.cc.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, bool_, string
from tfteach.framework.errors import ResourceExhaustedError, invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule

_numbers = itertools.count()


_MOST_SLOTS = 1 << 24  # 2 GB even without any values


def _check_size(name: str, size: int) -> None:
    """Reject arrays that would fill the memory before holding any value."""
    if size > _MOST_SLOTS:
        raise ResourceExhaustedError(
            None,
            None,
            f"OOM when allocating TensorArray {name} with {size} elements: the maximum "
            f"is {_MOST_SLOTS}",
        )


class _Slot:
    """One element and its state."""

    __slots__ = ("cleared", "read", "shape", "value", "written")

    def __init__(self) -> None:
        self.value: Any = None
        self.written = self.read = self.cleared = False
        self.shape: Shape = None  # the shape written here, or in the forward store


class ArrayStore:
    """The elements of one TensorArray in one run; the object itself is the handle.

    Attributes:
      sums: whether a second write to an element adds to it, as for gradients.
      gradients: the stores of this one's gradients, by source.
    """

    shape: ClassVar[tuple[int, ...]] = (2,)  # the handle's, as in TensorFlow

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        element_shape: Shape,
        same_shapes: bool = False,
        grows: bool = False,
        clears: bool = True,
    ) -> None:
        self.name = name
        self.dtype = dtype
        _check_size(name, size)
        self.slots = [_Slot() for _ in range(size)]
        self.element_shape = element_shape
        self.same_shapes = same_shapes
        self.grows = grows
        self.clears = clears
        self.sums = False
        self.closed = False
        self.gradients: dict[str, ArrayStore] = {}

    @classmethod
    def numbered(cls, name: str, *args: Any) -> ArrayStore:
        """A store with a unique name, as it appears in messages."""
        return cls(f"{name}_{next(_numbers)}", *args)

    def __len__(self) -> int:
        return len(self.slots)

    def gradient(self, source: str) -> ArrayStore:
        """The store that accumulates this one's gradients in one call of
        `tf.gradients`.
        """
        self.check_open()
        found = self.gradients.get(source)
        if found is None:
            if self.sums:
                raise invalid_argument(
                    "Wrong input container. _tensor_array_grads"
                    f"{self.name}: the gradient of a gradient TensorArray does not "
                    "exist."
                )
            self.grows = False  # the gradients keep the present size
            found = self.gradients[source] = ArrayStore(
                f"{self.name}@{source}",
                self.dtype,
                len(self.slots),
                self.element_shape,
                self.same_shapes,
            )
            found.sums = True
            for ours, theirs in zip(self.slots, found.slots, strict=True):
                theirs.shape = ours.shape
        return found

    # ---- writing

    def write(self, index: int, value: Any) -> None:
        """Set an element (or add to it, see `sums`).

        Raises:
          InvalidArgumentError: it is out of range, was written or read before, or the
            value's shape differs from the elements'.
        """
        self.check_open()
        if index < 0 or (not self.grows and index >= len(self.slots)):
            raise invalid_argument(
                f"TensorArray {self.name}: Tried to write to index {index} but array "
                f"is not resizeable and size is: {len(self.slots)}"
            )
        if index >= len(self.slots):
            _check_size(self.name, index + 1)
        while index >= len(self.slots):
            self.slots.append(_Slot())
        slot = self.slots[index]
        refused = f"TensorArray {self.name}: Could not write to TensorArray index "
        refused += f"{index} because "
        if slot.written and not self.sums:
            # After a clearing read, TF's message mentions the read.
            if slot.read:
                raise invalid_argument(refused + "it has already been read.")
            raise invalid_argument(refused + "it has already been written to.")
        if not shapes.compatible(self.element_shape, value.shape):
            raise invalid_argument(
                f"{refused}the value shape is {shapes.text(value.shape)} which is "
                "incompatible with the TensorArray's inferred element shape: "
                f"{_shape_text(self.element_shape)} (consider setting "
                "infer_shape=False)."
            )
        if self.same_shapes and not shapes.is_full(self.element_shape):
            self.element_shape = tuple(value.shape)
        if slot.read:
            raise invalid_argument(refused + "it has already been read.")
        slot.value = self._sum(slot.value, value, index) if slot.written else value
        slot.written = True
        slot.shape = tuple(value.shape)

    def _sum(self, old: Any, new: Any, index: int) -> Any:
        if old.shape != new.shape:
            raise invalid_argument(
                f"TensorArray {self.name}: Could not aggregate to TensorArray index "
                f"{index} because the existing shape is {shapes.text(old.shape)} but "
                f"the new input shape is {shapes.text(new.shape)}."
            )
        if self.dtype in (string, bool_):
            raise invalid_argument(
                f"tensor_array::AddToTensor type not supported: {self.dtype.name}"
            )
        return old + new

    def write_many(self, indices: Sequence[int], values: Sequence[Any]) -> None:
        """Set several elements."""
        self.check_open()
        last = max(indices, default=-1)
        if not self.grows and last >= len(self.slots):
            raise invalid_argument(
                f"Max scatter index must be < array size ({last} vs. {len(self.slots)})"
            )
        for index, value in zip(indices, values, strict=True):
            self.write(index, value)

    # ---- reading

    def read(self, xp: ArrayModule, index: int) -> Any:
        """An element; zeros if it was never written but its shape is known.

        Raises:
          InvalidArgumentError: it is out of range, has no value, or was cleared by an
            earlier read.
        """
        self.check_open()
        if not 0 <= index < len(self.slots):
            raise invalid_argument(
                f"Tried to read from index {index} but array size is: {len(self.slots)}"
            )
        slot = self.slots[index]
        if slot.cleared:
            raise invalid_argument(
                f"TensorArray {self.name}: Could not read index {index} twice because "
                "it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)."
            )
        if not slot.written:
            slot.value = self._zeros(xp, slot, index)
        value = slot.value
        slot.read = True
        if self.clears:
            slot.cleared, slot.value = True, None
        return value

    def _zeros(self, xp: ArrayModule, slot: _Slot, index: int) -> Any:
        shape = slot.shape if slot.shape is not None else self.element_shape
        if not shapes.is_full(shape):
            raise invalid_argument(
                f"TensorArray {self.name}: Could not read from TensorArray index "
                f"{index}.  Furthermore, the element shape is not fully defined: "
                f"{_shape_text(shape)}.  It is possible you are working with a "
                "resizeable TensorArray and stop_gradients is not allowing the "
                "gradients to be written.  If you set the full element_shape property "
                "on the forward TensorArray, the proper all-zeros tensor will be "
                "returned instead of incurring this error."
            )
        assert shape is not None
        if self.dtype is string:
            return xp.full(shape, b"", dtype=object)
        return xp.zeros(shape, self.dtype.numpy_dtype)

    # ---- closing

    def close(self) -> None:
        self.closed = True
        self.slots = []

    def check_open(self) -> None:
        if self.closed:
            raise invalid_argument(f"TensorArray {self.name} has already been closed.")


def _shape_text(shape: Shape) -> str:
    return "<unknown>" if shape is None else shapes.text(shape)
