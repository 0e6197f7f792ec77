"""What GPUs and links can do at best, by their vendors' figures, and what that makes.

A model, not a measurement: a kernel takes the time of its launch, and then that of its
arithmetic or of its memory traffic, whichever is longer, both at the card's peak rates.
Real kernels reach a part of these, so real steps take longer.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

_T = TypeVar("_T")

# Assumptions, for which no vendor has a figure: what TensorFlow and the driver take to
# start a kernel, and a copy.
LAUNCH_S = 5e-6
COPY_START_S = 10e-6


class Card(NamedTuple):
    """A GPU.

    Attributes:
      name: as its vendor calls it.
      memory_bytes: its memory.
      flops_per_s: operations on float32 per second, without tensor cores.
      half_flops_per_s: on float16, with tensor cores where it has them.
      double_flops_per_s: on float64.
      bytes_per_s: to and from its memory.
      source: the document that has these figures.
    """

    name: str
    memory_bytes: int
    flops_per_s: float
    half_flops_per_s: float
    double_flops_per_s: float
    bytes_per_s: float
    source: str


class Link(NamedTuple):
    """What connects a GPU with the host and with other GPUs.

    Attributes:
      name: what it is.
      bytes_per_s: in one direction.
      source: the document that has this figure.
    """

    name: str
    bytes_per_s: float
    source: str


_GIB = 1 << 30
CARDS = {
    "K80": Card(
        "NVIDIA K80, one of its two GPUs", 12 * _GIB, 4.37e12, 4.37e12, 1.46e12, 240e9,
        "NVIDIA Tesla K80 datasheet: half of the board's figures, with GPU Boost",
    ),
    "P100": Card(
        "NVIDIA P100 SXM2", 16 * _GIB, 10.6e12, 21.2e12, 5.3e12, 732e9,
        "NVIDIA Tesla P100 datasheet",
    ),
    "V100": Card(
        "NVIDIA V100 SXM2", 16 * _GIB, 15.7e12, 125e12, 7.8e12, 900e9,
        "NVIDIA Tesla V100 datasheet",
    ),
    "T4": Card(
        "NVIDIA T4", 16 * _GIB, 8.1e12, 65e12, 8.1e12 / 32, 300e9,
        "NVIDIA T4 datasheet; float64: 1/32 of float32, Turing architecture whitepaper",
    ),
    "A100": Card(
        "NVIDIA A100 40GB", 40 * _GIB, 19.5e12, 312e12, 9.7e12, 1555e9,
        "NVIDIA A100 datasheet",
    ),
    "H100": Card(
        "NVIDIA H100 SXM", 80 * _GIB, 67e12, 989e12, 34e12, 3.35e12,
        "NVIDIA H100 datasheet; float16: half of the figure with sparsity",
    ),
    "H200": Card(
        "NVIDIA H200 SXM", 141 * 10**9, 67e12, 989e12, 34e12, 4.8e12,
        "NVIDIA H200 datasheet; float16: half of the figure with sparsity",
    ),
}  # fmt: skip
_PCI_SIG = "PCI-SIG: 16 lanes, 128 of 130 bits are data"
LINKS = {
    "pcie3": Link("PCIe 3.0 x16", 16 * 8e9 * 128 / 130 / 8, _PCI_SIG),
    "pcie4": Link("PCIe 4.0 x16", 16 * 16e9 * 128 / 130 / 8, _PCI_SIG),
    "pcie5": Link("PCIe 5.0 x16", 16 * 32e9 * 128 / 130 / 8, _PCI_SIG),
    "nvlink2": Link("NVLink of V100", 150e9, "NVIDIA Tesla V100 datasheet, halved"),
    "nvlink3": Link("NVLink of A100", 300e9, "NVIDIA A100 datasheet, halved"),
    "nvlink4": Link("NVLink of H100", 450e9, "NVIDIA H100 datasheet, halved"),
}


class Modelled(NamedTuple):
    """A modelled duration.

    Attributes:
      seconds: how long.
      formula: how it comes about, in words and figures.
    """

    seconds: float
    formula: str


class DeviceModel(NamedTuple):
    """A card and its link."""

    label: str
    card: Card
    link: Link

    def kernel(self, flops: int, size_bytes: int, dtype_name: str) -> Modelled:
        """The time of a kernel.

        Args:
          flops: its arithmetic operations.
          size_bytes: what it reads and writes in the card's memory.
          dtype_name: of its result, such as "float32".
        """
        rate = {
            "float16": self.card.half_flops_per_s,
            "float64": self.card.double_flops_per_s,
        }.get(dtype_name, self.card.flops_per_s)
        parts_s = flops / rate, size_bytes / self.card.bytes_per_s
        formula = (
            f"{LAUNCH_S * 1e6:.0f} us to launch + max({_si(flops)}FLOP / "
            f"{_si(rate)}FLOP/s, {_si(size_bytes)}B / {_si(self.card.bytes_per_s)}B/s)"
        )
        return Modelled(LAUNCH_S + max(parts_s), formula)

    def copy(self, size_bytes: int) -> Modelled:
        """The time of a copy over the link."""
        rate = self.link.bytes_per_s
        formula = (
            f"{COPY_START_S * 1e6:.0f} us to start + {_si(size_bytes)}B / "
            f"{_si(rate)}B/s of {self.link.name}"
        )
        return Modelled(COPY_START_S + size_bytes / rate, formula)


def model_of(like: str, link: str) -> DeviceModel:
    """The model of a card and a link by their short names.

    Raises:
      ValueError: there is no such card or link.
    """
    return DeviceModel(like, _found(CARDS, like, "like"), _found(LINKS, link, "link"))


def _found(table: dict[str, _T], name: str, argument: str) -> _T:
    found = table.get(name)
    if found is None:
        raise ValueError(
            f"{argument}={name!r} is not known; choose one of {', '.join(table)}"
        )
    return found


def _si(value: float) -> str:
    """A number with a decimal prefix: "2.1 G"."""
    for prefix in ("", "k", "M", "G"):
        if value < 1000:
            return f"{value:.3g} {prefix}"
        value /= 1000
    return f"{value:.3g} T"
