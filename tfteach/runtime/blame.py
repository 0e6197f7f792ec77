"""What a failed kernel raises: an OpError that names the op."""

from __future__ import annotations

import re
import traceback

from tfteach.framework import errors
from tfteach.runtime.instruction import Instruction

# NumPy's words for shapes that do not broadcast; TF's are short.
_UNFIT = re.compile(
    r"operands could not be broadcast together with shapes \((.*?)\) \((.*?)\)"
)


def raise_blaming(error: Exception, instruction: Instruction | None) -> None:
    """Raise `error` as an OpError that names the op.

    Exceptions of NumPy and Python become InvalidArgumentError with their words.
    """
    if isinstance(error, MemoryError | errors.ResourceExhaustedError):
        # What the failed run held must be free before the caller tries something else.
        traceback.clear_frames(error.__traceback__)
    if instruction is None:
        raise error
    op = instruction.node.op
    if isinstance(error, errors.OpError):
        if error.op is None:
            error._message = error._message.replace("{name}", op.name)
            raise error.at(op)
        raise error
    if isinstance(error, NotImplementedError):
        raise errors.UnimplementedError(None, None, str(error)).at(op) from error
    if isinstance(error, MemoryError):
        raise errors.ResourceExhaustedError(
            None, None, f"OOM when computing {op.name}: {error}"
        ).at(op) from error
    unfit = _UNFIT.match(str(error))
    if unfit is not None:
        first, second = (shape.strip(",") for shape in unfit.groups())
        raise errors.InvalidArgumentError(
            None, None, f"Incompatible shapes: [{first}] vs. [{second}]"
        ).at(op) from error
    raise errors.InvalidArgumentError(
        None, None, f"{op.type} '{op.name}': {type(error).__name__}: {error}"
    ).at(op) from error
