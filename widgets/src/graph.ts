// The graph view as an anywidget module.
import { View } from "./shared/view";
import type { WidgetModel } from "./shared/wire";

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const view = new View(model, el);
  return () => view.destroy();
}

export default { render };

// For tests that hold pruning in the page against pruning in Python.
export { GraphModel } from "./shared/model";
export { prune } from "./shared/prune";
export { decode } from "./shared/wire";
