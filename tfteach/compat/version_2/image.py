"""`tf.compat.v2.image`: crops, glimpses and boxes.

Source: python/ops/image_ops_impl.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.image.bounding_boxes import (
    draw_bounding_boxes,
    sample_distorted_bounding_box,
)
from tfteach.ops.image.crop_and_resize import crop_and_resize
from tfteach.ops.image.extract_glimpse import ExtractGlimpse
from tfteach.ops.random.random_ops import get_seed

crop_and_resize_v2 = with_parameters(
    crop_and_resize,
    "image boxes box_indices crop_size | method extrapolation_value name",
    v2="image.crop_and_resize",
)
draw_bounding_boxes_v2 = with_parameters(
    draw_bounding_boxes, "images boxes colors | name", v2="image.draw_bounding_boxes"
)


@export(v2="image.extract_glimpse")
def extract_glimpse_v2(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """`tf.image.extract_glimpse` without `uniform_noise`."""
    return ExtractGlimpse(centered, normalized, False, noise)(
        input, size, offsets, name=name
    )


@export(v2="image.sample_distorted_bounding_box")
def sample_distorted_bounding_box_v2(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """`tf.image.sample_distorted_bounding_box` without `seed2`."""
    seeds = get_seed(seed) if seed else (0, 0)
    found: Sequence[Tensor] = sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        *seeds,
        min_object_covered=min_object_covered,
        aspect_ratio_range=aspect_ratio_range,
        area_range=area_range,
        max_attempts=max_attempts,
        use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
        name=name,
    )
    return found
