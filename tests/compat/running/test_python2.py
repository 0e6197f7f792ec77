"""`python -m tfteach run` translates what is written for Python 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tfteach
from tests.compat.running.programs import Run, notebook, script
from tfteach.compat.running.python2 import is_python_2

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


def test_without_fissix(run: Run, tmp_path: Path) -> None:
    path = script(tmp_path, "print 'a'\n")
    done = run(path, "old.py", before="sys.modules['fissix'] = None")
    assert done.status == 1
    assert "pip install 'tfteach[python2]'" in done.errors


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
