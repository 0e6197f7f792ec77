// All that a box depends on, or all that depends on it; and the gradients of the op under the pointer.

import { computed, effect, signal } from "@preact/signals-core";
import type { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { count } from "../base/format";
import type { NodeMarks } from "../drawing/canvas";
import type { SceneEdge, SceneNode } from "../layout/scene";
import type { Node as GraphNode } from "../model/graph";
import { nameOf } from "../model/graph";
import { partners, trace } from "../model/trace";
import type { PanelHost } from "./panel_host";

type Way = "inputs" | "outputs";

export class TracePanel {
  readonly #host: PanelHost;
  readonly strip = h("div", { class: "tft-trace", role: "status" });
  readonly #traced = signal<{ id: string; way: Way } | null>(null);
  /** The ops of the trace, including those added since it was requested. */
  readonly #ops = computed((): ReadonlySet<number> => {
    const traced = this.#traced.value;
    this.#host.state.scene.value; // the graph may have grown
    const node = traced === null ? undefined : this.#host.nodeOf(traced.id);
    return node === undefined ? new Set() : trace(this.#host.model, node.members, traced!.way);
  });
  /** The box under the pointer and its gradients, if it has any. */
  readonly #paired = computed((): ReadonlySet<string> => {
    const { model, state } = this.#host;
    const id = state.hovered.value;
    if (id === null) return new Set();
    const { byId, boxOf } = state.scene.value;
    const boxes = partners(model, id).flatMap((name) => {
      // If its box is hidden in a closed scope, that scope represents it.
      const index = state.nodeOf(name)?.members[0];
      const shown = byId.get(name) ?? (index === undefined ? undefined : boxOf.get(index));
      return shown === undefined || shown.id === id ? [] : [shown.id];
    });
    return new Set(boxes.length > 0 ? [...boxes, id] : []);
  });

  constructor(host: PanelHost, cleanup: Cleanup) {
    this.#host = host;

    cleanup.add(effect(() => this.#show()));
  }

  /** Traces, or stops when it is traced that way already. */
  toggle(id: string, way: Way): void {
    const { value } = this.#traced;
    const same = value?.id === id && value.way === way;
    this.#traced.value = same || this.#host.nodeOf(id) === undefined ? null : { id, way };
  }

  /** True if there was something to leave. */
  leave(): boolean {
    if (this.#traced.value === null) return false;
    this.#traced.value = null;
    return true;
  }

  decorate(node: SceneNode, marks: NodeMarks): NodeMarks {
    let { classes, badges, label } = marks;
    if (this.#paired.value.has(node.id)) {
      classes = [...classes, "tft-paired"];
      badges = [{ text: "∇", kind: "gradient" }, ...badges];
    }
    if (this.#traced.value !== null && !node.open) {
      const inside = node.node.members.some((i) => this.#ops.value.has(i));
      classes = [...classes.filter((name) => name !== "tft-dim"), inside ? "tft-traced" : "tft-dim"];
      label += inside ? ", on the trace" : "";
    }
    return { ...marks, classes, badges, label };
  }

  edge(edge: SceneEdge, classes: string[]): string[] {
    if (this.#traced.value === null) return classes;
    const ops = this.#ops.value;
    const inside = edge.base.some(({ from, to }) => ops.has(from) && ops.has(to));
    return [...classes.filter((name) => name !== "tft-dim" && name !== "tft-needed"), inside ? "tft-lit" : "tft-dim"];
  }

  /** Buttons in the details of a box. */
  details(panel: HTMLElement, node: GraphNode): void {
    const { value } = this.#traced;
    const make = (way: Way, text: string, title: string): HTMLButtonElement => {
      const made = button(text, title, () => {
        this.toggle(node.id, way);
        panel.querySelector<HTMLElement>(`[data-way=${way}]`)?.focus();
      });
      made.dataset.way = way;
      made.setAttribute("aria-pressed", `${value?.id === node.id && value.way === way}`);
      return made;
    };
    panel
      .querySelector(".tft-details-buttons")
      ?.after(
        h(
          "div",
          { class: "tft-details-buttons" },
          make("inputs", "Trace inputs", "All that this is made from (i)"),
          make("outputs", "Trace outputs", "All that is made from this (o)"),
        ),
      );
  }

  #show(): void {
    const traced = this.#traced.value;
    this.strip.hidden = traced === null;
    if (traced === null) return;
    const { id, way } = traced;
    const node = this.#host.nodeOf(id);
    const others = this.#ops.value.size - (node?.members.length ?? 0);
    const words = count(others, "op");
    const name = node === undefined ? id : nameOf(node);
    this.strip.replaceChildren(
      h(
        "span",
        {},
        way === "inputs" ? `${words} that ` : `${words} made from `,
        h("b", {}, name),
        way === "inputs" ? " is made from" : "",
      ),
      button("✕", "Stop tracing (Esc)", () => this.leave(), "tft-x"),
    );
  }
}
