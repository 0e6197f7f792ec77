// Views of one graph in a page share what is selected: a bar of a timeline, its box in the graph, its line in a log.

import { Cleanup } from "../base/cleanup";
import type { Traits } from "./traits";
import { onChange, update } from "./traits";

interface SelectionTraits {
  _graph: string;
  selected: string;
}

/** The op that is selected, also where a graph shows it as a box with its inputs inside ("add/"). */
export function opOf(selected: string): string {
  return selected.replace(/\/$/, "");
}

interface Selected {
  graph: string;
  name: string;
  by: unknown;
}

const EVENT = "tfteach-selected";

/**
 * Selects in the other views of the page what is selected in this one, and the other way round.
 *
 * Events in the page do that, since the kernel answers nothing while a cell runs. `_graph` identifies the graph; a view
 * without one stays alone. `shown` is called when something was selected elsewhere.
 */
export function shareSelection<S extends SelectionTraits>(
  traits: Traits<S>,
  shown: () => void = () => undefined,
  page: EventTarget = document,
): () => void {
  const mine: Traits<SelectionTraits> = traits;
  const graph = mine.get("_graph");
  if (graph === "") return () => undefined;
  const tell = (): void => {
    page.dispatchEvent(new CustomEvent<Selected>(EVENT, { detail: { graph, name: mine.get("selected"), by: traits } }));
  };
  const hear = (event: Event): void => {
    const { graph: of, name, by } = (event as CustomEvent<Selected>).detail;
    if (of !== graph || by === traits) return;
    if (name !== mine.get("selected")) update(mine, { selected: name });
    shown();
  };
  const cleanup = new Cleanup();
  cleanup.add(onChange(mine, ["selected"], tell));
  cleanup.on(page, EVENT, hear);
  return () => cleanup.end();
}
