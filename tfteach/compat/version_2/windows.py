"""`tf.compat.v2.nn`: convolution, pooling and morphology.

Source: python/ops/nn_ops.py, nn_impl.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.random.random_ops import get_seed
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_1d import conv1d
from tfteach.ops.windows.conv_2d import conv2d, conv2d_transpose
from tfteach.ops.windows.conv_3d import conv3d, conv3d_transpose
from tfteach.ops.windows.conv_nd import convolution
from tfteach.ops.windows.depthwise_conv import depthwise_conv2d, separable_conv2d
from tfteach.ops.windows.fractional_pool import fractional_avg_pool, fractional_max_pool
from tfteach.ops.windows.morphology import dilation2d, erosion2d
from tfteach.ops.windows.pool import avg_pool
from tfteach.ops.windows.pool_argmax import max_pool_with_argmax
from tfteach.ops.windows.pool_functions import pool

CONVOLUTION = "input filters strides padding | data_format dilations name"
TRANSPOSED = "output_shape strides | padding data_format dilations name"

conv1d_v2 = with_parameters(
    conv1d,
    "input filters stride padding | data_format dilations name",
    data_format="NWC",
    v2="nn.conv1d",
)
conv2d_v2 = with_parameters(conv2d, CONVOLUTION, dilations=None, v2="nn.conv2d")
conv3d_v2 = with_parameters(conv3d, CONVOLUTION, dilations=None, v2="nn.conv3d")
conv2d_transpose_v2 = with_parameters(
    conv2d_transpose, f"input filters {TRANSPOSED}", v2="nn.conv2d_transpose"
)
conv3d_transpose_v2 = with_parameters(
    conv3d_transpose, f"input:value filters {TRANSPOSED}", v2="nn.conv3d_transpose"
)
convolution_v2 = with_parameters(
    convolution,
    "input filters:filter | strides padding data_format dilations name",
    padding="VALID",
    v2="nn.convolution",
)
depthwise_conv2d_v2 = with_parameters(
    depthwise_conv2d,
    "input filter strides padding | data_format dilations name",
    v2="nn.depthwise_conv2d",
)
separable_conv2d_v2 = with_parameters(
    separable_conv2d,
    "input depthwise_filter pointwise_filter strides padding "
    "| data_format dilations name",
    v2="nn.separable_conv2d",
)
pool_v2 = with_parameters(
    pool,
    "input window_shape pooling_type | strides padding data_format dilations name",
    padding="VALID",
    v2="nn.pool",
)


@export(v2="nn.avg_pool2d")
def avg_pool2d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """`tf.nn.avg_pool2d` without `value`."""
    with name_scope(name, "AvgPool2D", [input]) as scope:
        return avg_pool(input, ksize, strides, padding, data_format, scope)


@export(v2="nn.dilation2d")
def dilation2d_v2(
    input: TensorLike,
    filters: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """`tf.nn.dilation2d` without `filter`, `rates`."""
    _check_channels_last(data_format)
    return dilation2d(input, filters, strides, dilations, padding, name)


@export(v2="nn.erosion2d")
def erosion2d_v2(
    value: TensorLike,
    filters: TensorLike,
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """`tf.nn.erosion2d` without `kernel`, `rates`."""
    _check_channels_last(data_format)
    return erosion2d(value, filters, strides, dilations, padding, name)


@export(v2="nn.fractional_avg_pool")
def fractional_avg_pool_v2(
    value: TensorLike,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`tf.nn.fractional_avg_pool` without `deterministic`, `seed2`."""
    how = pseudo_random, overlapping, *_seeds(seed)
    found: tuple[Tensor, Tensor, Tensor] = fractional_avg_pool(
        value, pooling_ratio, *how, name=name
    )
    return found


@export(v2="nn.fractional_max_pool")
def fractional_max_pool_v2(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`tf.nn.fractional_max_pool` without `deterministic`, `seed2`."""
    how = pseudo_random, overlapping, *_seeds(seed)
    found: tuple[Tensor, Tensor, Tensor] = fractional_max_pool(
        value, _ratios(pooling_ratio), *how, name=name
    )
    return found


@export(v2="nn.max_pool_with_argmax")
def max_pool_with_argmax_v2(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    output_dtype: DTypeLike = int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.nn.max_pool_with_argmax` without `Targmax`."""
    found: tuple[Tensor, Tensor] = max_pool_with_argmax(
        input,
        geometry.sequence(ksize, 2, data_format, "ksize"),
        geometry.sequence(strides, 2, data_format, "strides"),
        padding,
        data_format,
        output_dtype=output_dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )
    return found


def _ratios(ratio: float | Sequence[float]) -> Sequence[float]:
    """One ratio per dimension, from one for both or one per spatial dimension."""
    ratios = [ratio] if isinstance(ratio, int | float) else list(ratio)
    if len(ratios) == 4:
        return ratios
    if len(ratios) not in (1, 2):
        raise ValueError(
            f"pooling_ratio should be of length 1, 2 or 4 but was {len(ratios)}"
        )
    return [1, *(ratios * 2)[:2], 1]


def _seeds(seed: int) -> tuple[bool, int, int]:
    """Whether windows are the same in each run, and the op's two seeds."""
    if seed == 0:
        return False, 0, 0
    first, second = get_seed(seed)
    return True, first or 0, second or 0


def _check_channels_last(data_format: str) -> None:
    """Raises ValueError: the channels don't come last."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than NHWC are not yet supported")
