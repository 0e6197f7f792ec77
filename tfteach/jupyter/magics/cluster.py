"""`%cluster`: the tasks of a cluster on this machine, and the messages of a step."""

from __future__ import annotations

from typing import Any, ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.clusters.cluster_step import ClusterStep, trace_step
from tfteach.jupyter.magics.completion import CompletedMagics, Words
from tfteach.jupyter.magics.names import session_of, sessions_in
from tfteach.jupyter.magics.options import (
    FEED,
    FEED_DICT,
    FETCH,
    SAVE,
    SESSION,
    STATIC,
    TEXT,
    magic_arguments,
    parsed,
    show_as_asked,
)
from tfteach.jupyter.magics.run_request import check_feeds, request_in
from tfteach.lib.distributed_runtime.local.local_cluster import (
    ENGINES,
    VARIABLE,
    LocalCluster,
    running_clusters,
)
from tfteach.lib.distributed_runtime.local.local_task import LocalTask

VERBS = ("kill", "stop", "resume", "restart")
END = "end"


def _words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    """What may follow: actions, and after an action tasks."""
    tasks = [task.name for cluster in running_clusters() for task in cluster.tasks]
    if line and line[-1] in VERBS:
        return tasks
    return [*VERBS, END] if tasks else ["ps=1", "worker=2"]


@magics_class
class ClusterMagics(CompletedMagics):
    """Starts, shows and ends clusters."""

    takes: ClassVar[dict[str, Words]] = {"cluster": _words}

    @magic_arguments()
    @argument(
        "what",
        nargs="*",
        help="jobs with their numbers of tasks, such as ps=1 worker=2, start a "
        "cluster; kill, stop, resume and restart act on the tasks that follow, such "
        "as ps:0; end ends all tasks. Without arguments the cluster is shown.",
    )
    @argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help="whose servers to start.",
    )
    @argument(
        "--python",
        metavar="PATH",
        help=f"the Python that has the engine; for TensorFlow by default ${VARIABLE}.",
    )
    @argument(
        "--name",
        default="cluster",
        help="the Python name of the cluster, by default cluster.",
    )
    @FETCH
    @FEED
    @FEED_DICT
    @SESSION
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def cluster(self, line: str) -> None:  # fmt: skip
        """Start a cluster on this machine, show its tasks and messages, or end it.

        Each task is a process, which ends with the notebook's kernel at the latest.
        The cluster gets the Python name `cluster`, for sessions on its tasks:
        `tf.Session(cluster.target("worker", 0))`. An older cluster of that name ends.
        With `--fetch`, a step of such a session runs twice, and its messages are shown.

        Examples:

            %cluster ps=1 worker=2
            %cluster --fetch train_op loss --feed-dict feed --session sess
            %cluster kill ps:0
            %cluster restart ps:0
            %cluster end
        """
        args = parsed(self.cluster, line)
        check_feeds(args)
        if args.what == [END]:
            self._running(args).close()
            return
        made: LocalCluster | None
        if any("=" in word for word in args.what):
            made = self._started(args)
        elif args.what:
            made = self._changed(args)
        else:
            made = self._shown(args)
        step = self._step(args) if args.fetch else None
        asked = args.fetch or args.session
        graph = session_of(self.shell, args.session).graph if asked else None
        from tfteach.jupyter.widgets.cluster import ClusterView

        view = ClusterView(made, self._sessions(args), step, graph=graph)
        show_as_asked(view, args)

    def _started(self, args: Any) -> LocalCluster:
        """A new cluster, under the name that it gets."""
        jobs: dict[str, int] = {}
        for word in args.what:
            job, _, count = word.partition("=")
            if not job or not count.isdigit() or int(count) < 1:
                raise UsageError(
                    f"{word}: name jobs with the number of their tasks, ps=1 worker=2"
                )
            jobs[job] = int(count)
        known = self.shell.user_ns.get(args.name)
        if isinstance(known, LocalCluster):
            known.close()
        try:
            made = LocalCluster(jobs, args.engine, args.python)
        except (FileNotFoundError, ModuleNotFoundError, RuntimeError) as error:
            raise UsageError(str(error)) from None
        self.shell.user_ns[args.name] = made
        return made

    def _changed(self, args: Any) -> LocalCluster:
        """The cluster, after an action on some of its tasks."""
        verb, *names = args.what
        if verb not in VERBS:
            raise UsageError(
                f"{verb}: say {', '.join(VERBS)} or {END}, or start a cluster, such as "
                "%cluster ps=1 worker=2"
            )
        made = self._running(args)
        known = {task.name: task for task in made.tasks}
        if not names or not known.keys() >= set(names):
            raise UsageError(f"{verb}: name tasks: {', '.join(known)}")
        for name in names:
            task: LocalTask = known[name]
            try:
                getattr(made, verb)(task.job, task.index)
            except (ValueError, RuntimeError, NotImplementedError) as error:
                raise UsageError(str(error)) from None
        return made

    def _running(self, args: Any) -> LocalCluster:
        """The running cluster of that name, else the newest.

        Raises:
          UsageError: none runs.
        """
        running = running_clusters()
        named = self.shell.user_ns.get(args.name)
        if named in running:
            found: LocalCluster = named
            return found
        if not running:
            raise UsageError("No cluster runs: start one, %cluster ps=1 worker=2")
        return running[-1]

    def _shown(self, args: Any) -> LocalCluster | None:
        """The running cluster; None if there are only sessions on other servers."""
        if not running_clusters() and any(
            session._remote is not None for session in self._sessions(args).values()
        ):
            return None
        return self._running(args)

    def _sessions(self, args: Any) -> dict[str, Any]:
        """The user's sessions by their names."""
        found = sessions_in(self.shell.user_ns)
        if args.session:
            session = session_of(self.shell, args.session)
            found = {n: s for n, s in found.items() if s is not session}
            found[args.session] = session
        return found

    def _step(self, args: Any) -> ClusterStep:
        session = session_of(self.shell, args.session)
        asked = request_in(self.shell, session, args)
        try:
            return trace_step(session, asked.fetches, asked.feed_dict)
        except ValueError as error:
            if session._remote is not None:
                raise
            raise UsageError(str(error)) from None
