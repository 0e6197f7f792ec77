"""Iterators: resources that hold a place in a dataset.

Source: core/kernels/data/iterator_ops.cc.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tfteach.framework import pipeline_meters
from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, c_name
from tfteach.framework.errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    invalid_argument,
)
from tfteach.framework.function_attribute import Function
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.framework.waiting import has_deadline
from tfteach.ops.data.background import CANCELLED, Background
from tfteach.ops.data.dataset import Dataset, Running
from tfteach.ops.data.elements import Element
from tfteach.ops.data.measuring import measured_elements
from tfteach.ops.data.optionals import OptionalValue

END = "End of sequence"


class IteratorState(NamedTuple):
    """Where an iterator is in its dataset.

    Attributes:
      position: the number of elements that were drawn.
      seed: of the initialization; see `Running`.
    """

    position: int
    seed: int


def _uninitialized(what: str, doing: str) -> FailedPreconditionError:
    return FailedPreconditionError(
        None,
        None,
        f"{what}() failed because the iterator has not been initialized. Ensure that "
        f"you have run the initializer operation for this iterator before {doing} it.",
    )


class DatasetIterator:
    """The resource behind an iterator's handle.

    Attributes:
      name: by which string handles find it.
      types: the element types of the components.
      component_shapes: their static shapes.
      dataset: the dataset it was initialized with, or None.
      count: the number of elements since then.
    """

    shape: ClassVar[tuple[int, ...]] = ()

    def __init__(
        self, name: str, types: tuple[DType, ...], component_shapes: tuple[Shape, ...]
    ) -> None:
        self.name = name
        self.types = types
        self.component_shapes = component_shapes
        self.dataset: Dataset | None = None
        self.count = 0
        self._elements: Iterator[Element] | None = None
        self._running: Running | None = None
        self._position = 0  # draws since then, also those that raised
        self._is_apart = False
        # Held while an element is drawn; whoever waits for it can be cancelled.
        self._drawing = threading.Lock()
        self._drawn = threading.Condition(threading.RLock())
        self._waiting = 0

    def initialize(self, dataset: Dataset, context: KernelContext) -> None:
        """Begin at the dataset's first element.

        Raises:
          InvalidArgumentError: its types or shapes are others.
        """
        check_structure(self.types, self.component_shapes, dataset)
        self._begin_drawing(context)
        try:
            self._release()  # its threads and files, before others begin
            watch = pipeline_meters.watch()
            if watch is None:
                running = Running(context)
                self._elements = dataset.elements(running)
            else:
                running, self._elements = measured_elements(
                    dataset, context, watch, self
                )
            self._running = running
            self.dataset, self.count, self._position = dataset, 0, 0
            self._is_apart = False
        finally:
            self._end_drawing()

    def next(self, context: KernelContext) -> Element:
        """The next element.

        Raises:
          OutOfRangeError: there is none.
          FailedPreconditionError: the iterator has not been initialized.
          CancelledError, DeadlineExceededError: the session was closed, or the time
            limit of the run exceeded, while it waited for the element.
        """
        self._begin_drawing(context)
        try:
            elements = self._elements
            if elements is None:
                context.check_open()
                raise FailedPreconditionError(
                    None,
                    None,
                    "GetNext() failed because the iterator has not been initialized. "
                    "Ensure that you have run the initializer operation for this "
                    "iterator before getting the next element.",
                )
            if has_deadline() and not self._is_apart:
                elements = self._draw_apart(elements)
            try:
                found = next(elements)
            except StopIteration:
                context.check_open()
                raise OutOfRangeError(None, None, END) from None
            except (CancelledError, DeadlineExceededError):
                raise  # the element comes with a later draw
            except OpError:
                self._position += 1
                raise
            context.check_open()
            self._position += 1
            self.count += 1
            return found
        finally:
            self._end_drawing()

    def state(self, context: KernelContext) -> IteratorState:
        """The position in the dataset.

        Raises:
          FailedPreconditionError: the iterator has not been initialized, or a function
            of the dataset has state.
        """
        self._begin_drawing(context)
        try:
            if self.dataset is None or self._running is None:
                raise _uninitialized("Save", "saving")
            self.dataset.check_stateless()
            return IteratorState(self._position, self._running.seed)
        finally:
            self._end_drawing()

    def restore(self, context: KernelContext, state: IteratorState) -> None:
        """Continue behind a position: the elements before it are drawn once more.

        Raises:
          FailedPreconditionError: the iterator has not been initialized, or a function
            of the dataset has state.
        """
        self._begin_drawing(context)
        try:
            dataset = self.dataset
            if dataset is None:
                raise _uninitialized("Restore", "restoring")
            dataset.check_stateless()
            self._release()
            self._running = Running(context, state.seed)
            self._elements = dataset.elements(self._running)
            for _ in range(state.position):
                with contextlib.suppress(StopIteration, OpError):
                    next(self._elements)
            self.count = self._position = state.position
            self._is_apart = False
        finally:
            self._end_drawing()

    def _draw_apart(self, elements: Iterator[Element]) -> Iterator[Element]:
        """Let another thread draw, if a draw may exceed the time limit of the run.

        What it draws too late is the next run's element.
        """
        self._is_apart = True
        dataset, running = self.dataset, self._running
        if dataset is None or running is None:  # the session was closed
            return elements
        if dataset.may_block() and not isinstance(elements, Background):
            made = Background(elements, running, 0, name="tfteach-iterator")
            self._elements = elements = made
        return elements

    def _begin_drawing(self, context: KernelContext) -> None:
        """Wait until no other run draws an element."""
        if self._drawing.acquire(blocking=False):
            return
        with self._drawn:
            self._waiting += 1
            try:
                context.wait_until(
                    self._drawn,
                    lambda: self._drawing.acquire(blocking=False),
                    CANCELLED,
                )
            finally:
                self._waiting -= 1

    def _end_drawing(self) -> None:
        self._drawing.release()
        if self._waiting:
            with self._drawn:
                self._drawn.notify()

    def clear(self) -> None:
        """Release the dataset, and end its threads."""
        self._release()
        self.dataset = None

    def _release(self) -> None:
        running, self._running = self._running, None
        self._elements = None
        if running is not None:
            running.close()


def check_structure(
    types: tuple[DType, ...], component_shapes: tuple[Shape, ...], dataset: Any
) -> None:
    """Check that a dataset or iterator has these types and compatible shapes.

    Raises:
      InvalidArgumentError: it does not.
    """
    if len(types) != len(dataset.types):
        raise invalid_argument(
            f"Number of components does not match: expected {len(types)} types but got "
            f"{len(dataset.types)}."
        )
    for i, (ours, its) in enumerate(zip(types, dataset.types, strict=True)):
        if ours is not its:
            raise invalid_argument(
                f"Data type mismatch at component {i}: expected {c_name(ours)} but got "
                f"{c_name(its)}."
            )
    pairs = zip(component_shapes, dataset.component_shapes, strict=True)
    for i, (shape, other) in enumerate(pairs):
        if not _compatible(shape, other):
            raise invalid_argument(
                f"Incompatible shapes at component {i}: expected {shapes.text(shape)} "
                f"but got {shapes.text(other)}."
            )


def _compatible(one: Shape, two: Shape) -> bool:
    if one is None or two is None:
        return True
    return len(one) == len(two) and all(
        a is None or b is None or a == b for a, b in zip(one, two, strict=True)
    )


# ---- ops


class IteratorOp(StatefulOp, abstract=True):
    """Iterators stay on the CPU and have no gradients."""

    on_gpu: ClassVar[bool] = False

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class IteratorHandle(IteratorOp, abstract=True):
    """A handle of an iterator, shared by name."""

    aliases: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return ()

    def iterator(self, context: KernelContext) -> DatasetIterator:
        own: Any = self
        name = own.shared_name or context.op.name
        return context.resource(
            "iterator",
            name,
            lambda: DatasetIterator(name, own.output_types, own.output_shapes),
            own.container,
        )


class _Uninitialized(IteratorHandle, abstract=True):
    def compute(self, context: KernelContext) -> DatasetIterator:
        return self.iterator(context)


class IteratorV2(_Uninitialized):
    """An iterator to be initialized.  Source: dataset_ops.cc, IteratorV2."""

    signature = "-> handle: resource"
    shared_name: str
    container: str
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}


class IteratorV1(_Uninitialized):
    """The same.  Source: dataset_ops.cc, Iterator."""

    op_type = "Iterator"
    signature = "-> handle: resource"
    shared_name: str
    container: str
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}


class OneShotIterator(IteratorHandle):
    """An iterator that a function initializes.  Source: OneShotIterator."""

    signature = "-> handle: resource"
    dataset_factory: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    container: str = ""
    shared_name: str = ""
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def compute(self, context: KernelContext) -> DatasetIterator:
        iterator = self.iterator(context)
        if iterator.dataset is None:
            made = context.once(threading.Lock)
            with made:
                if iterator.dataset is None:
                    dataset = context.function(self.dataset_factory)([])[0]
                    iterator.initialize(dataset, context)
        return iterator


class MakeIterator(IteratorOp, NoOutputOp):
    """Initialize an iterator.  Source: dataset_ops.cc, MakeIterator."""

    signature = "dataset: variant, iterator: resource ->"

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self, context: KernelContext, dataset: Dataset, iterator: DatasetIterator
    ) -> Any:
        iterator.initialize(dataset, context)
        return ()


def draw(context: KernelContext, iterator: DatasetIterator) -> Any:
    """The next element; reported to whom watches pipelines."""
    watch = pipeline_meters.watch()
    if watch is None:
        return iterator.next(context)
    return watch.draw(context, iterator)


class _GetNext(IteratorOp, MultiOutputOp, abstract=True):
    def infer_shape(self, iterator: Shape) -> list[Shape]:
        own: Any = self
        return list(own.output_shapes)

    def compute(self, context: KernelContext, iterator: DatasetIterator) -> Any:
        return draw(context, iterator)


class IteratorGetNext(_GetNext):
    """The next element.  Source: dataset_ops.cc, IteratorGetNext."""

    signature = "iterator: resource -> components: *output_types"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}


class IteratorGetNextAsOptional(IteratorOp):
    """The next element as an optional, none at the end.

    Source: dataset_ops.cc, IteratorGetNextAsOptional.
    """

    signature = "iterator: resource -> optional: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def infer_shape(self, iterator: Shape) -> Shape:
        return ()

    def compute(self, context: KernelContext, iterator: DatasetIterator) -> Any:
        try:
            return OptionalValue(draw(context, iterator))
        except OutOfRangeError as error:
            if error.message != END:
                raise
            return OptionalValue(None)


class IteratorGetNextSync(_GetNext):
    """The next element.  Source: dataset_ops.cc, IteratorGetNextSync."""

    signature = "iterator: resource -> components: *output_types"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}


class IteratorToStringHandle(IteratorOp):
    """A string that denotes an iterator.  Source: IteratorToStringHandle."""

    signature = "resource_handle: resource -> string_handle: string"

    def infer_shape(self, resource_handle: Shape) -> Shape:
        return ()

    def compute(self, context: KernelContext, handle: DatasetIterator) -> Any:
        named = context.resource("iterators by name", "", dict[str, Any])
        named[handle.name] = handle
        return np.array(f"tfteach iterator {handle.name}".encode(), object)


class _FromStringHandle(IteratorOp, abstract=True):
    aliases: ClassVar[bool] = True
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"string_handle": 0}

    def infer_shape(self, string_handle: Shape) -> Shape:
        shapes.with_rank(string_handle, 0)
        return ()

    def compute(self, context: KernelContext, string_handle: Any) -> DatasetIterator:
        text = np.asarray(string_handle, object).item().decode("utf-8", "replace")
        prefix, space, name = text.rpartition("iterator ")
        if not space or prefix != "tfteach ":
            raise invalid_argument(
                "Could not parse string_handle as a valid ResourceHandle"
            )
        named = context.resource("iterators by name", "", dict[str, Any])
        found = named.get(name)
        if found is None:
            raise NotFoundError(
                None, None, f"Resource localhost/{name} does not exist: the session "
                "that evaluates an iterator's string handle owns the iterator."
            )  # fmt: skip
        own: Any = self
        if own.output_types:
            check_structure(own.output_types, own.output_shapes, found)
        return found  # type: ignore[no-any-return]


class IteratorFromStringHandle(_FromStringHandle):
    """The iterator that a string denotes.  Source: IteratorFromStringHandle."""

    signature = "string_handle: string -> resource_handle: resource"
    output_types: tuple[DType, ...] = ()
    output_shapes: tuple[Shape, ...] = ()


class IteratorFromStringHandleV2(_FromStringHandle):
    """The iterator that a string denotes.  Source: IteratorFromStringHandleV2."""

    signature = "string_handle: string -> resource_handle: resource"
    output_types: tuple[DType, ...] = ()
    output_shapes: tuple[Shape, ...] = ()
