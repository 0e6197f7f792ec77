"""The variables of one graph by full name: created once, shared if reuse is allowed.

Source: python/ops/variable_scope.py, _VariableStore (rules and messages).
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tfteach.framework.call_origin import user_frame
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, float32, string
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope, open_init_scope
from tfteach.framework.shape import TensorShape, as_tensor_shape
from tfteach.framework.type_aliases import (
    CollectionNames,
    Constraint,
    DeviceLike,
    DTypeLike,
    Initializer,
    Partitioner,
    Regularizer,
)
from tfteach.ops.array.slicing import Slice
from tfteach.variables.base import (
    SaveSliceInfo,
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from tfteach.variables.creation import resource_variables_enabled
from tfteach.variables.initializers import GlorotUniform, Zeros
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.resource import ResourceVariable
from tfteach.variables.scope.requests import Asking, Request
from tfteach.variables.scope.reuse import AUTO_REUSE


class PartitionInfo(NamedTuple):
    """The partition of a variable that an initializer creates."""

    full_shape: list[int]
    var_offset: list[int]

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where a partition of this shape begins, along the axis that is divided."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The axis that is divided; None if the partition is the whole variable.

        Raises:
          ValueError: the variable has no such partition, or several axes are divided.
        """
        if len(shape) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length "
                f"{len(shape)} while self.full_shape={self.full_shape} is of length "
                f"{len(self.full_shape)}."
            )
        divided = []
        for i, (offset, size) in enumerate(zip(self.var_offset, shape, strict=True)):
            if offset + size > self.full_shape[i]:
                raise ValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape="
                    f"{shape} would exceed self.full_shape={self.full_shape} in "
                    f"dimension {i}."
                )
            if size != self.full_shape[i]:
                divided.append(i)
        if len(divided) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and "
                f"self.full_shape={self.full_shape} since slice dim could be either "
                f"dimension {divided[1]} or {divided[0]}."
            )
        return divided[0] if divided else None


class VariableStore:
    """The store of a graph's variables; see the module's docstring.

    Args:
      stores_eager_variables: whether it also holds the variables of eager programs,
        which otherwise live only as long as the program refers to them.

    Attributes:
      requests: every completed `get_variable` call in order, for
        tfteach.explain.graphs.sharing.
    """

    def __init__(self, stores_eager_variables: bool = False) -> None:
        self._store_eager_variables = stores_eager_variables
        self.requests: list[Request] = []
        self.asking = Asking()  # a custom getter need not pass the scopes on
        self._locks: dict[str, threading.RLock] = {}
        self._vars: dict[str, Any] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}

    def reuse_mode(self, reuse: Any) -> Any:
        """Whether variables are shared: as asked in a graph.

        Raises:
          RuntimeError: eager variables cannot be shared, since none are stored.
        """
        if not get_default_graph().is_eager:
            return reuse
        if self._store_eager_variables:
            return AUTO_REUSE
        if reuse:
            raise RuntimeError(
                "When eager execution is enabled variable reuse is only supported when "
                "an EagerVariableStore is active. See the documentation on "
                "EagerVariableStore for example usage."
            )
        return reuse

    def _stores(self) -> bool:
        """Whether it holds the variables that are created now."""
        return self._store_eager_variables or not get_default_graph().is_eager

    def get(
        self,
        name: str,
        shape: Any = None,
        dtype: DTypeLike = float32,
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Partitioner | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """The variable of that full name; if `reuse` is None, it may be shared."""
        # If several threads request a name, the first one creates the variable.
        with self._locks.setdefault(name, threading.RLock()):
            return self._get(
                name, shape, dtype, initializer, partitioner,
                regularizer=regularizer, reuse=reuse, trainable=trainable,
                collections=collections, caching_device=caching_device,
                validate_shape=validate_shape, use_resource=use_resource,
                constraint=constraint, synchronization=synchronization,
                aggregation=aggregation,
            )  # fmt: skip

    def _get(
        self, name: str, shape: Any, dtype: DTypeLike, initializer: Initializer | None,
        partitioner: Partitioner | None,
        **how: Any,
    ) -> Any:  # fmt: skip
        is_scalar = isinstance(shape, list | tuple) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(
                    f"Partitioner must be callable, but received: {partitioner}"
                )
            with name_scope(None):
                return self.partitioned(
                    name, partitioner, shape, dtype, initializer, how
                )
        reuse = how["reuse"]
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self.partitioned(name, None, shape, dtype, initializer, how)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the "
                f"variable was found: {name}/part_0. Perhaps a variable of the same "
                "name was already created with partitioning?"
            )
        return self._single(name, shape, dtype, initializer, None, how)

    # ---- one variable

    def _single(
        self, name: str, shape: Any, dtype: DTypeLike, initializer: Initializer | None,
        partition_info: PartitionInfo | None, how: dict[str, Any],
    ) -> Any:  # fmt: skip
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype, shape = as_dtype(dtype), as_tensor_shape(shape)
        reuse = how["reuse"]
        if name in self._vars:
            found = _shared(self._vars[name], name, shape, dtype, reuse)
            return self._record(name, found, False)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        if initializer is None:
            initializer = default_initializer(name, dtype)
        if from_value:
            value, value_dtype = initializer, None
        else:
            value, value_dtype = _bound(initializer, shape, dtype, partition_info)
        use_resource = how["use_resource"]
        if use_resource is None:
            use_resource = resource_variables_enabled()
        rest = {k: v for k, v in how.items() if k not in ("regularizer", "reuse")}
        rest["use_resource"] = use_resource
        variable = Variable._make(value, name=name, dtype=value_dtype, **rest)
        graph = get_default_graph()
        if self._stores():
            self._vars[name] = variable
        if graph.is_eager and self._store_eager_variables:
            keys = how["collections"] or [GraphKeys.GLOBAL_VARIABLES]
            if how["trainable"]:
                keys = [*keys, GraphKeys.TRAINABLE_VARIABLES]
            graph.add_to_collections(keys, variable)
        if how["regularizer"]:
            _regularize(variable, name, how["regularizer"])
        return self._record(name, variable, True)

    def _record(self, name: str, variable: Any, made: bool) -> Any:
        graph, asked = get_default_graph(), self.asking.asked
        if graph.is_eager:
            return variable
        origin = user_frame()
        order, version = next(graph.order), len(graph.operations)
        self.requests.append(
            Request(name, variable, made, origin, order, version, asked)
        )
        return variable

    # ---- a partitioned variable

    def partitioned(
        self, name: str, partitioner: Partitioner | None, shape: Any, dtype: DTypeLike,
        initializer: Initializer | None,
        how: dict[str, Any],
    ) -> PartitionedVariable:  # fmt: skip
        if name in self._vars:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the "
                f"variable was found: {name}.  Perhaps a variable of the same name was "
                "already created without partitioning?"
            )
        dtype, shape = as_dtype(dtype), as_tensor_shape(shape)
        if isinstance(initializer, Tensor):
            shape = shape.merge_with(initializer.shape)
        reuse = how["reuse"]
        partitions = None
        if not reuse or partitioner is not None:
            partitions = call_partitioner(partitioner, shape, dtype)
        if name in self._partitioned_vars:
            found = self._partitioned_vars[name]
            _check_parts(found, name, shape, dtype, partitions, reuse)
            result: PartitionedVariable = self._record(name, found, False)
            return result
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=False or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        assert partitions is not None
        axis = next((i for i, n in enumerate(partitions) if n > 1), 0)
        parts = []
        sizes = shape.as_list()
        for i, (offset, size) in enumerate(slices(sizes, partitions[axis], axis)):
            info = PartitionInfo(sizes, offset)
            full_name = f"{name}/part_{i}"
            with name_scope(full_name + "/PartitionedInitializer"):
                value, part_shape = _part_value(name, initializer, dtype, offset, size)
            with name_scope(None):
                part_dtype = value.dtype if isinstance(value, Tensor) else dtype
                part = self._single(full_name, part_shape, part_dtype, value, info, how)
            part._set_save_slice_info(SaveSliceInfo(name, sizes, offset, size))
            parts.append(part)
        made = PartitionedVariable(name, shape, dtype, parts, partitions)
        if self._stores():
            self._partitioned_vars[name] = made
        return made


def _shared(
    variable: Any, name: str, shape: TensorShape, dtype: DType, reuse: Any
) -> Any:
    """An existing variable, if it may be shared and matches the request."""
    if reuse is False:
        message = (
            f"Variable {name} already exists, disallowed. Did you mean to set "
            "reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
        )
        is_resource = isinstance(variable, ResourceVariable)
        source = None if is_resource else variable.op.source
        if source is not None:
            message += (
                f' Originally defined at:\n\n  File "{source.file}", line '
                f"{source.line}, in {source.function}\n    {source.text}\n"
            )
        raise ValueError(message)
    if not shape.is_compatible_with(variable.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found "
            f"shape {variable.shape}."
        )
    if not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name} and "
            f"found dtype {variable.dtype.name}."
        )
    return variable


def default_initializer(name: str, dtype: DType) -> Any:
    """Glorot's uniform for floats, zeros for integers, bools and strings."""
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype.base_dtype is string:
        return Zeros()
    raise ValueError(
        f"An initializer for variable {name} of {dtype.base_dtype} is required"
    )


def _bound(
    initializer: Any,
    shape: TensorShape,
    dtype: DType,
    info: PartitionInfo | None,
) -> tuple[Any, Any]:
    """A function without arguments for the initial value, and its type."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        sizes = shape.as_list()
        return (
            lambda: initializer(sizes, dtype=dtype, partition_info=info)
        ), dtype.base_dtype
    required = [
        p
        for p in inspect.signature(initializer).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if not required:
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no "
        "arguments and the shape should not be provided or an instance of "
        "`tf.keras.initializers.*' and `shape` should be fully defined."
    )


def _regularize(variable: Any, name: str, regularizer: Regularizer) -> None:
    graph = get_default_graph()
    with (
        graph.colocate_with(variable),
        name_scope(name + "/Regularizer/"),
        open_init_scope(graph),
    ):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


# ---- partitions


def call_partitioner(
    partitioner: Partitioner | None, shape: TensorShape, dtype: DTypeLike
) -> list[int]:
    """The number of partitions along each axis.

    Raises:
      ValueError: the shape is not fully known, or more than one axis is partitioned.
    """
    if not shape.is_fully_defined():
        raise ValueError(
            "Shape of a new partitioned variable must be fully defined, but instead "
            f"was {shape}."
        )
    if len(shape) < 1:
        raise ValueError(
            f"A partitioned Variable must have rank at least 1, shape: {shape}"
        )
    parts = partitioner(  # type: ignore[misc]  # None: a TypeError, as in TF
        shape=shape, dtype=dtype
    )
    if not isinstance(parts, list | tuple):
        raise ValueError(f"Partitioner must return a sequence, but saw: {parts}")
    if len(parts) != len(shape):
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's "
            f"rank: {parts} vs. {shape}"
        )
    if any(n < 1 for n in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
    if sum(n > 1 for n in parts) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, "
            f"partitioning: {parts}"
        )
    return parts  # type: ignore[return-value]


def slices(
    sizes: list[Any], count: int, axis: int
) -> Iterator[tuple[list[int], list[int]]]:
    """(offset, shape) of each partition; the first ones take the remainder."""
    least, excess = divmod(sizes[axis], count)
    offset = [0] * len(sizes)
    for i in range(count):
        shape = list(sizes)
        shape[axis] = least + (i < excess)
        yield list(offset), shape
        offset[axis] += shape[axis]


def _part_value(
    name: str,
    initializer: Initializer | None,
    dtype: DType,
    offset: list[int],
    size: list[int],
) -> tuple[Any, list[int] | None]:
    """(initializer, shape) of a partition; a value is sliced and needs no shape."""
    if initializer is None:
        return default_initializer(name, dtype), size
    if callable(initializer):
        return initializer, size
    whole = convert(initializer, None if isinstance(initializer, Tensor) else dtype)
    return Slice()(whole, offset, size), None


def _check_parts(
    found: PartitionedVariable, name: str, shape: TensorShape, dtype: DType,
    partitions: list[int] | None, reuse: Any,
) -> None:  # fmt: skip
    if reuse is False:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to "
            "set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
        )
    problem = None
    if not shape.is_compatible_with(found.shape):
        problem = f"shape {shape} and found shape {found.shape}"
    elif not dtype.is_compatible_with(found.dtype):
        problem = f"dtype {dtype.name} and found dtype {found.dtype.name}"
    elif partitions is not None and found._get_partitions() != partitions:
        problem = f"partitions {partitions} and found partitions "
        problem += f"{found._get_partitions()}"
    if problem is not None:
        raise ValueError(
            f"Trying to reuse partitioned variable {name}, but specified {problem}."
        )
