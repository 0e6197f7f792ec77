"""`Operation` and `Tensor`: the nodes of a graph and the values on its edges.

Source: python/framework/ops.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from tfteach.framework import shape as shapes
from tfteach.framework.autograph_status import Status, control_status_ctx
from tfteach.framework.call_origin import Origin, SourceLine, line_of
from tfteach.framework.defaults import get_default_session
from tfteach.framework.device import DeviceSpecV2, written_name
from tfteach.framework.dtypes import DType
from tfteach.framework.object_identity import Reference
from tfteach.framework.op import Op
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.signature import split_args
from tfteach.framework.type_aliases import DTypeLike, FeedDict, SessionLike

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph


class OperatorNotAllowedInGraphError(TypeError):
    """A graph tensor was used where Python requires its value."""


class Tensor:
    """The value of an operation's output when the graph runs.

    Attributes:
      op: the `Operation` that computes it.
      value_index: the index of this output.
      dtype: the element type, a reference type for a variable's buffer.
    """

    __slots__ = ("__dict__", "__weakref__", "_shape", "dtype", "op", "value_index")

    op: Operation
    value_index: int
    dtype: DType
    _shape: Shape

    # The methods that `overload` may set.
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = {
        f"__{name}__"
        for name in (
            "abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne "
            "neg or pow radd rand rdiv rfloordiv rmatmul rmod rmul ror rpow rsub "
            "rtruediv rxor sub truediv xor"
        ).split()
    }

    # NumPy must leave `array + tensor` to `Tensor.__radd__`.
    __array_priority__ = 100

    def __init__(
        self, op: Operation, value_index: int, dtype: DType, shape: Shape = None
    ) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self._shape = shape

    @property
    def name(self) -> str:
        """The op's name and the output's index, such as "add:0"."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def device(self) -> str:
        """The requested device; "" if none."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """The static shape, as far as it is known."""
        return TensorShape(self._shape)

    def get_shape(self) -> TensorShape:
        """The static shape, as far as it is known."""
        return TensorShape(self._shape)

    def _shape_as_list(self) -> list[int | None] | None:
        """The static shape as a list, for old code; None if the rank is unknown."""
        return None if self._shape is None else list(self._shape)

    @property
    def static_shape(self) -> Shape:
        """The static shape as a plain tuple, or None if the rank is unknown."""
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Refine the static shape.

        Raises:
          ValueError: it is incompatible with the current static shape.
        """
        self._shape = shapes.merge(self._shape, shapes.as_shape(shape))

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        """The static shape as a tuple; None if the rank is unknown."""
        return self._shape

    def consumers(self) -> list[Operation]:
        """The operations that have this tensor as an input."""
        return self.op.graph.consumers_of(self)

    def experimental_ref(self) -> Reference:
        """A hashable reference to this tensor, for sets and dict keys."""
        return Reference(self)

    def eval(
        self, feed_dict: FeedDict | None = None, session: SessionLike | None = None
    ) -> Any:
        """The tensor's value in `session`, or in the default session.

        Raises:
          ValueError: there is no default session, or it has another graph.
        """
        return evaluate(self, feed_dict, session)

    def __iter__(self) -> Iterator[Tensor]:
        # A generator, as in TF: `iter` succeeds, requesting an element does not.
        self._refuse("iterating over `tf.Tensor`")
        yield self

    def __bool__(self) -> bool:
        self._refuse("using a `tf.Tensor` as a Python `bool`")

    def _refuse(self, what: str) -> NoReturn:
        status = control_status_ctx().status
        if status is not Status.UNSPECIFIED:
            why = (
                "AutoGraph is disabled in this function."
                if status is Status.DISABLED
                else "AutoGraph did not convert this function."
            )
            raise OperatorNotAllowedInGraphError(
                f"{what} is not allowed: {why} Try decorating it directly with "
                "@tf.function."
            )
        raise OperatorNotAllowedInGraphError(
            f"{what} is not allowed in Graph execution. Use Eager execution or "
            "decorate this function with @tf.function.\n"
            f"'{self.name}' has no value until a session runs it: use tf.cond, "
            "tf.while_loop, tf.unstack or `session.run`."
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please "
            "call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, dtype: DTypeLike | None = None, **_: Any) -> NoReturn:
        message = f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        if dtype is not None:  # TF's method does not accept it
            raise TypeError(f"__array__() takes 1 positional argument. {message}")
        raise NotImplementedError(message)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        shape = "" if self._shape is None else f", shape={self.shape}"
        device = f", device={self.op.device}" if self.op.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    @classmethod
    def overload(cls, operator: str, function: Callable[..., Any]) -> None:
        """Define a Python operator of tensors, such as `"__add__"`."""
        setattr(cls, operator, function)

    if TYPE_CHECKING:  # operators, overloaded by ops/operator_overloads.py

        def __getitem__(self, key: Any) -> Tensor: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...


class Operation:
    """A node of a graph, created by `Op.__call__`.

    Attributes:
      graph, name: its graph, and its name there.
      spec: its `Op`: the type with the attribute values.
      inputs: the data inputs.
      outputs: the output tensors.
      control_inputs: the operations that must run before it.
      device: the requested device or "", in TF's canonical form, except for the results
        of device functions.
      node_id: its index in the graph, from 1 in order of creation.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_origin",
        "control_flow_context",
        "control_inputs",
        "device",
        "extra_attrs",
        "graph",
        "inputs",
        "name",
        "node_id",
        "outputs",
        "spec",
    )

    graph: Graph
    name: str
    spec: Op
    inputs: tuple[Tensor, ...]
    outputs: list[Tensor]
    control_inputs: list[Operation]
    device: str
    node_id: int
    # Attributes outside the op's definition, such as _class; None if there are none.
    extra_attrs: dict[str, Any] | None
    control_flow_context: Any
    # Positions of the inputs whose gradients the tape that asks does not need.
    unneeded_gradients: Sequence[int] = ()
    _origin: Origin | None

    @property
    def type(self) -> str:
        """TF's op type, such as "MatMul"."""
        return self.spec.op_type

    @property
    def source(self) -> SourceLine | None:
        """The first line outside tfteach that led to this node."""
        return None if self._origin is None else line_of(self._origin)

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """(file, line, function, text): the user's line, without deeper frames."""
        source = self.source
        return [] if source is None else [(*source, source.text)]

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str, int]]:
        """`traceback`, with the first line of each function."""
        if self._origin is None:
            return []
        return [(*line, self._origin[0].co_firstlineno) for line in self.traceback]

    @property
    def control_outputs(self) -> list[Operation]:
        """The operations that have this one among their control inputs."""
        return self.graph.control_outputs_of(self)

    @property
    def _id(self) -> int:
        return self.node_id

    def values(self) -> tuple[Tensor, ...]:
        """The outputs as a tuple."""
        return tuple(self.outputs)

    def grouped_inputs(self) -> list[Any]:
        """The inputs, one entry per argument of the signature."""
        return split_args(type(self.spec).inputs, self.inputs, self.get_attr)

    def colocation_groups(self) -> list[bytes]:
        """The groups of ops that this one is colocated with."""
        groups = (self.extra_attrs or {}).get("_class")
        own = b"loc:@" + self.name.encode()
        if not groups:
            return [own]
        return [g for g in groups if g.startswith(b"loc:@")] or [own]

    def run(
        self, feed_dict: FeedDict | None = None, session: SessionLike | None = None
    ) -> None:
        """Run this operation in `session`, or in the default session."""
        evaluate(self, feed_dict, session)

    def _set_device(self, device: str | DeviceSpecV2) -> None:
        self.device = written_name(device)
        self.graph.record_mutation()

    def _add_control_inputs(self, ops: list[Operation]) -> None:
        for op in ops:
            if op.graph is not self.graph:
                raise ValueError(f"{op!r} must be from the same graph as {self!r}.")
        new = [op for op in ops if op not in self.control_inputs]
        self._change_edges(self.inputs, [*self.control_inputs, *new])

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        self._change_edges(self.inputs, [])

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Replace one input, as required to build loops."""
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor!r} must be from the same graph as {self!r}.")
        inputs = list(self.inputs)
        inputs[index] = tensor
        self._change_edges(tuple(inputs), self.control_inputs)

    def _change_edges(
        self, inputs: tuple[Tensor, ...], control_inputs: list[Operation]
    ) -> None:
        graph = self.graph
        graph._check_not_finalized()
        if graph.known is not None:
            graph.known.forget(self)
        before = self.inputs, self.control_inputs
        self.inputs, self.control_inputs = inputs, control_inputs
        graph.edges_changed(self, *before)
        graph.record_mutation()

    def _get_control_flow_context(self) -> Any:
        return self.control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self.control_flow_context = context

    if TYPE_CHECKING:  # set by framework/graphdef/methods.py

        @property
        def node_def(self) -> Any: ...
        @property
        def op_def(self) -> Any: ...
        def get_attr(self, name: str) -> Any: ...
        def _set_attr(self, name: str, value: Any) -> None: ...

    def __copy__(self) -> Operation:
        return self

    def __deepcopy__(self, memo: Any) -> Operation:
        return self

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


def consumers_of_all(tensors: Iterable[Any]) -> list[Operation]:
    """The operations with one of these tensors as an input, in order of creation."""
    found = {op for t in tensors if isinstance(t, Tensor) for op in t.consumers()}
    return sorted(found, key=lambda op: op.node_id)


def evaluate(
    target: Any, feed_dict: FeedDict | None, session: SessionLike | None
) -> Any:
    """Run `target` in the given or the default session."""
    what, call, graph = (
        ("evaluate tensor", "eval()", target.graph)
        if isinstance(target, Tensor)
        else ("execute operation", "run()", target.graph)
    )
    if session is None:
        session = get_default_session()
        if session is None:
            method = call.removesuffix("()")
            colon = ":" if method == "run" else ""  # TF has two messages
            raise ValueError(
                f"Cannot {what} using `{call}`: No default session is registered. "
                f"Use `with sess.as_default(){colon}` or pass an explicit session to "
                f"`{method}(session=sess)`"
            )
        if session.graph is not graph:
            how = f"{call.removesuffix(')')}session=sess)"
            raise ValueError(
                f"Cannot use the default session to {what}: the "
                f"{what.split()[1]}'s graph is different from the session's graph. "
                "Pass an explicit session to "
                + (f"`{how}`." if isinstance(target, Tensor) else f"{how}.")
            )
    elif session.graph is not graph:
        raise ValueError(
            f"Cannot use the given session to {what}: the {what.split()[1]}'s graph "
            "is different from the session's graph."
        )
    return session.run(target, feed_dict)
