"""Names that NumPy, SciPy and Python dropped since TensorFlow 1's time.

Only a script's own modules see them again: `own_modules.py` gives these the stand-ins
below in place of the real modules, which nothing changes for anybody else.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

# Module -> "name replacement", where the replacement is an attribute of that module,
# `module:attribute` elsewhere, or an expression after "=".
_ROWS = {
    "numpy": """
        int builtins:int
        float builtins:float
        complex builtins:complex
        object builtins:object
        str builtins:str
        unicode builtins:str
        float_ float64
        complex_ complex128
        int0 intp
        uint0 uintp
        object0 object_
        str0 str_
        bytes0 bytes_
        void0 void
        bool8 bool_
        unicode_ str_
        string_ bytes_
        Inf inf
        Infinity inf
        infty inf
        PINF inf
        NINF =-inf
        NaN nan
        NAN nan
        PZERO =0.0
        NZERO =-0.0
        cfloat complex128
        singlecomplex complex64
        longfloat longdouble
        clongfloat clongdouble
        longcomplex clongdouble
        product prod
        cumproduct cumprod
        sometrue any
        alltrue all
        in1d isin
        row_stack vstack
        trapz trapezoid
        round_ round
        alen builtins:len
        rank ndim
        mat asmatrix
        issubclass_ builtins:issubclass
        typeDict sctypeDict
        ComplexWarning exceptions.ComplexWarning
        VisibleDeprecationWarning exceptions.VisibleDeprecationWarning
        RankWarning exceptions.RankWarning
        AxisError exceptions.AxisError
        loads pickle:loads
        asfarray tfteach.compat.running.dropped_names:_asfarray
        asscalar =lambda a: a.item()
        msort =lambda a: sort(a, axis=0)""",
    "numpy.random": """
        random_integers tfteach.compat.running.dropped_names:_random_integers""",
    "scipy.misc": """
        imread tfteach.compat.running.images:imread
        imsave tfteach.compat.running.images:imsave
        imresize tfteach.compat.running.images:imresize
        imrotate tfteach.compat.running.images:imrotate
        toimage tfteach.compat.running.images:toimage
        fromimage tfteach.compat.running.images:fromimage
        bytescale tfteach.compat.running.images:bytescale
        imshow tfteach.compat.running.images:imshow
        logsumexp scipy.special:logsumexp
        factorial scipy.special:factorial
        factorial2 scipy.special:factorial2
        comb scipy.special:comb
        face scipy.datasets:face
        ascent scipy.datasets:ascent""",
    "scipy.ndimage": "imread tfteach.compat.running.images:imread",
    "scipy.integrate": """
        trapz trapezoid
        cumtrapz cumulative_trapezoid
        simps simpson""",
    "scipy.signal": "\n".join(
        f"{name} windows.{name}"
        for name in "hann hamming blackman bartlett gaussian kaiser boxcar triang "
        "flattop nuttall parzen bohman blackmanharris barthann cosine tukey".split()
    ),
    "scipy.stats": "binom_test =lambda *a, **k: binomtest(*a, **k).pvalue",
    "collections": "\n".join(
        f"{name} collections.abc:{name}"
        for name in "Callable Container Hashable Iterable Iterator Mapping "
        "MutableMapping MutableSequence MutableSet Sequence Set Sized".split()
    ),
    "time": "clock perf_counter",
    "fractions": "gcd math:gcd",
    "inspect": "getargspec =lambda f: getfullargspec(f)[:4]",
    "base64": """
        encodestring encodebytes
        decodestring decodebytes""",
}
_SHOWN = {
    "asfarray": "numpy.asarray(a, dtype=float)",
    "asscalar": "a.item()",
    "random_integers": "numpy.random.randint(low, high + 1)",
    "getargspec": "inspect.getfullargspec",
    "binom_test": "scipy.stats.binomtest(...).pvalue",
}

Tell = Callable[[str, str], None]  # of what is gone, and what to write instead


def table(module: str) -> dict[str, str]:
    """Name -> replacement, of a module."""
    rows = (line.split(None, 1) for line in _ROWS.get(module, "").strip().splitlines())
    return {name: replacement.strip() for name, replacement in rows}


class StandIn(ModuleType):
    """A module as a script's own modules see it: with the names that it dropped.

    Args:
      real: the module.
      tell: called at the first use of such a name.
    """

    def __init__(self, real: ModuleType, tell: Tell) -> None:
        super().__init__(real.__name__, real.__doc__)
        for name in ("__path__", "__file__", "__spec__", "__all__", "__version__"):
            if hasattr(real, name):
                self.__dict__[name] = getattr(real, name)
        self.__dict__.update(_real=real, _tell=tell, _rows=table(real.__name__))

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = self._lookup(name)
        return found

    def _lookup(self, name: str) -> Any:
        real, tell = self._real, self._tell
        changed = _CHANGED.get((real.__name__, name))
        if changed is not None:
            return changed(getattr(real, name), tell)
        inner = f"{real.__name__}.{name}"
        if inner in _ROWS:
            module = sys.modules.get(inner)
            if module is None and name in ("misc",):
                module = _misc()
            if module is not None:
                return stand_in(module, tell)
        if name in self._rows:
            found = self._replaced(name)
            if found is not None:
                return found[0]
        try:
            return getattr(real, name)
        except AttributeError:
            if real.__name__ == "scipy" and not name.startswith("_"):
                numpy = stand_in(importlib.import_module("numpy"), tell)
                found = getattr(numpy, name, None)
                if found is not None:
                    tell(f"scipy.{name} is gone from SciPy", f"numpy.{name}")
                    return found
            raise

    def _replaced(self, name: str) -> tuple[Any] | None:
        real = self._real
        if name in vars(real):
            return None  # this version still has it
        replacement = self._rows[name]
        place, _, attribute = replacement.rpartition(":")
        if replacement.startswith("="):
            value = eval(replacement[1:], vars(real))
            instead = replacement[1:].partition(": ")[2] or replacement[1:]
        else:
            value = importlib.import_module(place) if place else real
            for part in attribute.split("."):
                value = getattr(value, part)
            outside = place and not place.startswith("tfteach.")
            instead = attribute if place == "builtins" else f"{place}.{attribute}"
            if not place:
                instead = f"{real.__name__}.{attribute}"
            elif not outside:
                instead = "PIL.Image (Pillow), or imageio"
        self._tell(f"{real.__name__}.{name} is gone", _SHOWN.get(name, instead))
        return (value,)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)
        self.__dict__[name] = value

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._real), *self._rows})

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self._real.__name__,)


def _misc() -> ModuleType:
    """`scipy.misc`, which later versions lack altogether."""
    try:
        return importlib.import_module("scipy.misc")
    except ImportError:
        return ModuleType("scipy.misc")


_stand_ins: dict[str, StandIn] = {}


def stand_in(module: ModuleType, tell: Tell) -> StandIn:
    """The stand-in of a module."""
    name = module.__name__
    if name not in _stand_ins:
        _stand_ins[name] = StandIn(module, tell)
    return _stand_ins[name]


def imported(name: str, real: Callable[[], Any], tell: Tell) -> Any:
    """What `import` of a module gives to a script's own module.

    Args:
      name: the module's.
      real: imports it: `__import__`'s result.
      tell: see `StandIn`.
    """
    if name == "scipy.misc":
        sys.modules.setdefault(name, _misc())
    found = real()
    wanted = {*_ROWS, "scipy"}
    if isinstance(found, ModuleType) and found.__name__ in wanted:
        return stand_in(found, tell)
    return found


# ---- functions that are there, but refuse what old code passes


def _reshape(real: Any, tell: Tell) -> Any:
    def reshape(a: Any, *args: Any, **kwargs: Any) -> Any:
        if "newshape" in kwargs:
            tell("reshape(newshape=...) is gone from NumPy", "reshape(a, shape)")
            kwargs["shape"] = kwargs.pop("newshape")
        return real(a, *args, **kwargs)

    return reshape


def _array(real: Any, tell: Tell) -> Any:
    def array(*args: Any, **kwargs: Any) -> Any:
        if "copy" in kwargs and not kwargs["copy"] and kwargs["copy"] is not None:
            tell("array(copy=False) raises an error where it must copy", "copy=None")
            kwargs["copy"] = None
        return ragged(*args, **kwargs)

    ragged = _of_ragged_rows(real, tell)
    return array


def _of_ragged_rows(real: Any, tell: Tell) -> Any:
    """Rows of different lengths become an array of objects, as before NumPy 1.24."""

    def array(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except ValueError as error:
            has_dtype = len(args) > 1 or kwargs.get("dtype") is not None
            if has_dtype or "inhomogeneous" not in str(error):
                raise
        tell(
            f"numpy.{real.__name__} refuses rows of different lengths without a dtype",
            f"numpy.{real.__name__}(a, dtype=object)",
        )
        return real(*args, **{**kwargs, "dtype": object})

    return array


_CHANGED: dict[tuple[str, str], Callable[[Any, Tell], Any]] = {
    ("numpy", "reshape"): _reshape,
    ("numpy", "array"): _array,
    ("numpy", "asarray"): _of_ragged_rows,
}

# ---- methods of arrays, which are rewritten where they are called


def _asfarray(a: Any, dtype: Any = float) -> Any:
    numpy = _numpy()
    return numpy.asarray(a, dtype if numpy.issubdtype(dtype, numpy.inexact) else float)


def _random_integers(low: int, high: int | None = None, size: Any = None) -> Any:
    least, most = (1, low) if high is None else (low, high)
    return _numpy().random.randint(least, most + 1, size)


def _itemset(a: Any, *args: Any) -> None:
    *index, value = args
    if len(index) == 1 and not isinstance(index[0], tuple):
        a.flat[index[0]] = value
    else:
        a[tuple(index[0]) if len(index) == 1 else tuple(index)] = value


METHODS: dict[str, tuple[Callable[..., Any], str]] = {
    "ptp": (lambda a, *args, **kw: _numpy().ptp(a, *args, **kw), "numpy.ptp(a)"),
    "itemset": (_itemset, "a[index] = value"),
    "tostring": (lambda a, *args: a.tobytes(*args), "a.tobytes()"),
    "newbyteorder": (
        lambda a, *args: a.view(a.dtype.newbyteorder(*args)),
        "a.view(a.dtype.newbyteorder(...))",
    ),
}


def _numpy() -> Any:
    return importlib.import_module("numpy")


def method(owner: Any, name: str, tell: Tell) -> Any:
    """`owner.name`; for NumPy's arrays also what they dropped."""
    numpy = _numpy()
    if isinstance(owner, numpy.ndarray | numpy.generic) and not hasattr(owner, name):
        function, instead = METHODS[name]
        tell(f"ndarray.{name} is gone from NumPy", instead)
        return lambda *args, **kwargs: function(owner, *args, **kwargs)
    return getattr(owner, name)
