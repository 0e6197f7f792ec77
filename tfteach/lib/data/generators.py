"""Datasets of what Python generators yield.

Source: python/data/ops/dataset_ops.py, from_generator.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfteach.framework.convert import convert_n_to_tensor
from tfteach.framework.dtypes import DType, as_dtype, int64, string
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Nested, ShapeLike, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase
from tfteach.lib.data.functions import StructuredFunction
from tfteach.ops.data.generators import GeneratorDataset
from tfteach.ops.debug.py_func import numpy_function
from tfteach.ops.text.byte_string_arrays import strings

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset

_TRANSFORMATION = "Dataset.from_generator()"


class Generators:
    """The generators that iterators are reading, by number."""

    def __init__(self, generator: Callable[..., Iterable[Any]]) -> None:
        self._generator = generator
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._arguments: dict[int, tuple[Any, ...]] = {}
        self._open: dict[int, Iterator[Any]] = {}

    def begin(self, *arguments: Any) -> Any:
        """The number of a new generator, which begins with its first element."""
        with self._lock:
            number = next(self._numbers)
            self._arguments[number] = arguments
            return np.int64(number)

    def following(self, number: int) -> Any:
        """The next element; raises StopIteration at the end."""
        found = self._open.get(number)
        if found is None:
            arguments = self._arguments.pop(number)
            found = self._open[number] = iter(self._generator(*arguments))
        return next(found)

    def end(self, number: int) -> Any:
        """Forget a generator."""
        self._arguments.pop(int(number), None)
        found = self._open.pop(int(number), None)
        close = getattr(found, "close", None)
        if close is not None:
            close()
        return np.int64(0)


def from_generator(
    generator: Callable[..., Iterable[Any]],
    output_types: Nested[DTypeLike],
    output_shapes: Nested[ShapeLike | None] = None,
    args: Sequence[TensorLike] | None = None,
) -> Dataset:
    """See `tf.data.Dataset.from_generator`."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    specs = structures.from_legacy(output_types, output_shapes)
    arguments = () if args is None else tuple(convert_n_to_tensor(args, name="args"))
    flat = structures.flatten(specs)
    types, shapes = [s.dtype for s in flat], [s.shape for s in flat]
    generators = Generators(generator)
    checked = _checker(output_types, types, shapes)

    def generator_py_func(number: Any) -> list[Any]:
        return checked(generators.following(int(number)))

    def get_iterator_id_fn(unused_dummy: Tensor) -> Tensor:
        return numpy_function(generators.begin, arguments, int64)  # type: ignore[no-any-return]

    def generator_next_fn(iterator_id_t: Tensor) -> Any:
        found = numpy_function(generator_py_func, [iterator_id_t], types)
        for tensor, shape in zip(found, shapes, strict=True):
            tensor.set_shape(shape)
        return structures.pack(specs, found)

    def finalize_fn(iterator_id_t: Tensor) -> Tensor:
        return numpy_function(generators.end, [iterator_id_t], int64)  # type: ignore[no-any-return]

    def flat_map_fn(dummy_arg: Tensor) -> Dataset:
        return generator_dataset(
            dummy_arg, get_iterator_id_fn, generator_next_fn, finalize_fn
        )

    return DatasetBase.concrete.from_tensors(0).flat_map(flat_map_fn)


def generator_dataset(
    init_args: Any,
    init_func: Callable[..., Any],
    next_func: Callable[..., Any],
    finalize_func: Callable[..., Any],
) -> Dataset:
    """A dataset of the results of a function of a state, until it raises the end.

    Args:
      init_args: a nested structure of tensors, the arguments of `init_func`.
      init_func: returns the state.
      next_func: returns the next element for a state.
      finalize_func: is called with the state when the iterator ends.
    """
    specs = structures.specs_of(init_args)
    init = StructuredFunction(init_func, _TRANSFORMATION, specs)
    state = init.output_specs
    following = StructuredFunction(next_func, _TRANSFORMATION, state)
    finalize = StructuredFunction(finalize_func, _TRANSFORMATION, state)
    op = GeneratorDataset(
        init.attribute,
        following.attribute,
        finalize.attribute,
        (*structures.flat_types(specs), *init.captured_types),
        following.captured_types,
        finalize.captured_types,
        *following.flat,
    )
    variant = op(
        [*structures.to_tensors(specs, init_args), *init.captured_inputs],
        following.captured_inputs,
        finalize.captured_inputs,
    )
    functions = init, following, finalize
    return DatasetBase.concrete(variant, following.output_specs, (), functions)


def _checker(
    structure: Any, types: list[DType], shapes: list[TensorShape]
) -> Callable[[Any], list[Any]]:
    """A function that converts what a generator yields to arrays of these types."""
    kinds = [dtype.as_numpy_dtype for dtype in types]
    names = structures.mapped(as_dtype, structure)
    is_single = not structures.is_nested(structure)
    sizes = [None if shape.dims is None else tuple(shape.as_list()) for shape in shapes]

    def checked(values: Any) -> list[Any]:
        if is_single:
            leaves = [values]
        else:
            try:
                leaves = structures.leaves_up_to(structure, values)
            except (TypeError, ValueError):
                raise TypeError(
                    "`generator` yielded an element that did not match the expected "
                    f"structure. The expected structure was {names}, but the yielded "
                    f"element was {values}."
                ) from None
        found = []
        for leaf, dtype, kind, shape in zip(leaves, types, kinds, sizes, strict=True):
            try:
                array = _converted(leaf, dtype, kind)
            except (TypeError, ValueError):
                raise TypeError(
                    "`generator` yielded an element that could not be converted to the "
                    f"expected type. The expected type was {dtype.name}, but the "
                    f"yielded element was {leaf}."
                ) from None
            if shape is not None and not (
                array.shape == shape or _fits(array.shape, shape)
            ):
                raise ValueError(
                    f"`generator` yielded an element of shape {array.shape} where an "
                    f"element of shape {TensorShape(shape)} was expected."
                )
            found.append(array)
        return found

    return checked


def _fits(sizes: tuple[int, ...], expected: tuple[int | None, ...]) -> bool:
    return len(sizes) == len(expected) and all(
        e is None or s == e for s, e in zip(sizes, expected, strict=True)
    )


def _converted(leaf: Any, dtype: DType, kind: Any) -> Any:
    if dtype is not string:
        return np.asarray(leaf, kind)
    array = np.asarray(leaf)
    if array.dtype.kind not in "SUO":
        raise TypeError(f"{leaf!r} is no string")
    flat = [leaf] if array.ndim == 0 else array.ravel().tolist()
    texts = [t.encode() if isinstance(t, str) else t for t in flat]
    if not all(isinstance(text, bytes) for text in texts):
        raise TypeError(f"{leaf!r} has elements that are no strings")
    return strings(texts, array.shape)
