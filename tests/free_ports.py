"""Ports for servers that other processes are told before they listen."""

from __future__ import annotations

import random
import socket

# Systems hand out higher ones, from 32768, to whoever asks for any: kernels, clients.
CHOICE = range(16384, 32768)


def free_ports(count: int) -> list[int]:
    """Ports of this machine at which nobody listens, and that nobody is handed out."""
    chance = random.SystemRandom()  # tests seed the other
    found: list[int] = []
    while len(found) < count:
        port = chance.choice(CHOICE)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found
