// The panels beside the picture: the outline at its left, the details of what is selected at its right.

import type { GraphTraits } from "../kernel/graph_messages";
import type { Traits } from "../kernel/traits";
import type { Node } from "../model/graph";
import { why } from "../model/pruning_reasons";
import { showDetails } from "./details";
import { showOutline } from "./outline";
import type { PanelHost } from "./panel_host";

export class Panels {
  constructor(
    private readonly view: PanelHost,
    private readonly state: Traits<GraphTraits>,
    private readonly more: ((panel: HTMLElement, node: Node) => void) | undefined,
  ) {}

  /** Fills what is open. */
  fill(): void {
    const { outline, details } = this.view.frame;
    if (!outline.hidden) this.fillOutline();
    if (!details.hidden) this.fillDetails();
  }

  fillDetails(): void {
    const { view, state } = this;
    const node = view.nodeOf(state.get("selected"));
    if (node === undefined) return;
    showDetails(view.frame.details, view.model, node, {
      go: (index) => view.goTo(index),
      close: () => view.select(""),
      toggleFetch: (name) => view.toggleName("fetches", name),
      toggleFeed: (name) => view.toggleName("feeds", name),
      toggleOpen: (id) => view.toggleOpen(id),
      fetched: (op) => view.light.fetched.has(op.index),
      fed: (op) => view.light.fed.has(op.index),
      isOpen: (id) => view.isOpen(id),
      why: (op) => why(view.model, view.light, state.get("feeds"), op.index),
    });
    this.more?.(view.frame.details, node);
  }

  toggleOutline(): void {
    const { outline, outlineButton } = this.view.frame;
    outline.hidden = !outline.hidden;
    this.view.canvas.resized();
    outlineButton.setAttribute("aria-pressed", `${!outline.hidden}`);
    if (!outline.hidden) this.fillOutline();
  }

  private fillOutline(): void {
    const { view, state } = this;
    showOutline(view.frame.outline, view.model, state.get("group_above"), {
      open: (id) => view.isOpen(id),
      toggle: (id) => view.toggleOpen(id),
      select: (node) => {
        if (node.kind === "op") view.goTo(node.members[0]!);
        else {
          view.select(node.id);
          view.canvas.reveal(node.id);
        }
      },
      selected: () => state.get("selected"),
      state: (node) => {
        if (!view.light.active) return "";
        const n = node.members.filter((i) => view.light.needed.has(i)).length;
        return node.kind === "op" ? (n > 0 ? ", runs" : ", does not run") : `, ${n} run`;
      },
    });
  }
}
