"""Errors of kernels that run eagerly, which name the op's type.

Source: python/eager/execute.py, core/common_runtime/eager/kernel_and_device.cc
(messages).
"""

from __future__ import annotations

from typing import NoReturn

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.kernel_errors import translated_error, with_hint
from tfteach.framework.errors import OpError
from tfteach.framework.op import Op


def raise_from_kernel(
    error: Exception, op: Op, name: str | None, device: Device
) -> NoReturn:
    """Raise an exception of a kernel as an OpError whose message names the op's type.

    Args:
      error: the exception.
      op: the op.
      name: the name that the caller gave, or None.
      device: where the op ran.
    """
    found = error
    if not isinstance(error, OpError):
        found = with_hint(translated_error(error, op.op_type, op, device))
    elif error.op is not None:  # of an op in the body of a function
        raise error
    assert isinstance(found, OpError)
    found._message = found._message.replace("{name}", name or op.op_type)
    found._message += f" [Op:{op.op_type}]"
    if name:
        found._message += f" name: {name}"
    try:
        raise found from (None if found is error else error)
    finally:  # the traceback has this frame, which would keep both alive
        del found, error
