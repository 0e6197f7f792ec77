"""A variable partitioned along one axis, which reads as one tensor.

Source: python/ops/variables.py, PartitionedVariable (API, node names).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfteach.framework.convert import register_tensor_conversion_function
from tfteach.framework.dtypes import DType
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.ops.core.identity_reshape import Identity


class PartitionedVariable:
    """The partitions of a variable; created by `get_variable`.

    Args:
      name: the whole variable's name.
      shape: its shape.
      dtype: its element type.
      variable_list: the partitions, each with its `SaveSliceInfo`.
      partitions: the number of partitions along each axis.

    Raises:
      TypeError: `variable_list` or `partitions` is not a list or tuple.
      ValueError: they are inconsistent.
    """

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: DType,
        variable_list: Any,
        partitions: Any,
    ) -> None:
        if not isinstance(variable_list, list | tuple):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(p >= 1 for p in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        infos = [v._get_save_slice_info() for v in variable_list]
        if any(info is None for info in infos):
            names = [v.name for v in variable_list]
            raise ValueError(
                f"All variables must have a save_slice_info available: {names}"
            )
        if len(shape) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        if any(TensorShape(info.full_shape) != TensorShape(shape) for info in infos):
            found = [info.full_shape for info in infos]
            raise ValueError(
                f"All variables' full shapes must match shape: {shape}; but full "
                f"shapes were: {found}"
            )
        self._variable_list = sorted(
            variable_list, key=lambda v: v._get_save_slice_info().var_offset
        )
        self._name, self._shape, self._dtype = name, TensorShape(shape), dtype
        self._partitions = partitions

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        self._axis("get a length for", "")
        return len(self._variable_list)

    def _axis(self, what: str, more: str) -> int:
        axes = [i for i, n in enumerate(self._partitions) if n > 1] or [0]
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot {what} more than one partition axis: {axes}.{more}"
            )
        return axes[0]

    def as_tensor(self) -> Tensor:
        """The whole value: the partitions concatenated."""
        with get_default_graph().control_dependencies(None):
            if len(self._variable_list) == 1:
                with name_scope(None):
                    return _identity(self._variable_list[0], self._name)
            axis = self._axis("concatenate along", "")
            with name_scope(self._name + "/ConcatPartitions/"):
                from tfteach.ops.array.concat_split import concat

                joined = concat(self._variable_list, axis)
            with name_scope(None):
                return _identity(joined, self._name)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> Any:
        return self._partitions

    def _each(self, method: str, value: Any, read_value: bool, **kwargs: Any) -> Any:
        axis = self._axis("do assign action along", "")
        if isinstance(value, list):
            assert len(value) == len(self._variable_list)
            pieces = value
        elif isinstance(value, PartitionedVariable):
            pieces = list(value)
        else:
            from tfteach.ops.array.concat_split import split

            sizes = [v.shape.as_list()[axis] for v in self._variable_list]
            pieces = split(value, sizes, axis=axis)
        return [
            getattr(variable, method)(piece, read_value=read_value, **kwargs)
            for variable, piece in zip(self._variable_list, pieces, strict=True)
        ]

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Assign to all partitions; a list of new values (ops, if not `read_value`)."""
        return self._each(
            "assign", value, read_value, use_locking=use_locking, name=name
        )

    def assign_add(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add to all partitions; see `assign`."""
        return self._each(
            "assign_add", value, read_value, use_locking=use_locking, name=name
        )

    def assign_sub(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract from all partitions; see `assign`."""
        return self._each(
            "assign_sub", value, read_value, use_locking=use_locking, name=name
        )


def _identity(value: Any, name: str) -> Tensor:
    return Identity()(value, name=name)


def _to_tensor(
    variable: PartitionedVariable, dtype: DType | None = None, name: str | None = None,
    as_ref: bool = False,
) -> Tensor:  # fmt: skip
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for "
            f"variable of type '{variable.dtype.name}'"
        )
    if as_ref:
        raise NotImplementedError(
            "PartitionedVariable doesn't support being used as a reference."
        )
    return variable.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
