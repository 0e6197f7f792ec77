"""The mel scale and mel-frequency cepstral coefficients.

Source: python/ops/signal/mel_ops.py, mfcc_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import DType, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.signal.dct import dct
from tfteach.lib.signal.framing import frame
from tfteach.ops.array.concat_split import split
from tfteach.ops.array.padding import pad
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import log
from tfteach.ops.math.range import linspace
from tfteach.ops.math.unary import rsqrt

# mel = Q * log(1 + hertz / BREAK)
_BREAK_HERTZ, _Q = 700.0, 1127.0


def _hertz_to_mel(hertz: Any) -> Tensor:
    with name_scope(None, "hertz_to_mel", [hertz]):
        return _Q * log(1.0 + convert(hertz) / _BREAK_HERTZ)


def _check(count: Any, rate: Any, lowest: Any, highest: Any, dtype: DType) -> None:
    if count <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {count}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if lowest < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lowest}")
    if lowest >= highest:
        raise ValueError(
            f"lower_edge_hertz {lowest:.1f} >= upper_edge_hertz {highest:.1f}"
        )
    if highest > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency "
            f"(sample_rate / 2). Got: {highest} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


@export(
    "signal.linear_to_mel_weight_matrix", "contrib.signal.linear_to_mel_weight_matrix"
)
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DType = float32,
    name: str | None = None,
) -> Tensor:
    """The matrix that maps spectra to triangular bands of equal width on the mel scale.

    Args:
      num_mel_bins: the number of bands.
      num_spectrogram_bins: the number of frequencies, from 0 to half the sample rate.
      sample_rate: samples per second, a number or a constant Tensor.
      lower_edge_hertz, upper_edge_hertz: the range of the bands.
      dtype: the float type.
      name: the scope of the ops.

    Returns:
      A Tensor [num_spectrogram_bins, num_mel_bins].

    Raises:
      ValueError: an argument is out of range, or `sample_rate` is not a constant.

    Example:
      >>> to_mel = tf.signal.linear_to_mel_weight_matrix(40, 129, 8000)
      >>> mel = tf.tensordot(tf.abs(tf.signal.stft(tf.zeros([1000]), 256, 128)),
      ...                    to_mel, 1)

    Source: python/ops/signal/mel_ops.py.
    """
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            sample_rate = python_constant_value(sample_rate)
            if sample_rate is None:
                raise ValueError(
                    "`sample_rate` was a non-constant Tensor. Must be a Python float "
                    "or a constant Tensor."
                )
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        sample_rate = convert(sample_rate, dtype, "sample_rate")
        lowest = convert(lower_edge_hertz, dtype, "lower_edge_hertz")
        highest = convert(upper_edge_hertz, dtype, "upper_edge_hertz")
        zero = convert(0.0, dtype)
        nyquist = sample_rate / 2.0
        hertz = linspace(zero, nyquist, num_spectrogram_bins)[1:]
        mel = expand_dims(_hertz_to_mel(hertz), 1)
        edges = linspace(
            _hertz_to_mel(lowest), _hertz_to_mel(highest), num_mel_bins + 2
        )
        bands = frame(edges, frame_length=3, frame_step=1)
        begins, centers, ends = (
            reshape(edge, [1, num_mel_bins]) for edge in split(bands, 3, axis=1)
        )
        rising = (mel - begins) / (centers - begins)
        falling = (ends - mel) / (ends - centers)
        weights = maximum(zero, minimum(rising, falling))
        return pad(weights, [[1, 0], [0, 0]], name=scope)


@export(
    "signal.mfccs_from_log_mel_spectrograms",
    "contrib.signal.mfccs_from_log_mel_spectrograms",
)
def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """Mel-frequency cepstral coefficients: cosine transforms of log spectra.

    Args:
      log_mel_spectrograms: float32 Tensor [..., num_mel_bins].
      name: the scope of the ops.

    Returns:
      A float32 Tensor of the same shape.

    Raises:
      ValueError: there are no bins.

    Source: python/ops/signal/mfcc_ops.py.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = convert(log_mel_spectrograms, float32)
        count: Any = dimension_value(spectra.shape[-1]) if spectra.shape.ndims else None
        if count is None:
            count = shape(spectra)[-1]
        elif count == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectra}")
        return dct(spectra, type=2) * rsqrt(cast(count, float32) * 2.0)
