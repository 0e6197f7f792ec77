"""`Op`: one operation type in one class; and the registry of all types.

A subclass states its signature, its attributes (the class's annotated fields) and four
rules: `infer_shape`, `compute`, `gradient` and, for the code generator, `expression`.
Instances are immutable and interned, so two equal ops are one object, and everything
that depends only on an op and its input types is remembered on it.

    class MatMul(Op):
        signature = "a: T, b: T -> product: T"
        T = dtypes_of("float32 float64")
        transpose_a: bool = False
        ...

    MatMul(transpose_a=True)(x, y, name="xy")     # adds a node to the graph

A signature lists inputs and outputs as `name: type`, where a type is a TF type name
("int32"), a type attribute ("T"), `N*T` (N tensors of one type), `*Ts` (a list of any
types), and may have `ref ` before it.  Type attributes get their allowed types from a
class attribute of the same name, `T = dtypes_of(...)`, and a default type from
`T_default`.  Where the type attribute is a field (no input gives it), the allowed types
are `T_allowed`.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from tfteach.framework.attributes import CONVERTERS
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import DType
from tfteach.framework.op_rules import Rules
from tfteach.framework.op_traits import Role
from tfteach.framework.signature import checked_positions, parse_args

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph, Operation, Tensor

OPS: dict[str, type[Op]] = {}  # types whose modules are imported
ROLES: dict[Role, type[Op]] = {}


def find_op(op_type: str) -> type[Op] | None:
    """The class of an op type, imported if necessary; None if unknown."""
    found = OPS.get(op_type)
    if found is None:
        import_op(op_type)
        found = OPS.get(op_type)
    return found


def op_class(op_type: str) -> type[Op]:
    """The class of an op type; for an unknown one `Op`, which has no traits."""
    return find_op(op_type) or Op


# The ops package, which knows their modules, registers its function here.
def import_op(op_type: str) -> None:
    """Import the module that defines an op type, if there is one."""


@dataclass_transform(frozen_default=True)
class Op(Rules):
    """Base of all operation types; see the module's docstring, `Rules` and `Traits`."""

    signature: ClassVar[str] = "->"
    fields: ClassVar[dict[str, str]] = {}  # attribute -> its annotation
    defaults: ClassVar[dict[str, Any]] = {}
    doc: ClassVar[str] = ""

    _interned: ClassVar[dict[Any, Op]] = {}
    _inferred: dict[Any, Any]
    eager_kernels: dict[Any, Any]  # by the inputs' types (engine/eager/execute.py)
    eager_kernel: Any = None  # of the last call
    # The last pair of input types, their kernel and the result's type.
    eager_pair: tuple[Any, Any, Any, Any] = (None, None, None, None)

    def __init_subclass__(
        cls, abstract: bool = False, role: Role | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        own = {
            name: annotation
            for name, annotation in inspect.get_annotations(cls).items()
            if not name.startswith("_") and "ClassVar" not in str(annotation)
        }
        if own:  # otherwise those of the first base that has any
            cls.fields = {**cls.fields, **{k: str(v) for k, v in own.items()}}
            cls.defaults = {
                **cls.defaults,
                **{name: cls.__dict__[name] for name in own if name in cls.__dict__},
            }
        if "signature" in cls.__dict__:
            left, _, right = cls.signature.partition("->")
            cls.inputs, cls.outputs = parse_args(left), parse_args(right)
            cls._by_shape_only = not (
                cls.by_value
                or cls.by_value_or_shape
                or cls.by_shape
                or cls.by_type
                or cls.by_handle
                or cls.by_list
            )
            cls._has_lists = any(arg.is_sequence for arg in cls.inputs)
            cls._ref_inputs = tuple(i for i, arg in enumerate(cls.inputs) if arg.is_ref)
        if cls.check_shapes is not Op.check_shapes and not abstract:
            cls._checked_inputs = checked_positions(cls)
        cls._interned = {}
        cls._truths = "bool" in cls.fields.values()
        if not abstract:
            cls.op_type = cls.__dict__.get("op_type", cls.__name__)
            OPS[cls.op_type] = cls
            if role is not None:
                ROLES[role] = cls

    _by_shape_only: ClassVar[bool] = True
    _ref_inputs: ClassVar[tuple[int, ...]] = ()  # positions of the `ref` arguments
    _has_lists: ClassVar[bool] = False  # whether some argument is a list of tensors
    _truths: ClassVar[bool] = False  # whether some attribute is a bool
    _is_refused: bool = False  # whether TF rejects the attributes, after the inputs
    # Positions of the inputs whose shapes `check_shapes` receives; None: all.
    _checked_inputs: ClassVar[tuple[int, ...] | None] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        key: Any = (args, tuple(kwargs.items())) if kwargs else args
        if cls._truths:  # 1 equals True, but is not a bool
            key = (*key, *map(type, (*args, *kwargs.values()) if kwargs else args))
        try:
            return cls._interned[key]  # type: ignore[return-value]
        except KeyError:
            op = cls._make(args, kwargs)
        except TypeError:  # an unhashable attribute: not interned
            return cls._make(args, kwargs)
        try:
            op = cls._interned.setdefault(op.attributes, op)  # type: ignore[assignment]
            return cls._interned.setdefault(key, op)  # type: ignore[return-value]
        except TypeError:  # an unhashable default
            return op

    @classmethod
    def _make(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Self:
        if len(args) > len(cls.fields):
            raise TypeError(f"{cls.op_type} has {len(cls.fields)} attributes")
        values = {**cls.defaults, **dict(zip(cls.fields, args, strict=False)), **kwargs}
        if values.keys() != cls.fields.keys():
            unknown = sorted(values.keys() - cls.fields.keys())
            missing = sorted(cls.fields.keys() - values.keys())
            raise TypeError(
                f"{cls.op_type}: unknown attributes {unknown}, missing {missing}"
            )
        op = object.__new__(cls)
        for name, annotation in cls.fields.items():
            value = values[name]
            if value is None and cls.defaults.get(name) is not None:
                value = cls.defaults[name]
            elif annotation in CONVERTERS:
                value = CONVERTERS[annotation](name, value)
            object.__setattr__(op, name, value)
        object.__setattr__(op, "_inferred", {})
        object.__setattr__(op, "eager_kernels", {})
        try:
            op._check_minimum()
            op.validate()
        except ValueError:
            object.__setattr__(op, "_is_refused", True)
        return op

    def _check_minimum(self) -> None:
        for name, least in self.minimum.items():
            if name not in self.fields:
                continue  # a list of inputs
            value = getattr(self, name)
            found = value if isinstance(value, int) else len(value)
            if found < least:
                passed = found if value is found else f"list of length {found}"
                raise ValueError(
                    f"Attr '{name}' of '{self.op_type}' Op passed {passed} less than "
                    f"minimum {least}."
                )

    def check_attributes(self) -> None:
        """Raise ValueError for attributes that no node may have."""
        if self._is_refused:
            self._check_minimum()
            self.validate()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self.op_type} is immutable: use replace({name}=...)")

    @classmethod
    def allowed_types(cls, attribute: str) -> tuple[DType, ...] | None:
        """The types that a type attribute may have; None for any."""
        found = getattr(cls, attribute + "_allowed", None)
        if found is None and attribute not in cls.fields:
            found = getattr(cls, attribute, None)
        return found

    @property
    def attributes(self) -> tuple[Any, ...]:
        """The attribute values, in the order of the fields."""
        return tuple(getattr(self, name) for name in type(self).fields)

    def replace(self, **changes: Any) -> Self:
        """A copy of this op with some attributes replaced."""
        values = dict(zip(self.fields, self.attributes, strict=True))
        return type(self)(**{**values, **changes})

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return bool(self.attributes == other.attributes)

    def __hash__(self) -> int:
        return hash((self.op_type, self.attributes))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.attributes

    def __repr__(self) -> str:
        pairs = zip(self.fields, self.attributes, strict=True)
        return f"{self.op_type}({', '.join(f'{k}={v!r}' for k, v in pairs)})"

    def output_dtypes(self, bound: dict[str, Any]) -> list[DType]:
        """The output types, given the bound types and this op's attributes."""
        found: list[DType] = []
        for arg in type(self).outputs:
            kind: Any = arg.dtype
            if kind is None:
                kind = bound.get(arg.type_attr, getattr(self, arg.type_attr, None))
            if arg.is_list:
                kinds = list(kind)
            elif arg.number_attr:
                number = bound.get(arg.number_attr)
                number = getattr(self, arg.number_attr) if number is None else number
                kinds = [kind] * number
            else:
                kinds = [kind]
            found += [k.as_ref for k in kinds] if arg.is_ref else kinds
        return found

    def __call__(self, *values: Any, name: str | None = None) -> Tensor:
        """Add a node of this type to the inputs' graph, or the default one; or run it.

        Args:
          *values: one per input of the signature; converted to Tensors.
          name: the node's name (made unique); the op type if None.

        Returns:
          The output Tensor; a list of them for a `MultiOutputOp`, the `Operation` for
          a `NoOutputOp`.
        """
        graph = get_default_graph()
        if graph.is_eager:
            return graph.execute(self, values, name)  # type: ignore[no-any-return]
        return build(graph, self, values, name)  # type: ignore[no-any-return]


# Registered by `framework/build.py`: the graph classes in turn import `Op`.
def build(graph: Graph, op: Op, values: tuple[Any, ...], name: str | None) -> Any:
    raise RuntimeError("tfteach.framework.build is not loaded")


class MultiOutputOp(Op, abstract=True):
    """An op whose signature has several outputs, or a sequence of them."""

    if TYPE_CHECKING:

        def __call__(  # type: ignore[override]
            self, *values: Any, name: str | None = None
        ) -> list[Tensor]: ...


class NoOutputOp(Op, abstract=True):
    """An op without outputs, which runs for its side effect."""

    if TYPE_CHECKING:

        def __call__(  # type: ignore[override]
            self, *values: Any, name: str | None = None
        ) -> Operation: ...


class StatefulOp(Op, abstract=True):
    """An op that has state or side effects.

    `compute` gets a context (`xp`, resources, random streams) instead of `xp`.
    """

    is_stateful: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
