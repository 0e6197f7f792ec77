"""Assertions on arrays, errors and protos.

Source: python/framework/test_util.py (API, tolerances, error messages).
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tfteach.framework import dtypes, errors
from tfteach.framework.operation import Tensor


class ArrayAsserts:
    """Asserts about Tensors, arrays and nested structures; a part of `TestCase`."""

    # Defined by unittest.TestCase and by `TestCase`.
    assertEqual: Callable[..., None]
    assertTrue: Callable[..., None]
    assertGreater: Callable[..., None]
    assertGreaterEqual: Callable[..., None]
    assertLess: Callable[..., None]
    assertLessEqual: Callable[..., None]
    assertCountEqual: Callable[..., None]
    fail: Callable[..., Any]
    evaluate: Callable[[Any], Any]

    def _array(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            value = self.evaluate(value)
        try:
            return np.asarray(value)
        except ValueError:  # parts of different shapes
            return np.asarray(value, object)

    # ---- near

    def assertNear(self, f1: float, f2: float, err: float, msg: Any = None) -> None:
        """Assert that two floats differ by at most `err`."""
        more = f" ({msg})" if msg is not None else ""
        self.assertTrue(
            f1 == f2 or math.fabs(f1 - f2) <= err, f"{f1} != {f2} +/- {err}{more}"
        )

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: Any = None
    ) -> None:
        """Assert that the floats of two lists differ by at most `err`, one by one."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None
    ) -> None:
        """Assert that the norm of the difference of two arrays is below `err`."""
        apart = float(np.linalg.norm(self._array(ndarray1) - self._array(ndarray2)))
        self.assertTrue(
            apart < err, msg or f"The arrays are {apart} apart, not < {err}"
        )

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Assert that |a - b| <= atol + rtol |b| everywhere, in any nested structure.

        Args:
          a: the expected array, Tensor, number, or dict, list or tuple of such.
          b: the actual value, likewise.
          rtol: relative tolerance, as a fraction of |b|.
          atol: absolute tolerance.
          msg: appended to the error message.

        Raises:
          AssertionError: some elements differ by more; the message lists them.
          ValueError: only one is a dict, or they have different lengths.
        """
        self._close(a, b, rtol, atol, "", msg or "")

    def _close(
        self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: Any
    ) -> None:
        a = a._asdict() if hasattr(a, "_asdict") else a
        b = b._asdict() if hasattr(b, "_asdict") else b
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(
                f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}"
            )
        if isinstance(a, Mapping):
            self.assertCountEqual(
                a.keys(),
                b.keys(),
                msg=f"mismatched keys: a{path} has keys {a.keys()}, but b{path} has "
                f"keys {b.keys()}. {msg}",
            )
            for key in a:
                self._close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        differs = f"Mismatched value: a{path} is different from b{path}. {msg}"
        if not isinstance(a, (list, tuple)):
            self._arrays_close(a, b, rtol, atol, differs)
            return
        try:
            arrays = self._array(a), self._array(b)
            numbers = all(array.dtype != object for array in arrays)
        except (ValueError, TypeError):  # no rectangle of numbers: part by part
            numbers = False
        if numbers:
            self._arrays_close(*arrays, rtol, atol, differs)
            return
        if len(a) != len(b):
            raise ValueError(
                f"Mismatched length: a{path} has {len(a)} items, but b{path} has "
                f"{len(b)} items. {msg}"
            )
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            self._close(one, other, rtol, atol, f"{path}[{i}]", msg)

    def _arrays_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        a, b = self._array(a), self._array(b)
        self._same_shape(a, b, "")
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        with np.errstate(invalid="ignore"):
            apart = (np.abs(a - b) > atol + rtol * np.abs(b)) | (
                np.isnan(a) != np.isnan(b)
            )
        x, y = (a[apart], b[apart]) if a.ndim else (a, b)
        raise AssertionError(
            f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{msg}\n"
            f"not close where = {np.nonzero(apart) if a.ndim else ()}\n"
            f"not close lhs = {x}\nnot close rhs = {y}\n"
            f"not close dif = {np.abs(x - y)}\n"
            f"not close tol = {atol + rtol * np.abs(y)}\n"
            f"dtype = {a.dtype}, shape = {a.shape}"
        )

    def _same_shape(self, a: Any, b: Any, msg: Any) -> None:
        shown = f" Contents: {b}." if b.ndim <= 3 or b.size < 500 else ""
        self.assertEqual(
            a.shape,
            b.shape,
            f"Shape mismatch: expected {a.shape}, got {b.shape}.{shown} {msg}",
        )

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        """`assertAllClose` with the tolerances of the less precise of the two types."""
        a, b = self._array(a), self._array(b)
        bfloat16 = np.dtype(dtypes.bfloat16.as_numpy_dtype)
        for kinds, relative, absolute in (
            ((np.float32, np.complex64), float_rtol, float_atol),
            ((np.float16,), half_rtol, half_atol),
            ((bfloat16,), bfloat16_rtol, bfloat16_atol),
        ):
            if any(array.dtype == kind for array in (a, b) for kind in kinds):
                rtol, atol = max(rtol, relative), max(atol, absolute)
        if bfloat16 in (a.dtype, b.dtype):
            a, b = a.astype(np.float32), b.astype(np.float32)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """Assert that `assertAllClose` fails."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    # ---- equal, more, less

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Assert that shapes and values are equal; NaN equals NaN."""
        a, b = self._array(a), self._array(b)
        self._same_shape(a, b, msg or "")
        same = np.asarray(a == b)
        if a.dtype.kind == "f" and b.dtype.kind == "f":
            same = same | (np.isnan(a) & np.isnan(b))
        if not same.all():
            x, y = (a[~same], b[~same]) if a.ndim else (a, b)
            raise AssertionError(
                f"\nArrays are not equal\n{msg or ''}\n"
                f"not equal where = {np.nonzero(~same) if a.ndim else ()}\n"
                f"not equal lhs = {x}\nnot equal rhs = {y}"
            )

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Assert that `assertAllEqual` fails."""
        try:
            self.assertAllEqual(a, b, msg)
        except AssertionError:
            return
        raise AssertionError("The two values are equal at all elements")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are greater than a number."""
        self.assertGreater(np.min(self._array(a)).item(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are less than a number."""
        self.assertLess(np.max(self._array(a)).item(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are at least a number."""
        self.assertGreaterEqual(np.min(self._array(a)).item(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are at most a number."""
        self.assertLessEqual(np.max(self._array(a)).item(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Assert that all elements lie in a range, closed unless `open_...`."""
        target = self._array(target)
        if target.dtype.kind not in "fiu":
            raise AssertionError(
                f"The value of {target} does not have an ordered numeric type, "
                f"instead it has type: {target.dtype}"
            )
        nan = np.isnan(target)
        if nan.any():
            raise AssertionError(
                f"{nan.sum()} of the {target.size} element(s) are NaN. Subscripts(s) "
                f"and value(s) of the NaN element(s):\n{_listed(nan, target)}"
            )
        low = (np.less_equal if open_lower_bound else np.less)(target, lower_bound)
        high = (np.greater_equal if open_upper_bound else np.greater)(
            target, upper_bound
        )
        outside = low | high
        if outside.any():
            opening, closing = "[("[open_lower_bound], "])"[open_upper_bound]
            raise AssertionError(
                f"{outside.sum()} of the {target.size} element(s) are outside the "
                f"range {opening}{lower_bound}, {upper_bound}{closing}. Subscript(s) "
                f"and value(s) of the offending elements:\n{_listed(outside, target)}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Assert that all elements are in a set of values."""
        others = np.setdiff1d(self._array(target).ravel(), list(expected_set))
        if others.size:
            raise AssertionError(
                f"{others.size} unique element(s) are not in the set {expected_set}: "
                f"{others}"
            )

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Assert that an array or Tensor has a given NumPy dtype."""
        self.assertEqual(self._array(target).dtype, expected_dtype)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Any = None) -> None:
        """Assert that a Tensor's static shape is that of an array."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    # ---- texts and errors

    def assertStartsWith(
        self, actual: str, expected_start: str, msg: Any = None
    ) -> None:
        """Assert that a text begins with another one."""
        if not actual.startswith(expected_start):
            more = f" : {msg!r}" if msg else ""
            self.fail(f"{actual!r} does not start with {expected_start!r}{more}")

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: type[BaseException], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """A context manager: asserts that an exception with this message is raised.

        Args:
          exception_type: its class.
          expected_err_re_or_predicate: a regular expression, found somewhere in the
            message or in "Caused by: " and the op's name; or a function of the
            exception that returns whether it is the expected one.
        """
        expected = expected_err_re_or_predicate

        def fits(error: BaseException) -> Any:
            if callable(expected):
                return expected(error)
            text = str(error)
            if isinstance(error, errors.OpError):
                caused = "" if error.op is None else f"\nCaused by: {error.op.name}"
                text = error.message + caused
            return re.search(expected, text)

        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not fits(error):
                raise AssertionError(
                    f"Exception of type {type(error)}: {error}"
                ) from error
            return
        self.fail(exception_type.__name__ + " not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """`assertRaisesWithPredicateMatch` of `tf.errors.OpError`."""
        return self.assertRaisesWithPredicateMatch(
            errors.OpError, expected_err_re_or_predicate
        )


def _listed(where: Any, value: Any) -> str:
    """The first ten positions where `where` holds, with their values."""
    places = np.argwhere(where)
    lines = [f"  {place} : {value[tuple(place)]}" for place in places[:10]]
    return "\n".join(lines + ["  ..."] * (len(places) > 10))
