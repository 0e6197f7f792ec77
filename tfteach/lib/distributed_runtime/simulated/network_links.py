"""Network links of a modelled cluster, with their standards' figures."""

from __future__ import annotations

from typing import NamedTuple

# An assumption, for which no standard has a figure: until a message is there, besides
# the time of its bytes.
LATENCY_S = 50e-6


class NetworkLink(NamedTuple):
    """The link of a machine.

    Attributes:
      name: the link's name.
      bytes_per_s: of parameters, in one direction.
      source: the document that has its data rate.
    """

    name: str
    bytes_per_s: float
    source: str


# Of each 1538 bytes on an Ethernet (preamble, header, checksum and gap included) TCP
# carries 1460: IEEE 802.3, RFC 791, RFC 793.
_TCP_SHARE = 1460 / 1538


def _ethernet(gigabits: int, source: str) -> NetworkLink:
    rate = gigabits * 1e9 / 8 * _TCP_SHARE
    return NetworkLink(f"{gigabits} Gigabit Ethernet", rate, source)


NETWORK_LINKS = {
    "1GbE": _ethernet(1, "IEEE 802.3ab"),
    "10GbE": _ethernet(10, "IEEE 802.3ae"),
    "25GbE": _ethernet(25, "IEEE 802.3by"),
    "40GbE": _ethernet(40, "IEEE 802.3ba"),
    "100GbE": _ethernet(100, "IEEE 802.3ba"),
    "200GbE": _ethernet(200, "IEEE 802.3bs"),
    "EDR": NetworkLink(
        "InfiniBand EDR, 4 lanes", 100e9 / 8, "InfiniBand Trade Association roadmap"
    ),
    "HDR": NetworkLink(
        "InfiniBand HDR, 4 lanes", 200e9 / 8, "InfiniBand Trade Association roadmap"
    ),
}
