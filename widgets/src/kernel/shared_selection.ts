// Views of one graph in a page share what is selected: a bar of a timeline, its box in the graph, its line in a log.

interface Selecting {
  get(key: "_graph" | "selected"): string | undefined;
  set(key: "selected", value: string): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
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
 * Tells the other views in the page what is selected in this one, and takes over what is selected in them.
 *
 * The page tells them, not the kernel, which answers nothing while a cell runs. `_graph` says which graph it is; views
 * without one stay alone. `shown` is called when something was selected elsewhere.
 */
export function together(
  model: unknown,
  shown: () => void = () => undefined,
  page: EventTarget = document,
): () => void {
  const mine = model as Selecting;
  const graph = mine.get("_graph");
  if (graph === undefined || graph === "") return () => undefined;
  const tell = (): void => {
    page.dispatchEvent(new CustomEvent<Selected>(EVENT, { detail: { graph, name: mine.get("selected")!, by: model } }));
  };
  const hear = (event: Event): void => {
    const { graph: of, name, by } = (event as CustomEvent<Selected>).detail;
    if (of !== graph || by === model) return;
    if (name !== mine.get("selected")) {
      mine.set("selected", name);
      mine.save_changes();
    }
    shown();
  };
  mine.on("change:selected", tell);
  page.addEventListener(EVENT, hear);
  return () => {
    mine.off("change:selected", tell);
    page.removeEventListener(EVENT, hear);
  };
}
