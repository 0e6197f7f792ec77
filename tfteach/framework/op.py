"""`Op`: what one operation type is, in one class; and the registry of them all.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, dataclass_transform

from tfteach.framework import dtypes
from tfteach.framework.attributes import CONVERTERS
from tfteach.framework.dtypes import DType

if TYPE_CHECKING:
    from tfteach.framework.graph import Operation, Tensor

OPS: dict[str, type[Op]] = {}


class Arg(NamedTuple):
    """One input or output of a signature."""

    name: str
    dtype: DType | None = None  # a fixed type,
    type_attr: str = ""  # or the attribute that names the type (or the type list)
    number_attr: str = ""  # the attribute that counts, for `N*T`
    is_list: bool = False  # `*Ts`
    is_ref: bool = False

    @property
    def is_sequence(self) -> bool:
        """Whether this argument stands for several tensors."""
        return self.is_list or bool(self.number_attr)


class Piece(NamedTuple):
    """A part of a kernel's work: a function of one array, which it may change.

    Attributes:
      function: of the array, which is the kernel's own but for the first piece.
      scalar: an expression of `{0}` for one element, if there is any.
    """

    function: Callable[[Any], Any]
    scalar: str | None


def parse_args(text: str) -> tuple[Arg, ...]:
    """The arguments of one side of a signature."""
    args = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, kind = (p.strip() for p in part.split(":"))
        is_ref = kind.startswith("ref ")
        kind = kind.removeprefix("ref ").strip()
        if kind.startswith("*"):
            args.append(Arg(name, type_attr=kind[1:], is_list=True, is_ref=is_ref))
            continue
        number, star, kind_name = kind.rpartition("*")
        try:
            dtype, type_attr = dtypes.dtypes_of(kind_name)[0], ""
        except KeyError:  # NumPy's names do not count: "S" is a type attribute
            dtype, type_attr = None, kind_name
        args.append(Arg(name, dtype, type_attr, number if star else "", False, is_ref))
    return tuple(args)


def _positions(op: type[Op]) -> tuple[int, ...] | None:
    """Positions of the inputs named by `check_shapes`, from the end behind a list."""
    code = op.check_shapes.__code__
    if code.co_flags & inspect.CO_VARARGS:
        return None
    names = [arg.name for arg in op.inputs]
    lists = [i for i, arg in enumerate(op.inputs) if arg.is_sequence]
    found = []
    for name in code.co_varnames[1 : code.co_argcount]:
        i = names.index(name)
        found.append(i - len(names) if lists and i > lists[0] else i)
    return tuple(found)


@dataclass_transform(frozen_default=True)
class Op:
    """Base of all operation types; see the module's text."""

    signature: ClassVar[str] = "->"
    op_type: ClassVar[str]
    inputs: ClassVar[tuple[Arg, ...]] = ()
    outputs: ClassVar[tuple[Arg, ...]] = ()
    fields: ClassVar[dict[str, str]] = {}  # attribute -> its annotation
    defaults: ClassVar[dict[str, Any]] = {}
    doc: ClassVar[str] = ""

    is_stateful: ClassVar[bool] = False
    # Whether an output may share memory with an input or with the session's state.
    aliases: ClassVar[bool] = False
    # Inputs that `infer_shape` gets by constant value (an array, or None if unknown)
    # and those it gets as a partly known shape, instead of by their static shape.
    by_value: ClassVar[tuple[str, ...]] = ()
    by_shape: ClassVar[tuple[str, ...]] = ()
    # Inputs that it gets as an array if they are constant, else by their static shape.
    by_value_or_shape: ClassVar[tuple[str, ...]] = ()
    # Resource inputs that it gets as the static shape of the variable behind them.
    by_handle: ClassVar[tuple[str, ...]] = ()
    # Whether the kernel looks at nothing but its inputs' shapes (and their type).
    takes_only_shapes: ClassVar[bool] = False
    # Whether the kernel only looks up a resource of the session (a variable's buffer):
    # it then runs once, when a step is compiled.
    gives_handle: ClassVar[bool] = False
    # Inputs that a GPU kernel wants in host memory (shapes, axes).
    host_inputs: ClassVar[tuple[str, ...]] = ()
    # Whether each element of the output depends on the inputs' elements there only.
    is_elementwise: ClassVar[bool] = False
    # Whether the cores had better share its work (framework/threads.py).
    is_heavy: ClassVar[bool] = False
    # Whether TensorFlow takes the kernel for worth a place in a trace of the threads.
    is_expensive: ClassVar[bool] = True
    # Whether a GPU has this kernel.
    on_gpu: ClassVar[bool] = True
    # Whether the kernel calls a function of the user's, which can do anything.
    calls_python: ClassVar[bool] = False
    # Whether its output goes back to the beginning of a loop.
    closes_loop: ClassVar[bool] = False
    # Whether `check_shapes` looks at ranks only, so that known ones will do.
    checks_only_ranks: ClassVar[bool] = False
    # Whether the kernel may be skipped in favour of its inputs' constants.
    is_foldable: ClassVar[bool] = True

    # The least value of attributes that are ints, the least length of those that are
    # lists or stand for lists of inputs, where TF's definition has one (`N*T`: or 1).
    minimum: ClassVar[Mapping[str, int]] = {}
    # The ranks of inputs that `infer_shape` does not get by shape; `1` stands for the
    # rank 1, `(0, 1)` for both.
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {}

    _interned: ClassVar[dict[Any, Op]] = {}
    _inferred: dict[Any, Any]

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {
            name: annotation
            for name, annotation in inspect.get_annotations(cls).items()
            if not name.startswith("_") and "ClassVar" not in str(annotation)
        }
        cls.fields = {**cls.fields, **{k: str(v) for k, v in own.items()}}
        cls.defaults = {
            **cls.defaults,
            **{name: cls.__dict__[name] for name in own if name in cls.__dict__},
        }
        if "signature" in cls.__dict__:
            left, _, right = cls.signature.partition("->")
            cls.inputs, cls.outputs = parse_args(left), parse_args(right)
            cls._by_shape_only = not (
                cls.by_value or cls.by_value_or_shape or cls.by_shape or cls.by_handle
            )
            cls._has_lists = any(arg.is_sequence for arg in cls.inputs)
            cls._ref_inputs = tuple(i for i, arg in enumerate(cls.inputs) if arg.is_ref)
        if cls.check_shapes is not Op.check_shapes and not abstract:
            cls._checked_inputs = _positions(cls)
        cls._interned = {}
        cls._truths = "bool" in cls.fields.values()
        if not abstract:
            cls.op_type = cls.__dict__.get("op_type", cls.__name__)
            OPS[cls.op_type] = cls

    _by_shape_only: ClassVar[bool] = True
    _ref_inputs: ClassVar[tuple[int, ...]] = ()  # positions of the `ref` arguments
    _has_lists: ClassVar[bool] = False  # whether some argument is a list of tensors
    _truths: ClassVar[bool] = False  # whether some attribute is a bool
    # Why no node may have these attributes: TF says so once it has seen the inputs.
    _refusal: ValueError | None = None
    # Positions of the inputs whose shapes `check_shapes` gets; None: of all.
    _checked_inputs: ClassVar[tuple[int, ...] | None] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        key: Any = (args, tuple(kwargs.items())) if kwargs else args
        if cls._truths:  # 1 equals True, but is none
            key = (*key, *map(type, (*args, *kwargs.values()) if kwargs else args))
        try:
            return cls._interned[key]  # type: ignore[return-value]
        except KeyError:
            op = cls._make(args, kwargs)
        except TypeError:  # an unhashable attribute: an op of its own
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
        try:
            op._check_minimum()
            op.validate()
        except ValueError as error:
            object.__setattr__(op, "_refusal", error)
        return op

    def _check_minimum(self) -> None:
        for name, least in self.minimum.items():
            if name not in self.fields:
                continue  # of a list of inputs
            value = getattr(self, name)
            found = value if isinstance(value, int) else len(value)
            if found < least:
                passed = found if value is found else f"list of length {found}"
                raise ValueError(
                    f"Attr '{name}' of '{self.op_type}' Op passed {passed} less than "
                    f"minimum {least}."
                )

    def check_attributes(self) -> None:
        """Raise ValueError if no node may have these attributes."""
        if self._refusal is not None:
            raise ValueError(*self._refusal.args)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self.op_type} is immutable: use replace({name}=...)")

    @classmethod
    def allowed_types(cls, attribute: str) -> tuple[DType, ...] | None:
        """The types that a type attribute may have; None if it may have any."""
        found = getattr(cls, attribute + "_allowed", None)
        if found is None and attribute not in cls.fields:
            found = getattr(cls, attribute, None)
        return found

    @property
    def attributes(self) -> tuple[Any, ...]:
        """The attribute values, in the order of the fields."""
        return tuple(getattr(self, name) for name in type(self).fields)

    def replace(self, **changes: Any) -> Self:
        """This op with some attributes changed."""
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

    # ---- the rules of an op, for subclasses

    def validate(self) -> None:
        """Check the attributes; raise ValueError with what is allowed."""

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        """The output's static shape (a list of them for several outputs).

        Gets one argument per input: its shape (a tuple or None), or what `by_value`
        and `by_shape` say; for `N*T` and `*Ts` a list of those.  Raises ValueError
        when the inputs can never fit.
        """
        outputs = type(self).outputs
        return None if len(outputs) == 1 else [None] * len(outputs)

    def check_shapes(self, *inputs: Any, **_: Any) -> None:
        """Raise TensorFlow's error for shapes that the kernel cannot compute with.

        Its parameters are named as inputs of the signature, of which there may be more;
        each is a shape.  With `*shapes` it gets all, sequences one after the other.
        Called in runs, before the kernel, where these inputs' static shapes leave a
        doubt: the kernel relies on ranks and sizes, and costs nothing more in all other
        programs.  What depends on the inputs' numbers is for the kernel to check.
        """

    def compute(self, *inputs: Any, **_: Any) -> Any:
        """The output array (a tuple for several), from `xp` and the input arrays.

        A stateful op gets a context instead of `xp`; for `N*T` and `*Ts` the tensors
        arrive one after the other as separate arguments.
        """
        raise NotImplementedError(f"{self.op_type} has no kernel")

    def gradient(self, *inputs: Any, **_: Any) -> Any:
        """Tensors: d loss / d input for each input (None where there is none).

        Gets the `Operation` and the gradient with respect to each output.
        """
        raise LookupError(f"No gradient defined for operation of type {self.op_type}")

    def expression(self, *inputs: Any, **_: Any) -> str | None:
        """Python source that computes the output from these names, if there is any."""
        return None

    def scalar_expression(self, *inputs: Any, **_: Any) -> str | None:
        """The same for single floats (of one type) and truths, for a compiler.

        May call sqrt.  Whole numbers in it are of the type of the floats.
        """
        return self.expression(*inputs)

    def pieces(self) -> Sequence[Piece]:
        """Functions that one after the other compute the same from the one input.

        For a compiler that would rather have an exponential by itself.
        """
        return ()

    def prepared(self, xp: Any, values: list[Any]) -> Callable[..., Any] | None:
        """A quicker kernel for inputs that are the same in every run, if there is one.

        Args:
          xp: NumPy or CuPy.
          values: the constant values of the inputs, None where a run decides.

        Returns:
          A function of all inputs, as `compute` after `xp`.
        """
        return None

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        """Index of the input that the output certainly equals, or None.

        Args:
          inputs: the static shapes of the inputs.
          output: the static shape of the output.
          values: the constant values of the inputs, None where a run decides.
        """
        return None

    def forwards_but_signed_zeros(
        self, inputs: list[Any], output: Any, values: list[Any]
    ) -> int | None:
        """As `forwards`, but 0 and -0 count as equal."""
        return self.forwards(inputs, output, values)

    def fetched(self, output: Tensor, value: Any) -> Any:
        """The value that a session returns when this output is fetched."""
        return value

    def output_dtypes(self, bound: dict[str, Any]) -> list[DType]:
        """The output types, given what the inputs bind and this op's attributes."""
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

    def __call__(self, *values: Any, name: str | None = None) -> Any:
        """Add a node of this type to the graph of the inputs, or the default graph.

        Args:
          *values: one per input of the signature; what is no Tensor is converted.
          name: the node's name (made unique); the op type if None.

        Returns:
          The output Tensor; a list of them if the signature has several or a
          sequence; the `Operation` if it has none.
        """
        return build(self, values, name)


# The way from an op and its inputs to a node is `framework/build.py`; it registers
# itself here because the graph classes in turn need `Op`.
def build(op: Op, values: tuple[Any, ...], name: str | None) -> Any:
    raise RuntimeError("tfteach.framework.build is not loaded")


class StatefulOp(Op, abstract=True):
    """An op whose result depends on more than its inputs, or that has side effects.

    `compute` gets a context (`xp`, resources, random streams) instead of `xp`.
    """

    is_stateful: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False


def split_args(
    args: Iterable[Arg], tensors: Iterable[Tensor], op: Operation
) -> list[Any]:
    """Group a node's flat inputs or outputs by the signature's arguments."""
    flat = iter(tensors)
    groups: list[Any] = []
    for arg in args:
        if arg.is_sequence:
            key = arg.number_attr or arg.type_attr
            size = op.get_attr(key)
            count = size if isinstance(size, int) else len(size)
            groups.append([next(flat) for _ in range(count)])
        else:
            groups.append(next(flat))
    return groups
