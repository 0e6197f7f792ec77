"""`Dataset`: the value of a dataset's tensor, a variant; and what iterates over it.

A dataset is an immutable description.  An element is a tuple of arrays, one for each
component of the flattened structure.  Iterators are Python iterators, except that an
iterator that raised can continue with the next element, as in TensorFlow.

Source: core/framework/dataset.h.
"""

from __future__ import annotations

import copy
import hashlib
import secrets
import struct
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

from tfteach.framework.dtypes import DType, variant
from tfteach.framework.errors import (
    FailedPreconditionError,
    OpError,
)
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, body_of
from tfteach.framework.graph import Graph
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, Gradient, KernelContext
from tfteach.ops.data.elements import Element, Rows, row_elements

# A function of a graph on arrays: (arrays) -> arrays.
Called = Callable[[Sequence[Any]], list[Any]]

# How many elements a dataset has, if that is no number.
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


class Buffer(Protocol):
    """What threads fill; see background.py."""

    def drop(self) -> None:
        """End the threads."""


class _Buffers:
    """The buffers of an initialization, to end their threads with it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # the garbage collector may run inside
        self._found: weakref.WeakSet[Buffer] = weakref.WeakSet()
        self._has_ended = False

    def add(self, buffer: Buffer) -> None:
        with self._lock:
            self._found.add(buffer)
            has_ended = self._has_ended
        if has_ended:
            buffer.drop()

    def drop(self) -> None:
        with self._lock:
            self._has_ended = True
            found = list(self._found)
        for buffer in found:
            buffer.drop()


class Running:
    """One initialization of an iterator: what its datasets keep while it lives.

    Args:
      context: the kernel's context, which finds the functions of the graph.
      seed: determines the order of datasets without seeds; random if None.

    Attributes:
      seed: see there.
      state: objects of datasets that outlive an epoch, by their place and name.
      most_threads: how many threads a dataset may use, or None.
    """

    def __init__(self, context: KernelContext, seed: int | None = None) -> None:
        self._context = context
        self.seed = secrets.randbits(64) if seed is None else seed
        self._calls: tuple[tuple[str, int], ...] = ()  # of functions around
        self.most_threads: int | None = None
        # Records a number under a tag, if the pipeline has an aggregator.
        self.record_statistic: Callable[[str, float], None] | None = None
        self._buffers = _Buffers()
        self._op_states: Any = None
        self._called: dict[int, tuple[Any, Called]] = {}
        self.state: dict[Any, Any] = {}
        self._path: tuple[Any, ...] = ()

    def branch(self, number: int) -> Running:
        """The same for one of several inputs: a dataset that two of them read has
        objects for each."""
        made = copy.copy(self)
        made._path = (*self._path, number)
        return made

    def inner(self, name: str, number: int) -> Running:
        """The same for a dataset that a function returns.

        Args:
          name: of the node that calls the function.
          number: of the call; in the next epoch, the same number has the same objects.
        """
        made = copy.copy(self)
        made._path = (*self._path, name, number)
        made._calls = (*self._calls, (name, number))
        return made

    def random_seeds(self, dataset: Dataset) -> tuple[int, int]:
        """The seeds of a dataset without seeds; others for each initialization."""
        text = f"{self.seed} {self._calls} {dataset.node_name}".encode()
        found = struct.unpack("<QQ", hashlib.blake2b(text, digest_size=16).digest())
        return found[0], found[1]

    def with_threads(self, count: int) -> Running:
        """The same, with another number of threads for each dataset."""
        made = copy.copy(self)
        made.most_threads = count
        return made

    def with_statistics(self, record: Callable[[str, float], None]) -> Running:
        """The same, with a function that records a number under a tag."""
        made = copy.copy(self)
        made.record_statistic = record
        return made

    def add_buffer(self, buffer: Buffer) -> None:
        """Drop a buffer when the iterator begins again or its session closes."""
        self._buffers.add(buffer)

    def close(self) -> None:
        """End the threads: nobody draws from the datasets any more."""
        self._buffers.drop()

    def wait_until(
        self,
        condition: threading.Condition,
        predicate: Callable[[], bool],
        cancelled_message: str,
    ) -> None:
        """See `KernelContext.wait_until`."""
        self._context.wait_until(condition, predicate, cancelled_message)

    def once(self, dataset: Dataset, name: str, make: Callable[[], Any]) -> Any:
        """An object that a dataset keeps over all its epochs."""
        key = self._path, dataset.node_name, name
        found = self.state.get(key)
        if found is None:
            found = self.state[key] = make()
        return found

    def call(self, function: BoundFunction) -> Called:
        """A function of a dataset's attributes, with random streams of this run."""
        found = self._called.get(id(function))
        if found is None:
            found = self._called[id(function)] = function, function.bind(self)
        return found[1]

    def op_states(self) -> Any:
        if self._op_states is None:
            self._op_states = self._context.op_states()
        return self._op_states


class BoundFunction:
    """A function that a dataset's node names, with the values that it captures.

    Args:
      context: the context of the node's kernel.
      function: the attribute.
      captured: the values of the captured tensors.

    Attributes:
      may_block: whether a call may wait instead of computing: it calls Python
        functions, or ops that wait.
      is_seeded: whether it draws random numbers that seeds determine.
    """

    def __init__(
        self, context: KernelContext, function: Function, captured: Sequence[Any]
    ) -> None:
        self._context = context
        self._function = function
        self._captured = tuple(captured)
        self._body = body_of(context.op, function)
        # Random streams are private objects of ops: see `Running.op_states`.
        operations = self._body.graph.operations
        self._has_state = any(hasattr(op.spec, "seed2") for op in operations)
        called = _all_operations(self._body.graph)
        self.may_block = any(
            op.spec.calls_python or op.spec.may_wait for op in called
        ) or any(isinstance(v, Dataset) and v.may_block() for v in captured)
        self.is_seeded = any(
            getattr(op.spec, "seed", 0) or getattr(op.spec, "seed2", 0) for op in called
        )

    def check_stateless(self) -> None:
        """Raise FailedPreconditionError if a call reads or changes state."""
        for op in _all_operations(self._body.graph):
            has_state = op.op_def.is_stateful and not isinstance(op.spec, DatasetOp)
            if has_state and op.outputs:  # not checks, such as Assert
                raise FailedPreconditionError(None, None, f"{op.type} is stateful.")
        for value in self._captured:
            if isinstance(value, Dataset):
                value.check_stateless()

    @property
    def returns_dataset(self) -> bool:
        """Whether a result is a dataset."""
        return any(tensor.dtype is variant for tensor in self._body.outputs)

    def bind(self, running: Running) -> Called:
        """The function of an element's arrays, for one initialization."""
        state = running.op_states() if self._has_state else None
        called = python_call(self._context, self._body)
        if called is None:
            called = self._context.function(self._function, state)
        captured = self._captured
        if not captured:
            return called
        return lambda element: called((*element, *captured))

    @property
    def body(self) -> Body:
        """The function's ops."""
        return self._body


def _all_operations(graph: Graph) -> list[Operation]:
    """The ops of a body, and those of the functions that they name."""
    found: list[Operation] = []
    graphs, seen = [graph], set[str]()
    for body in graphs:  # grows
        for op in body.operations:
            found.append(op)
            for function in functions_of(op.spec):
                if function.name not in seen:
                    seen.add(function.name)
                    graphs.append(body_of(op, function).graph)
    return found


def functions_of(op: Op) -> list[Function]:
    """The functions among an op's attributes."""
    found: list[Function] = []
    for name in type(op).fields:
        value = getattr(op, name)
        if isinstance(value, Function):
            found.append(value)
        elif isinstance(value, tuple):
            found += [item for item in value if isinstance(item, Function)]
    return found


def python_call(context: KernelContext, body: Body) -> Called | None:
    """A call of the Python function that is all of a body, without a program for it.

    Returns:
      A function of the arrays of the body's inputs; None for a body of other ops.
    """
    calls = [op for op in body.graph.operations if op.spec.calls_python]
    outputs = [through_identities(tensor) for tensor in body.outputs]
    if len(calls) != 1 or list(body.effects) not in ([], calls):
        return None
    (op,) = calls
    known = {tensor: i for i, tensor in enumerate(body.inputs)}
    if not all(t in known for t in op.inputs) or any(t.op is not op for t in outputs):
        return None
    inputs = [known[tensor] for tensor in op.inputs]
    kept = [tensor.value_index for tensor in outputs]
    first: Any = context.xp
    if op.spec.is_stateful:
        first = copy.copy(context)
        first.op = op  # whose types it asks for; that of `context` draws elements
    compute = op.spec.compute

    def call(arrays: Sequence[Any]) -> list[Any]:
        try:
            found = compute(first, *[arrays[i] for i in inputs])
        except OpError as error:
            raise (error if error.op is not None else error.at(op)) from error.__cause__
        return [found[i] for i in kept]

    return call


def through_identities(tensor: Tensor) -> Tensor:
    """The tensor that another one is, unchanged."""
    while tensor.op.spec.forwards_input:
        tensor = tensor.op.inputs[0]
    return tensor


DrawBlock: TypeAlias = "Callable[[int], Element | None]"


class Dataset:
    """The description of a dataset.

    Attributes:
      inputs: the datasets that it reads.
      types: the element types of the components.
      component_shapes: their static shapes.
      node_name: the name of the node that made it.
      op_type: that node's op type.
      made_of: the op of that node and the values of its inputs.
    """

    shape: ClassVar[tuple[int, ...]] = ()  # of the variant tensor
    inputs: tuple[Dataset, ...] = ()
    types: tuple[DType, ...] = ()
    component_shapes: tuple[Shape, ...] = ()
    node_name: str = ""
    op_type: str = ""
    made_of: tuple[Op, tuple[Any, ...]] | None = None

    def elements(self, running: Running) -> Iterator[Element]:
        """An iterator over the elements."""
        table = self.table
        assert table is not None
        return row_elements(table, self.rows(running))

    def cardinality(self) -> int:
        """The number of elements, or `INFINITE_CARDINALITY`, `UNKNOWN_CARDINALITY`.

        As TensorFlow derives it from the description, which may be wrong.
        """
        return UNKNOWN_CARDINALITY

    @property
    def table(self) -> list[Array] | None:
        """Arrays whose rows are the elements; None if the elements are no such rows."""
        return None

    def rows(self, running: Running) -> Rows:
        """The numbers of the table's rows, in the order of the elements."""
        raise NotImplementedError

    def blocks(self, running: Running) -> DrawBlock | None:
        """A function that draws several elements at a time; None if there is none.

        It returns the next `count` elements, stacked, fewer at the end, and then None.
        """
        return None

    def made_by(self, op: Operation) -> None:
        """Record the node that made this dataset."""
        self.node_name, self.op_type = op.name, op.type

    def may_block(self) -> bool:
        """Whether drawing an element may wait, as for a Python function."""
        return any(source.may_block() for source in self.inputs) or any(
            function.may_block for function in self.bound_functions()
        )

    def bound_functions(self) -> list[BoundFunction]:
        """The functions that it calls."""
        found: list[Any] = []
        for value in vars(self).values():
            found += value if isinstance(value, list | tuple) else [value]
        return [f for f in found if isinstance(f, BoundFunction)]

    def check_stateless(self) -> None:
        """Check that the state of an iterator is its position.

        Raises:
          FailedPreconditionError: a function has other state.
        """
        for function in self.bound_functions():
            function.check_stateless()
        for source in self.inputs:
            source.check_stateless()

    def with_inputs(self, inputs: tuple[Dataset, ...]) -> Dataset:
        """The same transformation of other datasets."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.inputs = inputs
        return made


# ---- ops


class DatasetOp(Op, abstract=True):
    """A node whose value is a dataset."""

    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False
    needs_context: ClassVar[bool] = True

    def infer_shape(self, *inputs: Any) -> Shape:
        return ()

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)

    def compute(self, context: KernelContext, *inputs: Any) -> Dataset:
        made = self.dataset(context, *inputs)
        own: Any = self
        types = getattr(own, "output_types", None)
        made.types = types or tuple(context.op.get_attr("Toutput_types"))
        made.component_shapes = own.output_shapes
        made.made_by(context.op)
        made.made_of = self, inputs
        return made

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        """The description, from the values of the inputs."""
        raise NotImplementedError


def integer(value: Any) -> int:
    """The value of an int64 scalar input."""
    return int(value)
