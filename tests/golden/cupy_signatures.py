"""What CuPy has: its functions and their parameters, its ufuncs and their types.

`python cupy_signatures.py OUT.json`, where CuPy is installed; it needs no card.
tests/strict_card.py holds our kernels to it.
"""

import importlib
import inspect
import json
import re
import sys

MODULES = ("cupy", "cupy.linalg", "cupy.random", "cupy.fft", "cupyx.scipy.special")
MODULES += ("cupy.lib.stride_tricks",)


def parameters(function):
    """[parameter names]; None where they cannot be known."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return [p.name for p in found]


def method_parameters(method):
    """The same for a method of arrays, by the first line of its documentation."""
    line = str(method.__doc__).split("\n")[0]
    head = re.match(r"[\w.]+\(self,? ?(.*?)\)( ->|$)", line)
    if not callable(method) or head is None or "*" in head[1]:
        return None
    return [re.search(r"(\w+)(=|$)", part)[1] for part in head[1].split(", ") if part]


def described(item):
    """A ufunc's types, a function's parameters, or what else it is."""
    import cupy

    if isinstance(item, cupy.ufunc):
        head = (item.__doc__ or "").split("\n")[0]
        keywords = re.findall(r"(\w+)=", head)
        return {
            "types": list(item.types),
            "keywords": keywords,
            "scatters": item._scatter_op is not None,
        }
    if inspect.isclass(item):
        return "class"
    if callable(item):
        return {"parameters": parameters(item)}
    return "value"


def main(out):
    import cupy

    found = {"version": cupy.__version__, "ndarray": {}}
    for name in dir(cupy.ndarray):
        if not name.startswith("_"):
            method = getattr(cupy.ndarray, name)
            found["ndarray"][name] = {"parameters": method_parameters(method)}
    for module in MODULES:
        content = vars(importlib.import_module(module))
        found[module] = {
            name: described(item)
            for name, item in sorted(content.items())
            if not name.startswith("_") and not inspect.ismodule(item)
        }
    lines = []
    for module, content in found.items():
        if isinstance(content, str):
            lines.append(f" {json.dumps(module)}: {json.dumps(content)}")
            continue
        rows = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in content.items()]
        lines.append(f" {json.dumps(module)}: {{\n" + ",\n".join(rows) + "\n }")
    with open(out, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
