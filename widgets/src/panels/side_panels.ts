// The panels beside the picture: the outline at its left, the details of what is selected at its right.

import { signal } from "@preact/signals-core";
import type { GraphTraits } from "../kernel/graph_messages";
import type { Traits } from "../kernel/traits";
import type { Node } from "../model/graph";
import { why } from "../model/pruning_reasons";
import { showDetails } from "./details";
import { showOutline } from "./outline";
import type { PanelHost } from "./panel_host";

export class SidePanels {
  readonly #view: PanelHost;
  readonly #traits: Traits<GraphTraits>;
  readonly #more: ((panel: HTMLElement, node: Node) => void) | undefined;
  readonly #isRecord: boolean;
  readonly #outlineOpen = signal(false);

  constructor(
    view: PanelHost,
    traits: Traits<GraphTraits>,
    more: ((panel: HTMLElement, node: Node) => void) | undefined,
    isRecord: boolean,
  ) {
    this.#isRecord = isRecord;
    this.#view = view;
    this.#traits = traits;
    this.#more = more;
  }

  showDetails(): void {
    const view = this.#view;
    const { state } = view;
    const node = state.selectedNode.value;
    if (node === undefined) return;
    const { highlight, feeds } = state;
    showDetails(view.frame.details, view.model, node, {
      go: (index) => view.goTo(index),
      close: () => view.select(""),
      toggleFetch: (name) => state.toggleName("fetches", name),
      toggleFeed: (name) => state.toggleName("feeds", name),
      toggleOpen: (id) => view.toggleOpen(id),
      fetched: (op) => highlight.value.fetched.has(op.index),
      fed: (op) => highlight.value.fed.has(op.index),
      isOpen: (id) => state.isOpen(id),
      why: (op) => why(view.model, highlight.value, feeds.value, op.index),
      isRecord: this.#isRecord,
    });
    this.#more?.(view.frame.details, node);
  }

  toggleOutline(): void {
    const { outline, outlineButton } = this.#view.frame;
    const open = outline.hidden === true;
    outline.hidden = !open;
    this.#view.canvas.resized();
    outlineButton.setAttribute("aria-pressed", `${open}`);
    this.#outlineOpen.value = open;
  }

  showOutline(): void {
    if (!this.#outlineOpen.value) return;
    const [view, traits] = [this.#view, this.#traits];
    const { state } = view;
    state.scene.value; // its scopes may have other children
    showOutline(view.frame.outline, view.model, traits.get("group_above"), {
      open: (id) => state.isOpen(id),
      toggle: (id) => view.toggleOpen(id),
      select: (node) => {
        if (node.kind === "op") view.goTo(node.members[0]!);
        else {
          view.select(node.id);
          view.canvas.reveal(node.id);
        }
      },
      selected: () => state.selected.peek(),
      state: (node) => {
        const { active, needed } = state.highlight.value;
        if (!active) return "";
        const n = node.members.filter((i) => needed.has(i)).length;
        return node.kind === "op" ? (n > 0 ? ", runs" : ", does not run") : `, ${n} run`;
      },
    });
  }
}
