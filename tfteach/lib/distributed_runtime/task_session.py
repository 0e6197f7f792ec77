"""A session that a server runs for a client: a graph on the devices of a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfteach.engine.session.base_session import BaseSession, made_sessions
from tfteach.engine.session.feeds import converter_for
from tfteach.engine.session.planner import StepPlanner
from tfteach.framework import errors
from tfteach.framework.defaults import default_graph
from tfteach.framework.dtypes import as_dtype, string
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.import_graph_def import import_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone
from tfteach.lib.distributed_runtime.task import SessionResources, Task

Element = Operation | Tensor
FETCH_ABSENT = "FetchOutputs node {}: not found"


class TaskSession(BaseSession):
    """Runs a graph that came over the wire on a task's devices.

    Args:
      task: whose devices and resources it uses.
      config: the client's ConfigProto.

    Attributes:
      task: see the arguments.
    """

    def __init__(self, task: Task, config: Proto) -> None:
        super().__init__("", Graph(), config)
        self.task = task
        made_sessions.discard(self)  # it does not belong to this process's program
        self.resources = SessionResources(task.resources)
        self.planner = StepPlanner(self._options, config, task.devices)
        self._places_more = True
        self._programs.clear()

    def add(self, graph_def: Proto, mapped: dict[str, Tensor] | None = None) -> None:
        """Add the nodes of a GraphDef, which may refer to existing ones.

        Args:
          graph_def: the nodes.
          mapped: tensors that replace inputs, by the inputs' names.

        Raises:
          InvalidArgumentError: the GraphDef is invalid.
        """
        try:
            with default_graph(self.graph):
                before = len(self.graph.operations)
                import_graph(graph_def, mapped, name="", extends=True)
                for op in self.graph.operations[before:]:
                    op._origin = None  # the line is the client's
        except (ValueError, TypeError) as error:
            if isinstance(error, errors.OpError):
                raise
            raise errors.InvalidArgumentError(None, None, str(error)) from None

    def element(self, name: str, absent: str = FETCH_ABSENT) -> Element:
        """The tensor or operation of that name; "x" as an input means "x:0".

        Args:
          name: its name.
          absent: the message if there is none, with "{}" for the name.

        Raises:
          NotFoundError: there is none.
        """
        try:
            return self.graph.as_graph_element(name)
        except (KeyError, ValueError):
            message = absent.format(name)
            raise errors.NotFoundError(None, None, message) from None

    def tensor(self, name: str, absent: str = FETCH_ABSENT) -> Tensor:
        """The tensor of that name, also without its index if that is 0."""
        found = self.element(name if ":" in name else f"{name}:0", absent)
        assert isinstance(found, Tensor)
        return found

    def checked(self, fed: dict[Tensor, Any]) -> dict[Tensor, Any]:
        """The fed arrays, checked against the types of their tensors.

        Raises:
          InternalError: one is of another type.
        """
        for tensor, value in fed.items():
            given, wanted = np.asarray(value).dtype, tensor.dtype.base_dtype
            is_text = given.kind in "OSU"  # NumPy has several types for strings
            if (wanted is not string) if is_text else given != wanted.numpy_dtype:
                raise errors.InternalError(
                    None,
                    None,
                    f"From {self.task.name}:\nOutput 0 of type {as_dtype(given).name} "
                    f"does not match declared output type {wanted.name} for node "
                    f"{{{{node {tensor.op.name}}}}}",
                )
        return fed

    def operation(self, name: str) -> Operation:
        """The operation of that name."""
        found = self.element(name, "PruneForTargets: Some target nodes not found: {}")
        return found if isinstance(found, Operation) else found.op

    def run_elements(
        self,
        elements: Sequence[Element],
        fed: dict[Tensor, Any],
        options: Proto | None,
        metadata: Proto | None,
    ) -> list[Any]:
        """The values of the tensors among the elements.

        Raises:
          OpError: an op failed; the message names the task.
        """
        self._check_running()
        if caller_is_gone():
            raise errors.CancelledError(None, None, "Step was cancelled")
        program, _ = self._program(elements, tuple(fed))
        try:
            arrays = [converter_for(tensor)(value) for tensor, value in fed.items()]
        except (ValueError, TypeError) as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        try:
            return list(self._run_program(program, arrays, (options, metadata)))
        except errors.OpError as error:
            error._message = f"From {self.task.name}:\n{error._message}"
            raise


def unique(elements: Iterable[Element]) -> list[Element]:
    """The elements, each once."""
    return list(dict.fromkeys(elements))
