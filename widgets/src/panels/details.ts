// The details panel of the selected box: its type, the line that built it, its inputs and its readers.
import { button, h } from "../base/elements";
import { readable } from "../layout/box_style";
import type { GraphModel, Node as GraphNode, Op } from "../model/graph";
import { nameOf, shapeText } from "../model/graph";
import { fetchName, prune } from "../model/prune";
import type { Why } from "../model/pruning_reasons";

export interface DetailsActions {
  go: (index: number) => void;
  close: () => void;
  toggleFetch: (name: string) => void;
  toggleFeed: (name: string) => void;
  toggleOpen: (id: string) => void;
  fetched: (op: Op) => boolean;
  fed: (op: Op) => boolean;
  isOpen: (id: string) => boolean;
  why: (op: Op) => Why | null;
  /** The ops are a record of what ran or was traced. */
  isRecord: boolean;
}

const MOST_LINKS = 40;

export function showDetails(panel: HTMLElement, model: GraphModel, node: GraphNode, actions: DetailsActions): void {
  const op = model.opOf(node);
  const name = op?.name ?? nameOf(node);
  panel.replaceChildren(
    h(
      "div",
      { class: "tft-details-head" },
      h("div", {}, h("div", { class: "tft-kind" }, kindText(node, op)), h("h3", {}, readable(name))),
      button("✕", "Close details (Esc)", actions.close, "tft-button tft-close"),
    ),
    buttons(node, op, actions),
    ...(op === undefined ? [] : whySection(model, actions.why(op), actions)),
    ...(op === undefined ? [] : opSections(model, op, actions)),
    ...(node.kind === "op" ? [] : [scopeSection(model, node)]),
  );
}

function kindText(node: GraphNode, op: Op | undefined): string {
  if (node.kind === "series") return "series";
  return node.kind === "scope" ? (op === undefined ? "name scope" : `${op.type} and its scope`) : op!.type;
}

function buttons(node: GraphNode, op: Op | undefined, actions: DetailsActions): HTMLElement {
  const row = h("div", { class: "tft-details-buttons" });
  if (op !== undefined && !actions.isRecord) {
    const fetched = actions.fetched(op);
    row.append(
      pressed(
        fetched,
        button(fetched ? "Fetched ✓" : "Fetch", "Fetch this in a run (f)", () => actions.toggleFetch(fetchName(op))),
      ),
    );
    if (op.outputs.length > 0) {
      const fed = actions.fed(op);
      row.append(
        pressed(
          fed,
          button(fed ? "Fed ✓" : "Feed", "Feed this instead of computing it (d)", () =>
            actions.toggleFeed(`${op.name}:0`),
          ),
        ),
      );
    }
  }
  if (node.kind !== "op") {
    const open = actions.isOpen(node.id);
    row.append(
      button(open ? "Collapse" : "Expand", "Open or close this box (Enter)", () => actions.toggleOpen(node.id)),
    );
  }
  return row;
}

function pressed(on: boolean, el: HTMLButtonElement): HTMLButtonElement {
  el.setAttribute("aria-pressed", `${on}`);
  return el;
}

function section(title: string, ...content: (HTMLElement | string)[]): HTMLElement {
  return h("section", {}, h("h4", {}, title), ...content);
}

function link(model: GraphModel, index: number, port: number, actions: DetailsActions): HTMLElement {
  const op = model.ops[index];
  if (op === undefined) return h("li", {}, "?");
  const name = readable(op.name);
  const text = port < 0 ? `^${name}` : port === 0 ? name : `${name}:${port}`;
  const el = button(text, `Go to ${name}`, () => actions.go(index), "tft-link");
  const out = op.outputs[port];
  return h(
    "li",
    {},
    el,
    out === undefined ? null : h("span", { class: "tft-shape-text" }, ` ${out.dtype} ${shapeText(out.shape)}`),
  );
}

/** The path from the op to the fetch that needs it, or to the feed that cuts it off. */
function whySection(model: GraphModel, found: Why | null, actions: DetailsActions): HTMLElement[] {
  if (found === null) return [];
  const made = section(found.runs ? "Why it runs" : "Why it does not run", h("p", { class: "tft-why" }, found.text));
  if (found.path.length > 1) {
    made.append(
      h(
        "ol",
        { class: "tft-way" },
        ...found.path.map((index) =>
          h(
            "li",
            {},
            button(
              readable(model.ops[index]!.name),
              `Go to ${readable(model.ops[index]!.name)}`,
              () => actions.go(index),
              "tft-link",
            ),
          ),
        ),
      ),
    );
  }
  return [made];
}

function links(items: HTMLElement[]): HTMLElement {
  const list = h("ul", {}, ...items.slice(0, MOST_LINKS));
  if (items.length > MOST_LINKS) list.append(h("li", { class: "tft-muted" }, `and ${items.length - MOST_LINKS} more`));
  return list;
}

function opSections(model: GraphModel, op: Op, actions: DetailsActions): HTMLElement[] {
  const made: HTMLElement[] = [];
  if (op.source !== undefined) {
    const { file, line, scope: where, text } = op.source;
    made.push(
      section(
        "Made at",
        h(
          "div",
          { class: "tft-muted" },
          `${file} line ${line}${where === "<module>" || where.startsWith("<cell") ? "" : `, in ${where}`}`,
        ),
        ...(text === "" ? [] : [h("pre", {}, text.trim())]),
      ),
    );
  }
  if (op.value !== undefined) made.push(section("Value", h("code", {}, op.value)));
  if (op.outputs.length > 0 && !actions.isRecord) {
    made.push(
      section(
        op.outputs.length > 1 ? "Outputs" : "Output",
        h(
          "ul",
          {},
          ...op.outputs.map(({ dtype, shape }, i) =>
            h(
              "li",
              {},
              h("code", {}, `:${i}`),
              h("span", { class: "tft-shape-text" }, ` ${dtype} ${shapeText(shape)}`),
            ),
          ),
        ),
      ),
    );
  }
  const inputs: HTMLElement[] = [];
  for (const input of op.inputs) inputs.push(link(model, input.op, input.port, actions));
  for (const source of op.controls) inputs.push(link(model, source, -1, actions));
  if (inputs.length > 0) made.push(section(`Reads (${inputs.length})`, links(inputs)));
  const uses = model.uses[op.index] ?? [];
  if (uses.length > 0) {
    made.push(
      section(
        `Read by (${uses.length})`,
        links(
          uses.map((use) => {
            const item = link(model, use.op, 0, actions);
            item.querySelector(".tft-shape-text")?.remove();
            if (use.port < 0) item.append(h("span", { class: "tft-muted" }, " control"));
            return item;
          }),
        ),
      ),
    );
  }
  if (!actions.isRecord) {
    const behind = prune(model, [op.name]).needed.size;
    made.push(section("A run of it needs", h("span", {}, `${behind} of ${model.ops.length} ops, without feeds`)));
    made.push(section("Device", h("span", op.device ? {} : { class: "tft-muted" }, op.device || "not asked for")));
  }
  const attrs = Object.entries(op.attrs ?? {});
  if (attrs.length > 0) {
    made.push(
      section(
        "Attributes",
        h(
          "table",
          {},
          h(
            "tbody",
            {},
            ...attrs.map(([key, value]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, value))),
          ),
        ),
      ),
    );
  }
  return made;
}

function scopeSection(model: GraphModel, node: GraphNode): HTMLElement {
  const types = new Map<string, number>();
  for (const index of node.members) {
    const { type } = model.ops[index]!;
    types.set(type, (types.get(type) ?? 0) + 1);
  }
  const rows = [...types].sort((a, b) => b[1] - a[1]);
  return section(
    `${node.members.length} ops inside`,
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        ...rows
          .slice(0, MOST_LINKS)
          .map(([type, n]) => h("tr", {}, h("th", { scope: "row" }, type), h("td", {}, `${n}`))),
      ),
    ),
  );
}
