"""Errors of kernels, as OpErrors that name the op."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from typing import Any

from tfteach.engine.devices.devices import Device
from tfteach.engine.devices.memory_ledger import no_room_for
from tfteach.engine.execute.instruction import Instruction
from tfteach.framework import errors
from tfteach.framework import shape as shapes
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.waiting import WouldWait

ROUNDED_TO_BYTES = 512  # the sizes that CuPy's pool hands out
OOM_HINT = (
    "\nHint: If you want to see a list of allocated tensors when OOM happens, add "
    "report_tensor_allocations_upon_oom to RunOptions for current allocation info.\n"
)
# NumPy's messages for shapes that do not broadcast, and for arrays that are too large;
# TF has its own for both.
_UNFIT = (
    re.compile(
        r"operands could not be broadcast together with shapes \((.*?)\) \((.*?)\)"
    ),
    re.compile(
        r"shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is "
        r"between arg \d with shape \((.*?)\) and arg \d with shape \((.*?)\)"
    ),
)
_TOO_LARGE = re.compile(
    r"Unable to allocate .* for an array with shape \((.*?)\) and data type (\w+)"
)
# CuPy's message for what does not fit into a card's memory.
_TOO_LARGE_FOR_CARD = re.compile(r"Out of memory allocating ([\d,]+) bytes")
_BEYOND_ADDRESSES = re.compile(
    r"Maximum allowed (dimension|size) exceeded|array is too big|"
    r"cannot fit 'int' into an index-sized integer|maximum supported dimension"
)


def raise_blaming(error: Exception, instruction: Instruction | None) -> None:
    """Raise `error` as an OpError that names the op.

    Exceptions of NumPy and Python become InvalidArgumentError with their message.
    """
    blamed = _blamed(error, instruction)
    try:
        if blamed is error:
            raise error
        raise blamed from error
    finally:  # their tracebacks have this frame, which would keep all of them alive
        del blamed, error


def _blamed(error: Exception, instruction: Instruction | None) -> Exception:
    if instruction is None or isinstance(
        error, errors.DeadlineExceededError | WouldWait
    ):
        return error
    op = instruction.node.op
    if not isinstance(error, errors.OpError):
        node = instruction.node
        translated = translated_error(
            error, node.op.name, node.spec, node.device, node.op.outputs
        )
        _free_if_exhausted(error)
        return with_hint(translated.at(op))
    _free_if_exhausted(error)
    if error.op is not None:
        return error
    error._message = error._message.replace("{name}", op.name)
    return with_hint(error.at(op))


def with_hint(error: errors.OpError) -> errors.OpError:
    if isinstance(error, errors.ResourceExhaustedError):
        error._message += OOM_HINT
    return error


def _free_if_exhausted(error: Exception) -> None:
    """Free the failed run's arrays before the caller continues."""
    if isinstance(error, MemoryError | errors.ResourceExhaustedError):
        traceback.clear_frames(error.__traceback__)


def translated_error(
    error: Exception,
    name: str,
    spec: Op,
    device: Device,
    outputs: Sequence[Tensor] = (),
) -> errors.OpError:
    """The OpError for an exception of NumPy or Python that a kernel raised.

    Args:
      error: the exception.
      name: the op's name.
      spec: the op.
      device: where it ran.
      outputs: the op's, if they are known.
    """
    message = str(error)
    if isinstance(error, NotImplementedError):
        return errors.UnimplementedError(None, None, message)
    for pattern in _UNFIT:
        unfit = pattern.match(message)
        if unfit is not None:
            first, second = (_numbers(shape) for shape in unfit.groups())
            return errors.invalid_argument(
                f"Incompatible shapes: [{first}] vs. [{second}]"
            )
    if isinstance(error, MemoryError):
        large, on_card = _TOO_LARGE.match(message), _TOO_LARGE_FOR_CARD.match(message)
        if on_card is not None and outputs:
            found = _no_room_on_card(int(on_card[1].replace(",", "")), device, outputs)
        elif large is None:
            found = f"OOM when computing {name}: {error}"
        else:
            shape = tuple(map(int, filter(None, _numbers(large[1]).split(","))))
            found = no_room_for(shape, large[2], device.name, device.allocator)
        return errors.ResourceExhaustedError(None, None, found)
    given = " and ".join(_shapes_given(error, spec)) or "unknown"
    if _BEYOND_ADDRESSES.search(message):
        found = f"OOM when computing {name} of inputs of shapes {given}: {message}"
        return errors.ResourceExhaustedError(None, None, found)
    return errors.invalid_argument(
        f"{spec.op_type} cannot compute with inputs of shapes {given}: {message}"
    )


def _no_room_on_card(
    needed_bytes: int, device: Device, outputs: Sequence[Tensor]
) -> str:
    """TF's message: an output of that size, or as many of its elements."""
    dtype = outputs[0].dtype.base_dtype
    shape: tuple[int | None, ...] = (needed_bytes // dtype.size,)
    for tensor in outputs:
        count = shapes.size_of(tensor.static_shape)
        size_bytes = (count or 0) * tensor.dtype.size
        if size_bytes and size_bytes <= needed_bytes < size_bytes + ROUNDED_TO_BYTES:
            assert tensor.static_shape is not None
            shape, dtype = tensor.static_shape, tensor.dtype.base_dtype
    words = no_room_for(shape, dtype.numpy_dtype, device.name, device.allocator)
    return f"{words}\n{device.shortage(needed_bytes)}"


def _numbers(text: str) -> str:
    return text.replace(" ", "").strip(",")


def _shapes_given(error: Exception, spec: Op) -> list[str]:
    """The shapes of the arrays in the frame of the kernel that raised."""
    trace, found = error.__traceback__, None
    kernel = type(spec).compute.__code__
    while trace is not None:
        if trace.tb_frame.f_code is kernel:
            found = trace.tb_frame
        trace = trace.tb_next
    if found is None:
        return []
    count = kernel.co_argcount
    values: list[Any] = [found.f_locals.get(n) for n in kernel.co_varnames[2:count]]
    if kernel.co_flags & 4:  # *arguments
        values += found.f_locals.get(kernel.co_varnames[count], ())
    sizes = [getattr(v, "shape", None) for v in values]
    return [shapes.text(own) for own in sizes if isinstance(own, tuple)]
