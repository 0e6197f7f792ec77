"""`tf.compat.v2.debugging`: assertions without `data`, in TensorFlow 2's order.

Source: python/ops/check_ops.py.
"""

from __future__ import annotations

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.control.checks.ranks import (
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_scalar,
)
from tfteach.control.checks.shapes import assert_shapes
from tfteach.control.checks.types import assert_integer, assert_type
from tfteach.control.checks.values import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
)
from tfteach.framework.export import export
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.debug.check_numerics import verify_tensor_all_finite

ONE = "x | message summarize name"
TWO = "x y | message summarize name"

assert_negative_v2 = with_parameters(
    assert_negative, ONE, v2="debugging.assert_negative"
)
assert_non_negative_v2 = with_parameters(
    assert_non_negative, ONE, v2="debugging.assert_non_negative"
)
assert_non_positive_v2 = with_parameters(
    assert_non_positive, ONE, v2="debugging.assert_non_positive"
)
assert_positive_v2 = with_parameters(
    assert_positive, ONE, v2="debugging.assert_positive"
)

assert_equal_v2 = with_parameters(
    assert_equal, TWO, v2="assert_equal debugging.assert_equal"
)
assert_greater_v2 = with_parameters(
    assert_greater, TWO, v2="assert_greater debugging.assert_greater"
)
assert_greater_equal_v2 = with_parameters(
    assert_greater_equal, TWO, v2="debugging.assert_greater_equal"
)
assert_less_v2 = with_parameters(
    assert_less, TWO, v2="assert_less debugging.assert_less"
)
assert_less_equal_v2 = with_parameters(
    assert_less_equal, TWO, v2="debugging.assert_less_equal"
)
assert_none_equal_v2 = with_parameters(
    assert_none_equal,
    "x y | summarize message name",
    v2="debugging.assert_none_equal",
)
assert_near_v2 = with_parameters(
    assert_near,
    "x y | rtol atol message summarize name",
    v2="debugging.assert_near",
)

assert_rank_v2 = with_parameters(
    assert_rank, "x rank | message name", v2="assert_rank debugging.assert_rank"
)
assert_rank_at_least_v2 = with_parameters(
    assert_rank_at_least, "x rank | message name", v2="debugging.assert_rank_at_least"
)
assert_rank_in_v2 = with_parameters(
    assert_rank_in, "x ranks | message name", v2="debugging.assert_rank_in"
)
assert_shapes_v2 = with_parameters(
    assert_shapes, "shapes | data summarize message name", v2="debugging.assert_shapes"
)

assert_integer_v2 = with_parameters(
    assert_integer, "x | message name", v2="debugging.assert_integer"
)
assert_type_v2 = with_parameters(
    assert_type, "tensor tf_type | message name", v2="debugging.assert_type"
)
verify_tensor_all_finite_v2 = with_parameters(
    verify_tensor_all_finite, "x message | name", v2="debugging.assert_all_finite"
)


@export(v2="debugging.assert_scalar")
def assert_scalar_v2(
    tensor: TensorLike,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """`tf.debugging.assert_scalar`, which here does not return the tensor."""
    assert_scalar(tensor, message=message, name=name)
