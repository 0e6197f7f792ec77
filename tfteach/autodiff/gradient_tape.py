"""`tf.GradientTape`: gradients of what ran inside a block.

Source: python/eager/backprop.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from tfteach.autodiff.gradients import UnconnectedGradients
from tfteach.autodiff.jacobian import (
    batch_jacobian_of,
    check_batches,
    jacobian_of,
    matrix_of,
)
from tfteach.autodiff.seed_gradients import Gradient
from tfteach.autodiff.tape_gradients import RecordedTape, zeros
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.recording import tapes
from tfteach.framework.type_aliases import Nested, Structure, TensorLike
from tfteach.ops.array.gather import gather
from tfteach.ops.core.identity_reshape import reshape


@export("GradientTape", "contrib.eager.GradientTape")
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
        self._watched: dict[Tensor, Any] = {}  # by the tape that has ended

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
            if self._tape is None:
                raise AttributeError(
                    "'NoneType' object has no attribute '_tape': the tape does not "
                    "record; watch tensors inside `with tf.GradientTape() as tape:`"
                )
            if isinstance(value, Tensor):
                self._tape.watch(value)
            else:
                self._tape.watch_variable(value)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order of their creation."""
        watched = self._watched if self._tape is None else self._tape.variables
        return tuple(sorted(watched.values(), key=lambda v: v._creation_number))

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
        unconnected = _checked_choice(unconnected_gradients)
        flat = nest.flatten(sources)
        for source in flat:
            _check_dtype(source, "source")
        targets = []
        for t in nest.flatten(target):
            _check_dtype(t, "target")
            if not isinstance(t, Tensor):
                with self._recorded():  # a variable is read now
                    t = convert(t)
            targets.append(t)
        weights: list[Gradient] = [None] * len(targets)
        if output_gradients is not None:
            weights = [
                None if w is None else convert(w)
                for w in nest.flatten(output_gradients)
            ]
        found = self._differentiated(targets, flat, weights, unconnected)
        self._end()
        return nest.pack_sequence_as(sources, found)

    def _differentiated(
        self,
        targets: list[Tensor],
        sources: list[Any],
        weights: list[Gradient],
        unconnected: UnconnectedGradients,
    ) -> list[Gradient]:
        """The gradients of the sources, tensors or variables."""
        assert self._tape is not None
        handles = [_handle_or_self(source) for source in sources]
        found = self._tape.gradients(targets, handles, weights)
        if unconnected is UnconnectedGradients.ZERO:
            pairs = zip(found, handles, strict=True)
            found = [zeros(s) if g is None else g for g, s in pairs]
        return found

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """A block that this tape records, whether it records now or not."""
        if self._recording:
            yield
        else:
            with self._pushed():
                yield

    def _end(self) -> None:
        """Forget what was recorded, unless the tape is persistent."""
        if not self._persistent and self._tape is not None:
            self._watched, self._tape = self._tape.variables, None

    # ---- Jacobians

    def jacobian(
        self,
        target: Tensor,
        sources: Nested[TensorLike],
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Structure:
        """The derivatives of each element of `target` with respect to the sources.

        J[i, j] = d target[i] / d source[j]

        A gradient is computed for each element of the target, in a loop.

        Args:
          target: a Tensor.
          sources: Tensors or variables in a nested structure.
          unconnected_gradients: one of `tf.UnconnectedGradients`.
          parallel_iterations: the number of gradients that may be computed at once, in
            a graph (10 by default).
          experimental_use_pfor: in a graph, build up to 64 gradients without a loop, as
            TensorFlow does where it vectorizes them.  Here nothing is vectorized.

        Returns:
          The structure of `sources` with Tensors of the shape of `target` followed by
          that of the source; None where the target does not depend on it.

        Raises:
          RuntimeError: `experimental_use_pfor` is false in an eager program, and the
            tape is not persistent.
          ValueError: the tape is recording.

        Example:
          >>> x = tf.constant([1.0, 2.0])
          >>> with tf.GradientTape() as tape:
          ...     tape.watch(x)
          ...     y = x * x
          >>> jacobian = tape.jacobian(y, x)  # [[2, 0], [0, 4]]
        """
        self._check_persistent(experimental_use_pfor, "jacobian", "with ", "")
        unconnected = _checked_choice(unconnected_gradients)
        flat = nest.flatten(sources)
        with self._pushed():
            elements = reshape(target, [-1])

        def differentiate(number: Any) -> list[Gradient]:
            with self._pushed():
                element = gather(elements, number)
            return self._differentiated([element], flat, [None], unconnected)

        found = jacobian_of(
            target, flat, differentiate, parallel_iterations, experimental_use_pfor
        )
        self._end()
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self,
        target: Tensor,
        source: TensorLike,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """The Jacobian of each element of a batch.

        J[b, i, j] = d target[b, i] / d source[b, j]

        A gradient is computed for each element of `target[0]`, in a loop: that of the
        sum over the batch, as `target[b]` should only depend on `source[b]`.

        Args:
          target: a Tensor [batch, ...] of rank 2 or higher.
          source: a Tensor or variable [batch, ...] of rank 2 or higher.
          unconnected_gradients: see `jacobian`.
          parallel_iterations: see `jacobian`.
          experimental_use_pfor: see `jacobian`.

        Returns:
          A Tensor of the shape of `target` followed by that of an element of `source`;
          zeros if the target does not depend on it.

        Raises:
          RuntimeError: see `jacobian`.
          ValueError: a rank is below 2, or the first sizes differ.

        Example:
          >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
          >>> with tf.GradientTape() as tape:
          ...     tape.watch(x)
          ...     y = x * x
          >>> jacobians = tape.batch_jacobian(y, x)  # diagonals 2, 4 and 6, 8
        """
        check_batches(target, source)
        self._check_persistent(experimental_use_pfor, "batch_jacobian", "", "with ")
        unconnected = _checked_choice(unconnected_gradients)
        with self._pushed():
            matrix = matrix_of(target, source)

        def differentiate(number: Any) -> list[Gradient]:
            with self._pushed():
                column = gather(matrix, number, axis=1)
            return self._differentiated([column], [source], [None], unconnected)

        found = batch_jacobian_of(
            target, source, differentiate, parallel_iterations, experimental_use_pfor
        )
        self._end()
        return found

    @contextmanager
    def _pushed(self) -> Iterator[None]:
        self._push_tape()
        try:
            yield
        finally:
            self._pop_tape()

    def _check_persistent(
        self, uses_pfor: bool, method: str, before: str, after: str
    ) -> None:
        """TensorFlow differentiates once if it vectorizes, and here, too."""
        if get_default_graph().is_eager and not (uses_pfor or self._persistent):
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the "
                f"{method} with eager execution enabled and {before} {after}"
                "experimental_use_pfor set to False."
            )


def _checked_choice(choice: UnconnectedGradients | str) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(choice)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {choice!r}"
        ) from None


def _check_dtype(value: Any, what: str) -> None:
    """A warning for what has no derivatives."""
    dtype = value.dtype
    if not (dtype.is_floating or dtype.is_complex):
        get_logger().warning(
            f"The dtype of the {what} tensor must be floating (e.g. tf.float32) when "
            f"calling GradientTape.gradient, got {dtype!r}"
        )


def _handle_or_self(value: Any) -> Tensor:
    """A variable's handle; other values as tensors."""
    handle: Tensor | None = getattr(value, "handle", None)
    return convert(value) if isinstance(value, Tensor) or handle is None else handle
