"""gRPC, and the options of its connections."""

from __future__ import annotations

import os
from types import ModuleType

# TensorFlow sends messages of any size.
CHANNEL_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    # A tensor is sent without waiting for the window to grow: 20 MB take 1.6 times as
    # long by gRPC's own estimate of the bandwidth.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 8 << 20),
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


def grpc_module() -> ModuleType:
    """The module `grpc`.

    Raises:
      ModuleNotFoundError: it is not installed.
    """
    # A server would print every connection that it refuses.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    try:
        import grpc
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "servers and their sessions need grpcio: pip install 'tfteach[cluster]'",
            name=error.name,
        ) from None
    return grpc  # type: ignore[no-any-return]
