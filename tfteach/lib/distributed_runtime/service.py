"""Serves TensorFlow's services: encoded requests in, encoded answers out.

A method is a function of the request's bytes.  Over gRPC and for sessions of the same
process it is the same one; the latter need no connection, as in TensorFlow.
Source: core/distributed_runtime/rpc/{grpc_server_lib,grpc_util}.cc, local_master.cc.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from tfteach.framework import errors
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import Cancellation, on_behalf_of
from tfteach.lib.distributed_runtime.call_threads import call_threads
from tfteach.lib.distributed_runtime.certificates import server_credentials
from tfteach.lib.distributed_runtime.channel import (
    Connection,
    error_of_status,
    shared_channel,
)
from tfteach.lib.distributed_runtime.channel_options import channel_options, grpc_module
from tfteach.lib.distributed_runtime.run_messages import RunStepRequest

MAX_STATUS_BYTES = 3072  # of a message in gRPC's headers
# An op in a message of this process, and what the client replaces by op and line.
_SHOWN_OP = re.compile(r"(?<=\[\[)node (\S+?) ?(?=\]\])|(?<=: )node (\S+)(?= +was )")


class Call(NamedTuple):
    """One call of a method.

    Attributes:
      request: the encoded message.
      peer: gRPC's name of the caller; "" in this process.
      at_end: registers a function that is called when the caller gives up.
    """

    request: bytes
    peer: str = ""
    at_end: Callable[[Callable[[], None]], Any] = lambda call: None

    @property
    def is_local(self) -> bool:
        """Whether the caller is on this machine."""
        return self.peer.startswith(("unix:", "ipv4:127.", "ipv6:[::1]", "ipv6:%5B::1"))


Method = Callable[[Call], bytes]


def encoded(message: Proto) -> bytes:
    """A message as bytes."""
    data: bytes = message.SerializeToString()
    return data


Request = TypeVar("Request")
Message = TypeVar("Message")


def decoded(read: Callable[[Request], Message], request: Request, name: str) -> Message:
    """The content of a request.

    Args:
      read: reads it; raises ValueError or TypeError for a malformed one.
      request: the bytes, or a message.
      name: of the method.

    Raises:
      InvalidArgumentError: it is malformed.
    """
    try:
        return read(request)
    except (ValueError, TypeError) as error:
        text = f"{name}: {error}"
        raise errors.InvalidArgumentError(None, None, text) from None


@contextmanager
def until_given_up(call: Call) -> Iterator[None]:
    """Cancel whatever waits in this block when the caller gives up."""
    caller = Cancellation()
    if call.at_end(caller.cancel) is False:  # it did already
        caller.cancel()
    with on_behalf_of(caller):
        yield


class Listener:
    """Answers calls that arrive at a port.

    Args:
      address: where to listen, `host:port`; port 0 for any free one.
      methods: "MasterService/RunStep" -> function.
      is_secure: whether clients must use TLS.

    Attributes:
      port: the port.

    Raises:
      InvalidArgumentError: this process has no certificate.
      UnknownError: the port is taken, or the host is not this machine.
    """

    def __init__(
        self, address: str, methods: dict[str, Method], is_secure: bool = False
    ) -> None:
        grpc = grpc_module()
        options = (*channel_options(), ("grpc.so_reuseport", 0))
        self._server = grpc.server(call_threads, options=options)
        by_service: dict[str, dict[str, Any]] = {}
        for name, method in methods.items():
            service, _, short = name.partition("/")
            handler = grpc.unary_unary_rpc_method_handler(_answering(name, method))
            by_service.setdefault(f"tensorflow.{service}", {})[short] = handler
        self._server.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler(service, handlers)
                for service, handlers in by_service.items()
            ]
        )
        credentials = server_credentials() if is_secure else None
        try:
            if credentials is None:
                self.port = self._server.add_insecure_port(address)
            else:
                self.port = self._server.add_secure_port(address, credentials)
        except RuntimeError:
            self.port = 0
        if not self.port:
            raise errors.UnknownError(
                None,
                None,
                f"Could not start gRPC server: cannot listen at {address}. Another "
                "process may use the port, or the host is not this machine.",
            )

    def start(self) -> None:
        """Start answering calls."""
        self._server.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait; returns whether the listener is still running then."""
        return bool(self._server.wait_for_termination(timeout_s))

    def stop(self) -> None:
        """Stop at once; calls in progress fail."""
        self._server.stop(None)


def _answering(name: str, method: Method) -> Callable[[bytes, Any], bytes]:
    """gRPC's handler for a method; errors become a status."""

    def answer(request: bytes, context: Any) -> bytes:
        try:
            return method(Call(request, context.peer(), context.add_callback))
        except Exception as error:
            failure = status_of(error, name)
        code = _grpc_code(failure.error_code)
        text = failure.message
        if len(text) > MAX_STATUS_BYTES:
            text = f"{text[:MAX_STATUS_BYTES]} ... [truncated]"
        context.abort(code, text)
        raise AssertionError("abort raises")

    return answer


def _grpc_code(code: int) -> Any:
    grpc = grpc_module()
    return next(known for known in grpc.StatusCode if known.value[0] == code)


def status_of(error: Exception, name: str = "") -> errors.OpError:
    """The error for a client: its message names ops, but no lines of this process.

    Args:
      error: an OpError, or any other, such as that of a malformed message.
      name: the method that failed.
    """
    if isinstance(error, errors.OpError):
        message = _SHOWN_OP.sub(
            lambda found: f"{{{{node {found[1] or found[2]}}}}}", error.message
        )
        return errors.OpError(None, None, message, error.error_code)
    if type(error).__name__ == "DecodeError":
        text = f"{name}: the request is not a valid message: {error}"
        return errors.InvalidArgumentError(None, None, text)
    if isinstance(error, NotImplementedError):
        return errors.UnimplementedError(None, None, f"{name}: {error}")
    get_logger().error("%s failed", name, exc_info=error)
    text = f"{name}: {type(error).__name__}: {error}"
    return errors.InternalError(None, None, text)


# ---- servers of this process


class LocalServer(NamedTuple):
    """A server as the sessions of its process see it.

    Attributes:
      methods: "MasterService/RunStep" -> function.
      run_step: RunStep without encoding: tensors are passed by reference.
    """

    methods: dict[str, Method]
    run_step: Callable[[RunStepRequest, Proto | None], list[Any]]


_local: dict[str, LocalServer] = {}


def add_local(address: str, server: LocalServer) -> None:
    """Let this process call a server's methods directly."""
    _local[address] = server


def remove_local(address: str) -> None:
    """Undo `add_local`."""
    _local.pop(address, None)


def local_methods(address: str) -> dict[str, Method] | None:
    """The methods of a server of this process; None if it is in another one."""
    found = _local.get(address)
    return None if found is None else found.methods


@contextmanager
def _as_client(method: str) -> Iterator[None]:
    """Raise errors in this block as a client in another process gets them."""
    try:
        yield
        return
    except Exception as error:
        failure = status_of(error, method)
    raise error_of_status(failure.error_code, failure.message)


class LocalConnection:
    """Calls the methods of a server in this process."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server

    def call(
        self,
        method: str,
        request: bytes,
        timeout_s: float = 0.0,
        waits_for_server: bool = False,
    ) -> bytes:
        with _as_client(method):
            return self._server.methods[method](Call(request))

    def run_step(self, request: RunStepRequest, metadata: Proto | None) -> list[Any]:
        """The fetched values; fills a RunMetadata proto."""
        with _as_client("RunStep"):
            return self._server.run_step(request, metadata)


def connect(address: str, by_rpc: bool = False, is_secure: bool = False) -> Connection:
    """The connection to a server, in this process or in another one.

    Args:
      address: `host:port`.
      by_rpc: whether to send messages even to a server of this process.
      is_secure: whether the messages are encrypted.

    Raises:
      InvalidArgumentError: `address` is not `host:port`.
    """
    server = None if by_rpc else _local.get(address)
    if server is None:
        return shared_channel(address, is_secure)
    return LocalConnection(server)
