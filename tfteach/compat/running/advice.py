"""What to write instead, for exceptions that old scripts end with."""

from __future__ import annotations

import re

# (type of the exception, pattern of its message, advice); \1 is the pattern's group.
_ADVICE = (
    (
        "ValueError",
        r"Object arrays cannot be loaded when allow_pickle=False",
        "if you trust the file, write np.load(..., allow_pickle=True): loading it may "
        "run code",
    ),
    (
        "ValueError",
        r"setting an array element with a sequence.*inhomogeneous",
        "rows of different lengths need np.array(..., dtype=object)",
    ),
    (
        "ValueError",
        r"Unable to avoid copy while creating an array",
        "write np.asarray(a)",
    ),
    (
        "UnicodeDecodeError",
        r"'(?:ascii|utf-8)' codec can't decode byte",
        "for a pickle of Python 2 write pickle.load(file, encoding='latin1'), for text "
        "open(path, encoding='latin1'), for bytes open(path, 'rb')",
    ),
    (
        "TypeError",
        r"a bytes-like object is required, not 'str'",
        "write b'...', or text.encode()",
    ),
    (
        "TypeError",
        r"can only concatenate str \(not \"bytes\"\)|write\(\) argument must be str",
        "write data.decode(), or open the file with 'b'",
    ),
    (
        "TypeError",
        r"'float' object cannot be interpreted as an integer|slice indices must be int",
        "a size or an index became a float: write a // b, or int(...)",
    ),
    (
        "IndexError",
        r"only integers, slices .* are valid indices",
        "an index became a float: write a // b, or int(...)",
    ),
    (
        "TypeError",
        r"Value passed to parameter '\w+' has DataType float(?:32|64) not in list of "
        r"allowed values: int32, int64$",
        "a size or an index became a float: write a // b, or int(...)",
    ),
    (
        "TypeError",
        r"Value passed to parameter '\w+' has DataType u?int(?:8|16) not in list of "
        r"allowed values: int32, int64$",
        "NumPy 2 keeps x's small type in x + 1, NumPy 1 made it int64: write int(x)",
    ),
    (
        "TypeError",
        r"only integer scalar arrays can be converted to a scalar index|"
        r"only 0-dimensional arrays can be converted to Python scalars|"
        r"a real number is required, not numpy.ndarray|"
        r"unsupported format string passed to numpy.ndarray",
        "NumPy 2 takes no array of one number for a number: write a.item()",
    ),
    (
        "TypeError",
        r"'(?:dict_keys|dict_values|dict_items|map|filter|zip|range)' object "
        r"(?:is not subscriptable|does not support|has no)",
        "write list(...) around it",
    ),
    (
        "TypeError",
        r"'<' not supported between instances of",
        "values of different types have no order: give a key=...",
    ),
    ("AttributeError", r"'dict' object has no attribute 'has_key'", "key in d"),
    (
        "AttributeError",
        r"'dict' object has no attribute 'iter(items|keys|values)'",
        r"write d.\1()",
    ),
    (
        "AttributeError",
        r"'str' object has no attribute 'decode'",
        "the text is decoded already: leave .decode(...) out",
    ),
    (
        "AttributeError",
        r"module 'string' has no attribute '(letters|lowercase|uppercase)'",
        r"write string.ascii_\1",
    ),
    (
        "AttributeError",
        r"module 'string' has no attribute '(join|split|replace|strip|lower|upper)'",
        r"write the method of the text: text.\1(...)",
    ),
    (
        "AttributeError",
        r"'function' object has no attribute 'func_(\w+)'",
        r"write .__\1__",
    ),
    (
        "AttributeError",
        r"'generator' object has no attribute 'next'",
        "write next(...)",
    ),
    (
        "RuntimeError",
        r"dictionary changed size during iteration",
        "iterate over list(d)",
    ),
)
# Modules whose package has another name.
_PACKAGES = {
    "cv2": "opencv-python",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "yaml": "PyYAML",
    "Image": "Pillow, and write from PIL import Image",
    "bs4": "beautifulsoup4",
    "mpl_toolkits": "matplotlib",
    "dateutil": "python-dateutil",
}
_GONE = {
    "imp": "write importlib",
    "cgi": "write urllib.parse, or html.escape",
    "distutils": "write setuptools, or shutil",
    "theano": "Theano is no longer maintained: pip install pytensor",
}


def advice(error: BaseException) -> str:
    """What to write instead; "" if that is not known."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        if top in ("tensorflow", "tfteach"):
            return ""  # its message says it
        if top in _GONE:
            return _GONE[top]
        return f"pip install {_PACKAGES.get(top, top)}"
    for kind, pattern, text in _ADVICE:
        if kind not in (base.__name__ for base in type(error).__mro__):
            continue
        matched = re.search(pattern, str(error), re.S)
        if matched:
            return matched.expand(text) if matched.groups() else text
    return ""
