"""`python -m tfteach run`: old scripts and notebooks run as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import tfteach
from tests.forked_programs import Forks, forked_programs
from tfteach.compat.running.advice import advice
from tfteach.compat.running.python2 import is_python_2


class Done(NamedTuple):
    output: list[str]
    told: list[str]
    status: int
    errors: str


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    folder = tmp_path_factory.mktemp("printed")
    with forked_programs(folder, as_tensorflow=False) as forks:
        yield forks


START = """\
import os, runpy, sys
os.chdir({folder!r})
{before}
sys.argv = {argv!r}
runpy.run_module("tfteach", run_name="__main__")
"""

Run = Callable[..., Done]


@pytest.fixture
def run(forks: Forks) -> Run:
    """Runs a program in its folder; `before` changes the process before."""

    def run(path: Path, *arguments: str, before: str = "") -> Done:
        argv = ["tfteach", "run", *arguments]
        start = START.format(folder=str(path.parent), before=before, argv=argv)
        done = forks.ended(start)
        told = [
            line.removeprefix("tfteach: ")
            for line in done.errors.splitlines()
            if line.startswith("tfteach: ")
        ]
        return Done(done.output.splitlines(), told, done.status, done.errors)

    return run


def script(folder: Path, text: str, name: str = "old.py") -> Path:
    (folder / name).write_text(text)
    return folder / name


def notebook(folder: Path, *cells: str, **metadata: object) -> Path:
    made = [
        {"cell_type": "code", "source": cell.splitlines(keepends=True)}
        for cell in cells
    ]
    made.insert(1, {"cell_type": "markdown", "source": ["# Title"]})
    path = folder / "notes.ipynb"
    path.write_text(json.dumps({"cells": made, "metadata": metadata, "nbformat": 4}))
    return path


PYTHON_2 = """\
# -*- coding: utf-8 -*-
import cPickle, sys
import urllib2
from StringIO import StringIO
import numpy as np
import tensorflow as tf
import beside

print "arguments", sys.argv
for i in xrange(2):
    print i,
print
print reduce(lambda a, b: a + b, [1, 2]), urllib2.quote("a b")
for key, value in {"a": 7}.iteritems():
    print key, value / 2, value / 2.0, beside.half(value)
n = 9
n /= 2
print n, np.arange(4) / 2, {1: 2}.has_key(1), isinstance(u"x", unicode)
with tf.Session() as session:
    print session.run(tf.constant(7) / 2)
print cPickle.load(open("data.pkl", "rb"))
try:
    raise ValueError, "told"
except ValueError, error:
    print error
"""


def test_python_2(run: Run, tmp_path: Path) -> None:
    path = script(tmp_path, PYTHON_2)
    script(tmp_path, "def half(n):\n    return n / 2\n", "beside.py")
    # A `str` of Python 2, which is no UTF-8.
    (tmp_path / "data.pkl").write_bytes(b"S'caf\\xe9'\np0\n.")
    done = run(path, "old.py", "--flag", "-x")
    assert done.status == 0, done.errors
    assert done.output == [
        "arguments ['old.py', '--flag', '-x']",
        "0 1 ",
        "3 a%20b",
        "a 3 3.5 3",
        "4 [0 0 1 1] True True",
        "3",
        "café",
        "told",
    ]
    divided = "integers are divided, as in Python 2, without remainder: write a // b"
    assert done.told == [
        "old.py is written for Python 2: translated",
        "beside.py is written for Python 2: translated",
        f"old.py:15: {divided}",
        f"beside.py:2: {divided}",
        f"old.py:17: {divided}",
        f"old.py:18: {divided}",
        f"old.py:20: {divided}",
    ]


IN_PLACE = """
import numpy as np

class Counts(object):
    total = [7, 9]
    total[0] /= 2

    def __init__(self):
        self.n, self.asked = 7, 0
        self.rows = {"a": 9}

    def me(self):
        self.asked += 1
        return self

    def index(self):
        self.asked += 1
        return "a"

slice = None
c, n = Counts(), 2
c.me().n /= n
c.me().rows[c.index()] /= 2
print c.n, c.rows, c.asked, c.total
whole, real = np.arange(12).reshape(3, 4), np.ones([3])
same, also = whole, real
whole[1:, ::2] /= n
whole[0] /= n
real[:] /= n
real /= n
whole /= n
print whole.tolist(), real.tolist(), same is whole, also is real
x = [5, 5.0]
x[0] /= n; x[1] /= n
print x, [name for name in dir() if "tfteach" in name]
c.missing /= 2
"""


def test_division_in_place(run: Run, tmp_path: Path) -> None:
    done = run(script(tmp_path, IN_PLACE), "old.py")
    assert done.output == [
        "3 {'a': 4} 3 [3, 9]",
        "[[0, 0, 0, 0], [1, 2, 1, 3], [2, 4, 2, 5]] [0.25, 0.25, 0.25] True True",
        "[2, 2.5] []",
    ]
    assert "line 36, in <module>" in done.errors
    assert "has no attribute 'missing'" in done.errors


def test_show(run: Run, tmp_path: Path) -> None:
    path = script(tmp_path, "print 'a', 1 / 2\nimport urllib2\n")
    done = run(path, "--show", "old.py")
    assert done.output[0] == "print('a', 1 / 2)"
    assert "import urllib.request" in done.output[1]
    script(tmp_path, "print('as it is')\n", "new.py")
    assert run(path, "--show", "new.py").output == ["print('as it is')"]


def test_true_division_and_print_function(run: Run, tmp_path: Path) -> None:
    path = script(
        tmp_path,
        "from __future__ import division, print_function\n"
        "print(1 / 2, 'x', sep='-')\nprint(len(range(3)), unicode('u'))\n",
    )
    done = run(path, "old.py")
    assert done.output == ["0.5-x", "3 u"]
    assert done.told == ["old.py is written for Python 2: translated"]


SIGNS = {
    "import urllib\nurllib.urlretrieve('x')": True,
    "import urllib.request\nurllib.request.urlopen": False,
    "for i in xrange(3): pass": True,
    "def f(xrange): return xrange(3)": False,
    "if __name__ == '__main__':\n    xrange(3)": True,
    "if sys.version_info[0] < 3:\n    range = xrange": False,
    "try:\n    import cPickle\nexcept ImportError:\n    import pickle": False,
    "try:\n    xrange(3)\nexcept ValueError:\n    pass": True,
    "try:\n    unicode\nexcept NameError:\n    unicode = str": False,
    "d.iteritems()": True,
    "import sys\nsys.maxint": True,
    "try:\n    pass\nexcept ValueError, e:\n    pass": True,
    "print 'a' +": False,  # in neither
    "#!/usr/bin/env python2\nprint(1)": True,
}


@pytest.mark.parametrize("source", SIGNS)
def test_signs_of_python_2(source: str) -> None:
    assert is_python_2(source) == SIGNS[source]


def test_python_3_stays(run: Run, tmp_path: Path) -> None:
    text = """
try:
    import cPickle as pickle
except ImportError:
    import pickle
def unicode(x):
    return f"own {x}"
print(unicode(1), 1 / 2, __name__, __file__)
class Thing:
    pass
print(type(pickle.loads(pickle.dumps(Thing()))).__name__)
"""
    done = run(script(tmp_path, text), "old.py")
    assert done.output == ["own 1 0.5 __main__ old.py", "Thing"], done.errors
    assert done.told == []


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


def test_python_2_notebook(run: Run, tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        "from __future__ import print_function",
        "print('a', 1 / 2, sep='-')\nxrange(2)[1]",
        "print 'old'",
        language_info={"name": "python", "version": "2.7.6"},
    )
    assert run(path, "notes.ipynb").output == ["a-0", "1", "old"]
    shown = run(path, "--show", "notes.ipynb").output
    assert "# notes.ipynb, cell 2" in shown
    assert "range(2)[1]" in shown


def test_old_format_and_no_notebook(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.ipynb"
    cell = {"cell_type": "code", "input": ["print(1)\n"]}
    path.write_text(json.dumps({"worksheets": [{"cells": [cell]}], "nbformat": 3}))
    assert run(path, "notes.ipynb").output == ["1"]
    path.write_text("no notebook")
    assert "is not a Jupyter notebook" in run(path, "notes.ipynb").errors
    notebook(tmp_path, "1", language_info={"name": "R"})
    assert "is a notebook of R" in run(path, "notes.ipynb").errors


def test_without_fissix(run: Run, tmp_path: Path) -> None:
    path = script(tmp_path, "print 'a'\n")
    done = run(path, "old.py", before="sys.modules['fissix'] = None")
    assert done.status == 1
    assert "pip install 'tfteach[python2]'" in done.errors


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


def test_modules_of_python_2_on_pythonpath(run: Run, tmp_path: Path) -> None:
    library = tmp_path / "library"
    (library / "old_package").mkdir(parents=True)
    script(library / "old_package", "print 'loaded'\nhalf = 7 / 2\n", "__init__.py")
    script(library, "half = 7 / 2\n", "new_module.py")
    program = tmp_path / "program"
    program.mkdir()
    package = str(Path(tfteach.__file__).parents[1])
    places = f"{library}{os.pathsep}{package}"
    before = (
        f"os.environ['PYTHONPATH'] = {places!r}; sys.path.insert(1, {str(library)!r})"
    )
    path = script(
        program,
        "import new_module, old_package\n"
        "import tensorflow\n"
        "print(old_package.half, new_module.half)\n",
    )
    done = run(path, path.name, before=before)
    assert done.output == ["loaded", "3 3.5"], done.errors
    assert "is written for Python 2: translated" in done.told[0]
    assert len(done.told) == 2  # and that integers are divided
