// The graph as a tree of text: for screen readers, for orientation, and for graphs too large to draw.
import { consume, focusNear, h } from "../base/elements";
import { count } from "../base/format";
import { glyphOf, readable } from "../layout/box_style";
import type { GraphModel, Node } from "../model/graph";
import { grouped } from "../model/series";

export interface OutlineActions {
  open: (id: string) => boolean;
  toggle: (id: string) => void;
  select: (node: Node) => void;
  selected: () => string;
  state: (node: Node) => string;
}

export function showOutline(panel: HTMLElement, model: GraphModel, above: number, actions: OutlineActions): void {
  const focus = focusNear(panel);
  const focused = (focus as HTMLElement | null)?.dataset.item;
  const hadFocus = panel.contains(focus);
  const tree = h("ul", { role: "tree", "aria-label": "Outline of the graph" });
  fill(tree, model, model.root, above, actions);
  panel.replaceChildren(tree);
  const items = [...tree.querySelectorAll<HTMLElement>("[role=treeitem]")];
  const current = items.find((i) => i.dataset.item === (hadFocus ? focused : actions.selected())) ?? items[0];
  current?.setAttribute("tabindex", "0");
  if (hadFocus) current?.focus();
}

function fill(list: HTMLElement, model: GraphModel, scope: Node, above: number, actions: OutlineActions): void {
  for (const node of grouped(model, scope, above)) {
    const open = node.kind !== "op" && actions.open(node.id);
    const op = node.kind === "op" ? model.opOf(node) : undefined;
    const detail = op !== undefined ? op.type : count(node.members.length, "op");
    const row = h(
      "div",
      { class: "tft-row" },
      h("span", { class: "tft-twist", "aria-hidden": "true" }, node.kind === "op" ? "" : open ? "▾" : "▸"),
      h("span", { class: `tft-dot tft-dot-${glyphOf(model, node)}`, "aria-hidden": "true" }),
      h("span", { class: "tft-row-name" }, readable(node.label)),
      h("span", { class: "tft-muted" }, ` ${detail}${actions.state(node)}`),
    );
    const item = h("li", { role: "treeitem", tabindex: "-1", "aria-selected": actions.selected() === node.id }, row);
    item.dataset.item = node.id;
    if (node.kind !== "op") item.setAttribute("aria-expanded", `${open}`);
    row.addEventListener("click", (event) => {
      if ((event.target as Element).closest(".tft-twist") !== null && node.kind !== "op") actions.toggle(node.id);
      else actions.select(node);
    });
    item.addEventListener("keydown", (event) => onKey(event, item, node, open, actions));
    if (open) {
      const inside = h("ul", { role: "group" });
      fill(inside, model, node, above, actions);
      item.append(inside);
    }
    list.append(item);
  }
}

function onKey(event: KeyboardEvent, item: HTMLElement, node: Node, open: boolean, actions: OutlineActions): void {
  const items = [...item.closest("[role=tree]")!.querySelectorAll<HTMLElement>("[role=treeitem]")];
  const at = items.indexOf(item);
  const go = (target: HTMLElement | null | undefined): void => {
    item.setAttribute("tabindex", "-1");
    target?.setAttribute("tabindex", "0");
    target?.focus();
  };
  const box = node.kind !== "op";
  switch (event.key) {
    case "ArrowDown":
      go(items[at + 1] ?? item);
      break;
    case "ArrowUp":
      go(items[at - 1] ?? item);
      break;
    case "ArrowRight":
      if (box && !open) actions.toggle(node.id);
      else if (box) go(items[at + 1]);
      break;
    case "ArrowLeft":
      if (box && open) actions.toggle(node.id);
      else go(item.parentElement!.closest<HTMLElement>("[role=treeitem]") ?? item);
      break;
    case "Enter":
    case " ":
      actions.select(node);
      break;
    default:
      return;
  }
  consume(event);
}
