"""Discrete Fourier transforms."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "DecodeWav": "wav",
    "EncodeWav": "wav",
    "FFT": "fft",
    "FFT2D": "fft",
    "FFT3D": "fft",
    "IFFT": "fft",
    "IFFT2D": "fft",
    "IFFT3D": "fft",
    "IRFFT": "fft",
    "IRFFT2D": "fft",
    "IRFFT3D": "fft",
    "RFFT": "fft",
    "RFFT2D": "fft",
    "RFFT3D": "fft",
}
