"""Type aliases of arguments: `TensorLike`, `ShapeLike`, `DTypeLike`, ...

Every alias is a string: only type checkers evaluate it, so importing this module costs
nothing and never causes an import cycle.  Where the default is None, a signature adds
`| None` itself.

Kernels compute with NumPy's or CuPy's arrays.  CuPy ships no types but follows NumPy's
interface, so `Array` is NumPy's array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    import os
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType
    from typing import Any, Protocol

    import numpy as np

    from tfteach.framework.device import DeviceSpec, DeviceSpecV2
    from tfteach.framework.dimension import Dimension
    from tfteach.framework.dtypes import DType
    from tfteach.framework.function_attribute import Function
    from tfteach.framework.graph import Graph
    from tfteach.framework.indexed_slices import IndexedSlices
    from tfteach.framework.operation import Operation, Tensor
    from tfteach.framework.shape import TensorShape

    class VariableLike(Protocol):
        """A variable, partitioned or not, which converts to a Tensor."""

        @property
        def name(self) -> str: ...
        @property
        def dtype(self) -> DType: ...
        @property
        def shape(self) -> TensorShape: ...
        def get_shape(self) -> TensorShape: ...
        def assign(self, value: Any) -> Any: ...

    class SessionLike(Protocol):
        """A session, for lower layers that do not know its class."""

        @property
        def graph(self) -> Graph: ...
        def run(self, fetches: Any, feed_dict: FeedDict | None = None) -> Any: ...

    class KernelContext(Protocol):
        """The engine's `Context`, which replaces `xp` for a stateful op's kernel."""

        @property
        def xp(self) -> ModuleType: ...
        @property
        def op(self) -> Operation: ...
        @property
        def device(self) -> Any: ...
        @property
        def session(self) -> Any: ...
        @property
        def may_defer(self) -> bool: ...
        def check_open(self) -> None: ...
        def function(
            self, function: Function, state: Any = None
        ) -> Callable[[Sequence[Any]], list[Any]]: ...
        def op_states(self) -> Any: ...
        def once(self, factory: Callable[[], T]) -> T: ...
        def resource(
            self, kind: str, name: str, factory: Callable[[], T], container: str = ""
        ) -> T: ...
        def wait_until(
            self,
            condition: threading.Condition,
            predicate: Callable[[], bool],
            cancelled_message: str,
            timeout_s: float | None = None,
        ) -> bool: ...

else:  # creating a Protocol takes longer than the rest of this module
    VariableLike = SessionLike = KernelContext = object


T = TypeVar("T")

# ---- values

# What `tf.convert_to_tensor` accepts, apart from IndexedSlices.
TensorLike: TypeAlias = (
    "Tensor | VariableLike | np.ndarray[Any, Any] | np.generic"
    " | bool | int | float | complex | str | bytes | TensorShape | Dimension"
    " | Sequence[Any]"
)
# Numbers that must be known while the graph is built.
IntLike: TypeAlias = "int | np.integer[Any] | Dimension"
FloatLike: TypeAlias = "float | np.floating[Any] | np.integer[Any]"
# The gradient with respect to one tensor; None where nothing depends on it.
Gradient: TypeAlias = "Tensor | IndexedSlices | None"
# A value in nested lists, tuples and dicts, as `framework/nest.py` flattens them.
Nested: TypeAlias = "T | Sequence[Nested[T]] | Mapping[Any, Nested[T]]"
# A nested structure of an element of a dataset, or of types, shapes or specs like it:
# the caller knows how it is nested, and indexes it.
Structure: TypeAlias = "Any"

# What a Saver saves: variables and other objects, perhaps by names in the checkpoint.
SaveableList: TypeAlias = "Mapping[str, Any] | Sequence[Any] | set[Any]"

# ---- attributes

# What `tf.as_dtype` accepts.
DTypeLike: TypeAlias = "DType | str | int | type[Any] | np.dtype[Any]"
# What `tf.TensorShape` accepts, apart from None, an unknown rank.
ShapeLike: TypeAlias = "TensorShape | Sequence[IntLike | None] | IntLike"
# One or several axes; `TensorLike` where the axes may come from the graph.
AxisLike: TypeAlias = "IntLike | Sequence[IntLike]"
# A window's size or stride: one number for all of its axes, or one for each.
WindowLike: TypeAlias = "int | Sequence[int]"
# A device string, a specification, or a function of the Operation that returns one.
DeviceLike: TypeAlias = (
    "str | DeviceSpec | DeviceSpecV2 | Callable[[Operation], str | None]"
)
# Keys of collections that an object is added to.
CollectionNames: TypeAlias = "str | Sequence[str]"
PathLike: TypeAlias = "str | os.PathLike[str]"
# A protocol message.  Their classes are built from descriptors at run time, so checkers
# do not know their fields.
Proto: TypeAlias = "Any"

# ---- functions

# Creates a variable's initial value from its shape and dtype.
Initializer: TypeAlias = "Callable[..., TensorLike]"
# From a variable's value to a loss, or None if it adds none.
Regularizer: TypeAlias = "Callable[[Any], Tensor | None]"
# From a variable's new value to its replacement.
Constraint: TypeAlias = "Callable[[Any], TensorLike]"
# From a shape and dtype to the number of slices along each axis.
Partitioner: TypeAlias = "Callable[..., Sequence[int]]"
# A function, or its name in `tf.nn`.
Activation: TypeAlias = "Callable[[Any], Tensor] | str"
# A hyperparameter: a number, or a function that returns one on demand.
Hyperparameter: TypeAlias = "TensorLike | Callable[[], TensorLike]"

# ---- runs

# What `session.run` accepts: a Tensor, an Operation, a variable, a name, or any nesting
# of lists, tuples, namedtuples and dicts of these.
Fetches: TypeAlias = "Any"
# The values in that structure, with None in place of operations.
FetchedValues: TypeAlias = "Any"

FeedDict: TypeAlias = "Mapping[Any, Any]"

# ---- kernels

Array: TypeAlias = "np.ndarray[Any, Any]"
# NumPy or CuPy.
ArrayModule: TypeAlias = "ModuleType"
