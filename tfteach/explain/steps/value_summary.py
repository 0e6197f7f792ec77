"""Recorded values: small arrays as a whole, large ones as statistics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Figures", "Seen"]

WHOLE = 1000  # largest number of elements of an array that is kept
BINS = 16
_SHOWN = 6  # elements on a line
_LONGEST = 40  # characters of a string


class Figures(NamedTuple):
    """Statistics of an array.

    Attributes:
      nans: the number of NaN elements.
      infinities: the number of infinite elements.
      low: the smallest finite element; None if there is none.
      high: the largest finite element; None if there is none.
      mean: the mean of the finite elements; None if there is none, or if it overflows.
      bins: a histogram of the finite elements, with 16 equal bins from `low` to `high`;
        empty for small arrays.
    """

    nans: int = 0
    infinities: int = 0
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    bins: tuple[int, ...] = ()


class Seen(NamedTuple):
    """The value of a tensor at the time when an op produced or consumed it.

    Attributes:
      name: the name of the tensor.
      dtype: the name of its type.
      shape: a tuple of sizes.
      said: `text`, for values whose array was not kept; else "".
      array: a copy of a small array, if there was room for it; else None.
      figures: its statistics.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    said: str = ""
    array: np.ndarray[Any, Any] | None = None
    figures: Figures = Figures()

    @property
    def text(self) -> str:
        """The value in brief: all of a small array, else first elements and range."""
        # Computed on demand: it takes longer than most ops of a loop.
        return self.said if self.array is None else words_of(self.array, self.figures)

    @property
    def nans(self) -> int:
        """The number of NaN elements."""
        return self.figures.nans

    @property
    def infinities(self) -> int:
        """The number of infinite elements."""
        return self.figures.infinities

    @property
    def is_finite(self) -> bool:
        """True if no element is NaN or infinite."""
        return not self.nans and not self.infinities

    @property
    def short(self) -> str:
        """A description for a label: a few elements, or size and range."""
        return _short(self)

    def __str__(self) -> str:
        shape = "x".join(str(n) for n in self.shape) or "scalar"
        return f"{self.name}: {self.dtype} {shape} {self.text}"


def figures_of(array: np.ndarray[Any, Any]) -> Figures:
    """The statistics of an array; incomplete for complex numbers and strings."""
    kind = array.dtype.kind
    nans = infinities = 0
    if kind in "fc":
        nans = int(np.isnan(array).sum())
        infinities = int(np.isinf(array).sum())
    if kind not in "fiu":
        return Figures(nans, infinities)
    finite = array[np.isfinite(array)] if nans or infinities else array
    if not finite.size:
        return Figures(nans, infinities)
    low, high = float(finite.min()), float(finite.max())
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(finite.mean(dtype=np.float64))
        span = high - low
    bins: tuple[int, ...] = ()
    if finite.size > 2 * _SHOWN and 0 < span < np.inf:
        # In float64: the span may overflow float16 and float32.
        place = (finite.astype(np.float64) - low) * (BINS / span)
        part = np.minimum(place.astype(np.int64).ravel(), BINS - 1)
        bins = tuple(np.bincount(part, minlength=BINS).tolist())
    return Figures(
        nans, infinities, low, high, mean if np.isfinite(mean) else None, bins
    )


def words_of(array: np.ndarray[Any, Any], figures: Figures | None = None) -> str:
    """The description of an array that `Seen.text` returns."""
    if array.dtype.hasobject:
        items = [_quoted(item) for item in array.reshape(-1)[:_SHOWN].tolist()]
        more = ", ..." if array.size > _SHOWN else ""
        return ", ".join(items) + more if array.ndim else "".join(items)
    if not array.ndim:
        return _alone(array[()])
    if array.size <= _SHOWN * 2:
        text = np.array2string(array, precision=4, separator=", ", threshold=50)
        return " ".join(text.split())
    figures = figures_of(array) if figures is None else figures
    first = np.array2string(array.reshape(-1)[:3], precision=4, separator=", ")
    words = f"{first[:-1]}, ...]"
    if figures.low is not None:
        words += f" from {figures.low:.4g} to {figures.high:.4g}"
    if figures.mean is not None:
        words += f", mean {figures.mean:.4g}"
    if figures.nans:
        words += f", {figures.nans} NaN"
    if figures.infinities:
        words += f", {figures.infinities} infinite"
    return words


def is_array(value: Any) -> bool:
    """True for numbers and text; False for tables, stacks and other resources."""
    plain = (np.ndarray, np.generic, bytes, str, bool, int, float, complex)
    return isinstance(value, plain) or hasattr(value, "__cuda_array_interface__")


def kind_of(array: np.ndarray[Any, Any]) -> str:
    """The name of TensorFlow's type of an array."""
    return "string" if array.dtype.hasobject else str(array.dtype)


def number_text(value: Any) -> str:
    """One element, abbreviated."""
    if isinstance(value, bytes | str):
        return _quoted(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        text = f"{float(value):.4g}"
        return {"nan": "NaN", "inf": "∞", "-inf": "-∞"}.get(text, text)
    return str(value)


def _alone(number: Any) -> str:
    """A scalar with all the digits of a float32, or nine of a float64.

    In a loop that converges, the last digits show whether the value still changes.
    """
    if not isinstance(number, np.floating) or not np.isfinite(number):
        return number_text(number)
    if number == 0 or 1e-4 <= abs(number) < 1e10:
        return np.format_float_positional(number, 9, fractional=False, trim="-")
    return np.format_float_scientific(number, 9, trim="-", exp_digits=1)


_FEW = 3  # elements on an edge of a picture


def _short(seen: Seen) -> str:
    array = seen.array
    size = "×".join(str(n) for n in seen.shape)
    if array is not None and not seen.shape:
        return _alone(array[()])
    if array is not None and array.size <= _FEW and array.ndim == 1:
        return f"[{', '.join(number_text(item) for item in array)}]"
    figures = seen.figures
    wrong = [
        f"{count} {word}"
        for count, word in ((figures.nans, "NaN"), (figures.infinities, "∞"))
        if count
    ]
    if wrong:
        return " ".join([size, "·" if size else "", *wrong]).strip()
    if figures.low is None or figures.high is None:
        return size or seen.text
    digits = 3 if len(size) < 8 else 2
    low, high = (_brief(number, digits) for number in (figures.low, figures.high))
    return f"{size} · {low}" if low == high else f"{size} · {low}…{high}"


def _brief(number: float, digits: int) -> str:
    """A number with few digits: "1.5e4" rather than "1.5e+04"."""
    mantissa, e, exponent = f"{number or 0.0:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def _quoted(item: Any) -> str:
    text = item.decode(errors="replace") if isinstance(item, bytes) else str(item)
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
