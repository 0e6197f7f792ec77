"""Values known while building: constants and partly known shape vectors.

`tf.reshape(x, tf.stack([tf.shape(x)[0], 10]))` has the static shape (?, 10) because
these functions evaluate the ops that compute shapes.
Source: python/framework/tensor_util.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.dtypes import DType, float32
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import OpError
from tfteach.framework.graph import Graph
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos.attr_value import MAX_RANK
from tfteach.framework.shape import Shape, is_full, size_of, sizes_of

_MAX_FOLDED_SIZE = 1 << 16


class _Blocked(NamedTuple):
    """Why a value is not known yet: a static shape, which may be refined later."""

    tensor: Tensor
    shape: Shape

    @property
    def is_current(self) -> bool:
        return self.tensor._shape is self.shape


_NEVER = object()  # unknown however far shapes are refined
_MAX_CACHED_SIZE = 256  # elements of a value that the graph caches


class _Values:
    """Cache of the values that are determined by the graph alone.

    Results are cached, because otherwise each op of a long computation of sizes would
    be evaluated again for every op after it; and the search is not recursive, since
    such a computation may be thousands of ops long.

    Attributes:
      cached: by tensor: the value, or `_NEVER`, or a `_Blocked`.
    """

    def __init__(self) -> None:
        self.cached: dict[Tensor, Any] = {}

    def find(self, tensor: Tensor) -> Any:
        """The value as an array; `_NEVER` or a `_Blocked` if it is not known."""
        spec = tensor.op.spec
        found = spec.constant if spec.holds_value else self._valid(tensor)
        if found is not None:
            return found
        large: dict[Tensor, Any] = {}
        stack = [tensor]
        while stack:
            top = stack[-1]
            found = self._valid(top) if top not in large else large[top]
            if found is None:
                found = self._computed(top, large, stack)
                if found is None:
                    continue  # an input must be evaluated first
                if _is_known(found) and np.size(found) > _MAX_CACHED_SIZE:
                    large[top] = found
                else:
                    self.cached[top] = found
            stack.pop()
        return found

    def _valid(self, tensor: Tensor) -> Any:
        found = self.cached.get(tensor)
        if type(found) is _Blocked and not found.is_current:
            return None
        return found

    def _computed(
        self, tensor: Tensor, large: dict[Tensor, Any], stack: list[Tensor]
    ) -> Any:
        """The value; None if an input, now pushed on the stack, must be found first."""
        found = self.at_once(tensor)
        if found is not None:
            return found
        values = []
        for source in tensor.op.inputs:
            if source.op.spec.holds_value:
                found = source.op.spec.constant
            elif source in large:
                found = large[source]
            else:
                found = self._valid(source)
            if found is None:
                stack.append(source)
                return None
            if not _is_known(found):
                return self.unknown(tensor, found)
            values.append(found)
        found = self.combined(tensor, values)
        if isinstance(found, np.ndarray):
            found.flags.writeable = False
        return found

    def at_once(self, tensor: Tensor) -> Any:
        """The value, if it does not depend on the inputs' values; otherwise None."""
        raise NotImplementedError

    def unknown(self, tensor: Tensor, why: Any) -> Any:
        """The value if an input's value is unknown."""
        return why

    def combined(self, tensor: Tensor, values: list[Any]) -> Any:
        """The value computed from the inputs' values."""
        raise NotImplementedError


def _is_known(found: Any) -> bool:
    return found is not _NEVER and type(found) is not _Blocked


def _value_of_shape(tensor: Tensor) -> Any:
    """The value of an `only_metadata` op, if the static shape is known."""
    source = tensor.op.inputs[tensor.value_index]
    shape = source._shape
    found = tensor.op.spec.value_for_shape(shape)
    if found is None:
        return _Blocked(source, shape)
    value = np.array(found, object)
    if value.size and value.max() > tensor.dtype.max:
        return _NEVER  # too large for int32
    return value.astype(tensor.dtype.numpy_dtype)


class _FoldedValues(_Values):
    """Values of ops that some part of TensorFlow folds while building."""

    def __init__(self, through: Folding) -> None:
        super().__init__()
        self._through = through

    def at_once(self, tensor: Tensor) -> Any:
        spec = tensor.op.spec
        if spec.folds_while_building < self._through:
            return _NEVER
        return _value_of_shape(tensor) if spec.only_metadata else None

    def combined(self, tensor: Tensor, values: list[Any]) -> Any:
        if (size_of(tensor._shape) or 1) > _MAX_FOLDED_SIZE:
            return _NEVER
        try:
            return tensor.op.spec.compute(np, *values)
        except (OpError, ValueError, MemoryError):
            return _NEVER  # the run will raise the error


class _ComputedValues(_Values):
    """Values of all ops whose ancestors do not depend on a run."""

    def at_once(self, tensor: Tensor) -> Any:
        op = tensor.op
        if not op.inputs or op.spec.is_stateful or not op.spec.is_foldable:
            return _NEVER
        if op.control_inputs:
            return _NEVER
        if op.spec.only_metadata:
            found = _value_of_shape(tensor)
            return found if _is_known(found) else None
        return None

    def unknown(self, tensor: Tensor, why: Any) -> Any:
        return _value_of_shape(tensor) if tensor.op.spec.only_metadata else why

    def combined(self, tensor: Tensor, values: list[Any]) -> Any:
        if any(np.size(value) > _MAX_FOLDED_SIZE for value in values):
            return _NEVER
        if (size_of(tensor._shape) or 1) > _MAX_FOLDED_SIZE:
            return _NEVER
        try:
            with np.errstate(all="ignore"):
                result = tensor.op.spec.compute(np, *values)
        except (OpError, NotImplementedError, ValueError, MemoryError):
            return _NEVER  # the run will raise the error
        outputs = result if isinstance(result, tuple | list) else (result,)
        return np.asarray(outputs[tensor.value_index])


class KnownValues:
    """Cached constant values of a graph, stored on it as `known`."""

    def __init__(self) -> None:
        self._folded: dict[Folding, _FoldedValues] = {}
        self._computed = _ComputedValues()
        self.shapes: dict[Tensor, _KnownShape] = {}
        self.lists: dict[Tensor, Any] = {}  # used by framework/list_elements.py

    def folded(self, tensor: Tensor, through: Folding) -> Any:
        values = self._folded.get(through)
        if values is None:
            values = self._folded.setdefault(through, _FoldedValues(through))
        return values.find(tensor)

    def computed(self, tensor: Tensor) -> Any:
        return self._computed.find(tensor)

    def forget(self, op: Operation) -> None:
        """Invalidate values that may depend on this op, which is about to change."""
        for values in (*self._folded.values(), self._computed):
            if any(tensor in values.cached for tensor in op.outputs):
                values.cached.clear()
        if any(tensor in self.shapes for tensor in op.outputs):
            self.shapes.clear()


def constant_value(tensor: Tensor, through: Folding = Folding.SHAPES) -> Any:
    """The tensor's value as an array if the graph alone determines it; otherwise None.

    Args:
      tensor: a Tensor.
      through: the minimum `folds_while_building` of the ops to evaluate.
    """
    if type(tensor) is EagerTensor:
        return np.asarray(tensor.value)
    op = tensor.op
    if op.spec.holds_value:
        return op.spec.constant
    found = known_values(op.graph).folded(tensor, through)
    return found if _is_known(found) else None


def python_constant_value(tensor: Tensor) -> Any:
    """`constant_value` as computed by TensorFlow's Python, for values in graphs."""
    return constant_value(tensor, Folding.PYTHON)


def folded_value(tensor: Tensor) -> Any:
    """Like `constant_value`, but evaluates any op: for shape inference.

    TF has the same two levels: its Python evaluates few ops (so that the results
    visible to programs do not change), its shape inference evaluates every constant op.
    """
    found, _ = _folded(tensor)
    return None if found is None else np.asarray(found)


def _folded(tensor: Tensor) -> tuple[Any, list[_Blocked]]:
    """The value of `folded_value`, or the shapes that it depends on."""
    if type(tensor) is EagerTensor:
        return tensor.value, []
    op = tensor.op
    if op.spec.holds_value:
        return op.spec.constant, []
    if op.spec.outputs_shape:  # TF evaluates only consumers of these
        searches = [_value_of_shape(tensor)]
    else:
        known = known_values(op.graph)
        searches = [known.folded(tensor, Folding.SHAPES)]
        if not _is_known(searches[0]):
            searches.append(known.computed(tensor))
    if _is_known(searches[-1]):
        return searches[-1], []
    return None, [found for found in searches if type(found) is _Blocked]


def known_values(graph: Graph) -> KnownValues:
    """The known values of a graph; cached as `graph.known`."""
    known = graph.known
    if known is None:
        known = graph.known = KnownValues()
    return known


class _KnownShape(NamedTuple):
    """The shape denoted by a vector of sizes.

    Attributes:
      shape: the known part of it.
      hangs_on: static shapes whose refinement would change it; None for many.
    """

    shape: Shape
    hangs_on: tuple[_Blocked, ...] | None = ()

    @property
    def is_current(self) -> bool:
        hangs_on = self.hangs_on
        return hangs_on is not None and all(b.is_current for b in hangs_on)


_MAX_HANGS_ON = 4


def constant_shape(tensor: Tensor, fold: bool = True) -> Shape:
    """The shape denoted by a vector of sizes, as far as it is known.

    Args:
      tensor: an int Tensor [rank] (or a scalar -1 for an unknown shape).
      fold: whether to evaluate any op, as TF's shape functions do, or only few, as its
        Python does.

    Returns:
      A tuple with None for unknown sizes, or None for an unknown rank.
    """
    if tensor._shape == ():
        value = constant_value(tensor)
        if value is None or int(value) == -1:
            return None
        raise ValueError(
            "Received an invalid shape scalar with a static value that is not '-1': "
            f"Tensor<type: {tensor.dtype.name} shape: [] values: {int(value)}>"
        )
    tensor = _outermost(tensor)
    if type(tensor) is EagerTensor:
        return _sizes_in(tensor)
    cached = known_values(tensor.op.graph).shapes
    local: dict[Tensor, _KnownShape] = {}
    stack = [tensor]
    while stack:
        top = stack[-1]
        if type(top) is EagerTensor:
            local[top] = _KnownShape(_sizes_in(top))
            stack.pop()
            continue
        folds = fold or top is not tensor
        found = local.get(top) or (cached.get(top) if folds else None)
        if found is None or not (top in local or found.is_current):
            # TF's Python does not look through an Identity.
            is_opaque = not folds and top.op.spec.forwards_input
            parts = None if is_opaque else _shape_parts(top)
            missing = next((t for t in parts or () if t not in local), None)
            if missing is not None:
                stack.append(missing)
                continue
            found = _shape_from(
                top, None if parts is None else [local[t] for t in parts], folds
            )
            if folds and found.hangs_on is not None and top.op.inputs:
                cached[top] = found
        local[top] = found
        stack.pop()
    return local[tensor].shape


def _shape_parts(tensor: Tensor) -> Sequence[Tensor] | None:
    """The inputs whose shapes make up this one; None if it is computed differently."""
    parts = tensor.op.spec.shape_sources(tensor.op)
    if parts is None:
        return None
    # A scalar is not a vector of sizes.
    if any(t._shape == () for t in parts):
        return None
    return [_outermost(t) for t in parts]


def _sizes_in(tensor: EagerTensor) -> Shape:
    return tuple(None if n < 0 else n for n in tensor.value.tolist())


def _outermost(tensor: Tensor) -> Tensor:
    """The tensor that a placeholder in a function's body stands for; else itself."""
    while type(tensor) is not EagerTensor and tensor.op.spec.must_be_fed:
        outer = tensor.op.graph.captured_from(tensor)
        if outer is None:
            break
        tensor = outer
    return tensor


def _shape_from(
    tensor: Tensor, parts: list[_KnownShape] | None, fold: bool
) -> _KnownShape:
    op = tensor.op
    if op.spec.outputs_shape:
        source = op.inputs[tensor.value_index]
        return _hanging(source._shape, [_Blocked(source, source._shape)])
    if op.spec.stacks_scalars:
        sizes, why = zip(*map(_size, op.inputs), strict=True) if op.inputs else ((), ())
        return _hanging(tuple(sizes), [w for w in why if w is not None])
    if parts is not None:
        found = op.spec.joined_shape(op, [part.shape for part in parts])
        if found is not NotImplemented:
            if any(part.hangs_on is None for part in parts):
                return _hanging(found, None)
            return _hanging(found, [w for part in parts for w in part.hangs_on or ()])
    found = _shape_of_value(tensor, fold)
    joins = type(op.spec).shape_sources is not Op.shape_sources
    if joins and not is_full(found.shape):
        return found._replace(hangs_on=None)  # also on the slice's bounds
    return found


def _shape_of_value(tensor: Tensor, fold: bool) -> _KnownShape:
    found, hangs_on = _folded(tensor) if fold else (python_constant_value(tensor), [])
    if found is not None:
        check_rank(np.size(found))
        sizes = np.asarray(found).reshape(-1).tolist()
        check_sizes(sizes)
        return _KnownShape(sizes_of(sizes))
    why = [_Blocked(tensor, tensor._shape), *hangs_on]
    length = None if tensor._shape is None else tensor._shape[0]
    if length is None:
        return _hanging(None, why)
    check_rank(length)
    return _hanging((None,) * length, why)


def _hanging(shape: Shape, why: list[_Blocked] | None) -> _KnownShape:
    if is_full(shape):
        return _KnownShape(shape)
    if why is None:
        return _KnownShape(shape, None)
    distinct = tuple({w.tensor: w for w in why if not is_full(w.shape)}.values())
    return _KnownShape(shape, distinct if len(distinct) <= _MAX_HANGS_ON else None)


def check_rank(rank: int) -> None:
    """Raise ValueError if no shape can have this rank."""
    if rank > MAX_RANK:
        raise ValueError(f"Shape of {rank} sizes has too many dimensions")


def check_sizes(sizes: list[int]) -> None:
    """Raises ValueError for a size below -1, which denotes an unknown one."""
    if sizes and min(sizes) < -1:
        raise ValueError(f"Invalid value in tensor used for shape: {min(sizes)}")


def _size(tensor: Tensor) -> tuple[int | None, _Blocked | None]:
    """One size from a scalar tensor; None if unknown, and why if that may change."""
    found = known_values(tensor.op.graph).folded(tensor, Folding.SIZES)
    if not _is_known(found):
        return None, found if type(found) is _Blocked else None
    return (None if int(found) < 0 else int(found)), None


def _source_of(handle: Tensor) -> Operation:
    """The op that created a resource handle."""
    while True:
        if type(handle) is EagerTensor:
            return handle.source
        op = handle.op
        if op.spec.passes_handle:
            handle = op.inputs[0]
            continue
        if op.spec.passes_handles:
            handle = op.inputs[handle.value_index]
            continue
        returned = None
        if op.spec.calls_function:
            returned = op.spec.returned_by_call(op, handle.value_index)
        if returned is not None:
            handle = returned
            continue
        outer = op.graph.captured_from(handle) if op.spec.must_be_fed else None
        if outer is None:
            return op
        handle = outer


def handle_dtype(handle: Tensor) -> DType:
    """The element type of a resource; float32 if unknown."""
    dtype: DType = getattr(_source_of(handle).spec, "dtype", float32)
    return dtype


def handle_shape(handle: Tensor) -> Shape:
    """The declared shape of a handle's variable, or of its TensorArray's elements."""
    shape: Shape = _source_of(handle).spec.shape_behind()
    return shape
