// Two graphs side by side: what was added, removed and changed.
import { h } from "../base/elements";
import { earlier, legend, Pair } from "../graph_view/side_by_side";
import { hosted } from "../kernel/host";
import type { State, WidgetModel } from "../kernel/messages";

interface DiffState {
  _before: State["_ops"];
  _changes: Record<string, string[]>;
  _summary: string;
}

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const any = model as unknown as { get: <K extends keyof DiffState>(key: K) => DiffState[K] };
  const head = h(
    "div",
    { class: "tft-diff-head" },
    h("span", { class: "tft-diff-summary" }, any.get("_summary")),
    ...legend(),
  );
  const root = h("div", { class: "tfteach-diff" }, head);
  el.append(root);
  const pair = new Pair(
    { before: earlier(model, any.get("_before")), after: model },
    { changes: any.get("_changes") },
    root,
  );
  head.append(pair.next);
  return () => {
    pair.destroy();
    root.remove();
  };
}

export default hosted(render);
