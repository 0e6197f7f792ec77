"""Lists of Tensors: literals, `append`, `pop` and `stack`.

Source: python/autograph/operators/data_structures.py,
python/autograph/lang/special_functions.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from tfteach.control.branch import cond
from tfteach.control.list_ops import (
    empty_tensor_list,
    tensor_list_from_tensor,
    tensor_list_pop_back,
    tensor_list_stack,
)
from tfteach.control.tensor_array import TensorArray
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32, variant
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, Structure, TensorLike
from tfteach.lib.autograph.operators.tensors import is_tensor, is_tensor_array
from tfteach.ops.core.constant import constant
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.state.tensor_list_ops import TensorListLength, TensorListPushBack


class ListPopOpts(NamedTuple):
    """What is known of the elements of a list, or None."""

    element_dtype: Any
    element_shape: Any


class ListStackOpts(NamedTuple):
    """What is known of a list, and the call that stacks what is no list.

    Attributes:
      element_dtype: the type of its elements, or None.
      original_call: the call as the program has it.
    """

    element_dtype: Any
    original_call: Callable[[Any], Any]


def new_list(iterable: Iterable[Any] | None = None) -> Any:
    """A list with some elements; an empty one is a tensor list."""
    elements = [] if iterable is None else list(iterable)
    return elements or tf_tensor_list_new(())


def tf_tensor_array_new(
    elements: Sequence[Any], element_dtype: Any = None, element_shape: Any = None
) -> TensorArray:
    """A TensorArray with some elements.

    Raises:
      ValueError: their types or shapes differ, or are not as given; there are none, and
        no type is given.
    """
    tensors = [convert(element) for element in elements]
    types = {tensor.dtype for tensor in tensors}
    if len(types) > 1:
        raise ValueError(
            f"TensorArray requires all elements to have the same dtype: {tensors}"
        )
    if not types and element_dtype is None:
        raise ValueError("dtype is required to create an empty TensorArray")
    dtype = _agreed("dtype", element_dtype, types, tensors)
    shapes = {tuple(tensor.shape.as_list()) for tensor in tensors}
    if len(shapes) > 1:
        raise ValueError(
            f"TensorArray requires all elements to have the same shape: {tensors}"
        )
    shape = _agreed("shape", element_shape, shapes, tensors)
    array = TensorArray(
        dtype,
        size=len(tensors),
        dynamic_size=True,
        infer_shape=shape is None,
        element_shape=shape,
    )
    for i, tensor in enumerate(tensors):
        array = array.write(i, tensor)
    return array


def _agreed(what: str, given: Any, inferred: set[Any], tensors: Sequence[Any]) -> Any:
    """The one type or shape of some elements, which is the given one, if any."""
    found = next(iter(inferred), given)
    if given is not None and found != given:
        raise ValueError(
            f"incompatible {what}; specified: {given}, inferred from {tensors}: {found}"
        )
    return found


def tf_tensor_list_new(
    elements: Any, element_dtype: Any = None, element_shape: Any = None
) -> Tensor:
    """A tensor list with some elements, or with the rows of a Tensor.

    Raises:
      ValueError: their types or shapes are not as given.
    """
    if is_tensor(elements):
        if element_shape is not None:
            raise ValueError(
                "element shape may not be specified when creating list from tensor"
            )
        return tensor_list_from_tensor(elements, shape_of(elements)[1:])
    tensors = [convert(element) for element in elements]
    dtype = _common_type({t.dtype for t in tensors}, element_dtype, tensors)
    shape = _common_shape(tensors, element_shape)
    found = empty_tensor_list(convert(shape, dtype=int32), dtype)
    for tensor in tensors:
        found = TensorListPushBack()(found, tensor)
    return found


def _common_type(types: set[Any], given: Any, tensors: Sequence[Any]) -> Any:
    if len(types) == 1:
        return _agreed("dtype", given, types, tensors)
    if types and given is not None:
        raise ValueError(
            f"specified dtype {given} is inconsistent with that of elements {tensors}"
        )
    return variant if given is None else given


def _common_shape(tensors: Sequence[Tensor], given: Any) -> Any:
    shapes = {tuple(tensor.shape.as_list()) for tensor in tensors}
    if len(shapes) == 1:
        inferred = shape_of(tensors[0])
        if given is not None and given is not inferred:
            raise ValueError(
                f"incompatible shape; specified: {given}, inferred from {tensors}: "
                f"{inferred}"
            )
        return inferred
    if shapes and given is not None:
        raise ValueError(
            f"specified shape {given} is inconsistent with that of elements {tensors}"
        )
    return constant(-1) if given is None else given


def list_append(list_: Any, x: Any) -> Any:
    """The list after `list_.append(x)`, a new one unless it is Python's.

    Raises:
      ValueError: it is a Tensor, but no tensor list.
    """
    if is_tensor_array(list_):
        return list_.write(list_.size(), x)
    if not is_tensor(list_):
        list_.append(x)
        return list_
    if list_.dtype != variant:
        _refuse(list_)

    def typed_as_x() -> Tensor:
        tensor = convert(x)
        return empty_tensor_list(shape_of(tensor), tensor.dtype)

    # Only its first element says what an empty list is to hold.
    length = TensorListLength()(list_)
    filled = cond(length > 0, lambda: list_, typed_as_x)
    return TensorListPushBack()(filled, x)


def list_pop(list_: Any, i: Any, opts: ListPopOpts) -> tuple[Any, Any]:
    """The list after `list_.pop(i)`, and what that returns.

    Raises:
      NotImplementedError: it is a tensor list, and an index is given.
      ValueError: it is a TensorArray, or little is known of a tensor list.
    """
    if is_tensor_array(list_):
        raise ValueError("TensorArray does not support item removal")
    if not is_tensor(list_):
        popped = list_.pop() if i is None else list_.pop(i)
        return list_, popped
    if list_.dtype != variant:
        _refuse(list_)
    if i is not None:
        raise NotImplementedError("tensor lists only support removing from the end")
    for what in ("type", "shape"):
        known = opts.element_dtype if what == "type" else opts.element_shape
        if known is None:
            raise ValueError(
                f"cannot pop from a list without knowing its element {what}; use "
                "set_element_type to annotate it"
            )
    rest, last = tensor_list_pop_back(list_, opts.element_dtype)
    last.set_shape(opts.element_shape)
    return rest, last


def list_stack(list_: Any, opts: ListStackOpts) -> Any:
    """The elements of a list as the rows of a Tensor.

    Raises:
      ValueError: it is a tensor list, and the type of its elements is unknown.
    """
    if is_tensor_array(list_):
        return list_.stack()
    if not is_tensor(list_):
        return opts.original_call(list_)
    if list_.dtype != variant:
        return list_
    if opts.element_dtype is None:
        raise ValueError(
            "cannot stack a list without knowing its element type; use "
            "set_element_type to annotate it"
        )
    return tensor_list_stack(list_, opts.element_dtype)


def _refuse(list_: Tensor) -> NoReturn:
    raise ValueError(
        "tensor lists are expected to be Tensors with dtype=tf.variant, instead found "
        f"{list_}"
    )


# ---- functions for programs


def tensor_list(
    elements: Any,
    element_dtype: Any = None,
    element_shape: Any = None,
    use_tensor_array: bool = False,
) -> Any:
    """A tensor list, or a TensorArray, with some elements.

    Args:
      elements: a Tensor, or a list or tuple of them.
      element_dtype, element_shape: required if there are none.
      use_tensor_array: whether to make a TensorArray.

    Raises:
      ValueError: the elements are something else, or nothing is known of them.
    """
    is_known = element_dtype is not None and element_shape is not None
    if not is_known and not is_tensor(elements):
        if not isinstance(elements, list | tuple):
            raise ValueError(
                f"unknown type for elements: {type(elements)}; only Tensor, list and "
                "tuple are allowed"
            )
        if not elements:
            raise ValueError(
                "element_dtype and element_shape are required when elements are empty"
            )
    make = tf_tensor_array_new if use_tensor_array else tf_tensor_list_new
    return make(elements, element_dtype, element_shape)


@export("contrib.autograph.stack")
def stack(
    list_or_tensor: TensorLike | TensorArray,
    element_dtype: DTypeLike | None = None,
    strict: bool = True,
) -> Structure:
    """The elements of a list as the rows of a Tensor, if it is a list of Tensors.

    Raises:
      ValueError: it is not, and `strict` is True.
    """

    def as_it_is(value: Any) -> Any:
        if strict:
            raise ValueError(f"{value} must be stackable when strict=True")
        return value

    return list_stack(list_or_tensor, ListStackOpts(element_dtype, as_it_is))


def match_staging_level(value: Any, like_value: Any) -> Any:
    """A value as a Tensor, if another is one."""
    return constant(value) if is_tensor(like_value) else value
