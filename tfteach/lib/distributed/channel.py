"""Calls of another process's services, with deadlines and TensorFlow's errors.

Source: core/distributed_runtime/rpc/{grpc_util,grpc_channel,grpc_remote_master}.cc.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Protocol

from tfteach.framework import errors
from tfteach.framework.waiting import slice_s
from tfteach.lib.distributed.certificates import check_handshake, secure_channel
from tfteach.lib.distributed.channel_options import CHANNEL_OPTIONS, grpc_module

# How long to wait for a server that does not answer yet, in seconds; TensorFlow waits
# for ever.
CONNECT_TIMEOUT_S = 60.0
# A server that does not answer for so long is asked whether it still lives, and has so
# long to answer, in seconds.
SILENCE_S = 15.0
ALIVE_TIMEOUT_S = 10.0
_LOOKS_EVERY_S = 1.0  # whether the handshake of TLS fails
_REMOVED = "Stream removed"  # gRPC's words for a server that came back


def checked_address(address: str) -> str:
    """`host:port`.

    Raises:
      InvalidArgumentError: it is nothing of that kind.
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
    """A connection to one process, made by the first call.

    Args:
      address: `host:port`.
      is_secure: whether it is encrypted, and both ends have certificates.

    Raises:
      InvalidArgumentError: `address` is nothing of that kind, or the certificates of
        this process are no certificates.
    """

    def __init__(self, address: str, is_secure: bool = False) -> None:
        self.address = checked_address(address)
        self._is_secure = is_secure
        if is_secure:
            self._channel = secure_channel(self.address)
        else:
            insecure = grpc_module().insecure_channel
            self._channel = insecure(self.address, CHANNEL_OPTIONS)
        self._methods: dict[str, Any] = {}
        self._lock = threading.Lock()

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
          waits_for_server: True to wait for a server that is not there yet, for
            `CONNECT_TIMEOUT_S` if there is no deadline; else the call fails at once.

        Raises:
          OpError: the class of the status that the server, or gRPC, answers.
        """
        if waits_for_server:
            self._connect(timeout_s)
        return self.wait(self.start(method, request, timeout_s))

    def start(self, method: str, request: bytes, timeout_s: float = 0.0) -> Any:
        """Begin a call; gRPC's future of its answer."""
        return self._stub(method).future(request, timeout=timeout_s or None)

    def block(self, method: str, request: bytes, timeout_s: float = 0.0) -> bytes:
        """The answer of a call that nothing interrupts, not even Ctrl-C.

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
        """The answer of a begun call; Ctrl-C cancels it.

        Raises:
          UnavailableError: the process has gone, or does not answer any more.
          OpError: the class of any other status.
        """
        grpc = grpc_module()
        asks_s = time.monotonic() + SILENCE_S
        try:
            while True:  # asleep in C the main thread would not notice a Ctrl-C
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
        """Ask whether the process still answers.

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
        end_s = time.monotonic() + (timeout_s or CONNECT_TIMEOUT_S)
        try:
            while True:
                left_s = end_s - time.monotonic()
                if self._is_secure:
                    left_s = min(left_s, _LOOKS_EVERY_S)
                try:
                    ready.result(timeout=max(0.0, slice_s(left_s) or left_s))
                    break
                except grpc.FutureTimeoutError:
                    if self._is_secure:
                        check_handshake(self.address, _LOOKS_EVERY_S)
                    if time.monotonic() >= end_s:
                        raise self._absent(timeout_s) from None
        finally:
            ready.cancel()

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
        """End the connection; calls that wait end with CancelledError."""
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
    try:
        kind = errors.exception_type_from_error_code(code)
    except KeyError:
        return errors.OpError(None, None, message or "", code)
    return kind(None, None, message or "")


_channels: dict[tuple[str, bool], Channel] = {}
_channels_lock = threading.Lock()


def shared_channel(address: str, is_secure: bool = False) -> Channel:
    """The connection to an address that all sessions of this process use."""
    key = address, is_secure
    with _channels_lock:
        if key not in _channels:
            _channels[key] = Channel(address, is_secure)
        return _channels[key]
