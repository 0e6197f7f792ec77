"""Checks of the variables of branches and loops over Tensors, which name them.

Source: python/autograph/operators/control_flow.py (messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.shape import TensorShape
from tfteach.lib.autograph.operators.tensors import is_tensor
from tfteach.lib.autograph.operators.undefined import is_undefined, is_undefined_return

Names = Sequence[str | None] | None


def check_defined_before_loop(values: Sequence[Any]) -> None:
    """Check that all loop variables have values before the loop.

    Raises:
      ValueError: one has none, or the loop returns from the function.
    """
    undefined = tuple(v.symbol_name for v in values if is_undefined(v))
    if undefined:
        raise ValueError(
            "TensorFlow requires that the following symbols must be defined before the "
            f"loop: {undefined}"
        )
    if any(map(is_undefined_return, values)):
        raise ValueError(
            "return statements are not supported within a TensorFlow loop."
        )


def check_defined_in_branch(values: Sequence[Any], branch: str) -> None:
    """Check that all results of a branch have values.

    Args:
      values: the results.
      branch: "if" or "else".

    Raises:
      ValueError: one has none.
    """
    undefined = tuple(v.symbol_name for v in values if is_undefined(v))
    if undefined:
        raise ValueError(
            f"The following symbols must also be initialized in the {branch} branch: "
            f"{undefined}. Alternatively, you may initialize them before the if "
            "statement."
        )
    if any(map(is_undefined_return, values)):
        raise ValueError(
            f"A value must also be returned from the {branch} branch. If a value is "
            "returned from one branch of a conditional a value must be returned from "
            "all branches."
        )


def check_loop_variables(
    before: Sequence[Any], after: Sequence[Any], names: Names, shapes: bool = True
) -> None:
    """Check that an iteration keeps the structures, types and shapes of variables.

    Args:
      before, after: their values, before and after the iteration.
      names: theirs; None for no check.
      shapes: whether to check these.

    Raises:
      TypeError: a structure or a type changes.
      ValueError: a shape becomes less specific.
    """
    if names is None:
        return
    for old, new, name in zip(before, after, names, strict=True):
        try:
            nest.assert_same_structure(old, new, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f'"{name}" does not have the same nested structure after one '
                f"iteration.\n\n{error}"
            ) from None
        for a, b in _pairs(old, new):
            if a.dtype != b.dtype:
                raise TypeError(
                    f'"{name}" has dtype {a.dtype.name} before the loop, but dtype '
                    f"{b.dtype.name} after one iteration. TensorFlow control flow "
                    "requires it stays the same."
                )
            if shapes and not _is_kept(a.shape, b.shape):
                raise ValueError(
                    f'"{name}" has shape {a.shape} before the loop, but shape '
                    f"{b.shape} after one iteration. TensorFlow control flow requires "
                    "it stays the same or be more specific."
                )


def check_branch_results(
    if_true: Sequence[Any], if_false: Sequence[Any], names: Names
) -> None:
    """Check that both branches return the same structures and types.

    Args:
      if_true, if_false: their results.
      names: those of the variables; None for no check.

    Raises:
      TypeError: a structure or a type differs.
    """
    if names is None:
        return
    for one, other, name in zip(if_true, if_false, names, strict=False):
        try:
            nest.assert_same_structure(one, other, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f'"{name}" does not have the same nested structure in the TRUE and '
                f"FALSE branches.\n\n{error}"
            ) from None
        for a, b in _pairs(one, other):
            if a.dtype != b.dtype:
                raise TypeError(
                    f'"{name}" has dtype {a.dtype.name} in the TRUE branch, but dtype='
                    f"{b.dtype.name} in the FALSE branch. TensorFlow control flow "
                    "requires that they are the same."
                )


def _pairs(one: Any, other: Any) -> list[tuple[Any, Any]]:
    """The Tensors at the same places of two structures."""
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    found = [(_as_tensor(a), _as_tensor(b)) for a, b in pairs]
    return [(a, b) for a, b in found if is_tensor(a) and is_tensor(b)]


def _as_tensor(value: Any) -> Any:
    return convert(value) if isinstance(value, bool | int | float | str) else value


def _is_kept(before: TensorShape, after: TensorShape) -> bool:
    """Whether a shape is the same, or more specific."""
    if before.dims is None:
        return True
    if before.ndims != after.ndims:
        return False
    pairs = zip(before.as_list(), after.as_list(), strict=True)
    return all(a is None or a == b for a, b in pairs)
