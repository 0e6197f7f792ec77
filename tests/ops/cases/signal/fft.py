"""Fourier transforms, by SciPy."""

from __future__ import annotations

import numpy as np
import scipy.fft

from tests.ops.case import Case
from tfteach.ops.signal import fft

RNG = np.random.default_rng(11)
SIGNAL = RNG.normal(size=(2, 3, 5, 4)).astype(np.float32)
WAVES = (SIGNAL + 1j * SIGNAL[::-1]).astype(np.complex64)


def rows() -> list[Case]:
    found = []
    for axes in (1, 2, 3):
        name = "" if axes == 1 else f"{axes}D"
        over = tuple(range(-axes, 0))
        for op, function in (("FFT", scipy.fft.fftn), ("IFFT", scipy.fft.ifftn)):
            cls = getattr(fft, op + name)
            found.append(
                Case(cls(), (WAVES,),
                     lambda x, f=function, over=over: f(x, axes=over), tolerance=1e-5)
            )  # fmt: skip
        for last in (4, 3):
            length = np.int32((*SIGNAL.shape[-axes:-1], last))
            found.append(
                Case(getattr(fft, f"RFFT{name}")(), (SIGNAL, length),
                     lambda x, s, over=over: scipy.fft.rfftn(x, s, axes=over),
                     f"length{last}", tolerance=1e-5, gradient=False)
            )  # fmt: skip
            half = (
                (np.arange(12.0)[:, None] * SIGNAL.reshape(12, -1))
                .reshape(SIGNAL.shape)[..., : last // 2 + 1]
                .astype(np.complex64)
            )
            half = half * np.complex64(1 - 2j)
            found.append(
                Case(getattr(fft, f"IRFFT{name}")(), (half, length),
                     lambda x, s, over=over: scipy.fft.irfftn(x, s, axes=over),
                     f"length{last}", tolerance=1e-5, gradient=False)
            )  # fmt: skip
    return found


CASES = [
    *rows(),
    Case(fft.FFT(), (WAVES[:0],), WAVES[:0], "empty"),
    Case(
        fft.RFFT(),
        (SIGNAL[:0], np.int32([4])),
        np.zeros((0, 3, 5, 3)),
        "empty",
        gradient=False,
    ),
]
