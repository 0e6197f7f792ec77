"""The names of `tf.compat.v2` in TensorFlow 1.15, and the signatures that changed.

    env -u PYTHONPATH $TFTEACH_ORACLE tests/golden/version_2.py

writes tfteach/compat/names_v2.txt, which `export.py --write` reads, and
version_2.json.  In the list an asterisk follows a name that isn't the object of the
same name in `tf.compat.v1`; in the JSON file are these names and their signatures.
"""

import enum
import inspect
import json
import re
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

HERE = Path(__file__).resolve()
NAMES = HERE.parents[2] / "tfteach" / "compat" / "names_v2.txt"
# Packages whose names are those of `tf.compat.v1`, or those of Keras.
WHOLE = {"raw_ops", "compat", "keras", "losses", "metrics", "optimizers"}


def signature(item):
    """The parameters of a function or class: name, or "name=default"."""
    if inspect.isclass(item):
        item = item.__init__
    found = []
    for name, parameter in inspect.signature(item).parameters.items():
        if name == "self":
            continue
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        text = stars.get(parameter.kind, "") + name
        if parameter.default is not parameter.empty:
            text += f"={shown(parameter.default)}"
        found.append(text)
    return found


def shown(default):
    """A default value as text that's the same on both sides."""
    default = getattr(default, "name", default)  # dtypes, members of enumerations
    if inspect.isclass(default) or inspect.isfunction(default):
        default = default.__name__
    return re.sub(r" object at 0x\w+", "", str(default))


def walk(module, path=""):
    """(package, name, object) of all public names below a module."""
    names = (name for name in sorted(dir(module)) if not name.startswith("_"))
    for name in names:
        item = getattr(module, name)
        if not inspect.ismodule(item) or (path + name) in WHOLE:
            yield path, name, item
        elif re.match("tensor(flow|board)", item.__name__):
            yield from walk(item, f"{path}{name}.")


def record():
    import tensorflow as tf

    first = {package + name: item for package, name, item in walk(tf.compat.v1)}
    packages = {}
    changed = {}
    for package, name, item in walk(tf.compat.v2):
        aliased = package + name in ("raw_ops", "compat")
        is_same = aliased or first.get(package + name) is item
        text = name if is_same else name + "*"
        packages.setdefault(package.rstrip(".") or ".", []).append(text)
        is_enum = inspect.isclass(item) and issubclass(item, enum.Enum)
        if not is_same and callable(item) and not is_enum:
            changed[package + name] = signature(item)
    lines = (f"{package}: {' '.join(names)}\n" for package, names in packages.items())
    NAMES.write_text("".join(lines))
    rows = (f'"{name}": {json.dumps(changed[name])}' for name in sorted(changed))
    HERE.with_suffix(".json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    record()
