"""`tf.contrib.slim.tfexample_decoder`: items of a tf.Example, each by a handler.

Source: contrib/slim/python/slim/data/tfexample_decoder.py.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfteach.control.branch import cond
from tfteach.control.case import case
from tfteach.control.functional import map_fn
from tfteach.framework import dtypes
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor as FrameworkTensor
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.lib.contrib.slim.dataset import DataDecoder
from tfteach.lib.image.decode import decode_image, is_jpeg
from tfteach.lib.lookup.tables import LookupInterface
from tfteach.lib.parsing.examples import parse_single_example
from tfteach.lib.parsing.features import FixedLenFeature
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice as slice_of
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.core.sparse_tensor import SparseTensor as SparseValue
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.image.decode_image_ops import decode_jpeg
from tfteach.ops.io.decode_raw import decode_raw
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, logical_or
from tfteach.ops.math.reduce_functions import reduce_prod
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense
from tfteach.ops.sparse.sparse_shape import sparse_reshape

_Parsed = Mapping[str, Any]
_Item = FrameworkTensor | SparseValue


@export("contrib.slim.tfexample_decoder.ItemHandler")
class ItemHandler(abc.ABC):
    """Computes an item from parsed features; a base class.

    Args:
      keys: the features' keys, a list or one string.
    """

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys = list(keys) if isinstance(keys, list | tuple) else [str(keys)]

    @property
    def keys(self) -> list[str]:
        """The keys of the features that the item is computed from."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: _Parsed) -> _Item:
        """The item, from the parsed features by key."""


@export("contrib.slim.tfexample_decoder.ItemHandlerCallback")
class ItemHandlerCallback(ItemHandler):
    """An item that a function computes.

    Args:
      keys: the features' keys.
      func: a function from a dict of the parsed features to the item.
    """

    def __init__(self, keys: Sequence[str], func: Callable[[_Parsed], _Item]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> _Item:
        """The function's result."""
        return self._func(keys_to_tensors)


@export("contrib.slim.tfexample_decoder.BoundingBox")
class BoundingBox(ItemHandler):
    """Boxes [count, 4] of four features, one for each side.

    Args:
      keys: those of ymin, xmin, ymax and xmax; these words if None.
      prefix: what comes before each key, such as "image/object/bbox/".

    Raises:
      ValueError: there are not four keys.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> FrameworkTensor:
        """A float Tensor [count, 4]."""
        sides = []
        for key in self._keys:
            side = keys_to_tensors[key]
            values = side.values if isinstance(side, SparseValue) else side
            sides.append(expand_dims(values, 0))
        return transpose(concat(sides, 0))


@export("contrib.slim.tfexample_decoder.Tensor")
class Tensor(ItemHandler):
    """A feature as a dense tensor.

    Args:
      tensor_key: its key.
      shape_keys: the keys of features with its sizes, one for each or one for all.
      shape: its shape, instead.
      default_value: what an absent element of a VarLenFeature is.

    Raises:
      ValueError: both kinds of shapes are given.
    """

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | Sequence[str] | None = None,
        shape: ShapeLike | None = None,
        default_value: str | float = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [str(shape_keys)]
        self._tensor_key = tensor_key
        self._shape_keys = list(shape_keys or ())
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *self._shape_keys])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> FrameworkTensor:
        """The feature, with its shape."""
        tensor = keys_to_tensors[self._tensor_key]
        shape: Any = self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = reshape(stack(sizes), [-1])
        if isinstance(tensor, SparseValue):
            if shape is not None:
                tensor = sparse_reshape(tensor, shape)
            return sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else reshape(tensor, shape)


def _dense(value: Any) -> Any:
    return sparse_tensor_to_dense(value) if isinstance(value, SparseValue) else value


@export("contrib.slim.tfexample_decoder.LookupTensor")
class LookupTensor(Tensor):
    """A feature looked up in a table, such as words as numbers.

    Args:
      tensor_key: its key.
      table: the lookup table.
      shape_keys, shape, default_value: as in `Tensor`.
    """

    def __init__(
        self,
        tensor_key: str,
        table: LookupInterface,
        shape_keys: str | Sequence[str] | None = None,
        shape: ShapeLike | None = None,
        default_value: str | float = "",
    ) -> None:
        self._table: Any = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> FrameworkTensor:
        """The table's values."""
        keys = super().tensors_to_item(keys_to_tensors)
        found = self._table.lookup(keys)
        assert isinstance(found, FrameworkTensor)  # as the keys, not sparse
        return found


@export("contrib.slim.tfexample_decoder.BackupHandler")
class BackupHandler(ItemHandler):
    """An item of one handler, or of another if that is empty.

    Args:
      handler: the first ItemHandler.
      backup: the other.

    Raises:
      ValueError: one is no ItemHandler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for name, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(
                    f"{name} handler is of type {type(given)} instead of ItemHandler"
                )
        self._handler, self._backup = handler, backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> _Item:
        """The item of the first handler, if it has elements."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        found: _Item = cond(
            equal(reduce_prod(shape_of(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )
        return found


@export("contrib.slim.tfexample_decoder.SparseTensor")
class SparseTensor(ItemHandler):
    """A sparse tensor of two features: places along its last axis, and values.

    Args:
      indices_key: the key of the places, int64; "indices" if None.
      values_key: that of the values; "values" if None.
      shape_key: that of the shape.
      shape: the shape, instead; without either that of the feature of places.
      densify: whether the item is dense.
      default_value: what its other elements are, then.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: ShapeLike | None = None,
        densify: bool = False,
        default_value: str | float = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        more = [shape_key] if shape_key else []
        super().__init__([self._indices_key, self._values_key, *more])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> _Item:
        """The SparseTensor, or a dense Tensor."""
        places = keys_to_tensors[self._indices_key]
        values = keys_to_tensors[self._values_key]
        shape: Any = self._shape
        if self._shape_key:
            shape = keys_to_tensors[self._shape_key]
            if isinstance(shape, SparseValue):
                shape = shape.values
        elif shape is None:
            shape = places.dense_shape
        rank = shape_of(places.indices)[1]
        others = slice_of(places.indices, [0, 0], stack([-1, rank - 1]))
        last = reshape(cast(places.values, dtypes.int64), [-1, 1])
        indices = concat([others, last], 1)
        found = SparseValue(indices, values.values, shape)
        if self._densify:
            return sparse_tensor_to_dense(found, self._default_value)
        return found


@export("contrib.slim.tfexample_decoder.Image")
class Image(ItemHandler):
    """An image: JPEG, PNG, GIF, BMP, or raw numbers.

    Args:
      image_key: the key of the bytes; "image/encoded" if None.
      format_key: that of the format's name; "image/format" if None.  "raw" and "RAW"
        are numbers; all other formats are recognized from the bytes.
      shape: [height, width, channels]; raw numbers need it.
      channels: the number of channels.
      dtype: the item's type.
      repeated: whether the feature has several images, decoded one by one.
      dct_method: of a JPEG: "INTEGER_FAST" or "INTEGER_ACCURATE".
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: ShapeLike | None = None,
        channels: int = 3,
        dtype: DTypeLike = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> FrameworkTensor:
        """A Tensor [height, width, channels]; of several images [count, ...]."""
        data = keys_to_tensors[self._image_key]
        image_format = keys_to_tensors[self._format_key]
        if self._repeated:
            every: FrameworkTensor = map_fn(
                lambda one: self._decode(one, image_format), data, dtype=self._dtype
            )
            return every
        return self._decode(data, image_format)

    def _decode(self, data: Any, image_format: Any) -> FrameworkTensor:
        def encoded() -> Any:
            return cond(is_jpeg(data), jpeg, other, name="cond_jpeg")

        def jpeg() -> Any:
            image = decode_jpeg(
                data, channels=self._channels, dct_method=self._dct_method
            )
            return cast(image, self._dtype)

        def other() -> Any:
            return cast(decode_image(data, channels=self._channels), self._dtype)

        def raw() -> Any:
            return decode_raw(data, out_type=self._dtype)

        is_raw = logical_or(equal(image_format, "raw"), equal(image_format, "RAW"))
        image: FrameworkTensor = case([(is_raw, raw)], default=encoded, exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else reshape(image, self._shape)


@export("contrib.slim.tfexample_decoder.TFExampleDecoder")
class TFExampleDecoder(DataDecoder):
    """Parses a tf.Example, and computes items from its features.

    Args:
      keys_to_features: the features by key, as in `tf.parse_single_example`.
      items_to_handlers: the items' ItemHandlers by name.

    Example:
      >>> slim = tf.contrib.slim.tfexample_decoder
      >>> decoder = slim.TFExampleDecoder(
      ...     {"label": tf.FixedLenFeature([], tf.int64)}, {"y": slim.Tensor("label")}
      ... )
      >>> (y,) = decoder.decode(serialized, ["y"])

    Source: contrib/slim/python/slim/data/tfexample_decoder.py.
    """

    def __init__(
        self,
        keys_to_features: Mapping[str, Any],
        items_to_handlers: Mapping[str, ItemHandler],
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(
        self, serialized_example: TensorLike, items: Iterable[str] | None = None
    ) -> list[Any]:
        """The tensors of these items.

        Args:
          serialized_example: a string scalar.
          items: their names; all if None.
        """
        parsed: Any = parse_single_example(serialized_example, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, FixedLenFeature):
                parsed[key] = reshape(parsed[key], feature.shape)
        found = []
        for item in items or self._items_to_handlers:
            handler = self._items_to_handlers[item]
            found.append(
                handler.tensors_to_item({key: parsed[key] for key in handler.keys})
            )
        return found
