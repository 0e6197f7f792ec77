"""TensorFlow's protocol messages by name, loaded on first access.

    from tfteach.framework import protos

    protos.GraphDef()

`pool.py` creates the classes, `text_format.py` prints them, `wire_format.py` and
`tensor_proto.py` serialize the most frequent messages directly.
"""

from __future__ import annotations

from tfteach.framework.lazy_names import lazy_getattr
from tfteach.framework.protos import pool

__getattr__ = lazy_getattr(__name__, pool.message)


def __dir__() -> list[str]:
    return sorted(pool.MODULES)
