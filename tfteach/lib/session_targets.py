"""Registers the targets of servers; what sessions with them need is imported then."""

from __future__ import annotations

from tfteach.engine.session.targets import Target, register_scheme


def _grpc_sessions() -> Target:
    from tfteach.lib.distributed_runtime.remote_session import GRPC_SESSIONS

    return GRPC_SESSIONS


register_scheme("grpc://", _grpc_sessions)
register_scheme("grpc+tls://", _grpc_sessions)
