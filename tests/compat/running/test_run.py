"""`python -m tfteach run`: old scripts and notebooks run as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfteach
from tests.compat.running.programs import Run, notebook, script
from tfteach.compat.running.advice import advice

NAMES = """\
import collections, time
import numpy, numpy as np
import scipy.misc
from numpy import asfarray, random
from scipy import integrate, misc
a = np.zeros((2, 3), dtype=np.float)
print(np.int is int, np.zeros(1, np.bool).dtype, numpy.object is object, np.Inf)
print(np.product([2, 3]), asfarray([1]).dtype, np.asscalar(np.ones(1)), np.NINF)
print(np.reshape(a, newshape=(3, 2)).shape, np.array(a.T, copy=False).shape)
a.itemset((0, 1), 5.0)
print(a.ptp(), len(a.tostring()), a[0, 1], "text".encode().hex())
scipy.misc.imsave("f.png", np.arange(64, dtype=np.uint8).reshape(8, 8))
image = misc.imread("f.png")
print(image.shape, image[7, 7], misc.imresize(image, 50).shape)
print(misc.imresize(image, (4, 2)).dtype, misc.logsumexp([0.0]), scipy.misc.comb(4, 2))
print(integrate.simps([0.0, 1.0, 2.0]), isinstance([], collections.Iterable))
print(random.random_integers(3, 3), time.clock() > 0, np.int(3.5))
np.random.seed(1)
"""


def test_dropped_names(run: Run, tmp_path: Path) -> None:
    done = run(script(tmp_path, NAMES), "old.py")
    assert done.status == 0, done.errors
    assert done.output == [
        "True bool True inf",
        "6 float64 1.0 -inf",
        "(3, 2) (3, 2)",
        "5.0 48 5.0 74657874",
        "(8, 8) 63 (4, 4)",
        "uint8 0.0 6.0",
        "2.0 True",
        "3 True 3",
    ]
    told = {line.split(": ", 1)[1]: line.split(": ")[0] for line in done.told}
    for line, text in (
        (4, "numpy.asfarray is gone: write numpy.asarray(a, dtype=float)"),
        (6, "numpy.float is gone: write float"),
        (7, "numpy.int is gone: write int"),
        (8, "numpy.product is gone: write numpy.prod"),
        (9, "reshape(newshape=...) is gone from NumPy: write reshape(a, shape)"),
        (11, "ndarray.ptp is gone from NumPy: write numpy.ptp(a)"),
        (12, "scipy.misc.imsave is gone: write PIL.Image (Pillow), or imageio"),
        (15, "scipy.misc.comb is gone: write scipy.special.comb"),
        (16, "collections.Iterable is gone: write collections.abc.Iterable"),
    ):
        assert told[text] == f"old.py:{line}"
    assert len(done.told) == len(set(done.told))


RAGGED = """\
import numpy as np
rows = np.array([([1, 2], 0), ([3], 1)])
print(rows.shape, rows.dtype, rows[1, 0], np.asarray([[1], [2, 3]]).shape)
print(np.array([[1, 2], [3, 4]]).dtype.kind)
np.array([[1], [2, 3]], dtype=float)
"""


def test_rows_of_different_lengths(run: Run, tmp_path: Path) -> None:
    done = run(script(tmp_path, RAGGED), "old.py")
    assert done.output == ["(2, 2) object [3] (2,)", "i"]
    assert "line 5" in done.errors
    assert "inhomogeneous" in done.errors
    why = "refuses rows of different lengths without a dtype: write"
    assert done.told[:2] == [
        f"old.py:2: numpy.array {why} numpy.array(a, dtype=object)",
        f"old.py:3: numpy.asarray {why} numpy.asarray(a, dtype=object)",
    ]


def test_scalars_are_printed_as_by_numpy_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import numpy as np\nprint([np.float32(3)])\n")
    assert run(tmp_path / "old.py", "old.py").output == ["[3.0]"]


def test_only_own_modules_see_them(run: Run, tmp_path: Path) -> None:
    library = tmp_path / "elsewhere"
    library.mkdir()
    script(library, "import numpy\nhas = hasattr(numpy, 'int')\n", "library.py")
    script(tmp_path, "import numpy\nhas = hasattr(numpy, 'int')\n", "beside.py")
    path = script(
        tmp_path,
        "import numpy as np, sys, types\n"
        "import beside, library\n"
        "print(beside.has, library.has, isinstance(np, types.ModuleType))\n"
        "np.answer = 42\n"
        "print(sys.modules['numpy'].answer, np.linalg.norm([3, 4]))\n"
        "print(hasattr(np, 'nothing'), np.random.mtrand.__name__)\n",
    )
    before = f"sys.path.append({str(library)!r})"
    done = run(path, "old.py", before=before)
    assert done.output == ["True False True", "42 5.0", "False numpy.random.mtrand"]


def test_errors(run: Run, tmp_path: Path) -> None:
    path = script(
        tmp_path, "import numpy as np\n\ndef f():\n    return [1][1.5 // 1]\nf()\n"
    )
    done = run(path, "old.py")
    assert done.status == 1
    assert "runpy" not in done.errors
    lines = done.errors.splitlines()
    begin = lines.index("Traceback (most recent call last):")
    assert lines[begin + 1].strip() == 'File "old.py", line 5, in <module>'
    assert "TypeError: list indices must be integers" in done.errors
    assert "running" not in done.errors  # our own frames

    script(tmp_path, "print 1\n\n\nd = 1\nd.x\n")
    done = run(path, "old.py")
    assert 'File "old.py", line 5, in <module>\n    d.x\nAttr' in done.errors

    script(tmp_path, "import nothing_there\n")
    done = run(path, "old.py")
    assert done.told == ["old.py:1: pip install nothing_there"]
    assert done.errors.count("File ") == 1

    script(tmp_path, "print 1 +\n")
    done = run(path, "old.py")
    assert done.status == 1
    assert "SyntaxError" in done.errors
    assert 'File "old.py", line 1' in done.errors

    script(tmp_path, "import sys\nsys.exit(3)\n")
    assert run(path, "old.py").status == 3
    assert run(path, "nothing.py").status == 2


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import cv2_is_missing", "pip install cv2_is_missing"),
        ("import numpy as np\nnp.array([[1], [1, 2]])", "dtype=object"),
        ("[1, 2][:2 / 1]", "a size or an index became a float: write a // b"),
        ("d = {}\nd.keys()[0]", "write list(...) around it"),
        ("import string\nstring.letters", "write string.ascii_letters"),
        ("b'\\xe9'.decode()", "encoding='latin1'"),
        ("(lambda: 0).func_code", "write .__code__"),
        ("(i for i in []).next()", "write next(...)"),
        (
            "import tfteach as tf\ntf.reshape(tf.zeros([4, 2]), [-1, 4 / 2])",
            "a size or an index became a float: write a // b",
        ),
        (
            "import numpy as np, tfteach as tf\n"
            "tf.zeros(tf.constant([np.uint8(9) + 1]))",
            "NumPy 2 keeps x's small type in x + 1",
        ),
        ("import numpy as np\nrange(np.array([3]))", "write a.item()"),
        ("import numpy as np\nfloat(np.array([3]))", "write a.item()"),
        ("import numpy as np\n'%d' % np.array([3])", "write a.item()"),
    ],
)
def test_advice(text: str, wanted: str) -> None:
    found = ""
    try:
        exec(text, {})
    except Exception as error:
        found = advice(error)
    assert wanted in found


def test_object_arrays(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        import numpy as np

        np.save(file, np.array({"w": 1}), allow_pickle=True)
    path = script(tmp_path, "import numpy as np\nnp.load('a.npy').item()\n")
    done = run(path, "old.py")
    assert "old.py:2: if you trust the file" in done.told[-1]


def test_what_importing_tensorflow_loads_is_loaded(run: Run, tmp_path: Path) -> None:
    path = script(tmp_path, "import urllib\nprint(urllib.request.quote('a b'))\n")
    assert run(path, "old.py").output == ["a%20b"]


# ---- notebooks


def test_notebook(run: Run, tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        "%matplotlib inline\nimport tensorflow as tf, numpy as np\n!pip install x\n",
        "x = np.float(3)\nx + 1",
        "%%bash\nls",
        "%%time\nprint('timed')\n%time y = 5\nfiles = !ls\n",
        "text = '''\n%s\n''' % (\n  'kept')\ndisplay(text)\n7;",
        "tf.Session?\nimport sys\nsys.argv[1:]",
        "def f():\n    return 1 / 0\nf()",
    )
    done = run(path, "notes.ipynb", "--lr", "0.1")
    assert done.output == ["4.0", "timed", "", "kept", "", "['--lr', '0.1']"]
    assert done.told == [
        "notes.ipynb, cell 1, line 3: not run: !pip install x",
        "notes.ipynb, cell 2:1: numpy.float is gone: write float",
        "notes.ipynb, cell 3, line 1: not run: %%bash",
        "notes.ipynb, cell 4, line 4: not run: files = !ls",
        "notes.ipynb, cell 6, line 1: not run: tf.Session?",
    ]
    assert done.status == 1
    assert 'File "notes.ipynb, cell 7", line 2, in f\n    return 1 / 0' in done.errors


def test_old_format_and_no_notebook(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.ipynb"
    cell = {"cell_type": "code", "input": ["print(1)\n"]}
    path.write_text(json.dumps({"worksheets": [{"cells": [cell]}], "nbformat": 3}))
    assert run(path, "notes.ipynb").output == ["1"]
    path.write_text("no notebook")
    assert "is not a Jupyter notebook" in run(path, "notes.ipynb").errors
    notebook(tmp_path, "1", language_info={"name": "R"})
    assert "is a notebook of R" in run(path, "notes.ipynb").errors


def test_files_named_like_modules_of_python(tmp_path: Path) -> None:
    """The start imports none of the program's files; the program finds its own."""
    for name in ("random", "queue", "typing", "argparse", "logging", "numbers"):
        script(tmp_path, "raise SystemExit('imported')\n", f"{name}.py")
    script(tmp_path, "half = 0.5\n", "graphlib.py")
    path = script(
        tmp_path,
        "import sys\n"
        "import graphlib\n"
        "import tensorflow as tf\n"
        "three = tf.compat.v1.Session().run(tf.constant(3))\n"
        "print(sys.path[0], graphlib.half, three)\n",
    )
    package = str(Path(tfteach.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "tfteach", "run", path.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": package},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == f"{tmp_path} 0.5 3\n"
