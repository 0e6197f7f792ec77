"""Window geometry: sizes and paddings of convolutions and pooling.

Everything here is per spatial dimension; `data_format` determines their positions.

Source: core/framework/common_shape_fns.cc, core/util/padding.h, tensor_format.h,
python/ops/nn_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any, NamedTuple

from tfteach.framework import errors
from tfteach.framework.attributes import as_int
from tfteach.framework.errors import invalid_argument
from tfteach.framework.type_aliases import ArrayModule

Pairs = tuple[tuple[int, int], ...]
PADDINGS = ("SAME", "VALID")
FORMATS = ("NHWC", "NCHW")
FORMATS_3D = ("NDHWC", "NCDHW")


def is_first(data_format: str) -> bool:
    """Whether the channels directly follow the batch dimension."""
    return data_format.startswith("NC")


def spatial(items: Any, data_format: str) -> Any:
    """The spatial entries of a list with one entry per dimension."""
    return items[2:] if is_first(data_format) else items[1:-1]


def channel(items: Any, data_format: str) -> Any:
    """The channels' entry."""
    return items[1] if is_first(data_format) else items[-1]


def around(batch: Any, inner: Sequence[Any], depth: Any, data_format: str) -> Any:
    """A list with one entry per dimension, in the order of the format."""
    if is_first(data_format):
        return (batch, depth, *inner)
    return (batch, *inner, depth)


def to_last(xp: ArrayModule, array: Any, data_format: str) -> Any:
    """A view with the channels last."""
    return xp.moveaxis(array, 1, -1) if is_first(data_format) else array


def from_last(xp: ArrayModule, array: Any, data_format: str) -> Any:
    """The inverse of `to_last`, contiguous in the format's order."""
    if is_first(data_format):
        return xp.ascontiguousarray(xp.moveaxis(array, -1, 1))
    return array


# ---- conversion of arguments


def ints(op_type: str, name: str, value: Any) -> tuple[int, ...]:
    """A list attribute as a tuple of ints; raises TypeError otherwise."""
    if not isinstance(value, list | tuple):
        raise TypeError(
            f"Expected list for '{name}' argument to '{op_type}' Op, not {value!r}."
        )
    return _int32s(name, tuple(as_int(name, v) for v in value))


def _int32s(name: str, values: tuple[int, ...]) -> tuple[int, ...]:
    for n in values:
        if not -(2**31) <= n < 2**31:
            raise ValueError(f"Attr {name} has value {n} out of range for an int32")
    return values


def sequence(value: Any, n: int, data_format: str, name: str) -> tuple[int, ...]:
    """One int per dimension, from one for all, one per spatial dimension, or all.

    Args:
      value: an int or a list of 1, `n` or `n + 2` ints; None is 1.
      n: the number of spatial dimensions.
      data_format: determines the channels' position.
      name: the argument's name, for the message.

    Raises:
      ValueError: the list has a different length.
    """
    if value is None:
        value = 1
    length = len(value) if isinstance(value, Sized) else 1
    items: list[Any] = list(value) if isinstance(value, Sized) else [value]  # type: ignore[call-overload]
    if length not in (1, n, n + 2):
        raise ValueError(
            f"{name} should be of length 1, {n} or {n + 2} but was {length}"
        )
    found = _int32s(name, tuple(int(v) for v in items))
    if len(found) == n + 2:
        return found
    return tuple(around(1, found * n if len(found) == 1 else found, 1, data_format))


def need_shape(value: Any) -> None:
    """Reject lists and numbers where TF reads `value.shape`."""
    if not hasattr(value, "shape"):
        raise AttributeError(
            f"'{type(value).__name__}' object has no attribute 'shape': expected a "
            f"Tensor or an array, got {value!r}"
        )


def split_padding(padding: Any) -> tuple[str, tuple[int, ...]]:
    """The attributes `padding` and `explicit_paddings` from either form.

    Raises:
      ValueError: a list that is not four pairs, or the string "EXPLICIT" itself.
    """
    if not isinstance(padding, list | tuple):
        if padding == "EXPLICIT":
            raise ValueError(
                '"EXPLICIT" is not a valid value for the padding parameter. To use '
                "explicit padding, the padding parameter must be a list."
            )
        return padding, ()
    for i, pair in enumerate(padding):
        if not isinstance(pair, list | tuple):
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple "
                f"of size 2. Element with index {i} of padding is not a list/tuple"
            )
        if len(pair) != 2:
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple "
                f"of size 2. Element with index {i} of padding has size {len(pair)}"
            )
    if len(padding) != 4:
        raise ValueError(
            f"When padding is a list, it must be of size 4. Got padding of size: "
            f"{len(padding)}"
        )
    return "EXPLICIT", tuple(int(n) for pair in padding for n in pair)


# ---- static sizes


def window_sizes(
    sizes: Sequence[int | None],
    window: Sequence[int | None],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    pads: Pairs = (),
    may_be_empty: bool = False,
) -> tuple[int | None, ...]:
    """The number of windows along each dimension, None where unknown.

    `may_be_empty`: whether the number may be 0.

    Raises:
      ValueError: a stride or dilation is not positive, or no window fits.
    """
    found: list[int | None] = []
    pads = pads or ((0, 0),) * len(sizes)
    rows = zip(sizes, window, strides, dilations, pads, strict=True)
    for size, width, stride, dilation, pad in rows:
        if stride <= 0:
            raise ValueError(f"Stride must be > 0, but got {stride}")
        if dilation < 1:
            raise ValueError(f"Dilation rate must be >= 1, but got {dilation}")
        if size is None or (width is None and padding != "SAME"):
            found.append(None)
        elif padding == "SAME":
            found.append(-(-size // stride))
        else:
            assert width is not None
            span = (width - 1) * dilation + 1
            room = size + sum(pad)
            if room < span and not (may_be_empty and room + stride >= span):
                raise ValueError(
                    f"Negative dimension size caused by subtracting {span} from {room}"
                )
            found.append((room - span + stride) // stride)
    return tuple(found)


def pairs(explicit: tuple[int, ...], data_format: str) -> Pairs:
    """The (before, after) pairs of the spatial dimensions, from the flat attribute."""
    if not explicit:
        return ()
    listed = list(zip(explicit[::2], explicit[1::2], strict=True))
    return tuple(spatial(listed, data_format))


def check_explicit(
    padding: str, explicit: tuple[int, ...], data_format: str, rank: int
) -> None:
    """Raise ValueError for invalid explicit paddings."""
    if padding != "EXPLICIT":
        if explicit:
            raise ValueError(
                "explicit_paddings attribute must be empty if the padding attribute "
                "is not EXPLICIT"
            )
        return
    if len(explicit) != 2 * rank:
        raise ValueError(
            f"explicit_paddings attribute must contain {2 * rank} values, but got: "
            f"{len(explicit)}"
        )
    if min(explicit) < 0:
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    listed = list(zip(explicit[::2], explicit[1::2], strict=True))
    if any(listed[0]) or any(channel(listed, data_format)):
        raise ValueError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )


# ---- sizes at run time


class Windows(NamedTuple):
    """Windows on arrays of known sizes, per spatial dimension."""

    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pairs
    out: tuple[int, ...]


def lay(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    pads: Pairs = (),
) -> Windows:
    """Place windows on an array; "SAME" puts the odd padding at the end.

    Raises:
      InvalidArgumentError: the window exceeds an array by more than a stride.
    """
    out, found = [], []
    for i, size in enumerate(sizes):
        span = (window[i] - 1) * dilations[i] + 1
        if padding == "SAME":
            count = -(-size // strides[i])
            total = max((count - 1) * strides[i] + span - size, 0)
            pad = total // 2, total - total // 2
        else:
            pad = pads[i] if pads else (0, 0)
            room = size + sum(pad)
            count = (room - span + strides[i]) // strides[i]
            if room - span + strides[i] < 0:
                raise invalid_argument(
                    f"Computed output size would be negative: {count} [input_size: "
                    f"{room}, effective_filter_size: {span}, stride: {strides[i]}]"
                )
        out.append(count)
        found.append(pad)
    return Windows(
        tuple(window), tuple(strides), tuple(dilations), tuple(found), tuple(out)
    )


def refuse_batch_and_depth(
    strides: Sequence[int], dilations: Sequence[int], data_format: str
) -> None:
    """Reject strides and dilations over batch or channels, as TF does."""
    for name, values in (("strides", strides), ("dilations", dilations)):
        if values[0] != 1 or channel(values, data_format) != 1:
            raise invalid_argument(
                f"Current implementation does not yet support {name} in the batch and "
                "depth dimensions."
            )


def unimplemented(message: str) -> errors.UnimplementedError:
    """The error of a kernel for a case that TF's kernel does not support either."""
    return errors.UnimplementedError(None, None, message)
