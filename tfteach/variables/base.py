"""`Variable`: the public class, and the choice of the kind of variable.

Source: python/ops/variables.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from tfteach.framework.defaults import get_default_session
from tfteach.framework.dtypes import DType
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.object_identity import Reference
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import open_init_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.trackable import VARIABLE_VALUE_KEY, Trackable
from tfteach.framework.type_aliases import (
    CollectionNames,
    Constraint,
    DeviceLike,
    DTypeLike,
    Proto,
    SessionLike,
    TensorLike,
)
from tfteach.ops.array.tensor_indexing import slice_helper
from tfteach.ops.state.ref_variables import is_variable_initialized
from tfteach.variables.creation import Kinds, create, default_creator
from tfteach.variables.updates import PartUpdates

OPERATORS = (
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __div__ __rdiv__ __truediv__ "
    "__rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __lt__ __le__ __gt__ "
    "__ge__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __pow__ __rpow__ "
    "__invert__ __neg__ __abs__ __matmul__ __rmatmul__"
).split()


@export("VariableSynchronization")
class VariableSynchronization(Enum):
    """Times at which a variable's copies on several devices are synchronized."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@export("VariableAggregation", v2="VariableAggregation")
class VariableAggregation(Enum):
    """Methods of combining a variable's copies on several devices."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


class SaveSliceInfo:
    """The slice of a partitioned variable held by a partition, as in checkpoints.

    Args:
      full_name: the whole variable's name.
      full_shape: its shape.
      var_offset: the start of the partition along each axis.
      var_shape: the partition's shape.
      save_slice_info_def: a SaveSliceInfoDef that supplies all of these.
      import_scope: a name scope to prepend to its name.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Any = None,
        var_offset: Any = None,
        var_shape: Any = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            proto = save_slice_info_def
            full_name = proto.full_name
            if import_scope:
                full_name = f"{import_scope}/{full_name}"
            full_shape, var_offset = list(proto.full_shape), list(proto.var_offset)
            var_shape = list(proto.var_shape)
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """The partition in checkpoint notation: "10 3 0,5:0,3"."""
        sizes = "".join(f"{n} " for n in self.full_shape)
        pairs = zip(self.var_offset, self.var_shape, strict=True)
        return sizes + ":".join(f"{offset},{size}" for offset, size in pairs)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A SaveSliceInfoDef; None if the variable is not inside `export_scope`."""
        from tfteach.framework.protos import SaveSliceInfoDef

        name = str(self.full_name)
        if export_scope is not None and not name.startswith(export_scope):
            return None
        return SaveSliceInfoDef(
            full_name=name.removeprefix(export_scope + "/") if export_scope else name,
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


class VariableMeta(type):
    """`tf.Variable(...)` makes a variable of one of several kinds."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Variable:
            return Variable._make(*args, **kwargs)
        if cls is VariableV2:
            return VariableV2._make_v2(*args, **kwargs)
        return super().__call__(*args, **kwargs)


@export(v2="Variable")
class VariableV2(PartUpdates, Trackable, metaclass=VariableMeta):
    """A resource variable, and the base class of all variables.

    For the arguments see `tf.Variable`.
    """

    __array_priority__ = 100
    SaveSliceInfo = SaveSliceInfo
    _initial_value: Tensor | None
    _initializer_op: Operation
    _save_slice_info: Any = None
    _trainable: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _constraint: Callable[[Any], Any] | None
    _is_dense_tensor_like = True  # a list that contains one is packed by the graph

    @classmethod
    def _make_v2(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DTypeLike | None = None,
        import_scope: str | None = None,
        constraint: Constraint | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> Any:
        kwargs = {k: v for k, v in locals().items() if k != "cls"}
        return create(Kinds.resource, **kwargs)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self}

    # Members that subclasses define: value, read_value, assign*, _ref, name, op ...

    def value(self) -> Tensor:
        """The Tensor that ops use when they are given this variable."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """A new Tensor that reads the variable at this point of the graph."""
        raise NotImplementedError

    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Set the variable; a Tensor of the new value (the op, if not `read_value`)."""
        raise NotImplementedError

    @property
    def dtype(self) -> DType:
        raise NotImplementedError

    @property
    def op(self) -> Operation:
        raise NotImplementedError

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def shape(self) -> TensorShape:
        raise NotImplementedError

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    @property
    def graph(self) -> Graph:
        """The graph that contains it."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The requested device; "" if none."""
        return self.op.device

    @property
    def initializer(self) -> Operation:
        """The Operation that assigns the initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        """The Tensor that the initializer assigns."""
        return self._initial_value

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        return self._constraint

    def initialized_value(self) -> Tensor:
        """The value if the variable is initialized, otherwise the initial value."""
        from tfteach.control.branch import cond

        with open_init_scope(self.graph):
            result: Tensor = cond(
                is_variable_initialized(self),
                self.read_value,
                lambda: self.initial_value,
            )
            return result

    def load(self, value: TensorLike, session: SessionLike | None = None) -> None:
        """Set the variable to `value` in `session`, or in the default session."""
        session = get_default_session() if session is None else session
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should "
                "be established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def _set_save_slice_info(self, info: Any) -> None:
        self._save_slice_info = info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    @staticmethod
    def from_proto(variable_def: Proto, import_scope: str | None = None) -> Any:
        """The Variable of a VariableDef; its nodes must already exist."""
        if get_default_graph().is_eager:
            raise RuntimeError("from_proto not supported in EAGER mode.")
        if variable_def.is_resource:
            return Kinds.resource(variable_def=variable_def, import_scope=import_scope)
        return Kinds.ref(variable_def=variable_def, import_scope=import_scope)

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    def experimental_ref(self) -> Reference:
        """A hashable reference to this variable, for sets and dict keys."""
        return Reference(self)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __getitem__(self, key: Any) -> Tensor:
        """A slice of the value; its `assign(value)` updates that part only."""
        return slice_helper(self.value(), key, self)

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str, **masks: int
    ) -> Any:
        raise NotImplementedError


@export("Variable")
class Variable(VariableV2):
    """A tensor that retains its value between the runs of a session.

    Args:
      initial_value: the value assigned by the initializer: a Tensor, an array or
        numbers, or a function without arguments that returns one.
      trainable: whether optimizers update it (default True).
      collections: the keys of the collections to add it to (default
        `[tf.GraphKeys.GLOBAL_VARIABLES]`).
      validate_shape: False allows values of any shape.
      caching_device: a device to read from instead of the variable's device.
      name: the name of its op (default "Variable").
      variable_def: a VariableDef to create it from; the nodes must already exist.
      dtype: the element type; that of `initial_value` if None.
      expected_shape: ignored, as in TF.
      import_scope: the name scope that contains the nodes of `variable_def`.
      constraint: a function of the value, applied by optimizers after an update.
      use_resource: create a ResourceVariable, whose reads and writes are ordered.
      synchronization, aggregation: for distribution strategies; only recorded.
      shape: the static shape; that of `initial_value` if None.

    Raises:
      ValueError: the initial value is missing, or its shape is unknown if validated.

    Example:
      >>> w = tf.Variable([[1.0, 2.0]], name="w")
      >>> with tf.Session() as sess:
      ...     _ = sess.run(tf.global_variables_initializer())
      ...     print(sess.run(w * 2))
      [[2. 4.]]

    Source: VariableV2 and Assign in core/ops/state_ops.cc.
    """

    @classmethod
    def _make(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DTypeLike | None = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Constraint | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> Any:
        kwargs = {k: v for k, v in locals().items() if k != "cls"}
        return create(default_creator, **kwargs)


def _operator(name: str) -> Any:
    def operate(self: Variable, *others: Any) -> Any:
        return getattr(Tensor, name)(self.value(), *others)

    operate.__name__ = name
    return operate


for _name in OPERATORS:
    setattr(Variable, _name, _operator(_name))


def check_arguments(
    initial_value: Any,
    collections: CollectionNames | None,
    constraint: Constraint | None,
    trainable: bool,
) -> list[Any]:
    """The collections of a new variable; raises ValueError for invalid arguments."""
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, list | tuple | set):
        raise ValueError(
            "collections argument to Variable constructor must be a list, tuple, or "
            f"set. Got {collections} of type {type(collections)}"
        )
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    found = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in found:
        found.append(GraphKeys.TRAINABLE_VARIABLES)
    return found


def check_modes(
    synchronization: Any, aggregation: Any, trainable: bool | None, name: str | None
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """The three arguments with their defaults filled in."""
    aggregation = VariableAggregation.NONE if aggregation is None else aggregation
    if not isinstance(aggregation, VariableAggregation):
        try:
            aggregation = VariableAggregation(aggregation)
        except ValueError:
            raise ValueError(
                f"Invalid variable aggregation mode: {aggregation} for variable: {name}"
            ) from None
    if synchronization is None:
        synchronization = VariableSynchronization.AUTO
    try:
        synchronization = VariableSynchronization(synchronization)
    except ValueError:
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: "
            f"{name}"
        ) from None
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


def refuse_control_flow(value: Tensor, name: str) -> None:
    """Reject an initial value from inside a loop or branch."""
    if value.op.control_flow_context is not None:
        raise ValueError(
            f"Initializer for variable {name} is from inside a control-flow construct, "
            "such as a loop or conditional. When creating a variable inside a loop or "
            "conditional, use a lambda as the initializer."
        )
