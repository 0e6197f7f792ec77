"""Certificates of this process, for servers and sessions that use TLS.

TensorFlow 1.15 has no TLS: the protocol "grpc+tls" and targets "grpc+tls://host:port"
are ours.
"""

from __future__ import annotations

import os
import socket
import ssl
from typing import Any, NamedTuple

from tfteach.framework import errors
from tfteach.lib.distributed_runtime.channel_options import channel_options, grpc_module

PROTOCOL = "grpc+tls"
_VARIABLES = "TFTEACH_TLS_CERTIFICATE", "TFTEACH_TLS_KEY", "TFTEACH_TLS_ROOTS"


class Certificates(NamedTuple):
    """Names of PEM files, or None; see `use_certificates`."""

    certificate: str | None
    key: str | None
    roots: str | None
    is_mutual: bool

    def contents(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """Read the files.

        Raises:
          NotFoundError: a file does not exist.
          InvalidArgumentError: a file holds something else.
        """
        return (
            _contents(self.certificate, "certificate"),
            _contents(self.key, "private key"),
            _contents(self.roots, "roots"),
        )


_chosen: Certificates | None = None


def use_certificates(
    certificate: str | None = None,
    key: str | None = None,
    roots: str | None = None,
    mutual: bool = True,
) -> None:
    """Set the certificates of this process's servers and sessions.

    The environment variables TFTEACH_TLS_CERTIFICATE, TFTEACH_TLS_KEY and
    TFTEACH_TLS_ROOTS name such files, too.

    Args:
      certificate: a PEM file with this process's certificate, issued for the host of
        its address in the cluster.
      key: a PEM file with its private key.
      roots: a PEM file with the root certificates of other processes; by default those
        of this machine.
      mutual: whether this process's servers reject clients without a certificate from
        these roots. Without `roots` they accept all clients.

    Raises:
      NotFoundError: a file does not exist.
      InvalidArgumentError: a file is not PEM, the key does not match the certificate,
        or only one of the two is given.

    Example:
      Each task of a cluster, before its server:

      >>> tfteach.distributed.use_certificates("task.pem", "task.key", "roots.pem")
      ... # doctest: +SKIP
      >>> server = tf.train.Server(cluster, "ps", 0, protocol="grpc+tls")
      ... # doctest: +SKIP
    """
    global _chosen
    _chosen = _checked(Certificates(certificate, key, roots, mutual))


def certificates() -> Certificates:
    """The certificates of this process."""
    if _chosen is not None:
        return _chosen
    certificate, key, roots = (os.environ.get(name) or None for name in _VARIABLES)
    return _checked(Certificates(certificate, key, roots, True))


def _checked(own: Certificates) -> Certificates:
    """Check that the files exist, are PEM, and belong together."""
    certificate, key, *_ = own
    if (certificate is None) is not (key is None):
        raise errors.InvalidArgumentError(
            None, None, "A certificate and its private key are needed, or neither"
        )
    own.contents()
    if certificate is not None:
        try:
            _context(own)
        except ssl.SSLError as error:
            raise errors.InvalidArgumentError(
                None, None, f"{key} is not the key of {certificate}: {error.reason}"
            ) from None
    return own


def _context(own: Certificates) -> ssl.SSLContext:
    """The TLS context in which this process connects to servers."""
    context = ssl.create_default_context(cafile=own.roots)
    context.set_alpn_protocols(["h2"])
    if own.certificate is not None:
        context.load_cert_chain(own.certificate, own.key)
    return context


def _contents(path: str | None, what: str) -> bytes | None:
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            found = file.read()
    except OSError as error:
        text = f"Cannot read the {what} of this process's TLS: {error}"
        raise errors.NotFoundError(None, None, text) from None
    if b"-----BEGIN " not in found:
        text = f"{path} is not a PEM file, which the {what} must be"
        raise errors.InvalidArgumentError(None, None, text)
    return found


def secure_channel(address: str) -> Any:
    """A gRPC channel to an address, over TLS."""
    grpc = grpc_module()
    certificate, key, roots = certificates().contents()
    made = grpc.ssl_channel_credentials(roots, key, certificate)
    return grpc.secure_channel(address, made, channel_options())


def check_handshake(address: str, timeout_s: float) -> None:
    """Find out if a server refuses this process, rather than being absent.

    gRPC retries forever, and reports both with the same message.

    Raises:
      UnavailableError: there is a server, but one of the two refuses the other.
    """
    reason = "the server closed the connection; it may accept other certificates only"
    plain = _connected(address, timeout_s)
    if plain is None:
        return
    with plain:
        try:
            context = _context(certificates())
            host, _, _ = address.rpartition(":")
            with context.wrap_socket(plain, server_hostname=host) as made:
                if made.recv(1):  # what refuses a client comes after the handshake
                    return
        except ssl.SSLError as error:
            reason = str(error.reason)
            if reason == "WRONG_VERSION_NUMBER":
                reason = f'the server is not encrypted, connect to "grpc://{address}"'
            if isinstance(error, ssl.SSLCertVerificationError):
                reason = error.verify_message
        except TimeoutError:
            return
        except OSError as error:
            reason = str(error)
    text = f"TLS with {address} failed: {reason}"
    raise errors.UnavailableError(None, None, text)


def check_not_encrypted(address: str, timeout_s: float) -> None:
    """Find out if a server requires TLS, rather than being absent.

    Raises:
      UnavailableError: the server is encrypted.
    """
    plain = _connected(address, timeout_s)
    if plain is None:
        return
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # nothing is sent to it
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    with plain:
        try:
            anyone.wrap_socket(plain).close()
        except OSError:
            return
    text = f'{address} is encrypted: connect to "{PROTOCOL}://{address}"'
    raise errors.UnavailableError(None, None, text)


def _connected(address: str, timeout_s: float) -> socket.socket | None:
    host, _, port = address.rpartition(":")
    try:
        return socket.create_connection((host, int(port)), timeout_s)
    except OSError:
        return None


def server_credentials() -> Any:
    """The credentials of this process's servers.

    Raises:
      InvalidArgumentError: this process has no certificate.
    """
    own = certificates()
    certificate, key, roots = own.contents()
    if certificate is None:
        raise errors.InvalidArgumentError(
            None,
            None,
            f'A server with the protocol "{PROTOCOL}" needs a certificate and its key: '
            "tfteach.distributed.use_certificates(certificate, key, roots), or the "
            f"environment variables {', '.join(_VARIABLES)}",
        )
    is_mutual = own.is_mutual and roots is not None
    return grpc_module().ssl_server_credentials(
        [(key, certificate)],
        root_certificates=roots if is_mutual else None,
        require_client_auth=is_mutual,
    )
