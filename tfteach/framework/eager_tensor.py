"""`EagerTensor`: a tensor with a value, the result of an op that has run at once.

Source: python/framework/ops.py (EagerTensor, _EagerTensorBase; API and messages).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from tfteach.framework.defaults import get_default_graph, outermost
from tfteach.framework.dtypes import DType, string
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, TensorShape

_ids = itertools.count()

# The shared name of a resource that belongs to the tensor that holds its handle.
ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"

HOST = "/job:localhost/replica:0/task:0/device:CPU:0"


def _only_in_graphs(name: str) -> Any:
    def refuse(self: EagerTensor) -> NoReturn:
        raise AttributeError(
            f"Tensor.{name} is meaningless when eager execution is enabled."
        )

    return property(refuse)


class EagerTensor(Tensor):
    """A tensor whose value is known.

    Attributes:
      value: the array, a NumPy scalar for rank 0, or what a resource handle refers to.
        It may be shared, and is never modified.
    """

    __slots__ = ("value",)

    value: Any

    def __init__(self, value: Any, dtype: DType, device: str = "") -> None:
        self.value = value
        self.dtype = dtype
        if device:
            self.__dict__["device"] = device

    # ---- what it is

    @property
    def _shape(self) -> Shape:  # type: ignore[override]
        return getattr(self.value, "shape", ())

    static_shape = _shape

    @property
    def device(self) -> str:
        """The name of the device that holds the value."""
        found: str = self.__dict__.get("device", HOST)
        return found

    backing_device = device

    @property
    def _id(self) -> int:
        """A number that no other tensor has."""
        found = self.__dict__.get("id")
        if found is None:
            found = self.__dict__["id"] = next(_ids)
        return found

    @property
    def source(self) -> Operation:
        """The call that made the resource of a handle."""
        return self.__dict__["source"]  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self._shape or ())

    def _rank(self) -> int:
        return self.ndim

    def _num_elements(self) -> int:
        return math.prod(self._shape_tuple())

    def _shape_tuple(self) -> tuple[int, ...]:
        found: tuple[int, ...] = getattr(self.value, "shape", ())
        return found

    def set_shape(self, shape: Any) -> None:
        """Check the shape.

        Raises:
          ValueError: `shape` is incompatible with that of the value.
        """
        if not TensorShape(self._shape).is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self._shape} is not compatible with supplied shape "
                f"{shape}"
            )

    op = _only_in_graphs("op")
    graph = _only_in_graphs("graph")
    name = _only_in_graphs("name")
    value_index = _only_in_graphs("value_index")

    def consumers(self) -> NoReturn:
        raise NotImplementedError(
            "Tensor.consumers is meaningless when eager execution is enabled."
        )

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Refused: `numpy()` returns the value."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what "
            "you're looking for?"
        )

    # ---- the value

    def numpy(self) -> Any:
        """A copy of the value: an array, a NumPy scalar for rank 0, bytes for a string.

        Raises:
          ValueError: a resource or variant has no such value.
        """
        value = self._host_value()
        if isinstance(value, np.ndarray):
            return value.copy() if value.ndim else value[()]
        return value

    def _host_value(self) -> Any:
        """The value in host memory; it may be shared."""
        value: Any = self.value
        if isinstance(value, np.ndarray | np.generic):
            kind: Any = value.dtype  # of a quantized type it has one field
            return value if kind.names is None else value.view(kind[0])
        get = getattr(value, "get", None)  # an array of a GPU
        if get is None or not self.dtype.is_numpy_compatible:
            raise ValueError(
                f"Cannot convert a Tensor of dtype {self.dtype.name} to a NumPy array."
            )
        return get()

    def __array__(self, dtype: Any = None, **_: Any) -> Any:
        found = np.array(self._host_value())
        return found if dtype is None else found.astype(dtype)

    def _number(self) -> Any:
        """The only element; TensorFlow's NumPy takes arrays of one for numbers."""
        value = self._host_value()
        is_number = value.size == 1 and not value.dtype.hasobject
        return value.item() if is_number else value

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __bytes__(self) -> bytes:
        return self._host_value().tobytes()  # type: ignore[no-any-return]

    def __index__(self) -> int:
        value = self.numpy()
        if isinstance(value, np.ndarray):
            return value.__index__()
        return int(value)  # also of floats, as TF

    def __bool__(self) -> bool:
        return bool(self._number()) if self._num_elements() else False

    __nonzero__ = __bool__

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._shape[0])  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        for i in range(len(self)):
            yield self[i]

    def __format__(self, format_spec: str) -> str:
        value = self._host_value()
        if (
            value.ndim == 0 and self.dtype.is_floating
        ):  # as TensorFlow's NumPy: all digits
            value = float(value)
        return value.__format__(format_spec)  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return _unpickled, (self._host_value(), self.dtype)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    # ---- text

    def _text(self, is_repr: bool) -> str:
        if not self.dtype.is_numpy_compatible or self.value is None:
            return "<unprintable>"
        value = self._host_value()
        if not value.ndim:
            value = value.item()
            if self.dtype.base_dtype is not string:
                return str(self._host_value())
        text = repr(value) if is_repr else str(value)
        return f"\n{text}" if "\n" in text else text

    def __str__(self) -> str:
        return (
            f"tf.Tensor({self._text(False)}, shape={self.shape}, "
            f"dtype={self.dtype.name})"
        )

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: id={self._id}, shape={self.shape}, "
            f"dtype={self.dtype.name}, numpy={self._text(True)}>"
        )

    # ---- devices

    def cpu(self) -> Tensor:
        """A copy in the memory of the CPU."""
        return self._on("/device:CPU:0")

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """A copy in the memory of a GPU."""
        return self._on(f"/device:GPU:{gpu_index}")

    def _on(self, device: str) -> Tensor:
        graph: Any = get_default_graph()
        if not graph.is_eager:
            graph = outermost()
        found: Tensor = graph.moved(self, device)
        return found


def _unpickled(value: Any, dtype: DType) -> EagerTensor:
    return EagerTensor(value, dtype)
