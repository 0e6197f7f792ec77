"""Calls of another process's services, with deadlines and TensorFlow's errors.

Source: core/distributed_runtime/rpc/{grpc_util,grpc_channel,grpc_remote_master}.cc.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Protocol

from tfteach.framework import errors
from tfteach.framework.waiting import slice_s
from tfteach.lib.distributed_runtime.certificates import (
    check_handshake,
    check_not_encrypted,
    secure_channel,
)
from tfteach.lib.distributed_runtime.channel_options import channel_options, grpc_module

# Seconds to wait for a server that is not up yet; TensorFlow waits forever.
CONNECT_TIMEOUT_S = 60.0
# A server that has been silent for SILENCE_S seconds is pinged, and must respond within
# ALIVE_TIMEOUT_S seconds.
SILENCE_S = 15.0
ALIVE_TIMEOUT_S = 10.0
_LOOKS_EVERY_S = 1.0  # for the reason why there is no connection
_TOO_LARGE = "message larger than max"
_WHOSE_LIMIT = (
    "The process that received it has set this limit: see "
    "tfteach.distributed.limit_messages."
)
_REMOVED = "Stream removed"  # gRPC's message if the server has restarted


def checked_address(address: str) -> str:
    """The address, which must have the form `host:port`.

    Raises:
      InvalidArgumentError: it does not have this form.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise errors.InvalidArgumentError(
            None, None, f'Could not interpret "{address}" as a host-port pair.'
        )
    return address


class Connection(Protocol):
    """Calls the methods of one process."""

    def call(
        self,
        method: str,
        request: bytes,
        timeout_s: float = 0.0,
        waits_for_server: bool = False,
    ) -> bytes:
        """The encoded answer of a method to an encoded request."""


class Channel:
    """A connection to one process, established by the first call.

    Args:
      address: `host:port`.
      is_secure: whether it uses TLS.

    Raises:
      InvalidArgumentError: `address` is malformed, or a certificate of this process is
        invalid.
    """

    def __init__(self, address: str, is_secure: bool = False) -> None:
        self.address = checked_address(address)
        self._is_secure = is_secure
        self._channel = self._new_channel()
        self._methods: dict[str, Any] = {}
        self._lock = threading.Lock()

    def _new_channel(self) -> Any:
        if self._is_secure:
            return secure_channel(self.address)
        return grpc_module().insecure_channel(self.address, channel_options())

    def call(
        self,
        method: str,
        request: bytes,
        timeout_s: float = 0.0,
        waits_for_server: bool = False,
    ) -> bytes:
        """The encoded answer of a method to an encoded request.

        Args:
          method: service and name, such as "MasterService/RunStep".
          request: the message.
          timeout_s: the deadline of the call and of connecting; 0 for none.
          waits_for_server: whether to wait for a server that is not up yet: until the
            deadline, or for `CONNECT_TIMEOUT_S` without one. Otherwise the call fails
            at once.

        Raises:
          OpError: the class of the status that the server, or gRPC, answers.
        """
        if waits_for_server:
            self._connect(timeout_s)
        return self.wait(self.start(method, request, timeout_s))

    def start(self, method: str, request: bytes, timeout_s: float = 0.0) -> Any:
        """Start a call; returns gRPC's future of the answer."""
        return self._stub(method).future(request, timeout=timeout_s or None)

    def block(self, method: str, request: bytes, timeout_s: float = 0.0) -> bytes:
        """Make a blocking call, which not even Ctrl-C interrupts.

        Raises:
          OpError: the class of the status that the server, or gRPC, answers.
        """
        try:
            answer: bytes = self._stub(method)(request, timeout=timeout_s or None)
        except grpc_module().RpcError as error:
            raise error_of_status(error.code().value[0], error.details()) from None
        return answer

    def _stub(self, method: str) -> Any:
        with self._lock:
            stub = self._methods.get(method)
            if stub is None:
                stub = self._channel.unary_unary(f"/tensorflow.{method}")
                self._methods[method] = stub
            return stub

    def wait(self, future: Any) -> bytes:
        """Wait for the answer of a started call; Ctrl-C cancels it.

        Raises:
          UnavailableError: the process is gone, or has stopped responding.
          OpError: the class of any other status.
        """
        grpc = grpc_module()
        asks_s = time.monotonic() + SILENCE_S
        try:
            while True:  # a main thread blocked in C would not notice Ctrl-C
                try:
                    answer: bytes = future.result(timeout=slice_s(SILENCE_S))
                    return answer
                except grpc.FutureTimeoutError:
                    if time.monotonic() >= asks_s:
                        self.check_alive()
                        asks_s = time.monotonic() + SILENCE_S
        except grpc.FutureCancelledError:
            raise errors.CancelledError(None, None, "The call was cancelled") from None
        except grpc.RpcError as error:
            raise error_of_status(error.code().value[0], error.details()) from None
        except BaseException:
            future.cancel()
            raise

    def check_alive(self) -> None:
        """Check that the process still responds.

        Raises:
          UnavailableError: it does not.
        """
        grpc = grpc_module()
        future = self.start("WorkerService/GetStatus", b"", ALIVE_TIMEOUT_S)
        try:
            future.result()
        except grpc.RpcError as error:
            if error.code().name not in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                return
        else:
            return
        raise errors.UnavailableError(
            None,
            None,
            f"{self.address} does not answer any more: no sign of life within "
            f"{ALIVE_TIMEOUT_S:g} s",
        )

    def _connect(self, timeout_s: float) -> None:
        grpc = grpc_module()
        ready = grpc.channel_ready_future(self._channel)
        begin_s = time.monotonic()
        end_s = begin_s + (timeout_s or CONNECT_TIMEOUT_S)
        looks_s = min(end_s, begin_s + _LOOKS_EVERY_S)
        check = check_handshake if self._is_secure else check_not_encrypted
        try:
            while True:
                left_s = looks_s - time.monotonic()
                try:
                    ready.result(timeout=max(0.0, slice_s(left_s) or left_s))
                    break
                except grpc.FutureTimeoutError:
                    if time.monotonic() < looks_s:
                        continue
                    check(self.address, min(_LOOKS_EVERY_S, end_s - begin_s))
                    if looks_s == end_s:
                        raise self._absent(timeout_s) from None
                    looks_s = min(end_s, time.monotonic() + _LOOKS_EVERY_S)
        except errors.OpError:
            self._give_up()
            raise
        finally:
            ready.cancel()

    def _give_up(self) -> None:
        """Close the channel, which would retry forever, and open another one."""
        with self._lock:
            old, self._channel = self._channel, self._new_channel()
            self._methods.clear()
        old.close()

    def _absent(self, timeout_s: float) -> errors.OpError:
        if timeout_s:
            return errors.DeadlineExceededError(None, None, "Deadline Exceeded")
        return errors.UnavailableError(
            None,
            None,
            f"failed to connect to {self.address}: no server answered there within "
            f"{CONNECT_TIMEOUT_S:.0f} s",
        )

    def close(self) -> None:
        """Close the connection; pending calls fail with CancelledError."""
        self._channel.close()


def error_of_future(future: Any) -> errors.OpError | None:
    """The error of a call that has ended; None if it succeeded."""
    if future.cancelled():
        return errors.CancelledError(None, None, "The call was cancelled")
    failure = future.exception()
    if failure is None:
        return None
    return error_of_status(failure.code().value[0], failure.details())


def error_of_status(code: int, message: str | None) -> errors.OpError:
    """The error of a status: its class is that of the code."""
    if code == errors.UNKNOWN and message == _REMOVED:
        code = errors.UNAVAILABLE
    if code == errors.RESOURCE_EXHAUSTED and message and _TOO_LARGE in message:
        message += f". {_WHOSE_LIMIT}"
    try:
        kind = errors.exception_type_from_error_code(code)
    except KeyError:
        return errors.OpError(None, None, message or "", code)
    return kind(None, None, message or "")


_channels: dict[tuple[str, bool], Channel] = {}
_channels_lock = threading.Lock()


def shared_channel(address: str, is_secure: bool = False) -> Channel:
    """The connection to an address, shared by all sessions of this process."""
    key = address, is_secure
    with _channels_lock:
        if key not in _channels:
            _channels[key] = Channel(address, is_secure)
        return _channels[key]
