"""`tf.GradientTape`: gradients of what ran inside a block.

Source: python/eager/backprop.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from tfteach.autodiff.gradients import UnconnectedGradients
from tfteach.autodiff.seed_gradients import Gradient
from tfteach.autodiff.tape_gradients import RecordedTape, zeros
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.recording import tapes
from tfteach.framework.type_aliases import Nested, Structure, TensorLike


@export("GradientTape")
class GradientTape:
    """Records what runs in a block, to differentiate it afterwards.

    d target / d source, by the chain rule from the last recorded op to the first.

    Trainable variables are watched when they are read, tensors by `watch`.  In graph
    mode the ops that are built in the block are recorded, and gradients are new ops.

    Args:
      persistent: keep the recorded ops after `gradient`, for further calls of it.
      watch_accessed_variables: whether trainable variables are watched.

    Example:
      >>> x = tf.constant(3.0)
      >>> with tf.GradientTape() as tape:
      ...     tape.watch(x)
      ...     y = x * x
      >>> dy_dx = tape.gradient(y, x)  # 2 x = 6.0

    Source: python/eager/backprop.py, GradientTape.
    """

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True
    ) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._tape: RecordedTape | None = None
        self._recording = False
        self._watched_before: tuple[Any, ...] = ()

    def __enter__(self) -> Self:
        self._push_tape()
        return self

    def __exit__(self, *error: object) -> None:
        if self._recording:
            self._pop_tape()

    def _push_tape(self) -> None:
        if self._recording:
            raise ValueError("Tape is already recording.")
        if self._tape is None:
            self._tape = RecordedTape(self._watches_variables)
        tapes.active = (*tapes.active, self._tape)
        self._recording = True

    def _pop_tape(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        tapes.active = tuple(t for t in tapes.active if t is not self._tape)
        self._recording = False

    def watch(self, tensor: Nested[TensorLike]) -> None:
        """Record what depends on `tensor` from now on.

        Args:
          tensor: a Tensor or variable, or a nested structure of them.

        Raises:
          ValueError: it is something else.
        """
        assert self._tape is not None
        for value in nest.flatten(tensor):
            dtype = getattr(value, "dtype", None)
            handle = getattr(value, "handle", None)
            if not isinstance(value, Tensor) and handle is None:
                raise ValueError(
                    f"Passed in object of type {type(value)}, not tf.Tensor"
                )
            if not (dtype.is_floating or dtype.is_complex):  # type: ignore[union-attr]
                get_logger().warning(
                    "The dtype of the watched tensor must be floating (e.g. "
                    f"tf.float32), got {dtype!r}"
                )
            if isinstance(value, Tensor):
                self._tape.watch(value)
            else:
                self._tape.watch_variable(value)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order of their creation."""
        if self._tape is not None:
            self._watched_before = self._tape.ordered_variables()
        return self._watched_before

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block inside this tape's that is not recorded.

        Raises:
          RuntimeError: the tape does not record.
        """
        if self._tape is None:
            raise RuntimeError(
                "Trying to stop recording a tape which is not recording."
            )
        self._pop_tape()
        try:
            yield
        finally:
            self._push_tape()

    def reset(self) -> None:
        """Forget what was recorded, and record anew."""
        self._pop_tape()
        self._tape = None
        self._push_tape()

    def gradient(
        self,
        target: Nested[TensorLike],
        sources: Nested[TensorLike],
        output_gradients: Nested[TensorLike | None] = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Structure:
        """The derivatives of the sum of `target` with respect to the sources.

        Args:
          target: a Tensor, or a nested structure of them.
          sources: Tensors or variables in a nested structure.
          output_gradients: the weight of each target, of its shape; None for ones.
          unconnected_gradients: one of `tf.UnconnectedGradients`.

        Returns:
          The structure of `sources` with Tensors of their shapes; IndexedSlices where
          only some rows are nonzero, None where the target does not depend.

        Raises:
          RuntimeError: a tape that is not persistent is used a second time.
          LookupError: an op in between has no gradient.
          ValueError: `unconnected_gradients` is unknown.
        """
        tape = self._tape
        if tape is None:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        if self._recording:
            if not self._persistent:
                self._pop_tape()
            else:
                get_logger().warning(
                    "Calling GradientTape.gradient on a persistent tape inside its "
                    "context is significantly less efficient than calling it outside "
                    "the context (it causes the gradient ops to be recorded on the "
                    "tape, leading to increased CPU and memory usage). Only call "
                    "GradientTape.gradient inside the context if you actually want to "
                    "trace the gradient in order to compute higher order derivatives."
                )
        try:
            unconnected = UnconnectedGradients(unconnected_gradients)
        except ValueError:
            raise ValueError(
                f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
            ) from None
        targets = [_checked(t, "target") for t in nest.flatten(target)]
        flat = [_checked(s, "source") for s in nest.flatten(sources)]
        weights: list[Gradient] = [None] * len(targets)
        if output_gradients is not None:
            weights = [
                None if w is None else convert(w)
                for w in nest.flatten(output_gradients)
            ]
        found = tape.gradients(targets, flat, weights)
        if unconnected is UnconnectedGradients.ZERO:
            pairs = zip(found, flat, strict=True)
            found = [zeros(s) if g is None else g for g, s in pairs]
        if not self._persistent:
            self._watched_before = tape.ordered_variables()
            self._tape = None
        return nest.pack_sequence_as(sources, found)


def _checked(value: Any, what: str) -> Tensor:
    """The tensor to differentiate: a variable's handle; with a warning for integers."""
    dtype = value.dtype
    if not (dtype.is_floating or dtype.is_complex):
        get_logger().warning(
            f"The dtype of the {what} tensor must be floating (e.g. tf.float32) when "
            f"calling GradientTape.gradient, got {dtype!r}"
        )
    if isinstance(value, Tensor):
        return value
    handle: Tensor | None = getattr(value, "handle", None)
    if handle is None or what == "target":
        return convert(value)
    return handle
