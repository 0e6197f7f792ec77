"""Resource variables: a handle, and a read wherever the value is used.

Unlike a reference, each read is a separate op, ordered by control dependencies: a run
reads the value assigned before that read.
Source: python/ops/resource_variable_ops.py (node names and messages).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NoReturn, Self

from tfteach.framework.convert import convert, register_tensor_conversion_function
from tfteach.framework.dtypes import DType
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import record_same, record_variable, tapes
from tfteach.framework.scope import name_scope, open_init_scope, open_name_scope
from tfteach.framework.shape import TensorShape, as_shape, as_tensor_shape
from tfteach.framework.type_aliases import (
    CollectionNames,
    Constraint,
    DeviceLike,
    SessionLike,
)
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.state import resource_variables as ops
from tfteach.ops.state.resource_gather import ResourceGather, ResourceGatherNd
from tfteach.ops.state.scatter_ops import ResourceStridedSliceAssign
from tfteach.variables.base import (
    Variable,
    VariableMeta,
    check_arguments,
    check_modes,
    refuse_control_flow,
)
from tfteach.variables.creation import Kinds, makes_eager_variables
from tfteach.variables.guarded import guarded


@contextmanager
def _alone_on(device: Any) -> Iterator[None]:
    """A device scope that ignores open colocations."""
    graph = get_default_graph()
    with graph.colocate_with(None, ignore_existing=True), graph.device(device):
        yield


class BaseResourceVariable(Variable):
    """Base of resource variables and of the results of assignments."""

    _handle: Tensor
    _dtype: DType
    _shape: TensorShape
    _graph_element: Tensor
    _cached_value: Tensor | None = None

    def _as_graph_element(self) -> Tensor | None:
        return self.__dict__.get("_graph_element")

    def __bool__(self) -> bool:
        return bool(self.value())  # which raises

    def __int__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError("Non-integer variable can't be converted to integer.")
        raise AttributeError(
            f"'Tensor' object has no attribute 'numpy': variable '{self.name}' has no "
            "value until a session runs it"
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise NotImplementedError(
            "__deepcopy__() is only available when eager execution is enabled. "
            f"Variable '{self.name}' belongs to its graph."
        )

    @property
    def _control_element(self) -> Operation:
        # Waiting for the variable means waiting for its handle, or for the assignment.
        return self.op

    @property
    def handle(self) -> Tensor:
        """The resource Tensor that refers to the variable."""
        return self._handle

    @property
    def _creation_number(self) -> int:
        """Orders variables of the same graph, or of an eager program."""
        return self._handle.op.node_id

    @property
    def name(self) -> str:
        """The name of its handle, such as "w:0"."""
        return self._handle.name

    @property
    def op(self) -> Operation:
        """The Operation that creates the handle."""
        return self._handle.op

    @property
    def graph(self) -> Any:
        """The graph that contains it."""
        return self._handle.graph

    @property
    def device(self) -> str:
        """The requested device; "" if none."""
        return self._handle.device

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def create(self) -> Operation:
        """The Operation that assigns the initial value."""
        return self._initializer_op

    def set_shape(self, shape: Any) -> NoReturn:
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def eval(self, session: SessionLike | None = None) -> Any:
        """The value in `session`, or in the default session."""
        return self._graph_element.eval(session=session)

    def numpy(self) -> NoReturn:
        raise NotImplementedError(
            "numpy() is only available when eager execution is enabled."
        )

    # ---- reading

    def _read(self) -> Tensor:
        value: Tensor
        if not tapes.active:
            value = ops.ReadVariableOp(self._dtype)(self._handle)
            return value
        record_variable(self)
        value = ops.ReadVariableOp(self._dtype)(self._handle)
        if type(value) is not EagerTensor:
            # In a loop the op reads a tensor that carries the handle in.
            record_same(value, self._handle)
        return value

    def value(self) -> Tensor:
        """A Tensor that reads the variable here (or its cached copy)."""
        if self._cached_value is not None:
            return self._cached_value
        with _alone_on(self._handle.device):
            return self._read()

    def read_value(self) -> Tensor:
        """A new Tensor that reads the variable at this point of the graph."""
        graph = get_default_graph()
        with open_name_scope(graph, "Read"), graph.device(self._handle.device):
            value = self._read()
        return identity(value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows `indices`, without reading the whole variable."""
        if tapes.active:
            record_variable(self)
        with name_scope("Gather" if name is None else name) as scope:
            gather = ResourceGather(dtype=self._dtype)
            value = gather(self._handle, indices, name=scope)
        return identity(value)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements or slices at `indices`, without reading the whole variable."""
        if tapes.active:
            record_variable(self)
        with name_scope("GatherNd" if name is None else name) as scope:
            gather = ResourceGatherNd(dtype=self._dtype)
            value = gather(self._handle, indices, name=scope)
        return identity(value)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A bool Tensor: whether the variable has a value."""
        return ops.VarIsInitializedOp()(self._handle, name=name)

    # ---- writing

    def _after_cached_read(self) -> AbstractContextManager[None]:
        if self._cached_value is None:
            return nullcontext()
        graph = get_default_graph()
        waits: AbstractContextManager[None] = graph.control_dependencies(
            [self._cached_value]
        )
        return waits

    def _lazy_read(self, op: Operation) -> UnreadVariable:
        return UnreadVariable(self, op)

    def _updated(self, kind: Any, value: Any, name: str | None, read: bool) -> Any:
        with self._after_cached_read():
            op = kind()(self._handle, convert(value, self._dtype), name=name)
        return self._lazy_read(op) if read else op

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Assign to the variable; returns a variable that reads it (or the op)."""
        tensor = convert(value, self._dtype)
        self._shape.assert_is_compatible_with(tensor.shape)
        op = ops.AssignVariableOp()(self._handle, tensor, name=name)
        return self._lazy_read(op) if read_value else op

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add `delta`; returns a variable that reads the new value (or the op)."""
        return self._updated(ops.AssignAddVariableOp, delta, name, read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract `delta`; returns a variable that reads the new value (or the op)."""
        return self._updated(ops.AssignSubVariableOp, delta, name, read_value)

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str, **masks: int
    ) -> Any:
        with self._after_cached_read():
            op = ResourceStridedSliceAssign(**masks)(
                self._handle,
                begin,
                end,
                strides,
                convert(value, self._dtype),
                name=name,
            )
        return self._lazy_read(op)

    def count_up_to(self, limit: int) -> Tensor:
        """Increment a counter; see `tf.count_up_to`."""
        return ops.ResourceCountUpTo(limit, self._dtype)(self._handle)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """This variable as a VariableDef; None if it is not in `export_scope`."""
        from tfteach.variables.protos import variable_proto

        snapshot = (
            self._graph_element if self._cached_value is None else (self._cached_value)
        )
        proto = variable_proto(self, self._handle.name, snapshot, export_scope)
        if proto is not None:
            proto.is_resource = True
        return proto


def _no_in_place(sign: str, advice: str) -> Any:
    def refuse(self: Any, other: Any) -> NoReturn:
        raise RuntimeError(f"Variable {sign}= value not supported. Use {advice}")

    return refuse


for _name, _sign, _method in (("add", "+", "assign_add"), ("sub", "-", "assign_sub")):
    setattr(BaseResourceVariable, f"__i{_name}__", _no_in_place(
        _sign,
        f"variable.{_method}(value) to modify the variable value and variable = "
        f"variable {_sign} value to get a new Tensor object.",
    ))  # fmt: skip
for _name, _sign in (("mul", "*"), ("div", "/"), ("truediv", "/"), ("pow", "**")):
    setattr(BaseResourceVariable, f"__i{_name}__", _no_in_place(
        _sign,
        f"`var.assign(var {_sign} value)` to modify the variable or `var = var {_sign} "
        "value` to get a new Tensor object.",
    ))  # fmt: skip


def check_declared_shape(initial: Tensor, shape: Any) -> None:
    """Reject an initial value that does not fit the `shape` of a variable."""
    if not initial.shape.is_compatible_with(shape):
        raise ValueError(
            f"The initial value's shape ({initial.shape}) is not compatible with the "
            f"explicitly supplied `shape` argument ({shape})."
        )


def refuse_traced(initial_value: Any) -> None:
    """Reject an initial value that is a tensor of a function's body."""
    if not isinstance(initial_value, Tensor) or type(initial_value) is EagerTensor:
        return
    if initial_value.graph.building_function:
        raise ValueError(
            "Tensor-typed variable initializers must either be wrapped in an "
            "init_scope or callable (e.g., `tf.Variable(lambda : "
            "tf.truncated_normal([10, 40]))`) when building functions. Please file a "
            "feature request if this restriction inconveniences you."
        )


class _ResourceMeta(VariableMeta):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        # Those that are read have their nodes in the default graph.
        is_read = kwargs.get("variable_def") is not None
        is_eager = get_default_graph().is_eager if is_read else makes_eager_variables()
        if cls is ResourceVariable and is_eager:
            from tfteach.variables.eager import EagerVariable

            return EagerVariable(*args, **kwargs)
        return super().__call__(*args, **kwargs)


@export("contrib.eager.Variable")
class ResourceVariable(BaseResourceVariable, metaclass=_ResourceMeta):
    """A variable referred to by a handle (`use_resource=True`); see `tf.Variable`."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        dtype: DType | None = None,
        variable_def: Any = None,
        import_scope: str | None = None,
        constraint: Constraint | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError(
                    "variable_def and initial_value are mutually exclusive."
                )
            self._init_from_proto(variable_def, import_scope)
            return
        modes = check_modes(synchronization, aggregation, trainable, name)
        self._synchronization, self._aggregation, self._trainable = modes
        collections = check_arguments(
            initial_value, collections, constraint, self._trainable
        )
        self._constraint = constraint
        refuse_traced(initial_value)
        values = [] if callable(initial_value) else [initial_value]
        graph = get_default_graph()
        with (
            open_init_scope(graph),
            name_scope(name, "Variable", values) as scope,
        ):
            self._build(initial_value, scope, dtype, shape)
            self._build_access(scope, caching_device)
        self.graph.add_variable(collections, self)

    def _build(self, value: Any, scope: str, dtype: DType | None, shape: Any) -> None:
        graph = get_default_graph()
        own = scope[:-1]
        with graph._attr_scope({"_class": [b"loc:@" + own.encode()]}):
            with open_name_scope(graph, "Initializer"), graph.device(None):
                given = value() if callable(value) else value
                initial = convert(given, dtype, "initial_value")
            known = initial._shape
            if shape is not None:
                check_declared_shape(initial, shape)
                known = as_shape(shape)
            self._dtype = initial.dtype.base_dtype
            self._shape = as_tensor_shape(known)
            handle = ops.VarHandleOp("", own, self._dtype, known)
            self._handle = handle(name=scope)
        refuse_control_flow(initial, scope)
        self._initial_value = initial

    def _build_access(self, scope: str, caching_device: DeviceLike | None) -> None:
        """Create the ops that accompany the handle of every resource variable."""
        graph = get_default_graph()
        device = self._handle.device
        with open_name_scope(graph, "IsInitialized"):
            self.is_initialized()
        assert self._initial_value is not None
        with open_name_scope(graph, "Assign") as inner, _alone_on(device):
            value = guarded(scope, self._initial_value)
            self._initializer_op = ops.AssignVariableOp()(
                self._handle, value, name=inner
            )
        with open_name_scope(graph, "Read"):
            with graph.device(device):
                self._graph_element = self._read()
            if caching_device is not None:
                with _alone_on(caching_device):
                    self._cached_value = identity(self._graph_element)

    def _init_from_proto(self, proto: Any, import_scope: str | None) -> None:
        from tfteach.variables.protos import restore_common, tensor_of

        if not proto.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        restore_common(self, proto, import_scope)
        handle = tensor_of(proto.variable_name, import_scope)
        kind: Any = None if handle is None else handle.op.spec
        if not isinstance(kind, ops.VarHandleOp):
            name = proto.variable_name
            raise ValueError(f"'{name}' is not the handle of a resource variable")
        self._handle = handle
        self._dtype, self._shape = kind.dtype, as_tensor_shape(kind.shape)
        snapshot = tensor_of(proto.snapshot_name, import_scope)
        if snapshot is None:
            read = f"{self._handle.op.name}/Read/ReadVariableOp:0"
            snapshot = self.graph.get_tensor_by_name(read)
        elif not isinstance(snapshot.op.spec, ops.ReadVariableOp):
            self._cached_value = snapshot
        while not isinstance(snapshot.op.spec, ops.ReadVariableOp):
            if not snapshot.op.inputs:
                raise ValueError(f"'{proto.snapshot_name}' does not read a variable")
            snapshot = snapshot.op.inputs[0]
        self._graph_element = snapshot


class UnreadVariable(BaseResourceVariable):
    """The result of an assignment: the variable, read after the assignment."""

    def __init__(self, variable: BaseResourceVariable, parent: Operation) -> None:
        self._handle, self._dtype = variable._handle, variable._dtype
        self._shape, self._parent = variable._shape, parent
        modes = variable._synchronization, variable._aggregation, variable._trainable
        self._synchronization, self._aggregation, self._trainable = modes
        self._constraint = self._initial_value = None
        # In a function's body TF reads only what is used.
        if not get_default_graph().building_function:
            self._graph_element = self._read()

    @property
    def name(self) -> str:
        """The assignment's name."""
        return self._parent.name

    @property
    def op(self) -> Operation:
        """The assignment."""
        return self._parent

    def _read(self) -> Tensor:
        with get_default_graph().control_dependencies([self._parent]):
            return super()._read()

    def value(self) -> Tensor:
        """A Tensor that reads the variable after the assignment."""
        return self._read()

    def read_value(self) -> Tensor:
        """A Tensor that reads the variable after the assignment."""
        return self._read()


def _to_tensor(
    variable: BaseResourceVariable, dtype: DType | None = None, name: str | None = None,
    as_ref: bool = False,
) -> Tensor:  # fmt: skip
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type {dtype.name!r} for "
            f"variable of type {variable.dtype.name!r}"
        )
    if as_ref:
        return variable.read_value().op.inputs[0]
    return variable.value()


Kinds.resource = ResourceVariable
register_tensor_conversion_function(BaseResourceVariable, _to_tensor)
