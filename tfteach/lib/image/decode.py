"""`tf.image.decode_image`: images of any format.

Source: python/ops/image_ops_impl.py (API, nodes and errors).
"""

from __future__ import annotations

from tfteach.control.branch import cond
from tfteach.control.case import Assert
from tfteach.framework.dtypes import as_dtype, uint8, uint16
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.image.color import convert_image_dtype
from tfteach.ops.array.gather import gather
from tfteach.ops.image.decode_image_ops import (
    decode_bmp,
    decode_gif,
    decode_jpeg,
    decode_png,
)
from tfteach.ops.math.compare import equal, logical_and, not_equal
from tfteach.ops.text.string_ops import substr

_JPEG_START, _PNG_START, _GIF_START = b"\xff\xd8\xff", b"\x89PN", b"GIF"
_CHANNELS = "Channels must be in (None, 0, {}) when decoding {} images"


@export("image.is_jpeg", "io.is_jpeg")
def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether a string begins as a JPEG file, a bool scalar.

    Args:
      contents: a string scalar, the file's content.
      name: the op's name.

    Example:
      >>> tf.image.is_jpeg(b"GIF89a")  # False

    Source: python/ops/image_ops_impl.py.
    """
    with name_scope(name, "is_jpeg"):
        return equal(substr(contents, 0, 3), _JPEG_START, name=name)


def _is_png(contents: TensorLike) -> Tensor:
    with name_scope(None, "is_png"):
        return equal(substr(contents, 0, 3), _PNG_START)


@export("image.decode_image", "io.decode_image")
def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The image of a JPEG, PNG, GIF or BMP file; its shape is determined in a run.

    Args:
      contents: a string scalar, the file's content.
      channels: None or 0 for those of the file, 1 for gray, 3 for colors, 4 with alpha
        (of PNG files only).
      dtype: the type of the values, as by `tf.image.convert_image_dtype`.
      name: the op's name.
      expand_animations: whether a GIF file becomes all of its frames, [frames, height,
        width, 3]; if not, its first frame.

    Returns:
      A Tensor [height, width, channels].

    Raises:
      ValueError: `channels` is none of these.
      tf.errors.InvalidArgumentError: in a run, it is no such file, or a format without
        that many channels.

    Example:
      >>> image = tf.image.decode_image(tf.read_file("cat.png"), channels=3)

    Source: python/ops/image_ops_impl.py.
    """
    if channels not in (None, 0, 1, 3, 4):
        raise ValueError("channels must be in (None, 0, 1, 3, 4)")
    kind, count = as_dtype(dtype), channels or 0
    with name_scope(name, "decode_image"):
        start = substr(contents, 0, 3)

        def jpeg() -> Tensor:
            good = not_equal(count, 4, name="check_jpeg_channels")
            check = Assert(good, [_CHANNELS.format("1, 3", "JPEG")])
            with control_dependencies([check]):
                return convert_image_dtype(decode_jpeg(contents, count), kind)

        def png() -> Tensor:
            stored = uint16 if kind is uint16 else uint8
            return convert_image_dtype(decode_png(contents, count, stored), kind)

        def gif() -> Tensor:
            good = logical_and(
                not_equal(count, 1, name="check_gif_channels"),
                not_equal(count, 4, name="check_gif_channels"),
            )
            check = Assert(good, [_CHANNELS.format("3", "GIF")])
            with control_dependencies([check]):
                frames = convert_image_dtype(decode_gif(contents), kind)
                return frames if expand_animations else gather(frames, 0)

        def bmp() -> Tensor:
            checks: list[Operation] = [
                Assert(
                    equal(substr(contents, 0, 2), "BM", name="is_bmp"),
                    ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"],
                ),
                Assert(
                    not_equal(count, 1, name="check_channels"),
                    [_CHANNELS.format("3", "BMP")],
                ),
            ]
            with control_dependencies(checks):
                return convert_image_dtype(decode_bmp(contents), kind)

        def gif_or_bmp() -> Tensor:
            is_gif = equal(start, _GIF_START, name="is_gif")
            found: Tensor = cond(is_gif, gif, bmp, name="cond_gif")
            return found

        def png_or_other() -> Tensor:
            found: Tensor = cond(_is_png(contents), png, gif_or_bmp, name="cond_png")
            return found

        found: Tensor = cond(is_jpeg(contents), jpeg, png_or_other, name="cond_jpeg")
        return found
