"""`IteratorV2`: iterators of eager programs, which are Python iterators, too.

Source: python/data/ops/iterator_ops.py, IteratorV2; contrib/eager/python/datasets.py.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Self

from tfteach.framework.composite import register_composite
from tfteach.framework.dtypes import resource
from tfteach.framework.eager_tensor import ANONYMOUS
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Nested, Structure
from tfteach.framework.type_spec import TypeSpec
from tfteach.lib.autograph.operators.for_loops import ForLoop, Variables
from tfteach.lib.data import structures
from tfteach.lib.data.iterator import IteratorBase
from tfteach.ops.data import iterators as ops

if TYPE_CHECKING:
    from tfteach.lib.data.base import DatasetBase


@export("contrib.eager.Iterator")
class IteratorV2(IteratorBase):
    """A place in a dataset of an eager program; `next` returns the next element.

    The threads and files of the pipeline end with this object.

    Args:
      dataset: what to iterate over, from its first element.

    Example:
      >>> tf.enable_eager_execution()
      >>> [int(x) for x in tf.data.Dataset.range(3)]
      [0, 1, 2]

    Raises:
      NotImplementedError: a graph is being built that is no traced function's.

    Source: python/data/ops/iterator_ops.py, IteratorV2.
    """

    def __init__(self, dataset: DatasetBase) -> None:
        graph = get_default_graph()
        if not graph.is_eager and not graph.building_function:
            raise NotImplementedError(
                "An iterator without a name in a graph is not supported: use "
                "`dataset.make_one_shot_iterator()`."
            )
        variant, self._specs = dataset._applied_options()
        types, shapes = dataset.flat
        # Each call of a traced function begins it anew.
        name = ANONYMOUS if graph.is_eager else ""
        handle: Any = ops.IteratorV2(name, "", types, shapes)()
        self._iterator_resource = handle
        if graph.is_eager:
            weakref.finalize(self, handle.value.clear)
        ops.MakeIterator()(variant, handle)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Structure:
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None

    def _converted_for(self, loop: ForLoop) -> Variables:
        """Run a loop over the next elements that AutoGraph has converted."""
        from tfteach.lib.data.converted_loops import over_iterator

        return over_iterator(self, loop)

    def next(self) -> Structure:
        """The next element.

        Raises:
          StopIteration: there is none.
        """
        return self.__next__()

    def get_next(self, name: str | None = None) -> Structure:
        """The next element, a nested structure of tensors.

        Args:
          name: the op's name, in a function that is traced.

        Raises:
          tf.errors.OutOfRangeError: there is none.
        """
        types, shapes = (
            structures.flat_types(self._specs),
            structures.flat_shapes(self._specs),
        )
        op = ops.IteratorGetNextSync(types, shapes)
        return structures.from_tensors(
            self._specs, op(self._iterator_resource, name=name)
        )

    def _next_internal(self) -> Structure:
        """`get_next` by the name that TensorFlow's test utilities call."""
        return self.get_next()


class IteratorSpec(TypeSpec):
    """The structure of an iterator's elements, for functions of iterators.

    Args:
      element_spec: the structure of specs of its elements.

    Source: python/data/ops/iterator_ops.py.
    """

    def __init__(self, element_spec: Nested[TypeSpec]) -> None:
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value: IteratorV2) -> IteratorSpec:
        """The spec of an iterator."""
        return cls(value._specs)

    @property
    def value_type(self) -> type[IteratorV2]:
        return IteratorV2

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> TensorSpec:
        return TensorSpec([], resource)

    def _to_components(self, value: Any) -> Tensor:
        found: Tensor = value._iterator_resource
        return found

    def _from_components(self, components: Tensor) -> IteratorV2:
        made = IteratorV2.__new__(IteratorV2)
        made._iterator_resource, made._specs = components, self._element_spec
        return made


register_composite(IteratorV2, IteratorSpec.from_value)
