// Ops of types that tfteach does not have: drawn like others, but said to be unknown.
import { h } from "../base/elements";
import type { NodeMarks } from "../drawing/canvas";
import type { SceneNode } from "../layout/scene";
import type { GraphModel, Node as GraphNode } from "../model/graph";

export function withUnknown(model: GraphModel, { node, open }: SceneNode, marks: NodeMarks): NodeMarks {
  if (open || model.opOf(node)?.unknown !== true) return marks;
  return {
    ...marks,
    classes: [...marks.classes, "tft-unknown"],
    badges: [...marks.badges, { text: "unknown op", kind: "alike" }],
    label: `${marks.label}, an op type that tfteach does not have`,
  };
}

/** In the details of such an op: why there is nothing more to say. */
export function tellUnknown(model: GraphModel, panel: HTMLElement, node: GraphNode): void {
  const op = model.opOf(node);
  if (op?.unknown !== true) return;
  const text = `tfteach does not have ${op.type}: it can draw this op, but neither run it nor infer its shapes.`;
  panel.querySelector(".tft-details-buttons")?.after(h("p", { class: "tft-unknown-words" }, text));
}
