"""`tf.test.TestCase` and `tf.test.main`.

Source: python/framework/test_util.py, python/platform/googletest.py (API).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import shutil
import sys
import tempfile
import threading
import unittest
from collections.abc import Iterator
from typing import Any

import numpy as np
from absl.testing import absltest

from tfteach.compat.testing.asserts import ArrayAsserts
from tfteach.compat.testing.protos import assert_protos_equal
from tfteach.engine.session.device_list import gpu_device_name
from tfteach.engine.session.session import Session
from tfteach.framework import nest
from tfteach.framework.defaults import (
    get_default_graph,
    get_default_session,
    reset_default_graph,
)
from tfteach.framework.device import DeviceSpec
from tfteach.framework.graphdef.graph_def import PRODUCER
from tfteach.framework.scope import set_random_seed

_SEED = 87654321  # TensorFlow's DEFAULT_GRAPH_SEED


def _value(tensor: Any) -> Any:
    """The value of what an eager program computed; functions are called."""
    if callable(tensor):
        return nest.map_structure(_value, tensor())
    read = getattr(tensor, "numpy", None)
    return tensor if read is None else read()


class TestCase(ArrayAsserts, absltest.TestCase):  # type: ignore[misc]
    """A unittest case with sessions and asserts about Tensors.

    Each test begins with an empty default graph and the same random seeds.

    Example:
      >>> class SquareTest(tf.test.TestCase):
      ...   def testSquare(self):
      ...     with self.session():
      ...       x = tf.square([2, 3])
      ...       self.assertAllEqual(x.eval(), [4, 9])
      >>> if __name__ == "__main__":
      ...   tf.test.main()
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._folder: str | None = None
        self._cached: tuple[Session, Any] | None = None
        self._threads: list[_CheckedThread] = []

    def setUp(self) -> None:
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        super().setUp()
        self._close_cached()
        random.seed(_SEED)
        np.random.seed(_SEED)
        reset_default_graph()
        set_random_seed(_SEED)

    def tearDown(self) -> None:
        for thread in self._threads:
            thread.check_termination()
        self._close_cached()
        super().tearDown()

    def _close_cached(self) -> None:
        if self._cached is not None:
            self._cached[0].close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """A folder for this test; the same one at each call."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    # ---- sessions

    def evaluate(self, tensors: Any) -> Any:
        """The values of any nesting of Tensors."""
        if get_default_graph().is_eager:
            return nest.map_structure(_value, tensors)
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as session:
            assert session is not None
            return session.run(tensors)

    @contextlib.contextmanager
    def session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session | None]:
        """A new Session; inside its `with` block it and its graph are the defaults.

        Args:
          graph: its graph; by default the current one.
          config: a ConfigProto.
          use_gpu: let ops run on GPUs; otherwise they are placed on the CPU.
          force_gpu: request the GPU, and raise for ops that cannot run there.

        Yields:
          The session; None where ops run eagerly.
        """
        if get_default_graph().is_eager:
            yield None
            return
        with (
            Session(graph=graph, config=_config(config, force_gpu)) as session,
            _devices(session, use_gpu, force_gpu),
        ):
            yield session

    @contextlib.contextmanager
    def cached_session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session | None]:
        """Like `session`, but with one Session for the whole test.

        Raises:
          ValueError: it was created with another graph, config or force_gpu.
        """
        if get_default_graph().is_eager:
            yield None
            return
        wanted = (graph, config, force_gpu)
        session = self._one_session(wanted)
        for name, was, now in zip(
            ("graph", "config", "force_gpu value"), self._made_with, wanted, strict=True
        ):
            if was is not now:
                raise ValueError(
                    f"The {name} used to get the cached session is different than "
                    "the one that was used to create the session. Maybe create a new "
                    "session with self.session()"
                )
        with (
            session.graph.as_default(),
            session.as_default(),
            _devices(session, use_gpu, force_gpu),
        ):
            yield session

    def _one_session(self, wanted: tuple[Any, Any, bool]) -> Session:
        if self._cached is None:
            graph, config, force_gpu = wanted
            made = Session(graph=graph, config=_config(config, force_gpu))
            self._cached = made, wanted
        return self._cached[0]

    @property
    def _made_with(self) -> tuple[Any, Any, bool]:
        assert self._cached is not None
        made_with: tuple[Any, Any, bool] = self._cached[1]
        return made_with

    @contextlib.contextmanager
    def test_session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session | None]:
        """Old name of `cached_session`; with a graph, of `session`."""
        if get_default_graph().is_eager:
            yield None
            return
        if graph is not None:
            with self.session(graph, config, use_gpu, force_gpu) as session:
                yield session
            return
        session = self._one_session((graph, config, force_gpu))
        with (
            session.graph.as_default(),
            session.as_default(),
            _devices(session, use_gpu, force_gpu),
        ):
            yield session

    # pytest and unittest mistake it for a test by its name.
    test_session.__test__ = False  # type: ignore[attr-defined]

    # ---- protos, devices, threads

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: Any = None
    ) -> None:
        """Assert that two protos are equal; the expected one may be in text format."""
        assert_protos_equal(expected_message_maybe_ascii, message, msg)

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int = PRODUCER,
        min_consumer: int = 12,
        msg: Any = None,
    ) -> None:
        """`assertProtoEquals` of a GraphDef in text format, with its versions added."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};"
        self.assertProtoEquals(f"{versions}\n{expected}", actual, msg=msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Assert that two device names denote the same device."""
        one, other = (
            (d if isinstance(d, DeviceSpec) else DeviceSpec.from_string(d)).to_string()
            for d in (device1 or "", device2 or "")
        )
        self.assertEqual(one, other, f"Devices {one} and {other} are not equal. {msg}")

    def checkedThread(
        self, target: Any, args: Any = None, kwargs: Any = None
    ) -> _CheckedThread:
        """A thread whose exception fails the test when it is joined."""
        thread = _CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    # ---- names that newer Pythons dropped

    assertEquals = unittest.TestCase.assertEqual
    assertNotEquals = unittest.TestCase.assertNotEqual
    assertAlmostEquals = unittest.TestCase.assertAlmostEqual
    assertItemsEqual = unittest.TestCase.assertCountEqual
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex
    assertRegexpMatches = unittest.TestCase.assertRegex
    assert_ = unittest.TestCase.assertTrue


class _CheckedThread:
    """A thread that stores its exception."""

    def __init__(self, case: TestCase, target: Any, args: Any, kwargs: Any) -> None:
        self._case = case
        self._call = (target, args, kwargs)
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None
        self._joined = False

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread to end; fail the test if it raised."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fail the test if it was started and not joined."""
        if self._joined:
            return
        if self.is_alive():
            self._case.fail("A checked thread was not terminated.")
        if self._thread.ident is not None:
            self._case.fail("A checked thread was not joined.")


def _config(config: Any, force_gpu: bool) -> Any:
    """TensorFlow's test config: no optimization, soft placement if allowed."""
    from tfteach.framework import protos

    made = protos.ConfigProto()
    if config is None:
        made.allow_soft_placement = not force_gpu
    else:
        made.CopyFrom(config)
        if force_gpu:
            made.allow_soft_placement = False
    made.graph_options.optimizer_options.opt_level = -1
    return made


@contextlib.contextmanager
def _devices(session: Session, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
    if force_gpu:
        name = gpu_device_name() or "/device:GPU:0"
    else:
        name = "" if use_gpu else "/device:CPU:0"
    with session.graph.device(name) if name else contextlib.nullcontext():
        yield


# ---- of the program


_folder: str | None = None


def get_temp_dir() -> str:
    """A folder for the tests of this process, deleted at its end."""
    global _folder
    if _folder is None:
        _folder = tempfile.mkdtemp(
            prefix="tfteach_test_", dir=os.environ.get("TEST_TMPDIR")
        )
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def main(argv: list[str] | None = None) -> Any:
    """Run the tests of the script and exit with 0 if all passed, else with 1."""
    from tfteach.compat.platform.app import run

    return run(lambda left: absltest.main(argv=left), argv)


def test_src_dir_path(relative_path: str) -> str:
    """`relative_path` next to the script (TensorFlow's own tests are elsewhere)."""
    script = getattr(sys.modules["__main__"], "__file__", "") or ""
    return os.path.join(os.path.dirname(os.path.abspath(script)), relative_path)
