"""`scipy.misc`'s functions for images, which SciPy dropped, with Pillow."""

from __future__ import annotations

from typing import Any

import numpy as np

_FILTERS = {
    "nearest": 0,
    "lanczos": 1,
    "bilinear": 2,
    "bicubic": 3,
    "cubic": 3,
}


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """The array of a Pillow image: uint8, or float32 grey values if `flatten`."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif mode is None and im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """The array of an image file: (height, width) or (height, width, channels)."""
    from PIL import Image

    with Image.open(name) as im:
        return fromimage(im, flatten, mode)


def bytescale(
    data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0
) -> Any:
    """`data` scaled to uint8: `cmin` becomes `low`, `cmax` becomes `high`."""
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    least = data.min() if cmin is None else cmin
    most = data.max() if cmax is None else cmax
    scale = float(high - low) / ((most - least) or 1)
    scaled = (data - least) * scale + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    mode: str | None = None,
) -> Any:
    """The Pillow image of an array; values that are not uint8 are scaled.

    Raises:
      ValueError: it is neither (height, width) nor has 3 or 4 channels.
    """
    from PIL import Image

    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if mode == "F":
        return Image.fromarray(data.astype(np.float32))
    if data.ndim == 2:
        made = Image.fromarray(bytescale(data, cmin, cmax, high, low))
        return made if mode in (None, "L") else made.convert(mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError(
            "'arr' does not have a suitable array shape for any mode: expected "
            f"(height, width) or 3 or 4 channels, found {data.shape}"
        )
    channels = next(i for i in (2, 1, 0) if data.shape[i] in (3, 4))
    scaled = np.moveaxis(bytescale(data, cmin, cmax, high, low), channels, 2)
    made = Image.fromarray(np.ascontiguousarray(scaled))
    return made if mode in (None, made.mode) else made.convert(mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Write an array to an image file."""
    toimage(arr).save(name, format)


def imresize(
    arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None
) -> Any:
    """An array resized as an image, as uint8.

    Args:
      arr: the array.
      size: a percentage (int), a factor (float) or (height, width).
      interp: "nearest", "lanczos", "bilinear", "bicubic" or "cubic".
      mode: Pillow's mode of the image in between.
    """
    from PIL import Image

    im = toimage(arr, mode=mode)
    if isinstance(size, int | np.integer):
        shape = tuple(int(side * (size / 100.0)) for side in im.size)
    elif isinstance(size, float | np.floating):
        shape = tuple(int(side * size) for side in im.size)
    else:
        shape = (int(size[1]), int(size[0]))
    return fromimage(im.resize(shape, Image.Resampling(_FILTERS[interp])))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    """An array rotated counterclockwise as an image, in degrees."""
    from PIL import Image

    return fromimage(toimage(arr).rotate(angle, Image.Resampling(_FILTERS[interp])))


def imshow(arr: Any) -> None:
    """Show an array with the system's viewer."""
    toimage(arr).show()
