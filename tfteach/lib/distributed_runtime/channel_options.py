"""gRPC, and the options of its connections."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from tfteach.framework import errors

_VARIABLE = "TFTEACH_MAX_MESSAGE_BYTES"
_limit_bytes: int | None = None

_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    # Send large tensors without waiting for the window to grow: with gRPC's bandwidth
    # estimation 20 MB take 1.6 times as long.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 8 << 20),
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


def limit_messages(size_bytes: int | None) -> None:
    """Limit the size of the messages that this process accepts.

    The limit applies to servers created afterwards, and to connections to addresses not
    used before; sessions on a server in their own process send no messages. The other
    end gets a ResourceExhaustedError. By default there is no limit, as in TensorFlow.
    The environment variable TFTEACH_MAX_MESSAGE_BYTES sets it, too.

    Args:
      size_bytes: the maximum size of a message; None for no limit.

    Raises:
      InvalidArgumentError: it is not positive.

    Example:
      >>> tfteach.distributed.limit_messages(100 << 20)
      >>> server = tf.train.Server.create_local_server()
      >>> tfteach.distributed.limit_messages(None)
    """
    global _limit_bytes
    if size_bytes is not None:
        _check(size_bytes, "limit_messages")
    _limit_bytes = size_bytes


def _check(size_bytes: int, name: str) -> None:
    if size_bytes <= 0:
        text = f"{name}: the limit must be at least 1 byte, got {size_bytes}"
        raise errors.InvalidArgumentError(None, None, text)


def channel_options() -> tuple[tuple[str, Any], ...]:
    """The options of a connection, or of a server.

    Raises:
      InvalidArgumentError: TFTEACH_MAX_MESSAGE_BYTES is not a positive number.
    """
    limit, text = _limit_bytes, os.environ.get(_VARIABLE)
    if limit is None and text:
        if not text.isdigit():
            message = f"{_VARIABLE}: {text} is not a number of bytes"
            raise errors.InvalidArgumentError(None, None, message)
        limit = int(text)
        _check(limit, _VARIABLE)
    return ("grpc.max_receive_message_length", limit or -1), *_OPTIONS


def grpc_module() -> ModuleType:
    """The module `grpc`.

    Raises:
      ModuleNotFoundError: it is not installed.
    """
    # Otherwise a server logs every connection that it rejects.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    try:
        import grpc
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "servers and their sessions need grpcio: pip install 'tfteach[cluster]'",
            name=error.name,
        ) from None
    return grpc  # type: ignore[no-any-return]
