"""Writes docs/explain.md and docs/jupyter.md from docstrings and signatures.

`python -m tests.reference` rewrites both; tests/test_docs.py compares them.
A page lists the names in `__all__` of the modules below, in that order.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tfteach.jupyter.magics import MAGICS

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "python -m tests.reference"

# Modules of tfteach.explain in the order of the page, each with its heading.
EXPLAIN = {
    "runs.pruning": "What a run needs, and why",
    "runs.runs": "The runs of a piece of code",
    "runs.folding": "What the optimizer leaves out of a run",
    "building.growth": "How a graph grows",
    "building.lazy_loading": "The verdict on lazy loading",
    "graphs.large_constants": "Large arrays in the graph",
    "eager.eager_growth": "What eager code adds to a graph",
    "building.graph_log": "Graphs and sessions over time",
    "building.graph_lives": "A graph's life, and a session's",
    "building.rebuilding": "The verdict on graphs built again and again",
    "building.graph_tracks": "Graphs and sessions on one clock",
    "graphs.duplicate_ops": "Duplicate ops",
    "devices.placement": "Where each op runs",
    "devices.partitions": "What each device computes",
    "clusters.clusters": "The tasks of a cluster",
    "clusters.task_reasons": "Why an op is on its task",
    "clusters.cluster_step": "The messages of a cluster's step",
    "graphs.sharing": "Which calls share a variable",
    "graphs.variable_calls": "The calls of a variable",
    "graphs.names": "How a name came about",
    "graphs.collections": "Who fills collections, and who takes from them",
    "runs.sessions": "What variables hold in each session",
    "runs.row_updates": "Which rows an optimizer moves",
    "steps.stepping": "A run, op by op",
    "eager.eager_recording": "Eager code, op by op",
    "functions.function_calls": "The traces of a function, and why each was made",
    "functions.trace_arguments": "The arguments of a traced function",
    "functions.retracing": "The verdict on retracing",
    "functions.autograph_code": "The code that AutoGraph writes",
    "graphs.code_blocks": "The code around some lines",
    "pipelines.dataset_elements": "The elements of a dataset, stage by stage",
    "pipelines.stage_elements": "What a stage of a dataset gives",
    "steps.value_summary": "Values in a recorded run",
    "profiling.timing": "Where the time goes",
    "profiling.critical_path": "What bounds a step",
    "devices.cuda_graphs": "Which steps are CUDA graphs",
    "devices.card_convolutions": "Which convolutions cuDNN computes",
    "profiling.memory": "What uses the memory",
    "runs.optimizing": "What the optimizer does",
    "runs.schedule": "In which order ops can run",
    "graphs.difference": "How two graphs differ",
    "files.model_files": "What a model's file contains",
    "files.checkpoints": "What a checkpoint contains",
    "pipelines.pipelines": "The input pipelines of a graph",
    "pipelines.pipeline_stages": "The stages of an input pipeline",
    "pipelines.pipeline_rates": "What a pipeline's stages do",
    "pipelines.pipeline_state": "Pipelines as they are now",
    "pipelines.rivers": "The figures of a pipeline's stages",
    "pipelines.pipeline_verdict": "The verdict on a pipeline",
    "pipelines.queue_waits": "Queues, their threads, and who waits",
    "pipelines.buffer_history": "How full buffers were",
    "graphs.function_bodies": "Functions, to be drawn with the graph",
    "devices.status": "The state of this process",
    "runs.session_options": "The options of sessions side by side",
}
SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Example", "Examples")
VIEWS = (
    "GraphView RunView GrowthView PlacementView SessionsView RowsView StepView "
    "EagerView TraceView TimelineView PipelineView MemoryView OptimizingView "
    "ScheduleView SharingView CollectionsView GraphDiff ModelView CheckpointView"
).split()


class Doc(NamedTuple):
    """A docstring in parts.

    Attributes:
      summary: its first paragraph.
      body: the paragraphs before the first section.
      sections: heading -> text, without indentation.
    """

    summary: str
    body: str
    sections: dict[str, str]


def parsed(thing: Any) -> Doc:
    """The docstring of a function, property or class; an empty one if it has none."""
    text = inspect.cleandoc(vars(thing).get("__doc__") or "") if isinstance(
        thing, type
    ) else inspect.cleandoc(getattr(thing, "__doc__", None) or "")  # fmt: skip
    names = "|".join(SECTIONS)
    parts = re.split(rf"^({names}):[ ]*\n?", text, flags=re.MULTILINE)
    summary, _, body = parts[0].strip().partition("\n\n")
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    found = {name: inspect.cleandoc(f"\n{section}") for name, section in pairs}
    return Doc(summary, body.strip(), found)


def items(section: str) -> list[tuple[str, str]]:
    """The entries of a section such as Args: "name: text" with indented lines."""
    found: list[tuple[str, str]] = []
    for line in section.splitlines():
        if line.startswith(" ") and found:
            name, text = found[-1]
            found[-1] = name, f"{text} {line.strip()}"
        elif line.strip():
            name, _, text = line.partition(": ")
            found.append((name.removesuffix(":"), text))
    return found


def prose(text: str) -> str:
    """Text of a docstring as Markdown; only what is between backticks is code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p[:1] == "`" else p.replace("<", "\\<") for p in parts)


def listed(title: str, section: str, types: Mapping[str, str]) -> str:
    """A list of the entries of a section, with types where they are known."""
    rows = []
    for name, text in items(section):
        kind = f" (`{types[name]}`)" if name in types else ""
        rows.append(f"- `{name}`{kind}: {prose(text)}")
    return f"**{title}**\n\n" + "\n".join(rows)


def field_types(cls: type) -> dict[str, str]:
    """The annotations of a class, as they are written."""
    found = vars(cls).get("__annotations__", {})
    texts = {n: getattr(a, "__forward_arg__", None) or str(a) for n, a in found.items()}
    return {name: text for name, text in texts.items() if text != "Any"}


def code(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"


def rendered(doc: Doc, types: Mapping[str, str] | None = None) -> Iterator[str]:
    """A docstring as Markdown blocks; `types` are those of attributes."""
    yield prose(doc.summary)
    if doc.body:
        yield prose(doc.body)
    for name, section in doc.sections.items():
        if name in ("Args", "Attributes", "Raises"):
            title = "Arguments" if name == "Args" else name
            known = types if types and name == "Attributes" else {}
            yield listed(title, section, known)
        elif name in ("Returns", "Yields"):
            yield f"**{name}** {prose(' '.join(section.split()))}"
        else:
            yield code(section, "pycon" if ">>>" in section else "python")


class Plain(str):
    """An annotation that a signature prints without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self).removeprefix("typing.")


def signature(name: str, function: Callable[..., Any]) -> str:
    """`name(arguments) -> type`, one argument a line where it is long."""
    found = inspect.signature(function)
    if inspect.isgeneratorfunction(inspect.unwrap(function)):  # a context manager
        result = str(found.return_annotation).replace("Iterator", "ContextManager")
        found = found.replace(return_annotation=result)
    kept = [
        p.replace(annotation=Plain(p.annotation))
        for p in found.parameters.values()
        if p.name not in ("self", "cls")
    ]
    found = found.replace(
        parameters=kept, return_annotation=Plain(found.return_annotation)
    )
    if name[:1].isupper():
        found = found.replace(return_annotation=inspect.Signature.empty)
    text = f"{name}{found}"
    if len(text) <= 88:
        return text
    words: list[str] = []
    has_star = False
    for parameter in kept:
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            has_star = True
            words.append("*")
        has_star = has_star or parameter.kind is parameter.VAR_POSITIONAL
        words.append(str(parameter))
    result = text.rpartition(")")[2]
    lines = "".join(f"    {word},\n" for word in words)
    return f"{name}(\n{lines}){result}"


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines itself, in order."""
    fields = getattr(cls, "_fields", ())
    for name, value in vars(cls).items():
        if name.startswith("_") or name in fields:
            continue
        plain = value.__func__ if isinstance(value, classmethod) else value
        # Without a docstring it is described where a base class defines it.
        is_member = isinstance(plain, property) or inspect.isfunction(plain)
        if is_member and (plain.__doc__ or not hasattr(super(cls, cls), name)):
            yield name, plain


def is_called(cls: type) -> bool:
    """Whether users construct the class, rather than get it from a function."""
    return "Args" in parsed(cls).sections


def class_blocks(cls: type) -> Iterator[str]:
    if is_called(cls):
        yield code(signature(cls.__name__, vars(cls)["__init__"]), "python")
    yield from rendered(parsed(cls), field_types(cls))
    for name, member in members(cls):
        doc = parsed(member)
        if isinstance(member, property):
            yield f"#### `{cls.__name__}.{name}`"
            assert member.fget is not None
            result = inspect.signature(member.fget).return_annotation
            doc = doc._replace(summary=f"`{result}`. {doc.summary}")
        else:
            yield f"#### `{cls.__name__}.{name}()`"
            yield code(signature(name, member), "python")
        yield from rendered(doc)


def function_blocks(function: Callable[..., Any]) -> Iterator[str]:
    yield code(signature(function.__name__, function), "python")
    yield from rendered(parsed(function))


def blocks(name: str, thing: Any, level: str = "###") -> Iterator[str]:
    yield f"{level} `{name}`"
    make = class_blocks if isinstance(thing, type) else function_blocks
    yield from make(thing)


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-")


def link(text: str, heading: str) -> str:
    return f"[{text}](#{anchor(heading)})"


def page(title: str, lead: str, parts: Iterable[str]) -> str:
    note = f"<!-- Written by `{COMMAND}` from docstrings. -->"
    return "\n\n".join([f"# {title}", note, lead, *parts]) + "\n"


# ---- tfteach.explain


def public_names() -> list[tuple[str, Any]]:
    """The names on both pages, qualified where two modules have the same."""
    found = [pair for names in explain_names().values() for pair in names]
    return [*found, *jupyter_names()]


def explain_names() -> dict[str, list[tuple[str, Any]]]:
    """Module -> (name, object) of each public name."""
    loaded = {name: import_module(f"tfteach.explain.{name}") for name in EXPLAIN}
    # Anchors are in lower case, so `Status` and `status` are qualified as well.
    names = [n.lower() for module in loaded.values() for n in module.__all__]
    counts = Counter(names)
    return {
        module: [
            (
                n if counts[n.lower()] == 1 else f"{file_of(module)}.{n}",
                getattr(found, n),
            )
            for n in sorted(found.__all__, key=lambda n: rank(getattr(found, n)))
        ]
        for module, found in loaded.items()
    }


def file_of(module: str) -> str:
    return module.rpartition(".")[2]


def rank(thing: Any) -> int:
    """Functions come first, then classes that users construct, then results."""
    return 0 if not isinstance(thing, type) else 1 if is_called(thing) else 2


def explain_page() -> str:
    package = import_module("tfteach.explain")
    contents = ["## Contents"]
    parts: list[str] = []
    rows = []
    for module, names in explain_names().items():
        heading = EXPLAIN[module]
        found = ", ".join(link(f"`{name}`", name) for name, _ in names)
        rows.append(f"- {link(heading, heading)}: {found}")
        parts.append(f"## {heading}")
        called = [thing.__name__ for _, thing in names if rank(thing) < 2]
        if called:
            imported = f"from tfteach.explain import {', '.join(called)}"
            parts.append(code(imported, "python"))
        doc = parsed(import_module(f"tfteach.explain.{module}"))
        parts.append(prose("\n\n".join(filter(None, [doc.summary, doc.body]))))
        for name, thing in names:
            parts += blocks(name, thing)
    contents.append("\n".join(rows))
    doc = parsed(package)
    lead = prose("\n\n".join(filter(None, [doc.summary, doc.body])))
    return page("tfteach.explain", lead, [*contents, *parts])


# ---- tfteach.jupyter


def magic_blocks() -> Iterator[tuple[str, list[str]]]:
    """(name with its percent signs, blocks) of each magic."""
    for module, class_name in MAGICS.items():
        cls = getattr(import_module(f"tfteach.jupyter.magics.{module}"), class_name)
        functions: dict[str, list[str]] = {}
        for kind, marker in (("line", "%"), ("cell", "%%")):
            for name, method in cls.magics[kind].items():
                functions.setdefault(method, []).append(marker + name)
        for method, names in functions.items():
            yield (
                " and ".join(f"`{n}`" for n in names),
                [*magic_text(getattr(cls, method), names)],
            )


def magic_text(function: Any, names: list[str]) -> Iterator[str]:
    # magic_arguments puts the usage, after "::", before the docstring proper.
    text = re.sub(r"\A\s*::\n\n(?:[ ]+.*\n|\n)*?(?=\S)", "", function.__doc__ or "")
    text, _, _ = text.partition("positional arguments:")
    text, _, _ = text.partition("\noptions:")
    parser = getattr(function, "parser", None)
    usage = []
    rows = []
    for action in parser._actions if parser is not None else ():
        if action.dest == "help":
            continue
        word = action.option_strings[-1] if action.option_strings else ""
        is_option = bool(action.option_strings)
        value = action.metavar or (action.dest.upper() if is_option else action.dest)
        if is_option:
            shown = f"{word} {value}" if action.nargs != 0 else word
            usage.append(f"[{shown}]")
        else:
            shown = str(value)
            usage.append(f"[{shown} ...]" if action.nargs == "*" else shown)
        words = (action.help or "").replace("%%", "%")
        rows.append(f"- `{shown}`: {prose(words)}")
    yield code("\n".join(" ".join([name, *usage]) for name in names), "text")
    doc_text = inspect.cleandoc(text)
    summary, _, rest = doc_text.partition("\n\n")
    yield prose(summary)
    body, _, example = re.sub(r"^Examples?:\n", "\0", rest, flags=re.M).partition("\0")
    if body.strip():
        yield prose(body.strip())
    if rows:
        yield "**Options**\n\n" + "\n".join(rows)
    if example.strip():
        yield code(inspect.cleandoc("\n" + example).strip(), "python")


def jupyter_names() -> list[tuple[str, Any]]:
    package = import_module("tfteach.jupyter")
    explorer = import_module("tfteach.jupyter.widgets.explore").Explorer
    extension = ("load_ipython_extension", "unload_ipython_extension")
    views = [(name, getattr(package, name)) for name in (*VIEWS, "explore", "show")]
    loading = [(name, getattr(package, name)) for name in extension]
    return [*views, ("Explorer", explorer), *loading]


def jupyter_page() -> str:
    package = import_module("tfteach.jupyter")
    views = jupyter_names()
    magics = list(magic_blocks())
    contents = [
        "## Contents",
        "- [Magics](#magics): "
        + ", ".join(link(name, name) for name, _ in magics)
        + "\n- [Views](#views): "
        + ", ".join(link(f"`{name}`", name) for name, _ in views),
    ]
    parts = ["## Magics"]
    for name, found in magics:
        parts += [f"### {name}", *found]
    parts += ["## Views"]
    for name, thing in views:
        parts += blocks(name, thing)
    doc = parsed(package)
    lead = prose("\n\n".join(filter(None, [doc.summary, doc.body])))
    return page("tfteach.jupyter", lead, [*contents, *parts])


PAGES = {"docs/explain.md": explain_page, "docs/jupyter.md": jupyter_page}


def main() -> None:
    for path, make in PAGES.items():
        (ROOT / path).write_text(make(), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
