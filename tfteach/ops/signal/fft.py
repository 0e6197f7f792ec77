"""Discrete Fourier transforms over the last axes.

Source: core/ops/spectral_ops.cc, python/ops/signal/fft_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_shape
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import complex64, dtypes_of, float32, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.padding import pad
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.fill import ones, zeros, zeros_like
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import cast, rank, shape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.binary import Maximum
from tfteach.ops.math.complex import conj, real
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.modulo import floormod
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_prod
from tfteach.ops.math.unary import reciprocal


class _Transform(Op, abstract=True):
    """A transform over the last `axes` axes."""

    axes: ClassVar[int]
    function: ClassVar[str]  # name in numpy.fft

    def check_rank(self, input: Any) -> None:
        if input.ndim < self.axes:
            raise invalid_argument(
                f"Input must have rank of at least {self.axes} but got: "
                f"{shapes.text(input.shape)}"
            )


class _Complex(_Transform, abstract=True):
    signature = "input: Tcomplex -> output: Tcomplex"
    Tcomplex = dtypes_of("complex64 complex128")
    Tcomplex_default = complex64
    inverse: ClassVar[type[_Complex]]
    divides: ClassVar[bool] = False

    def infer_shape(self, input: Shape) -> Shape:
        return shapes.with_rank_at_least(input, self.axes)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        self.check_rank(input)
        if not input.size:
            return xp.zeros(input.shape, input.dtype)
        axes = tuple(range(-self.axes, 0))
        return getattr(xp.fft, self.function)(input, axes=axes).astype(input.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        size = reduce_prod(shape(grad)[-self.axes :])
        back = self.inverse()
        if self.divides:
            factor = cast(1.0 / cast(size, grad.dtype.real_dtype), grad.dtype)
        else:
            factor = cast(size, grad.dtype)
        return [back(grad) * factor]


class FFT(_Complex):
    """The Fourier transform of rows.  Source: spectral_ops.cc, FFT."""

    axes, function = 1, "fftn"


class IFFT(_Complex):
    """The inverse of FFT.  Source: spectral_ops.cc, IFFT."""

    axes, function, inverse, divides = 1, "ifftn", FFT, True


FFT.inverse = IFFT


class FFT2D(_Complex):
    """The Fourier transform of matrices.  Source: spectral_ops.cc, FFT2D."""

    axes, function = 2, "fftn"


class IFFT2D(_Complex):
    """The inverse of FFT2D.  Source: spectral_ops.cc, IFFT2D."""

    axes, function, inverse, divides = 2, "ifftn", FFT2D, True


FFT2D.inverse = IFFT2D


class FFT3D(_Complex):
    """The Fourier transform over three axes.  Source: spectral_ops.cc, FFT3D."""

    axes, function = 3, "fftn"


class IFFT3D(_Complex):
    """The inverse of FFT3D.  Source: spectral_ops.cc, IFFT3D."""

    axes, function, inverse, divides = 3, "ifftn", FFT3D, True


FFT3D.inverse = IFFT3D


# ---- real signals: half of the transform determines the rest


class _Real(_Transform, abstract=True):
    by_value: ClassVar[tuple[str, ...]] = ("fft_length",)
    host_inputs: ClassVar[tuple[str, ...]] = ("fft_length",)
    is_forward: ClassVar[bool]

    def infer_shape(self, input: Shape, fft_length: Any) -> Shape:
        shapes.with_rank_at_least(input, self.axes)
        if input is None:
            return None
        if fft_length is None:
            return (*input[: -self.axes], *[None] * self.axes)
        if fft_length.shape != (self.axes,):
            raise ValueError(f"Dimension must be {self.axes} but is {fft_length.size}")
        sizes = [int(n) for n in fft_length]
        if self.is_forward:
            sizes[-1] = sizes[-1] // 2 + 1 if sizes[-1] else 0
        return (*input[: -self.axes], *sizes)

    def compute(self, xp: ArrayModule, input: Any, fft_length: Array) -> Any:
        self.check_rank(input)
        if fft_length.shape != (self.axes,):
            raise invalid_argument(f"fft_length must have shape [{self.axes}]")
        sizes = tuple(int(n) for n in fft_length)
        needed = list(sizes)
        if not self.is_forward:
            needed[-1] = sizes[-1] // 2 + 1
        dtype = np.complex64 if self.is_forward else np.float32
        for axis, size in enumerate(needed):
            own = input.shape[axis - self.axes]
            if size < 0 or own < size or sizes[axis] < 0:
                raise invalid_argument(
                    f"Input dimension {axis} must have length of at least {size} but "
                    f"got: {own}"
                )
        if not input.size or 0 in sizes:
            whole = self.infer_shape(input.shape, fft_length)
            return xp.zeros(whole, dtype)
        kept = input[(..., *(slice(0, n) for n in needed))]
        axes = tuple(range(-self.axes, 0))
        found = getattr(xp.fft, self.function)(kept, s=sizes, axes=axes)
        return found.astype(dtype)


class _Forward(_Real, abstract=True):
    signature = "input: float32, fft_length: int32 -> output: complex64"
    function: ClassVar[str] = "rfftn"
    is_forward: ClassVar[bool] = True


class _Backward(_Real, abstract=True):
    signature = "input: complex64, fft_length: int32 -> output: float32"
    function: ClassVar[str] = "irfftn"
    is_forward: ClassVar[bool] = False


class RFFT(_Forward):
    """Half of the Fourier transform of real rows.  Source: spectral_ops.cc, RFFT."""

    axes: ClassVar[int] = 1

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _forward_gradient(op, grad, 1, irfft)


class RFFT2D(_Forward):
    """Half of the transform of real matrices.  Source: spectral_ops.cc, RFFT2D."""

    axes: ClassVar[int] = 2

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _forward_gradient(op, grad, 2, irfft2d)


class RFFT3D(_Forward):
    """Half of the transform over three real axes.  Source: spectral_ops.cc, RFFT3D."""

    axes: ClassVar[int] = 3


class IRFFT(_Backward):
    """The inverse of RFFT.  Source: spectral_ops.cc, IRFFT."""

    axes: ClassVar[int] = 1

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _backward_gradient(op, grad, 1, rfft)


class IRFFT2D(_Backward):
    """The inverse of RFFT2D.  Source: spectral_ops.cc, IRFFT2D."""

    axes: ClassVar[int] = 2

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _backward_gradient(op, grad, 2, rfft2d)


class IRFFT3D(_Backward):
    """The inverse of RFFT3D.  Source: spectral_ops.cc, IRFFT3D."""

    axes: ClassVar[int] = 3


def _forward_gradient(
    op: Operation, grad: Tensor, axes: int, back: Any
) -> list[Gradient]:
    """The inverse transform, plus the contribution of the omitted half."""
    length = op.inputs[1]
    sizes = shape(op.inputs[0])
    is_even = cast(1 - (length[-1] % 2), complex64)
    first = grad[..., 0:1]
    if axes == 1:
        last = grad[..., -1:]
        extra = first + is_even * last * _alternating(sizes[-1])
    else:
        matrix = _dft_matrix(sizes[-2])
        ones_before = ones([rank(first) - 2], int32)
        wide = reshape(matrix, concat([ones_before, shape(matrix)], 0))
        matrix = tile(wide, concat([shape(first)[:-2], [1, 1]], 0))
        extra = matmul(matrix, conj(first))
        last = grad[..., -1:]
        last_term = matmul(matrix, conj(last))
        columns = sizes[-1]
        repeats = concat([ones([rank(grad) - 1], int32), [columns]], 0)
        last_term = tile(last_term, repeats) * _alternating(columns)
        extra += is_even * last_term
    size = cast(reduce_prod(shape(op.inputs[0])[-axes:]), float32)
    whole = back(grad, length)
    return [0.5 * (whole * size + real(extra)), None]


def _alternating(length: Any) -> Tensor:
    """1, -1, 1, -1, ..."""
    return cast(1 - 2 * (range_of(0, length) % 2), complex64)


def _dft_matrix(length: Any) -> Tensor:
    """exp(-2πi j k / length), the transform's matrix."""
    columns = tile(expand_dims(range_of(0, length), 0), (length, 1))
    rows = transpose(columns, [1, 0])
    steps = -2j * np.pi * cast(columns * rows, complex64)
    return exp(steps / cast(length, complex64))


def _backward_gradient(
    op: Operation, grad: Tensor, axes: int, onward: Any
) -> list[Gradient]:
    """The forward transform, doubled where one value represents two conjugates."""
    length = op.inputs[1]
    is_odd = floormod(length[-1], 2)
    columns = shape(op.inputs[0])[-1]
    mask = concat([[1.0], 2.0 * ones([columns - 2 + is_odd]), ones([1 - is_odd])], 0)
    size = cast(reduce_prod(shape(grad)[-axes:]), float32)
    share = reciprocal(size)
    return [onward(grad, length) * cast(share * mask, complex64), None]


# ---- public functions

_COMPLEX = """{what} over the last {axes}.

    {formula}

    Args:
      input: complex Tensor of at least {rank}.
      name: the op's name.

    Returns:
      A Tensor of that shape and type.

    Source: {op} in core/ops/spectral_ops.cc.
    """


def _exported(cls: type[_Complex]) -> Any:
    """The public function of a complex transform."""

    def transform(input: Any, name: str | None = None) -> Tensor:
        return cls()(input, name=name)

    plain = cls.op_type.lower()
    transform.__name__ = transform.__qualname__ = plain
    is_back = cls.divides
    formula = f"output[k] = Σₙ input[n] exp({'+' if is_back else '-'}2πi k n / N)"
    transform.__doc__ = _COMPLEX.format(
        what="Inverse Fourier transforms" if is_back else "Fourier transforms",
        axes="axis" if cls.axes == 1 else f"{cls.axes} axes",
        rank=f"rank {cls.axes}",
        formula=formula + (" / N" if is_back else "") + ", along each axis",
        op=cls.op_type,
    )
    return export(f"signal.{plain}", plain, f"spectral.{plain}")(transform)


fft, ifft = _exported(FFT), _exported(IFFT)
fft2d, ifft2d = _exported(FFT2D), _exported(IFFT2D)
fft3d, ifft3d = _exported(FFT3D), _exported(IFFT3D)


def _real_transform(
    cls: type[_Real], default: str, input: Any, length: Any, name: str | None
) -> Tensor:
    axes = cls.axes
    with name_scope(name, default, [input, length]) as scope:
        input = convert(input, float32 if cls.is_forward else complex64)
        shapes.with_rank_at_least(input._shape, axes)
        if length is None:
            length = _own_length(input, axes, cls.is_forward)
        else:
            length = convert(length, int32)
        input = _padded(input, axes, length, cls.is_forward)
        return cls()(input, length, name=scope)


def _own_length(input: Tensor, axes: int, is_forward: bool) -> Tensor:
    """The signal's length according to the input's static shape."""
    known = None if input._shape is None else input._shape[-axes:]
    if not shapes.is_full(known):
        sizes = shape(input)[-axes:]
        if is_forward:
            return sizes
        parts = unstack(sizes)
        parts[-1] = Maximum()(0, 2 * (parts[-1] - 1))
        return stack(parts)
    lengths = list(known or ())
    if not is_forward and lengths:
        lengths[-1] = max(0, 2 * (lengths[-1] - 1))
    return convert(lengths, int32)


def _padded(input: Tensor, axes: int, length: Tensor, is_forward: bool) -> Tensor:
    """The input padded with zeros at the end, to the length the transform needs."""
    own = input._shape
    if own is not None and 0 in own:
        return input
    wanted = constant_shape(length)
    if own is not None and shapes.is_full(wanted):
        sizes = list(wanted or ())
        last = own[-len(sizes) :]
        if shapes.is_full(last):
            if not is_forward:
                sizes[-1] = sizes[-1] // 2 + 1
            missing = [[0, max(n - m, 0)] for n, m in zip(sizes, last, strict=False)]
            if not any(behind for _, behind in missing):
                return input
            return pad(input, [[0, 0]] * max(len(own) - len(sizes), 0) + missing)
    return _padded_in_a_run(input, axes, length, is_forward)


def _padded_in_a_run(
    input: Tensor, axes: int, length: Tensor, is_forward: bool
) -> Tensor:
    maximum = Maximum()
    input_rank = rank(input)
    own = shape(input)[-axes:]
    outer = zeros([maximum(0, input_rank - axes)], length.dtype)
    if not is_forward:
        length = concat([length[:-1], length[-1:] // 2 + 1], 0)
    missing = concat([outer, maximum(0, length - own)], 0)
    return pad(input, stack([zeros_like(missing), missing], axis=1))


@export("signal.rfft", "spectral.rfft")
def rfft(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The first half of the Fourier transforms of real rows; the rest mirrors it.

    output[k] = Σₙ input[n] exp(-2πi k n / N), k = 0 ... N // 2

    Args:
      input_tensor: float32 Tensor [..., n].
      fft_length: int32 Tensor [1], the length N: rows are truncated or zero-padded; n
        if None.
      name: the name of the scope and the op.

    Returns:
      A complex64 Tensor [..., N // 2 + 1].

    Example:
      >>> tf.Session().run(tf.signal.rfft([1.0, 2.0, 3.0, 4.0]))
      array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)

    Source: RFFT in core/ops/spectral_ops.cc; python/ops/signal/fft_ops.py.
    """
    return _real_transform(RFFT, "rfft", input_tensor, fft_length, name)


@export("signal.irfft", "spectral.irfft")
def irfft(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The real rows with the given half transform, the inverse of `tf.signal.rfft`.

    Args:
      input_tensor: complex64 Tensor [..., m].
      fft_length: int32 Tensor [1], the rows' length N; 2 (m - 1) if None.
      name: the name of the scope and the op.

    Returns:
      A float32 Tensor [..., N].

    Source: IRFFT in core/ops/spectral_ops.cc; python/ops/signal/fft_ops.py.
    """
    return _real_transform(IRFFT, "irfft", input_tensor, fft_length, name)


@export("signal.rfft2d", "spectral.rfft2d")
def rfft2d(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Half of the transforms of real matrices; see `tf.signal.rfft`."""
    return _real_transform(RFFT2D, "rfft2d", input_tensor, fft_length, name)


@export("signal.irfft2d", "spectral.irfft2d")
def irfft2d(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The real matrices with the given half transform; see `tf.signal.irfft`."""
    return _real_transform(IRFFT2D, "irfft2d", input_tensor, fft_length, name)


@export("signal.rfft3d", "spectral.rfft3d")
def rfft3d(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Half of the transforms of real tensors over three axes; without gradient."""
    return _real_transform(RFFT3D, "rfft3d", input_tensor, fft_length, name)


@export("signal.irfft3d", "spectral.irfft3d")
def irfft3d(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Real tensors from half transforms over three axes; see `tf.signal.irfft`."""
    return _real_transform(IRFFT3D, "irfft3d", input_tensor, fft_length, name)
