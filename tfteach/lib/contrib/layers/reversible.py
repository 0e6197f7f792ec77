"""`rev_block`: residual layers whose inputs are computed from their outputs.

Source: contrib/layers/python/layers/rev_block_lib.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.autodiff.custom_gradient import custom_gradient
from tfteach.autodiff.gradient_tape import GradientTape
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.contrib.layers.recompute import with_variables
from tfteach.lib.layers.base import Layer
from tfteach.ops.core.control_flow_ops import tuple_
from tfteach.variables.scope import get_variable_scope, variable_scope

Function = Callable[..., Tensor]
Pair = tuple[Tensor, Tensor]


class _Part(NamedTuple):
    """The function f or g of a layer.

    Attributes:
      function: of the input, and of `side`, unless that is empty.
      scope: the scope of its variables.
      side: further tensors.
    """

    function: Function
    scope: str
    side: Sequence[Tensor]

    def __call__(self, x: Tensor) -> Tensor:
        with variable_scope(self.scope, use_resource=True):
            return self.function(x, self.side) if self.side else self.function(x)


class _Gradients:
    """The gradients of variables and other tensors, which are used several times."""

    def __init__(self) -> None:
        self._found: list[tuple[Any, Any]] = []

    def call(self, part: _Part, x: Tensor, grad: Tensor) -> Pair:
        """What a part returns, and the gradient of `x`; others are noted.

        Args:
          part: the function.
          x: its input.
          grad: the gradient of what it returns.
        """
        with GradientTape() as tape:
            tape.watch([x, *part.side])
            value = part(x)
        others = [*tape.watched_variables(), *part.side]
        first, *grads = tape.gradient(value, [x, *others], output_gradients=grad)
        self._found += zip(others, grads, strict=True)
        return value, first

    def of(self, source: Any) -> Any:
        """The gradient of a variable or a tensor; None if nothing depends on it."""
        grads = [g for item, g in self._found if item is source and g is not None]
        return sum(grads[1:], grads[0]) if grads else None


@export("contrib.layers.RevBlock")
class RevBlock(Layer):
    """A block of reversible layers; see `rev_block`.

    Args:
      f, g: functions, or lists of one for each layer.
      num_layers: the number of layers.
      f_side_input, g_side_input: lists of further tensors for them.
      use_efficient_backprop: whether the gradient computes what lies between the layers
        again.
      name: the layer's name.
      **kwargs: as for `tf.layers.Layer`.

    Raises:
      ValueError: a list has another length.

    Source: contrib/layers/python/layers/rev_block_lib.py.
    """

    def __init__(
        self,
        f: Function | Sequence[Function],
        g: Function | Sequence[Function],
        num_layers: int = 1,
        f_side_input: Sequence[Tensor] | None = None,
        g_side_input: Sequence[Tensor] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self._side = [*(f_side_input or ()), *(g_side_input or ())]
        self._parts = list(
            zip(
                _parts(f, "f", num_layers, f_side_input or ()),
                _parts(g, "g", num_layers, g_side_input or ()),
                strict=True,
            )
        )
        self._recomputes = use_efficient_backprop

    def forward(self, x1: TensorLike, x2: TensorLike) -> Pair:
        """The outputs of the last layer.

        Args:
          x1, x2: the inputs of the first.
        """
        found: Pair = self.apply([x1, x2])
        return found

    def backward(self, y1: TensorLike, y2: TensorLike) -> Pair:
        """The inputs of the first layer.

        Args:
          y1, y2: the outputs of the last.
        """
        found: Pair = self.apply([y1, y2], forward=False)
        return found

    def call(self, inputs: Structure, forward: bool = True) -> Structure:
        pair: Any = inputs
        scope = get_variable_scope()
        before = len(scope.global_variables())
        if not forward:
            outputs = self._inverted(*pair)
        elif self._recomputes:
            outputs = custom_gradient(self._with_gradient)(*pair, *self._side)
        else:
            outputs = self._computed(*pair)
        trained = scope.trainable_variables()
        for variable in scope.global_variables()[before:]:
            is_trained = any(variable is other for other in trained)
            kept = (
                self._trainable_weights if is_trained else self._non_trainable_weights
            )
            kept.append(variable)
        return outputs

    def _computed(self, x1: Tensor, x2: Tensor) -> Pair:
        for f, g in self._parts:
            x1 = x1 + f(x2)
            x2 = x2 + g(x1)
            if self._recomputes:
                x1, x2 = tuple_([x1, x2])
        return x1, x2

    def _inverted(self, y1: Tensor, y2: Tensor) -> Pair:
        for f, g in reversed(self._parts):
            y2 = y2 - g(y1)
            y1 = y1 - f(y2)
        return y1, y2

    def _with_gradient(self, x1: Tensor, x2: Tensor, *side: Tensor) -> Any:
        with GradientTape() as tape:
            outputs = self._computed(x1, x2)

        def grad(grads: Sequence[Tensor], variables: Sequence[Any]) -> Any:
            (grad1, grad2), found = self._gradients(outputs, grads)
            inner = [grad1, grad2, *_of_each(self._side, found)]
            return inner, [found.of(variable) for variable in variables]

        return outputs, with_variables(grad, set(tape.watched_variables()))

    def _gradients(
        self, outputs: Pair, grads: Sequence[Tensor]
    ) -> tuple[Pair, _Gradients]:
        """The gradients of the inputs, and of all that the layers use."""
        (y1, y2), (grad1, grad2), found = outputs, grads, _Gradients()
        with variable_scope(self.scope_name, reuse=True):
            for f, g in reversed(self._parts):
                value, inner = found.call(g, y1, grad2)
                y2, grad1 = y2 - value, grad1 + inner
                value, inner = found.call(f, y2, grad1)
                y1, grad2 = y1 - value, grad2 + inner
                y1, y2, grad1, grad2 = tuple_([y1, y2, grad1, grad2])
        return (grad1, grad2), found


def _of_each(tensors: Sequence[Tensor], found: _Gradients) -> list[Any]:
    """The gradient of each tensor; of one that is there twice the first has it."""
    seen: list[Tensor] = []
    grads = []
    for tensor in tensors:
        is_new = not any(tensor is other for other in seen)
        grads.append(found.of(tensor) if is_new else None)
        seen.append(tensor)
    return grads


def _parts(
    functions: Function | Sequence[Function],
    name: str,
    count: int,
    side: Sequence[Tensor],
) -> list[_Part]:
    each = [functions] * count if callable(functions) else list(functions)
    if len(each) != count:
        raise ValueError(f"{name} must have {count} functions, but has {len(each)}")
    return [_Part(f, f"revlayer_{i}/{name}", side) for i, f in enumerate(each)]


@export("contrib.layers.rev_block")
def rev_block(
    x1: TensorLike,
    x2: TensorLike,
    f: Function | Sequence[Function],
    g: Function | Sequence[Function],
    num_layers: int = 1,
    f_side_input: Sequence[Tensor] | None = None,
    g_side_input: Sequence[Tensor] | None = None,
    is_training: bool = True,
) -> Pair:
    """Reversible residual layers: `y1 = x1 + f(x2)` and `y2 = x2 + g(y1)`.

    The gradient computes the inputs of each layer from its outputs, so that nothing
    between the layers is stored.

    Args:
      x1, x2: float Tensors.
      f, g: functions from a Tensor to one of the same shape, or lists of one for each
        layer.  They may call `tf.get_variable`, and must use no other Tensors.
      num_layers: the number of layers, each with variables of its own.
      f_side_input, g_side_input: lists of further Tensors; `f` and `g` get such a list
        as second argument.
      is_training: whether the gradient computes the inputs again; if not, all is
        stored.

    Returns:
      y1, y2: the outputs of the last layer.

    Example:
      >>> x = tf.ones([1, 4])
      >>> layer = lambda x: tf.layers.dense(x, 4, activation=tf.nn.relu)
      >>> y1, y2 = tf.contrib.layers.rev_block(x, x, layer, layer, num_layers=3)

    Source: contrib/layers/python/layers/rev_block_lib.py.
    """
    block = RevBlock(
        f,
        g,
        num_layers,
        f_side_input,
        g_side_input,
        is_training,
        _reuse=get_variable_scope().reuse,
    )
    return block.forward(x1, x2)
