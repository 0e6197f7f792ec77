"""`tf.data.Iterator`, and how datasets make iterators.

Source: python/data/ops/iterator_ops.py, dataset_ops.py.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, device, name_scope
from tfteach.framework.trackable import Trackable
from tfteach.framework.type_aliases import (
    DTypeLike,
    Nested,
    ShapeLike,
    Structure,
    TensorLike,
)
from tfteach.lib.data import structures
from tfteach.lib.data.capture_by_value import ByValue
from tfteach.ops.data.iterators import (
    IteratorFromStringHandleV2,
    IteratorGetNext,
    IteratorToStringHandle,
    IteratorV2,
    MakeIterator,
    OneShotIterator,
)
from tfteach.ops.random.random_ops import get_seed

if TYPE_CHECKING:
    from tfteach.lib.data.base import DatasetBase

GET_NEXT_CALL_WARNING_THRESHOLD = 32
GET_NEXT_CALL_WARNING_MESSAGE = (
    "`Iterator.get_next()` has been called many times. Each call adds ops to the "
    "graph: call it once, before the loop, and run its result in each iteration."
)
ITERATORS = "iterators"


class IteratorBase(Trackable):
    """What the iterators of graphs and of eager programs share.

    `tf.train.Checkpoint` saves their position.
    """

    _iterator_resource: Tensor
    _specs: Any

    @property
    def element_spec(self) -> Structure:
        """The structure of an element, with `tf.TensorSpec` and the like as leaves."""
        return self._specs

    @property
    def output_types(self) -> Structure:
        """The structure of the element types."""
        return structures.legacy_types(self._specs)

    @property
    def output_shapes(self) -> Structure:
        """The structure of the static shapes."""
        return structures.legacy_shapes(self._specs)

    @property
    def output_classes(self) -> Structure:
        """The structure of the classes, `tf.Tensor` or `tf.SparseTensor`."""
        return structures.legacy_classes(self._specs)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        from tfteach.lib.data.iterator_saveable import IteratorSaveable

        make = functools.partial(IteratorSaveable, self._iterator_resource)
        return {"ITERATOR_STATE": make}


@export("data.Iterator")
class Iterator(IteratorBase):
    """A place in a dataset; `get_next` makes the tensors of the next element.

    Args:
      iterator_resource: a scalar Tensor of type resource.
      initializer: the Operation that initializes it, or None.
      output_types, output_shapes, output_classes: nested structures that describe an
        element, as `tf.data.Dataset` has them.

    Source: python/data/ops/iterator_ops.py.
    """

    def __init__(
        self,
        iterator_resource: Tensor,
        initializer: Operation | None,
        output_types: Nested[DTypeLike],
        output_shapes: Nested[ShapeLike | None],
        output_classes: Nested[type],
    ) -> None:
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, "
                "`output_shapes`, and `output_classes` must be specified."
            )
        specs = structures.from_legacy(output_types, output_shapes, output_classes)
        self._set(iterator_resource, initializer, specs)

    def _set(
        self, resource: Tensor, initializer: Operation | None, specs: Any
    ) -> Iterator:
        self._iterator_resource = resource
        self._initializer = initializer
        self._specs = specs
        self._string_handle = IteratorToStringHandle()(resource)
        self._calls = 0
        get_default_graph().add_to_collection(ITERATORS, resource)
        return self

    @staticmethod
    def _of(resource: Tensor, initializer: Operation | None, specs: Any) -> Iterator:
        return object.__new__(Iterator)._set(resource, initializer, specs)

    @staticmethod
    def from_structure(
        output_types: Nested[DTypeLike],
        output_shapes: Nested[ShapeLike | None] = None,
        shared_name: str | None = None,
        output_classes: Nested[type] | None = None,
    ) -> Iterator:
        """An iterator that `make_initializer` can bind to several datasets.

        Args:
          output_types: a nested structure of element types.
          output_shapes: the same structure of shapes; unknown ones if None.
          shared_name: a name under which iterators are shared.
          output_classes: the same structure of `tf.Tensor` or `tf.SparseTensor`.

        Raises:
          TypeError: the structures differ.
        """
        specs = structures.from_legacy(output_types, output_shapes, output_classes)
        op = IteratorV2(
            shared_name or "",
            "",
            structures.flat_types(specs),
            structures.flat_shapes(specs),
        )
        return Iterator._of(_on_cpu(op), None, specs)

    @staticmethod
    def from_string_handle(
        string_handle: TensorLike,
        output_types: Nested[DTypeLike],
        output_shapes: Nested[ShapeLike | None] = None,
        output_classes: Nested[type] | None = None,
    ) -> Iterator:
        """The iterator that a string denotes, which may be fed in each run.

        Args:
          string_handle: a scalar string Tensor, the value of some `string_handle()`.
          output_types, output_shapes, output_classes: see `from_structure`.
        """
        specs = structures.from_legacy(output_types, output_shapes, output_classes)
        handle = convert(string_handle, string)
        op = IteratorFromStringHandleV2(
            structures.flat_types(specs), structures.flat_shapes(specs)
        )
        return Iterator._of(_on_cpu(op, handle), None, specs)

    @property
    def initializer(self) -> Operation:
        """The Operation that moves the iterator to the first element.

        Raises:
          ValueError: the iterator initializes itself, or by `make_initializer`.
        """
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(
        self, dataset: DatasetBase, name: str | None = None
    ) -> Operation:
        """An Operation that moves the iterator to the first element of a dataset.

        Args:
          dataset: has the iterator's types and compatible shapes.
          name: the op's name.

        Raises:
          TypeError: the structures, types, classes or shapes differ.
        """
        with name_scope(name, "make_initializer") as scope:
            self._check(dataset)
        with colocate_with(self._iterator_resource):
            return MakeIterator()(
                dataset._variant_tensor, self._iterator_resource, name=scope
            )

    def _check(self, dataset: DatasetBase) -> None:
        structures.require_same(self.output_types, dataset.output_types)
        pairs = list(
            zip(
                structures.flatten(self._specs),
                structures.flatten(dataset.element_spec),
                strict=True,
            )
        )
        for ours, its in pairs:
            if type(ours) is not type(its):
                raise TypeError(
                    f"Expected output classes {self.output_classes!r} but got dataset "
                    f"with output class {dataset.output_classes!r}."
                )
        for ours, its in pairs:
            if ours._to_legacy_output_types() != its._to_legacy_output_types():
                raise TypeError(
                    f"Expected output types {self.output_types!r} but got dataset with "
                    f"output types {dataset.output_types!r}."
                )
        for ours, its in pairs:
            if not ours.is_compatible_with(its):
                raise TypeError(
                    f"Expected output shapes compatible with {self.output_shapes!r} "
                    f"but got dataset with output shapes {dataset.output_shapes!r}."
                )

    def get_next(self, name: str | None = None) -> Structure:
        """The tensors of the next element: each run advances the iterator.

        Args:
          name: the op's name.

        Returns:
          A nested structure of Tensors (and SparseTensors).

        Raises:
          tf.errors.OutOfRangeError: in a run, there are no more elements.
          tf.errors.FailedPreconditionError: in a run, the iterator has not been
            initialized.
        """
        self._calls += 1
        if self._calls > GET_NEXT_CALL_WARNING_THRESHOLD:
            warnings.warn(
                f"{GET_NEXT_CALL_WARNING_MESSAGE} ({self._calls} calls)", stacklevel=2
            )
        op = IteratorGetNext(
            structures.flat_types(self._specs), structures.flat_shapes(self._specs)
        )
        tensors = op(self._iterator_resource, name=name)
        return structures.from_tensors(self._specs, tensors)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A scalar string Tensor that denotes the iterator in `from_string_handle`."""
        if name is None:
            return self._string_handle
        return IteratorToStringHandle()(self._iterator_resource, name=name)


def _on_cpu(op: Any, *inputs: Any) -> Tensor:
    """The op on the CPU, unless the caller chose a device."""
    graph = get_default_graph()
    if graph.scopes.state.devices:
        return op(*inputs)  # type: ignore[no-any-return]
    with device("/cpu:0"):
        return op(*inputs)  # type: ignore[no-any-return]


# ---- iterators of datasets


def _warn_of_another_graph(dataset: DatasetBase) -> None:
    graph = get_default_graph()
    if dataset._graph is not graph and not graph.building_function:
        get_logger().warning(
            "The graph (%r) of the iterator is different from the graph (%r) the "
            "dataset: %s was created in. If you are using the Estimator API, make sure "
            "that no part of the dataset returned by the `input_fn` function is "
            "defined outside the `input_fn` function. Please ensure that all datasets "
            "in the pipeline are created in the same graph as the iterator. NOTE: This "
            "warning will become an error in future versions of TensorFlow.",
            graph,
            dataset._graph,
            dataset._variant_tensor,
        )


def initializable_iterator(dataset: DatasetBase, shared_name: str | None) -> Iterator:
    """The iterator that its `initializer` binds to a dataset."""
    _warn_of_another_graph(dataset)
    variant, specs = dataset._applied_options()
    types, shapes = dataset.flat
    resource = IteratorV2(shared_name or "", "", types, shapes)()
    with colocate_with(resource):
        initializer = MakeIterator()(variant, resource)
    return Iterator._of(resource, initializer, specs)


def one_shot_iterator(dataset: DatasetBase) -> Iterator:
    """The iterator that initializes itself by a function that copies the dataset's ops.

    Raises:
      ValueError: the dataset depends on variables, tables or placeholders.
    """
    graph = get_default_graph()
    _warn_of_another_graph(dataset)
    seed, op_seed = get_seed(None)
    body = ByValue("_make_dataset")
    if seed is not None and op_seed is not None:
        body.seed = (seed + 87654321 * op_seed) % (2**63 - 1)
    with body.as_default():
        try:
            variant, specs = dataset._applied_options()
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. "
                "`Dataset.make_one_shot_iterator()` does not support datasets that "
                "capture stateful objects, such as a `Variable` or `LookupTable`. In "
                "these cases, use `Dataset.make_initializable_iterator()`. (Original "
                f"error: {error})"
            ) from None
        body.outputs = [variant]
    defined = DefinedFunction(
        "_make_dataset",
        body,
        library=graph,
        description="Factory function for a dataset.",
        hashes=True,
    )
    body.name = defined.name
    defined.add_to_graph(graph)
    types, shapes = dataset.flat
    resource = OneShotIterator(Function(defined.name), types, shapes)()
    return Iterator._of(resource, None, specs)
