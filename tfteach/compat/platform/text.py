"""`tf.compat`: text and bytes, paths, and the types that count as numbers.

Source: python/util/compat.py (API and error messages).
"""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

from tfteach.framework.export import export, export_value

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)

export_value(
    __name__,
    bytes_or_text_types="compat.bytes_or_text_types",
    integral_types="compat.integral_types",
    real_types="compat.real_types",
    complex_types="compat.complex_types",
)


@export("compat.as_bytes")
def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """`bytes_or_text` as bytes; text is encoded.

    Raises:
      TypeError: it is neither bytes nor text.

    Example:
      >>> tf.compat.as_bytes("é")
      b'\\xc3\\xa9'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_text", "compat.as_str")
def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """`bytes_or_text` as a str; bytes are decoded.

    Raises:
      TypeError: it is neither bytes nor text.

    Example:
      >>> tf.compat.as_str(b"loss")
      'loss'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_str_any")
def as_str_any(value: Any) -> str:
    """`value` as a str: bytes decoded, anything else through `str()`."""
    return as_text(value) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path: Any) -> Any:
    """`os.fspath` of a path object; other values unchanged."""
    return as_str_any(os.fspath(path)) if isinstance(path, os.PathLike) else path
