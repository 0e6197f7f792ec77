"""TensorFlow's protocol messages by name, loaded when first asked for.

    from tfteach.framework import protos

    protos.GraphDef()

`pool.py` makes the classes, `text_format.py` prints them, `wire_format.py` and
`tensor_proto.py` write the messages that are written often without them.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.protos import pool


def __getattr__(name: str) -> Any:
    message = pool.message(name)
    if message is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = message
    return message


def __dir__() -> list[str]:
    return dir(pool)
