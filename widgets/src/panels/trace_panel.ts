// All that a box is made from, or all that is made from it; and an op with its gradients under the pointer.

import { button, h } from "../base/elements";
import { count } from "../base/format";
import type { NodeMarks } from "../drawing/canvas";
import type { SceneEdge, SceneNode } from "../layout/scene";
import type { Node as GraphNode } from "../model/graph";
import { nameOf } from "../model/graph";
import { partners, trace } from "../model/trace";
import type { PanelHost } from "./panel_host";

type Way = "inputs" | "outputs";

export class Tracing {
  readonly strip = h("div", { class: "tft-trace", role: "status" });
  private traced: { id: string; way: Way; ops: Set<number> } | null = null;
  private paired = new Set<string>();

  constructor(private readonly view: () => PanelHost) {
    this.strip.hidden = true;
  }

  /** Traces, or stops when it is traced that way already. */
  toggle(id: string, way: Way): void {
    const view = this.view();
    const node = view.nodeOf(id);
    const same = this.traced?.id === id && this.traced.way === way;
    this.traced = same || node === undefined ? null : { id, way, ops: trace(view.model, node.members, way) };
    this.show();
    view.remark();
  }

  /** True if there was something to leave. */
  leave(): boolean {
    if (this.traced === null) return false;
    this.traced = null;
    this.show();
    this.view().remark();
    return true;
  }

  /** A graph that has grown may have more to find. */
  grown(): void {
    if (this.traced === null) return;
    const node = this.view().nodeOf(this.traced.id);
    if (node !== undefined) this.traced.ops = trace(this.view().model, node.members, this.traced.way);
    this.show();
  }

  hover(id: string | null): void {
    this.paired.clear();
    if (id === null) return;
    const view = this.view();
    const boxes = partners(view.model, id).flatMap((name) => {
      // Where its own box is closed away, the box that holds it stands for it.
      const index = view.nodeOf(name)?.members[0];
      const shown = view.scene.byId.get(name) ?? (index === undefined ? undefined : view.scene.boxOf.get(index));
      return shown === undefined || shown.id === id ? [] : [shown.id];
    });
    if (boxes.length > 0) this.paired = new Set([...boxes, id]);
  }

  decorate(node: SceneNode, said: NodeMarks): NodeMarks {
    let { classes, badges, label } = said;
    if (this.paired.has(node.id)) {
      classes = [...classes, "tft-paired"];
      badges = [{ text: "∇", kind: "gradient" }, ...badges];
    }
    const { traced } = this;
    if (traced !== null && !node.open) {
      const inside = node.node.members.some((i) => traced.ops.has(i));
      classes = [...classes.filter((name) => name !== "tft-dim"), inside ? "tft-traced" : "tft-dim"];
      label += inside ? ", on the trace" : "";
    }
    return { ...said, classes, badges, label };
  }

  edge(edge: SceneEdge, classes: string[]): string[] {
    const { traced } = this;
    if (traced === null) return classes;
    const inside = edge.base.some(({ from, to }) => traced.ops.has(from) && traced.ops.has(to));
    return [...classes.filter((name) => name !== "tft-dim" && name !== "tft-needed"), inside ? "tft-lit" : "tft-dim"];
  }

  /** Buttons in the details of a box. */
  details(panel: HTMLElement, node: GraphNode): void {
    const make = (way: Way, text: string, title: string): HTMLButtonElement => {
      const made = button(text, title, () => {
        this.toggle(node.id, way);
        panel.querySelector<HTMLElement>(`[data-way=${way}]`)?.focus();
      });
      made.dataset.way = way;
      made.setAttribute("aria-pressed", `${this.traced?.id === node.id && this.traced.way === way}`);
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

  private show(): void {
    this.strip.hidden = this.traced === null;
    if (this.traced === null) return;
    const { id, way, ops } = this.traced;
    const node = this.view().nodeOf(id);
    const others = ops.size - (node?.members.length ?? 0);
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
