"""Reference variables: VariableV2, its initializer Assign, and the snapshot `read`.

Source: python/ops/variables.py (node names and messages).
"""

from __future__ import annotations

from typing import Any, NoReturn

from tfteach.framework.convert import convert, register_tensor_conversion_function
from tfteach.framework.dtypes import DType
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope, open_init_scope, open_name_scope
from tfteach.framework.shape import TensorShape, as_shape, is_full
from tfteach.framework.type_aliases import (
    CollectionNames,
    Constraint,
    DeviceLike,
    SessionLike,
    TensorLike,
)
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.state import ref_variables
from tfteach.ops.state.scatter_ops import StridedSliceAssign
from tfteach.variables.base import (
    Variable,
    check_arguments,
    check_modes,
    refuse_control_flow,
)
from tfteach.variables.creation import Kinds
from tfteach.variables.guarded import guarded


class RefVariable(Variable):
    """A variable whose op outputs a reference to its buffer; see `Variable`."""

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise TypeError(
            f"can't pickle _thread.RLock objects: '{self.name}' belongs to its graph, "
            "which cannot be copied"
        )

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DType | None = None,
        expected_shape: Any = None,
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
            from tfteach.variables.protos import init_ref_from_proto

            init_ref_from_proto(self, variable_def, import_scope)
            return
        self._synchronization, self._aggregation, self._trainable = check_modes(
            synchronization, aggregation, trainable, name
        )
        collections = check_arguments(
            initial_value, collections, constraint, self._trainable
        )
        self._constraint = constraint
        values = [] if callable(initial_value) else [initial_value]
        graph = get_default_graph()
        with (
            open_init_scope(graph),
            name_scope(name, "Variable", values) as scope,
        ):
            self._build(initial_value, scope, dtype, validate_shape, shape)
            if caching_device is not None:
                with get_default_graph().device(caching_device):
                    self._snapshot = identity(self._variable, "read")
            else:
                with get_default_graph().colocate_with(self._variable.op):
                    self._snapshot = identity(self._variable, "read")
        self.graph.add_variable(collections, self)

    def _build(
        self,
        value: Any,
        scope: str,
        dtype: DType | None,
        validate_shape: bool,
        shape: Any,
    ) -> None:
        graph = get_default_graph()
        if callable(value):
            # The variable does not exist yet, so its name is used.
            own = {"_class": [b"loc:@" + scope[:-1].encode()]}
            with graph._attr_scope(own):
                with open_name_scope(graph, "Initializer"), graph.device(None):
                    initial = convert(value(), dtype, "initial_value")
                self._variable = _variable_op(initial, validate_shape, shape, scope)
        else:
            initial = convert(value, dtype, "initial_value")
            refuse_control_flow(initial, scope)
            self._variable = _variable_op(initial, validate_shape, shape, scope)
        if validate_shape and not is_full(initial._shape):
            raise ValueError(f"initial_value must have a shape specified: {initial}")
        self._initial_value = initial
        self._initializer_op = ref_variables.assign(
            self._variable, guarded(scope, initial), validate_shape
        ).op

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        """The Tensor that ops use when they are given this variable."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """A new Tensor that reads the variable at this point of the graph."""
        return identity(self._variable, "read")

    @property
    def name(self) -> str:
        """The name of its reference, such as "w:0"."""
        return self._variable.name

    @property
    def op(self) -> Operation:
        """The Operation of the buffer."""
        return self._variable.op

    @property
    def dtype(self) -> DType:
        """The element type, a reference type such as `tf.float32_ref`."""
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.shape

    def set_shape(self, shape: Any) -> None:
        """Refine the static shape."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    def eval(self, session: SessionLike | None = None) -> Any:
        """The value in `session`, or in the default session."""
        return self._variable.eval(session=session)

    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Assign to the variable; returns a Tensor of the new value (or the op)."""
        new = ref_variables.assign(
            self._variable, value, use_locking=use_locking, name=name
        )
        return new if read_value else new.op

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add `delta`; returns a Tensor of the new value (or the op)."""
        new = ref_variables.assign_add(self._variable, delta, use_locking, name)
        return new if read_value else new.op

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract `delta`; returns a Tensor of the new value (or the op)."""
        new = ref_variables.assign_sub(self._variable, delta, use_locking, name)
        return new if read_value else new.op

    def count_up_to(self, limit: int) -> Tensor:
        """Increment a counter; see `tf.count_up_to`."""
        return ref_variables.count_up_to(self._variable, limit)

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str, **masks: int
    ) -> Tensor:
        kind = StridedSliceAssign(**masks)
        return kind(self._variable, begin, end, strides, value, name=name)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """This variable as a VariableDef; None if it is not in `export_scope`."""
        from tfteach.variables.protos import variable_proto

        return variable_proto(self, self._variable.name, self._snapshot, export_scope)


def _variable_op(value: Tensor, validate: bool, shape: Any, scope: str) -> Tensor:
    known = as_shape(shape) if shape is not None else value._shape if validate else None
    op = ref_variables.VariableV2(known, value.dtype.base_dtype)
    return op(name=scope)


# ---- conversion


def _to_tensor(
    variable: RefVariable,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for "
            f"variable of type '{variable.dtype.name}'"
        )
    return variable._variable if as_ref else variable._snapshot


Kinds.ref = RefVariable
register_tensor_conversion_function(RefVariable, _to_tensor)
