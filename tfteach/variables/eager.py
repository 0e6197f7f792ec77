"""Variables of eager programs, which hold their values themselves.

The handle owns the value: when the variable is no longer referenced, so is its value.
Functions that use the variable capture the handle.
Source: python/ops/resource_variable_ops.py (names and messages).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.eager_tensor import ANONYMOUS
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import open_init_scope, open_name_scope
from tfteach.framework.shape import Shape, as_shape, as_tensor_shape
from tfteach.ops.state import resource_variables as ops
from tfteach.variables.base import check_arguments, check_modes
from tfteach.variables.resource import (
    BaseResourceVariable,
    ResourceVariable,
    check_declared_shape,
    refuse_traced,
)

_numbers = itertools.count()
# Called with each variable once it has its value, for values from elsewhere.
on_create: list[Callable[[Any], None]] = []


def _refused(message: str) -> Any:
    def refuse(self: EagerVariable, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(message)

    return refuse


class EagerReads(BaseResourceVariable):
    """What an eager variable and the result of its assignment have in common."""

    def _as_graph_element(self) -> None:
        return None

    _number: int

    @property
    def _control_element(self) -> Tensor:  # type: ignore[override]
        return self._handle

    @property
    def _creation_number(self) -> int:
        return self._number

    def value(self) -> Tensor:
        """The value, as a Tensor."""
        if get_default_graph().is_eager:
            return self._read()
        return super().value()

    def read_value(self) -> Tensor:
        """The value, as a Tensor."""
        if get_default_graph().is_eager:
            return self._read()
        return super().read_value()

    def numpy(self) -> Any:
        """A copy of the value, as an array."""
        if not get_default_graph().is_eager:
            return super().numpy()
        return self.read_value().numpy()  # type: ignore[attr-defined]

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __int__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError("Non-integer variable can't be converted to integer.")
        return int(self.read_value().numpy())  # type: ignore[attr-defined]

    def __deepcopy__(  # type: ignore[override]
        self, memo: Any
    ) -> EagerVariable:
        copied = EagerVariable(
            initial_value=self.read_value(),
            trainable=self._trainable,
            constraint=self._constraint,
            dtype=self._dtype,
            name=self._shared_name + "_copy",
        )
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        again = functools.partial(
            ResourceVariable,
            initial_value=self.numpy(),
            trainable=self._trainable,
            constraint=self._constraint,
            dtype=self._dtype,
            name=self._shared_name,
        )
        return again, ()

    create = property(
        _refused("Calling create is not supported when eager execution is enabled.")
    )
    initial_value = property(_refused("initial_value not supported in EAGER mode."))
    eval = _refused("Trying to eval in EAGER mode")
    to_proto = _refused("to_proto not supported in EAGER mode.")

    @property
    def initializer(self) -> None:  # type: ignore[override]
        """None: an eager variable has its value from the start."""

    def initialized_value(self) -> Tensor:
        """The value."""
        return self.read_value()

    def load(self, value: Any, session: Any = None) -> None:
        """Assign a value."""
        self.assign(value)

    def _lazy_read(self, op: Any) -> Any:
        return EagerUnread(self) if op is None else super()._lazy_read(op)

    def __repr__(self) -> str:
        text = f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}"
        if not get_default_graph().is_eager:
            return text + ">"
        value = self._handle.value  # type: ignore[attr-defined]
        if not value.is_initialized:
            return text + ", numpy=<unprintable>>"
        return f"{text}, numpy={_shown(self.numpy())}>"


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, np.generic) else repr(value)
    return f"\n{text}" if "\n" in text else text


class EagerVariable(EagerReads, ResourceVariable):
    """A variable that has its value at once; see `tf.Variable`."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: DType | None = None,
        variable_def: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if variable_def is not None:
            raise ValueError(
                "Creating ResourceVariable from variable_def is not supported when "
                "eager execution is enabled."
            )
        modes = check_modes(synchronization, aggregation, trainable, name)
        self._synchronization, self._aggregation, self._trainable = modes
        keys = check_arguments(initial_value, collections, constraint, self._trainable)
        self._constraint = constraint
        self._initial_value = None
        self._create(initial_value, name, dtype, shape)
        if GraphKeys.GLOBAL_STEP in keys:  # the only one that eager programs have
            with open_init_scope(get_default_graph()):
                get_default_graph().add_to_collection(GraphKeys.GLOBAL_STEP, self)

    def _create(
        self, initial_value: Any, name: str | None, dtype: Any, shape: Any
    ) -> None:
        """Create the handle, and assign the initial value."""
        refuse_traced(initial_value)
        with open_init_scope(get_default_graph()):
            graph = get_default_graph()
            with open_name_scope(graph, "Variable" if name is None else name) as scope:
                with open_name_scope(graph, "Initializer"):
                    given = initial_value
                    given = given() if callable(given) else given
                    initial = convert(given, dtype, "initial_value")
                if shape is not None:
                    check_declared_shape(initial, shape)
                known = initial._shape if shape is None else as_shape(shape)
                self._create_handle(scope, initial.dtype.base_dtype, known)
                ops.AssignVariableOp()(self._handle, initial)
        for restore in on_create:
            restore(self)

    def _create_handle(self, scope: str, dtype: DType, shape: Shape) -> None:
        """Create the handle of a variable, which has no value yet."""
        self._name = scope[:-1]
        self._dtype = dtype
        self._shape = as_tensor_shape(shape)
        self._handle = ops.VarHandleOp("", ANONYMOUS, dtype, shape)(name=scope)
        self._number = next(_numbers)
        self._unique_id = f"{self._name}_{self._number}"

    @property
    def name(self) -> str:
        """The name, with the scopes it was created in; it need not be unique."""
        return self._name + ":0"


# Python's own errors, such as that of `len`, name the class.
EagerVariable.__name__ = "ResourceVariable"


class EagerUnread(EagerReads):
    """The result of an assignment: the variable, read when it is used."""

    def __init__(self, variable: EagerReads) -> None:
        self._handle, self._dtype = variable._handle, variable._dtype
        self._shape = variable._shape
        self._number = variable._number
        modes = variable._synchronization, variable._aggregation, variable._trainable
        self._synchronization, self._aggregation, self._trainable = modes
        self._constraint = self._initial_value = None

    @property
    def name(self) -> str:
        """A name that all results of assignments have."""
        return "UnreadVariable"
