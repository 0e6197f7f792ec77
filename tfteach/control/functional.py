"""Functions applied along the first axis: `map_fn`, `scan`, `foldl`, `foldr`.

The elements are stored in TensorArrays; a loop reads one in each iteration.
Source: python/ops/map_fn.py, python/ops/functional_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from tfteach.control.loop import while_loop
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Nested, TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.shape_ops import shape as shape_of

Function = Callable[..., Any]


@export("map_fn")
def map_fn(
    fn: Function,
    elems: TensorLike,
    dtype: Nested[DTypeLike] | None = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`fn` applied to each element along the first axis: `[fn(e) for e in elems]`.

    Args:
      fn: accepts one element in the structure of `elems`, returns tensors.
      elems: a Tensor [n, ...], or a nested structure of them.
      dtype: the types (in their structure) of the results of `fn`; by default those of
        `elems`.
      parallel_iterations: the number of iterations that may overlap (10 by default).
      back_prop: whether gradients are supported.
      swap_memory: whether values stored for the gradient may move to host memory.
      infer_shape: whether all results of `fn` have the same shape.
      name: the name scope of the new operations.

    Returns:
      Tensors [n, ...] in the structure that `fn` returns.

    Raises:
      TypeError: `fn` is not callable, or its structure differs from `dtype`.
      ValueError: `elems` are scalars, or the number of tensors returned differs.

    Example:
      >>> tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3]))  # [1, 4, 9]

    Source: python/ops/map_fn.py.
    """
    _check_callable(fn)
    if type(elems).__name__ == "SparseTensor":
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either "
            " SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
            " SparseTensor(input.indices, map_fn(fn, input.values), "
            "input.dense_shape)"
        )
    flat = nest.flatten(elems)
    with name_scope(name, "map", flat), _around_functions():
        flat = [convert(elem, name="elem") for elem in flat]
        first = flat[0]._shape
        if first is not None and not first:
            what = (
                "elems must be a 1+ dimensional Tensor, not a scalar"
                if len(flat) == 1
                else "elements in elems must be 1+ dimensional Tensors, not scalars"
            )
            raise ValueError(what)
        types = dtype
        if types is None:
            types = nest.pack_sequence_as(elems, [e.dtype for e in flat])
        n = _length(flat[0]) or shape_of(flat[0])[0]
        arrays = [TensorArray(e.dtype, n) for e in flat]
        arrays = [a.unstack(e) for a, e in zip(arrays, flat, strict=True)]
        start = constant(0)
        results = [
            TensorArray(as_dtype(t), n, infer_shape=infer_shape)
            for t in nest.flatten(types)
        ]

        def compute(i: Tensor, written: list[TensorArray]) -> Any:
            made = fn(nest.pack_sequence_as(elems, [a.read(i) for a in arrays]))
            nest.assert_same_structure(types, made)
            pairs = zip(written, nest.flatten(made), strict=True)
            written = [array.write(i, value) for array, value in pairs]
            return i + 1, written

        _, written = while_loop(
            lambda i, _: i < n,
            compute,
            (start, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )
        return nest.pack_sequence_as(types, _stacked(written, flat))


@export("scan")
def scan(
    fn: Function,
    elems: TensorLike,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All intermediate results of folding `elems` with `fn`, stacked.

    `a[i] = fn(a[i - 1], elems[i])`, with a[-1] the initializer.

    Args:
      fn: accepts the result so far and one element, returns the next result.
      elems: a Tensor [n, ...], or a nested structure of them.
      initializer: the initial result; elems[0] by default.
      parallel_iterations: the number of iterations that may overlap.
      back_prop: whether gradients are supported.
      swap_memory: whether values stored for the gradient may move to host memory.
      infer_shape: whether all results have the same shape.
      reverse: start with the last element.
      name: the name scope of the new operations.

    Returns:
      Tensors [n, ...] in the structure of the initializer (of `elems` without one).

    Raises:
      TypeError: `fn` is not callable, or returns another structure.
      ValueError: `fn` returns a different number of tensors.

    Example:
      >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]))  # [1, 3, 6]

    Source: python/ops/functional_ops.py, scan.
    """
    _check_callable(fn)
    like = elems if initializer is None else initializer
    flat = nest.flatten(elems)
    with name_scope(name, "scan", flat), _around_functions():
        flat = [convert(elem, name="elem") for elem in flat]
        n: Any = _length(flat[0])
        n = shape_of(flat[0])[0] if n is None else n
        arrays = [TensorArray(e.dtype, n, element_shape=e.shape[1:]) for e in flat]
        arrays = [a.unstack(e) for a, e in zip(arrays, flat, strict=True)]
        if initializer is None:
            values = [a.read(n - 1 if reverse else 0) for a in arrays]
        else:
            values = [convert(value) for value in nest.flatten(initializer)]
        begin = 1 if initializer is None else 0
        results = [
            TensorArray(
                v.dtype,
                n,
                element_shape=v.shape if infer_shape else None,
                infer_shape=infer_shape,
            )
            for v in values
        ]
        if initializer is None:
            results = [
                array.write(n - 1 if reverse else 0, value)
                for array, value in zip(results, values, strict=True)
            ]

        def compute(i: Tensor, so_far: list[Any], written: list[TensorArray]) -> Any:
            element = nest.pack_sequence_as(elems, [a.read(i) for a in arrays])
            made = fn(nest.pack_sequence_as(like, so_far), element)
            nest.assert_same_structure(like, made)
            found = nest.flatten(made)
            pairs = zip(written, found, strict=True)
            written = [array.write(i, value) for array, value in pairs]
            return (i - 1 if reverse else i + 1), found, written

        _, _, written = while_loop(
            (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < n),
            compute,
            (n - 1 - begin if reverse else begin, values, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )
        return nest.pack_sequence_as(like, _stacked(written, flat))


@export("foldl")
def foldl(
    fn: Function,
    elems: TensorLike,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(... fn(fn(initializer, elems[0]), elems[1]) ..., elems[n - 1])`.

    Args:
      fn: accepts the result so far and one element, returns the next result.
      elems: a Tensor [n, ...], or a nested structure of them.
      initializer: the initial result; elems[0] by default.
      parallel_iterations: the number of iterations that may overlap.
      back_prop: whether gradients are supported.
      swap_memory: whether values stored for the gradient may move to host memory.
      name: the name scope of the new operations.

    Returns:
      The final result.

    Raises:
      TypeError: `fn` is not callable.

    Example:
      >>> tf.foldl(lambda a, x: 10 * a + x, tf.constant([1, 2, 3]))  # 123

    Source: python/ops/functional_ops.py, foldl.
    """
    _check_callable(fn)
    with name_scope(name, "foldl", [elems]), _around_functions():
        n, arrays = _arrays_of(elems)
        if initializer is None:
            value = nest.map_structure(lambda a: a.read(0), arrays)
            start = constant(1)
        else:
            value, start = initializer, constant(0)

        def compute(i: Tensor, so_far: Any) -> Any:
            element = nest.map_structure(lambda a: a.read(i), arrays)
            result = fn(so_far, element)
            return [i + 1, result]

        return while_loop(
            lambda i, _: i < n,
            compute,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )[1]


@export("foldr")
def foldr(
    fn: Function,
    elems: TensorLike,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`foldl` from the last element to the first.

    Args:
      fn: accepts the result so far and one element, returns the next result.
      elems: a Tensor [n, ...], or a nested structure of them.
      initializer: the initial result; the last element by default.
      parallel_iterations: the number of iterations that may overlap.
      back_prop: whether gradients are supported.
      swap_memory: whether values stored for the gradient may move to host memory.
      name: the name scope of the new operations.

    Returns:
      The final result.

    Raises:
      TypeError: `fn` is not callable.

    Example:
      >>> tf.foldr(lambda a, x: 10 * a + x, tf.constant([1, 2, 3]))  # 321

    Source: python/ops/functional_ops.py, foldr.
    """
    _check_callable(fn)
    with name_scope(name, "foldr", [elems]), _around_functions():
        n, arrays = _arrays_of(elems)
        if initializer is None:
            start = n - 1
            value = nest.map_structure(lambda a: a.read(start), arrays)
        else:
            value, start = initializer, n

        def compute(i: Tensor, so_far: Any) -> Any:
            i = i - 1
            element = nest.map_structure(lambda a: a.read(i), arrays)
            return [i, fn(so_far, element)]

        return while_loop(
            lambda i, _: i > 0,
            compute,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )[1]


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


_Context = Callable[[], AbstractContextManager[None]]
_contexts: list[_Context] = []


def around_functions(context: _Context) -> _Context:
    """Decorator: `map_fn` and related functions enter this context manager around `fn`.

    For higher layers that affect code inside `fn`, such as variables.
    """
    _contexts.append(context)
    return context


@contextmanager
def _around_functions() -> Iterator[None]:
    with ExitStack() as stack:
        for context in _contexts:
            stack.enter_context(context())
        yield


def _length(tensor: Tensor) -> int | None:
    """The first size, if it is known."""
    sizes = tensor._shape
    if sizes == ():
        raise IndexError(
            f"list index out of range: {tensor} is a scalar and has no elements"
        )
    return None if sizes is None else sizes[0]


def _arrays_of(elems: Any) -> tuple[Any, Any]:
    """The number of elements, and a TensorArray for each tensor of `elems`."""
    flat = [convert(elem, name="elem") for elem in nest.flatten(elems)]
    n = _length(flat[0]) or shape_of(flat[0])[0]
    # TensorFlow unstacks the original values, not the converted ones.
    return n, nest.map_structure(
        lambda elem: TensorArray(elem.dtype, n).unstack(elem), elems
    )


def _stacked(written: Sequence[TensorArray], elems: Sequence[Tensor]) -> list[Tensor]:
    """The results, with the static first size restored."""
    results = [array.stack() for array in written]
    size = Dimension(_length(elems[0]))
    for elem in elems[1:]:
        size.merge_with(_length(elem))
    for result in results:
        result.set_shape(TensorShape([size]).concatenate(result.shape[1:]))
    return results
