# ruff: noqa: E501 -- each call is one line
"""`tf.image`'s geometry with mistakes: TensorFlow 1.15's answers; see bad_calls.py."""

import sys

from tests.golden.bad_calls import LATE

CALLS = """
tf.image.resize_bilinear(tf.ones([1, 2, 2, 3]), [2, 2], True, half_pixel_centers=True)
tf.image.resize_nearest_neighbor(tf.ones([1, 2, 2, 3]), [2, 2], True, half_pixel_centers=True)
tf.image.resize_bilinear(tf.ones([2, 2, 3]), [2, 2])
tf.image.resize_bilinear(tf.ones([1, 2, 2, 3]), [2, 2, 2])
tf.image.resize_bilinear(tf.ones([1, 2, 2, 3]), [[2, 2]])
tf.image.resize_bilinear(tf.ones([1, 2, 2, 3]), [2, 0])
tf.image.resize_bilinear(tf.ones([1, 2, 2, 3]), [2.0, 3.0])
tf.image.resize_bilinear(tf.ones([1, 2, 2, 0]), [2, 2])
tf.image.resize_bicubic(tf.ones([1, 0, 2, 3]), [2, 2])
tf.image.resize_area(tf.ones([0, 2, 2, 3]), [2, 4])
tf.image.resize_area(tf.ones([1, 3, 1, 1]), [2, 3], align_corners=True)
tf.image.resize_bilinear(late(tf.ones([2, 2, 3])), [2, 2])
tf.image.resize_bicubic(tf.ones([1, 2, 2, 3]), late([2, 2, 2]))
tf.image.resize_area(tf.ones([1, 2, 2, 3]), late([[2, 2]]))
tf.image.resize_nearest_neighbor(tf.ones([1, 2, 2, 3]), late([2, -1]))
tf.image.resize_bilinear(tf.ones([1, 2, 2, 3], tf.bool), [2, 2])
tf.image.resize_images(late(tf.ones([2, 2, 3])), [2, 2])
tf.image.resize_images(tf.ones([2, 2]), [2, 2])
tf.image.resize_images(tf.ones([2, 2, 3]), [2, 2, 2])
tf.image.resize_images(tf.ones([2, 2, 3]), 2)
tf.image.resize_images(tf.ones([2, 2, 3]), [2.0, 3.5])
tf.image.resize_images(tf.ones([2, 2, 3]), 'size')
tf.image.resize_images(tf.ones([2, 2, 3]), [4, 4], 4)
tf.image.resize_images(tf.ones([2, 2, 3]), [4, 4], 'lanczos3')
tf.image.resize_images(tf.ones([2, 2, 3]), [2, 2], 'lanczos3')
tf.image.resize_images(tf.ones([2, 2, 3]), [0, 4])
tf.image.resize_images(tf.ones([2, 2, 3]), tf.placeholder_with_default([2, 3], [2]), preserve_aspect_ratio=True)
tf.image.resize_image_with_crop_or_pad(tf.ones([2, 2]), 2, 2)
tf.image.resize_image_with_crop_or_pad(tf.ones([2, 0, 3]), 2, 2)
tf.image.resize_image_with_crop_or_pad(tf.ones([2, 2, 3]), 0, 2)
tf.image.resize_image_with_crop_or_pad(tf.ones([2, 2, 3]), 2, -1)
tf.image.resize_image_with_crop_or_pad(tf.ones([2, 2, 3]), late(0), 2)
tf.image.resize_image_with_pad(tf.ones([1, 1, 2, 2, 3]), 2, 2)
tf.image.resize_image_with_pad(tf.ones([2, 2, 3]), 2, 0)
tf.image.resize_image_with_pad(tf.ones([2, 2, 3]), 4, 4, 'no')
tf.image.crop_to_bounding_box(tf.ones([4, 4]), 0, 0, 2, 2)
tf.image.crop_to_bounding_box(tf.ones([4, 4, 1]), -1, 0, 2, 2)
tf.image.crop_to_bounding_box(tf.ones([4, 4, 1]), 0, -1, 2, 2)
tf.image.crop_to_bounding_box(tf.ones([4, 4, 1]), 0, 0, 0, 2)
tf.image.crop_to_bounding_box(tf.ones([4, 4, 1]), 0, 0, 2, 0)
tf.image.crop_to_bounding_box(tf.ones([4, 4, 1]), 3, 0, 2, 2)
tf.image.crop_to_bounding_box(tf.ones([4, 4, 1]), 0, 3, 2, 2)
tf.image.crop_to_bounding_box(late(tf.ones([4, 4, 1])), 0, 3, 2, 2)
tf.image.pad_to_bounding_box(tf.ones([4, 4]), 0, 0, 6, 6)
tf.image.pad_to_bounding_box(tf.ones([4, 4, 1]), -1, 0, 6, 6)
tf.image.pad_to_bounding_box(tf.ones([4, 4, 1]), 0, -1, 6, 6)
tf.image.pad_to_bounding_box(tf.ones([4, 4, 1]), 0, 3, 6, 6)
tf.image.pad_to_bounding_box(tf.ones([4, 4, 1]), 3, 0, 6, 6)
tf.image.pad_to_bounding_box(late(tf.ones([4, 4, 1])), 3, 0, 6, 6)
tf.image.central_crop(tf.ones([4, 4, 1]), 0.0)
tf.image.central_crop(tf.ones([4, 4, 1]), 1.5)
tf.image.central_crop(tf.ones([4, 4]), 0.5)
tf.image.central_crop(tf.ones([1, 1, 4, 4, 1]), 0.5)
tf.image.central_crop(late(tf.ones([4, 4, 1])), 0.5)
tf.image.flip_left_right(tf.ones([4, 4]))
tf.image.flip_left_right(tf.ones([4, 0, 1]))
tf.image.flip_up_down(tf.ones([1, 1, 4, 4, 1]))
tf.image.flip_up_down(late(tf.ones([4, 4])))
tf.image.flip_up_down(late(tf.ones([0, 4, 1])))
tf.image.random_flip_left_right(tf.ones([4, 4]))
tf.image.random_flip_up_down(tf.ones([1, 1, 4, 4, 1]))
tf.image.rot90(tf.ones([4, 4]))
tf.image.rot90(tf.ones([4, 4, 1]), [1])
tf.image.rot90(tf.ones([4, 4, 1]), 1.5)
tf.image.rot90(tf.ones([1, 1, 4, 4, 1]))
tf.image.transpose_image(tf.ones([4, 4]))
tf.image.transpose_image(tf.ones([1, 1, 4, 4, 1]))
tf.image.total_variation(tf.ones([4, 4]))
tf.image.sobel_edges(tf.ones([1, 1, 4, 1]))
tf.image.sobel_edges(tf.ones([4, 4, 1]))
tf.image.crop_and_resize(tf.ones([2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [0.0, 0.0, 1.0, 1.0], [0], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0]], [0], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0, 1], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 0])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [1], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2], 'cubic')
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2], box_indices=[0])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), late([[0.0, 0.0, 1.0]]), [0], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), late([0.0, 0.0, 1.0]), [0], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], late([0, 0]), [2, 2])
tf.image.crop_and_resize(tf.ones([1, 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], late([2]))
tf.image.crop_and_resize(late(tf.ones([2, 2, 3])), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])
tf.image.crop_and_resize(tf.ones([1, 0, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])
tf.image.extract_glimpse(tf.ones([2, 2, 3]), [2, 2], [[0.0, 0.0]])
tf.image.extract_glimpse(tf.ones([1, 2, 2, 3]), [2, 2], [[0.0, 0.0], [0.0, 0.0]])
tf.image.extract_glimpse(tf.ones([1, 2, 2, 3]), [2, 2], [0.0, 0.0])
tf.image.extract_glimpse(tf.ones([1, 2, 2, 3]), [2, 2], [[0.0, 0.0, 0.0]])
tf.image.extract_glimpse(tf.ones([1, 2, 2, 3]), [2], [[0.0, 0.0]])
tf.image.extract_glimpse(late(tf.ones([2, 2, 3])), [2, 2], [[0.0, 0.0]])
tf.image.extract_glimpse(tf.ones([1, 2, 2, 3]), late([2]), [[0.0, 0.0]])
tf.image.extract_glimpse(tf.ones([1, 2, 2, 3]), [2, 2], late([0.0, 0.0]))
"""


def calls():
    """The expressions, in order."""
    lines = [line for line in CALLS.splitlines() if line]
    return [line.replace("late(", LATE) for line in lines]


if __name__ == "__main__":
    import tensorflow

    from tests.golden.calls import record, write

    results = {call: record(tensorflow, call) for call in calls()}
    for result in results.values():
        del result["nodes"]
    write(sys.argv[1], results)
