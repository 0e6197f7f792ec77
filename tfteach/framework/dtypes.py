"""Element types: `DType`, its reference variants, and the map to NumPy's types.

Source: core/framework/types.proto (numbers), python/framework/dtypes.py (API).
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from tfteach.framework.export import export_value

REF_OFFSET: Final = 100  # DT_X_REF = DT_X + 100 in types.proto


class DType:
    """The type of a tensor's elements.

    Instances are unique per type, so `is` compares them; `==` also accepts anything
    that `as_dtype` understands (`tf.float32 == np.float32`).

    Attributes:
      name: TF's name, such as "float32" or "float32_ref".
      as_datatype_enum: the number in types.proto.

    Example:
      >>> tf.float32.as_numpy_dtype
      <class 'numpy.float32'>
    """

    __slots__ = ("_ref", "as_datatype_enum", "base_dtype", "name", "numpy_dtype")

    name: str
    as_datatype_enum: int
    base_dtype: DType
    numpy_dtype: np.dtype[Any]
    _ref: DType | None

    def __init__(self, name: str, enum: int, numpy_dtype: Any) -> None:
        self.name = name
        self.as_datatype_enum = enum
        self.numpy_dtype = np.dtype(numpy_dtype)
        self.base_dtype = self
        self._ref = None

    @property
    def is_ref(self) -> bool:
        """Whether this is the type of a reference to a variable's buffer."""
        return self.base_dtype is not self

    # TF's internal name, used by code written against it.
    _is_ref_dtype = is_ref

    @property
    def _as_ref(self) -> DType:
        return self.as_ref

    @property
    def as_ref(self) -> DType:
        """The reference variant of this type."""
        return self if self._ref is None else self._ref

    @property
    def as_numpy_dtype(self) -> type[np.generic]:
        """The NumPy scalar type (`object` for strings and resources)."""
        if self.base_dtype in _HANDLES:
            return object  # type: ignore[return-value]
        return (
            self.numpy_dtype.type
            if self.numpy_dtype.names is None
            else (
                self.numpy_dtype  # type: ignore[return-value]
            )
        )

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: float32 for complex64, itself if real."""
        base = self.base_dtype
        return {complex64: float32, complex128: float64}.get(base, self)

    @property
    def is_bool(self) -> bool:
        return self.base_dtype is bool_

    @property
    def is_integer(self) -> bool:
        return self.base_dtype in _INTEGERS

    @property
    def is_floating(self) -> bool:
        return self.base_dtype in _FLOATS

    @property
    def is_complex(self) -> bool:
        return self.base_dtype in (complex64, complex128)

    @property
    def is_quantized(self) -> bool:
        return self.base_dtype in _QUANTIZED

    @property
    def is_unsigned(self) -> bool:
        return self.base_dtype in (uint8, uint16, uint32, uint64)

    @property
    def is_numpy_compatible(self) -> bool:
        return self.base_dtype not in (resource, variant)

    @property
    def size(self) -> int:
        """Bytes per element (1 for resources and variants, as in TF)."""
        opaque = self.base_dtype in (resource, variant)
        return 1 if opaque else self.numpy_dtype.itemsize

    @property
    def min(self) -> Any:
        """The least representable value.

        Raises:
          TypeError: the type has no numeric limits.
        """
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The greatest representable value; raises TypeError if there is none."""
        return self._limit("max")

    def _limit(self, which: str) -> Any:
        base = self.base_dtype
        if base in _FLOATS:
            limits: Any = ml_dtypes.finfo  # NumPy's, and bfloat16's
            return getattr(limits(self.numpy_dtype), which)
        if base in _INTEGERS:
            return getattr(np.iinfo(self.numpy_dtype), which)
        raise TypeError(f"Cannot find {which}imum value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The (least, greatest) values that image conversions map to."""
        if self.base_dtype in _INTEGERS:
            return (0, self.max) if self.is_unsigned else (self.min, self.max)
        return (0, 1)

    def is_compatible_with(self, other: Any) -> bool:
        """True if a tensor of type `other` is accepted where this type is required.

        A reference type accepts only itself; a value type also its reference.
        """
        if other is self:
            return True
        other = as_dtype(other)
        return other is self or other.base_dtype is self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


_BY_KEY: dict[Any, DType] = {}


def _make(name: str, enum: int, numpy_dtype: Any) -> DType:
    value = DType(name, enum, numpy_dtype)
    ref = DType(name + "_ref", enum + REF_OFFSET, numpy_dtype)
    ref.base_dtype, value._ref = value, ref
    for dtype in (value, ref):
        _BY_KEY[dtype.name] = _BY_KEY[dtype.as_datatype_enum] = dtype
    return value


def _quantized(name: str, storage: Any) -> np.dtype[Any]:
    # TF marks quantized arrays by a one-field record type of the field's name.
    return np.dtype([(name, storage)])


float32 = _make("float32", 1, np.float32)
float64 = _make("float64", 2, np.float64)
int32 = _make("int32", 3, np.int32)
uint8 = _make("uint8", 4, np.uint8)
int16 = _make("int16", 5, np.int16)
int8 = _make("int8", 6, np.int8)
string = _make("string", 7, np.object_)
complex64 = _make("complex64", 8, np.complex64)
int64 = _make("int64", 9, np.int64)
bool_ = _make("bool", 10, np.bool_)
qint8 = _make("qint8", 11, _quantized("qint8", np.int8))
quint8 = _make("quint8", 12, _quantized("quint8", np.uint8))
qint32 = _make("qint32", 13, _quantized("qint32", np.int32))
bfloat16 = _make("bfloat16", 14, ml_dtypes.bfloat16)
qint16 = _make("qint16", 15, _quantized("qint16", np.int16))
quint16 = _make("quint16", 16, _quantized("quint16", np.uint16))
uint16 = _make("uint16", 17, np.uint16)
complex128 = _make("complex128", 18, np.complex128)
float16 = _make("float16", 19, np.float16)
resource = _make("resource", 20, np.object_)
variant = _make("variant", 21, np.object_)
uint32 = _make("uint32", 22, np.uint32)
uint64 = _make("uint64", 23, np.uint64)
half, double = float16, float64

_FLOATS = frozenset((float16, float32, float64, bfloat16))
_INTEGERS = frozenset((int8, int16, int32, int64, uint8, uint16, uint32, uint64))
_QUANTIZED = frozenset((qint8, quint8, qint16, quint16, qint32))
_HANDLES = frozenset((string, resource, variant))

_BY_KEY.update(half=float16, double=float64, float=float32)
_BY_NUMPY: dict[np.dtype[Any], DType] = {
    dtype.numpy_dtype: dtype
    for dtype in list(_BY_KEY.values())
    if not dtype.is_ref and dtype not in (resource, variant)
}
_BY_KEY.update(
    (numpy_dtype.type, dtype)
    for numpy_dtype, dtype in _BY_NUMPY.items()
    if numpy_dtype.kind != "V" or dtype is bfloat16
)
# TF recognizes only these Python types; int, str, complex and bytes are not types.
_BY_KEY.update({float: float32, bool: bool_, object: string})
_BY_KEY.update({np.str_: string, np.bytes_: string, np.longlong: int64})


def as_dtype(type_value: Any) -> DType:
    """Convert a DType, its name or number, a NumPy type, float or bool to a `DType`.

    Raises:
      TypeError: `type_value` names no TensorFlow type.

    Example:
      >>> tf.as_dtype("float32") is tf.float32
      True
    """
    if isinstance(type_value, DType):
        return type_value
    found = None
    if isinstance(type_value, np.dtype):
        found = _BY_NUMPY.get(type_value) or _BY_KEY.get(type_value.type)
    elif isinstance(type_value, str | int | float | type | np.generic):
        found = _BY_KEY.get(type_value)
    if found is not None:
        return found
    raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")


_C_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def c_name(dtype: DType) -> str:
    """A type's name in TF's C++ messages: "float", "double_ref"."""
    base = dtype.base_dtype.name
    return _C_NAMES.get(base, base) + ("_ref" if dtype.is_ref else "")


def dtypes_of(names: str) -> tuple[DType, ...]:
    """The types named in a blank-separated list: `dtypes_of("half float int32")`."""
    return tuple(_BY_KEY[name] for name in names.split())


_PUBLIC = """float16 float32 float64 bfloat16 half double int8 int16 int32 int64 uint8
uint16 uint32 uint64 string complex64 complex128 qint8 quint8 qint16 quint16 qint32
resource variant""".split()
export_value(__name__, **{name: f"{name} dtypes.{name}" for name in _PUBLIC})
export_value(
    __name__, bool_="bool dtypes.bool", DType="DType dtypes.DType",
    as_dtype="as_dtype dtypes.as_dtype",
)  # fmt: skip
