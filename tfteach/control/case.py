"""`Assert`, based on a branch, and `case`, a chain of branches.

Source: python/ops/control_flow_ops.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from tfteach.control.branch import Branch, cond, smart_cond
from tfteach.framework import dtypes
from tfteach.framework.convert import convert, convert_n_to_tensor
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.debug.print_assert import Assert as AssertOp
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import LessEqual
from tfteach.ops.math.reduce_functions import reduce_sum


@export("Assert", "debugging.Assert")
def Assert(
    condition: TensorLike,
    data: Sequence[Any],
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails the run unless `condition` is true.

    In an eager program the check is made at once.  In a graph it runs only if another
    op depends on it: `with tf.control_dependencies([...])`.

    Args:
      condition: a bool scalar Tensor.
      data: the tensors to print if it is false.
      summarize: the number of elements of each to print (3; -1 for all).
      name: the name scope of the new operations.

    Returns:
      The Operation; None in an eager program.

    Raises:
      InvalidArgumentError: (in a run) `condition` is false.

    Example:
      >>> x = tf.placeholder(tf.float32)
      >>> with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0), [x])]):
      ...     y = tf.log(x)

    Source: python/ops/control_flow_ops.py, Assert; core/ops/logging_ops.cc, Assert.
    """
    if get_default_graph().is_eager:
        return _assert_now(condition, data, summarize)
    op = AssertOp(summarize=3 if summarize is None else summarize)
    with name_scope(name, "Assert", [condition, data]):
        tensors = convert_n_to_tensor(data)
        if all(t.dtype in (dtypes.string, dtypes.int32) for t in tensors):
            return op(condition, data, name="Assert")
        condition = convert(condition, name="Condition")

        def check() -> Operation:
            return op(condition, data, name="Assert")

        result: Operation = cond(condition, no_op, check, name="AssertGuard").op
        return result


def _assert_now(
    condition: Any, data: Sequence[Any], summarize: int | None
) -> Operation:
    if not condition:
        lines = [_first_elements(t, summarize) for t in convert_n_to_tensor(data)]
        raise invalid_argument(
            f"Expected '{condition!s}' to be true. Summarized data: " + "\n".join(lines)
        )
    return no_op()


def _first_elements(tensor: Any, summarize: int | None) -> str:
    """The first elements of a tensor with a value, as eager assertions print them."""
    values = np.ravel(tensor.numpy())
    limit = 3 if summarize is None else summarize
    limit = values.size if limit < 0 else limit
    shown = [str(value) for value in values[:limit]]
    if tensor.shape.ndims and limit < values.size:
        shown.append("...")
    return ", ".join(shown)


# ---- case

_R = TypeVar("_R")
# Conditions and functions.
Pairs: TypeAlias = "Sequence[tuple[Tensor | bool, Branch]] | Mapping[Tensor, Branch]"


@export("case", v2="case")
def case(
    pred_fn_pairs: Pairs,
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The results of the first function whose condition is true in the run.

    Args:
      pred_fn_pairs: a list of pairs (bool scalar Tensor, function), or a dict.
      default: the function if none is true; without it that is an error.
      exclusive: whether several true conditions are an error in the run.
      strict: do not unpack lists of one element.
      name: the name scope of the new operations.

    Returns:
      Tensors in the structure that the functions return.

    Raises:
      TypeError: an entry is not a pair of a bool Tensor and a function.

    Source: python/ops/control_flow_ops.py, case.
    """
    pairs = _checked_pairs(pred_fn_pairs, exclusive)
    return _chain(partial(cond, strict=strict), pairs, default, exclusive, name)


@export("contrib.framework.smart_case")
def smart_case(
    pred_fn_pairs: Pairs,
    default: Callable[[], _R] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> _R | Tensor:
    """`tf.case` without branches for conditions that are known while it is built.

    Args:
      pred_fn_pairs: as for `tf.case`; conditions may also be Python's bools.
      default: the function if none is true; without it that is an error.
      exclusive: whether several true conditions are an error in the run.
      name: the name scope of the new operations.

    Returns:
      What the chosen function returns, or Tensors if the run must choose.

    Raises:
      TypeError: an entry is not a pair of a bool or bool Tensor and a function.

    Example:
      >>> tf.contrib.framework.smart_case([(False, lambda: 1), (True, lambda: 2)])
      2

    Source: python/framework/smart_cond.py.
    """
    pairs = _checked_pairs(pred_fn_pairs, exclusive, accepts_bools=True)
    found: _R | Tensor = _chain(smart_cond, pairs, default, exclusive, name)
    return found


def _chain(
    branch: Callable[..., Any],
    pairs: tuple[list[Any], list[Branch]],
    default: Branch | None,
    exclusive: bool,
    name: str,
) -> Any:
    """Nested branches, made by `cond` or `smart_cond`."""
    predicates, actions = pairs
    with name_scope(name, "case", predicates):
        if default is None:
            default = _last_or_fail(predicates, actions)
            predicates, actions = predicates[:-1], actions[:-1]
        function: Branch = default
        for predicate, action in zip(
            reversed(predicates), reversed(actions), strict=True
        ):
            function = partial(branch, predicate, true_fn=action, false_fn=function)
        if not exclusive:
            return function()
        check = _assert_at_most(predicates, 1, "Input error: exclusive=True")
        with get_default_graph().control_dependencies([check]):
            return function()


def _checked_pairs(
    pairs: Any, exclusive: bool, accepts_bools: bool = False
) -> tuple[list[Any], list[Branch]]:
    if not isinstance(pairs, list | tuple | dict):
        raise TypeError("fns must be a list, tuple, or dict")
    if not pairs:  # TensorFlow fails here, when it unpacks the first pair
        raise ValueError(
            "not enough values to unpack (expected 2, got 0): tf.case needs at least "
            "one pair of a predicate and a function."
        )
    if isinstance(pairs, OrderedDict):
        pairs = list(pairs.items())
    elif isinstance(pairs, dict) and get_default_graph().is_eager:
        if not exclusive:
            raise ValueError(
                "Unordered dictionaries are not supported for the `pred_fn_pairs` "
                "argument when `exclusive=False` and eager mode is enabled."
            )
        pairs = list(pairs.items())
    elif isinstance(pairs, dict):
        pairs = sorted(pairs.items(), key=lambda item: item[0].name)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        if isinstance(pred, Tensor):
            if pred.dtype is not dtypes.bool_:
                raise TypeError(f"pred must be Tensor of type bool: {_named(pred)}")
        elif not accepts_bools:
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        elif not isinstance(pred, bool):
            raise TypeError(f"pred must be a Tensor or bool, got: {pred}")
        if not callable(function):
            raise TypeError(f"fn for pred {_named(pred)} must be callable.")
    return [p for p, _ in pairs], [f for _, f in pairs]


def _named(predicate: Any) -> Any:
    return getattr(predicate, "name", predicate)


def _last_or_fail(predicates: list[Any], actions: list[Branch]) -> Branch:
    """The last action, for when no other condition is true; fails if its own is not."""
    others, last = predicates[:-1], len(predicates) - 1

    def default() -> Any:
        stacked = stack(predicates, name="preds_c")
        only = _assert_at_most(
            others,
            0,
            f"Implementation error: selected default action #{last} was called, but "
            "some of other predicates are True: ",
        )
        message = "Input error: None of conditions evaluated as True:"
        mine = Assert(predicates[-1], [message, stacked])
        with get_default_graph().control_dependencies([only, mine]):
            return actions[-1]()

    return default


def _assert_at_most(predicates: list[Any], n: int, message: str) -> Operation:
    stacked = stack(predicates, name="preds_c")
    count = reduce_sum(cast(stacked, dtypes.int32), name="num_true_conds")
    limit = constant(n, name="n_true_conds")
    names = ", ".join(getattr(p, "name", "?") for p in predicates)
    text = f"{message}: more than {n} conditions ({names}) evaluated as True:"
    few = LessEqual()(count, limit)
    return Assert(few, [text, stacked], summarize=len(predicates))
