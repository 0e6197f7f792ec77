"""Parameters of distributions over classes and counts, and their checks.

Source: python/ops/distributions/util.py.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tfteach.control.checks.ranks import assert_rank_at_least
from tfteach.control.checks.values import (
    assert_equal,
    assert_greater_equal,
    assert_less_equal,
    assert_near,
    assert_non_negative,
)
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op, with_dependencies
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import log, log1p, sigmoid
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.softmax import softmax
from tfteach.ops.special.erf_lgamma import lgamma

_WHOLE_TYPES = {
    dtypes.float16: dtypes.int16,
    dtypes.float32: dtypes.int32,
    dtypes.float64: dtypes.int64,
}


def another_seed(seed: int | None, salt: str) -> int | None:
    """A second seed derived from the first; None for None."""
    if seed is None:
        return None
    digest = hashlib.md5((str(seed) + salt).encode()).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def logits_and_probs(
    logits: Any, probs: Any, is_vector: bool, validate_args: bool, name: str
) -> tuple[Tensor, Tensor]:
    """Logits and probabilities, given one of them.

    Args:
      logits: log-odds, or log-probabilities of classes along the last axis.
      probs: probabilities.
      is_vector: whether the last axis is over classes.
      validate_args: check them in every run.
      name: the name scope.

    Raises:
      ValueError: both are given, or neither.
      TypeError: they are not floats.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert(logits, name="logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if not is_vector:
                return logits, sigmoid(logits, name="probs")
            if validate_args:
                logits = check_classes(logits)
            return logits, softmax(logits, name="probs")
        probs = convert(probs, name="probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            probs = _checked(probs, is_vector)
        with name_scope("logits"):
            if is_vector:
                return log(probs), probs
            return log(probs) - log1p(-1.0 * probs), probs


def _checked(probs: Tensor, is_vector: bool) -> Tensor:
    with name_scope("validate_probs"):
        one = constant(1.0, probs.dtype)
        checks = [assert_non_negative(probs)]
        if is_vector:
            probs = check_classes(probs)
            total = reduce_sum(probs, -1)
            message = "probs does not sum to 1."
            checks.append(assert_near(total, one, message=message))
        else:
            message = "probs has components greater than 1."
            checks.append(assert_less_equal(probs, one, message=message))
        return with_dependencies(checks, probs)


def _largest_integer(dtype: DType) -> int:
    """The largest n such that the type represents all integers up to n."""
    if dtype.is_floating:
        return int(2 ** (np.finfo(dtype.numpy_dtype).nmant + 1))
    return 1 if dtype.is_bool else int(np.iinfo(dtype.numpy_dtype).max)


def check_classes(parameter: Any) -> Tensor:
    """The parameter, after checks that its last axis can be the classes.

    Raises:
      ValueError: there are fewer than two classes, or more than the type can represent.
    """
    with name_scope("embed_check_categorical_event_shape", values=[parameter]):
        x = convert(parameter, name="categorical_param")
        dtype = x.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError(
                f"Unable to validate size of unrecognized dtype ({dtype.name})."
            )
        most = _largest_integer(dtype)
        known = x.shape
        ranks = "A categorical-distribution parameter must have at least 1 dimension."
        few = "A categorical-distribution parameter must have at least 2 events."
        if known.ndims == 0:
            raise ValueError(ranks)
        size = None if known.ndims is None else known.as_list()[-1]
        if size is None:
            own = shape(x, name="x_shape")[-1]
            many = (
                f"Number of classes exceeds `dtype` precision, i.e., {dtype.name} "
                f"dtype cannot exceed {most} shape."
            )
            checks = [
                assert_rank_at_least(x, 1, message=ranks),
                assert_greater_equal(shape(x)[-1], 2, message=few),
                assert_less_equal(own, most, message=many),
            ]
            return with_dependencies(checks, x)
        if size < 2:
            raise ValueError(few)
        if size > most:
            raise ValueError(
                f"Number of classes exceeds `dtype` precision, i.e., {dtype.name} "
                f"implies shape ({size}) cannot exceed {most}."
            )
        return x


def _assert_whole(
    x: Any, dtype: DTypeLike | None = None, message: str | None = None
) -> Any:
    with name_scope("assert_integer_form", values=[x]):
        x = convert(x, name="x")
        if x.dtype.is_integer:
            return no_op()
        if dtype is None:
            dtype = _WHOLE_TYPES[x.dtype.base_dtype]
        whole = cast(cast(x, dtype), x.dtype)
        return assert_equal(x, whole, message=message, name="assert_integer_form")


def check_counts(x: Any) -> Tensor:
    """The numbers, after checks that they are non-negative integers."""
    with name_scope("embed_check_nonnegative_integer_form", values=[x]):
        x = convert(x, name="x")
        checks = [assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            message = f"'{x}' cannot contain fractional components."
            checks.append(_assert_whole(x, message=message))
        result: Tensor = with_dependencies(checks, x)
        return result


def check_castable(x: Any, target_dtype: Any) -> Tensor:
    """The numbers, after checks that they are not negative and representable."""
    with name_scope("embed_check_casting_closed", values=[x]):
        x = convert(x, name="x")
        checks = [assert_non_negative(x, message="Elements must be non-negative.")]
        if x.dtype.is_floating:
            message = f"Elements must be {target_dtype.name}-equivalent."
            checks.append(_assert_whole(x, target_dtype, message))
        elif _largest_integer(x.dtype) > (most := _largest_integer(target_dtype)):
            message = f"Elements cannot exceed {most}."
            checks.append(assert_less_equal(x, most, message=message))
        result: Tensor = with_dependencies(checks, x)
        return result


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Tensor:
    """ln (n! / Π counts!), with the product along the last axis."""
    with name_scope(name, values=[n, counts]):
        n = convert(n, name="n")
        counts = convert(counts, name="counts")
        whole = lgamma(n + 1)
        return whole - reduce_sum(lgamma(counts + 1), axis=[-1])
