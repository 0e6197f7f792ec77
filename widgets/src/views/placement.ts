// The placement view: the graph by device, beside the log of placements with reasons, copies and memory.

import type { ReadonlySignal } from "@preact/signals-core";
import { computed, effect, signal, untracked } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, consume, focusNear, h } from "../base/elements";
import { bytesText, count, digits } from "../base/format";
import type { Badge } from "../drawing/badges";
import type { NodeMarks } from "../drawing/canvas";
import { withoutLikeness } from "../drawing/node_marks";
import { DeviceGraphs } from "../graph_view/device_graphs";
import { GraphView } from "../graph_view/graph_view";
import { hosted } from "../kernel/host";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { update } from "../kernel/traits";
import type { Copy, DeviceRow, Parts, Placement, PlacementTraits } from "../kernel/view_messages";
import { decodeCopy, decodePlacement } from "../kernel/view_messages";
import type { Base } from "../layout/edge_bundles";
import type { SceneNode } from "../layout/scene";
import type { EdgeNote } from "../layout/scope_layout";
import { foldingNotice, verbOf } from "../panels/folding_notice";

const MOST_ROWS = 600;

class PlacementView {
  readonly #view: GraphView;
  readonly #problem = h("p", { class: "tft-problem", role: "alert" });
  readonly #devices = h("div", {
    class: "tft-devices",
    role: "group",
    "aria-label": "Devices: choose one to see its ops alone",
  });
  readonly #title = h("h3");
  readonly #kinds = h("select", { "aria-label": "Show ops by the reason of their placement" });
  readonly #ops = h("ol", { class: "tft-ops", role: "listbox", "aria-label": "Placements" });
  readonly #copiesTitle = h("h3");
  readonly #copiesHead = h("div", { class: "tft-log-head tft-copies-head" }, this.#copiesTitle);
  readonly #copies = h("ol", { class: "tft-copies", role: "listbox", "aria-label": "Copies between devices" });
  readonly #devicesOf: ReadonlySignal<DeviceRow[]>;
  readonly #summary: ReadonlySignal<string>;
  readonly #placed: ReadonlySignal<Map<number, Placement>>;
  readonly #moved: ReadonlySignal<Copy[]>;
  /** "op:port:reader" -> the copy that brings it there. */
  readonly #copyOf = computed(() => {
    const found = new Map<string, Copy>();
    for (const copy of this.#moved.value) {
      for (const reader of copy.readers) found.set(`${copy.op}:${copy.port}:${reader}`, copy);
    }
    return found;
  });
  /** The device and the reason to which the log is narrowed, and the copy that was clicked. */
  readonly #device = signal<number | null>(null);
  readonly #kind = signal("");
  readonly #copy = signal<Copy | null>(null);
  /** Says what was folded, above the graph that is shown. */
  readonly #notice: HTMLElement;
  /** The graphs of the devices, while they are shown instead of the one graph. */
  #graphs: DeviceGraphs | null = null;
  readonly #root = h("div", { class: "tfteach-placement" });
  readonly #cleanup = new Cleanup();

  constructor(traits: Traits<PlacementTraits>, parent: HTMLElement) {
    const [root, cleanup] = [this.#root, this.#cleanup];
    parent.append(root);
    const [placed, copies] = [traitSignal(traits, "_placed", cleanup), traitSignal(traits, "_copies", cleanup)];
    const problem = traitSignal(traits, "problem", cleanup);
    const [shown, parts] = [traitSignal(traits, "partitions", cleanup), traitSignal(traits, "_parts", cleanup)];
    this.#devicesOf = traitSignal(traits, "_devices", cleanup);
    this.#summary = traitSignal(traits, "_summary", cleanup);
    this.#placed = computed(() => new Map(placed.value.map((row) => [row[0], decodePlacement(row)])));
    this.#moved = computed(() => copies.value.map(decodeCopy));
    this.#view = new GraphView(traits, root, {
      decorate: (node, marks) => this.#decorate(node, marks),
      edge: (edge, classes) => (this.#copiesOn(edge.base).length > 0 ? [...classes, "tft-copy"] : classes),
      note: (edge) => this.#note(edge.base),
      longestNote: (base) => this.#note(base),
      verb: verbOf(traits, cleanup),
    });
    const log = h(
      "section",
      { class: "tft-log", "aria-label": "Placement log" },
      h("div", { class: "tft-log-head" }, this.#title, this.#kinds),
      this.#ops,
      this.#copiesHead,
      this.#copies,
    );
    this.#notice = foldingNotice(traits, cleanup);
    this.#addSwitch(traits, this.#view, false);
    this.#view.frame.bar.after(this.#problem, this.#notice, this.#devices);
    this.#view.frame.stage.after(log);
    this.#kinds.addEventListener("change", () => {
      this.#kind.value = this.#kinds.value;
    });
    for (const list of [this.#ops, this.#copies]) list.addEventListener("keydown", (event) => onKey(event, list));
    this.#view.start();
    cleanup.add(
      () => root.remove(),
      () => this.#view.destroy(),
      effect(() => {
        this.#problem.hidden = problem.value === "";
        this.#problem.replaceChildren(h("b", {}, "Cannot be placed: "), problem.value);
      }),
      effect(() => this.#showParts(traits, shown.value, parts.value)),
      () => this.#graphs?.view.destroy(),
      effect(() => this.#showDevices()),
      effect(() => this.#showKinds()),
      effect(() => this.#showLog()),
      effect(() => this.#showCopies()),
      effect(() => this.#showSelected()),
    );
  }

  destroy(): void {
    this.#cleanup.end();
  }

  // --- one graph, or that of each device ---

  #addSwitch(traits: Traits<PlacementTraits>, { frame }: GraphView, partitions: boolean): void {
    const modes = [
      ["One graph", "The graph as it was built, with copies as dashed lines", false],
      ["By device", "The graphs that the run is cut into, one for each device, with _Send and _Recv", true],
    ] as const;
    const buttons = modes.map(([text, title, mode]) => {
      const el = button(text, title, () => update(traits, { partitions: mode }));
      el.setAttribute("aria-pressed", `${mode === partitions}`);
      return el;
    });
    frame.bar.prepend(h("div", { class: "tft-modes", role: "group", "aria-label": "Picture" }, ...buttons));
  }

  #showParts(traits: Traits<PlacementTraits>, shown: boolean, parts: Parts | Record<string, never>): void {
    untracked(() => {
      const focus = focusNear(this.#root) as HTMLElement | null;
      this.#graphs?.view.destroy();
      this.#graphs = null;
      const cut = shown && "ops" in parts ? (parts as Parts) : null;
      this.#view.frame.root.hidden = cut !== null;
      if (cut !== null) {
        this.#graphs = new DeviceGraphs(cut, traits.get("height"), this.#root);
        this.#addSwitch(traits, this.#graphs.view, true);
      }
      const { bar } = (this.#graphs?.view ?? this.#view).frame;
      if (this.#notice.previousElementSibling !== bar) bar.after(this.#notice);
      if (this.#notice.contains(focus)) focus?.focus();
      if (focus?.closest(".tft-modes") != null)
        bar.querySelector<HTMLElement>(".tft-modes [aria-pressed=true]")?.focus();
    });
  }

  // --- devices and their memory ---

  #showDevices(): void {
    this.#devices.replaceChildren(
      ...this.#devicesOf.value.map((device, i) => {
        const { label, simulated, ops } = device;
        return h(
          "button",
          {
            type: "button",
            class: `tft-device tft-dev-${device.colour}`,
            title: [device.about || device.name, memoryText(device)].join("\n"),
            "aria-pressed": this.#device.value === i,
            onclick: () => {
              this.#device.value = this.#device.value === i ? null : i;
              (this.#devices.children[i] as HTMLElement).focus();
            },
          },
          h("span", { class: "tft-swatch", "aria-hidden": "true" }),
          h("b", {}, label, simulated ? h("i", {}, "simulated") : null),
          h("span", { class: "tft-muted" }, count(ops, "op")),
          memoryBar(device),
          h("span", { class: "tft-muted tft-memory-words" }, memoryText(device)),
        );
      }),
    );
  }

  // --- the log ---

  #showKinds(): void {
    const before = this.#kinds.value;
    const counts = new Map<string, number>();
    for (const { kind } of this.#placed.value.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const options = [...counts]
      .sort((a, b) => b[1] - a[1])
      .map(([kind, n]) => h("option", { value: kind }, `${kind} (${n})`));
    this.#kinds.replaceChildren(h("option", { value: "" }, "every reason"), ...options);
    this.#kinds.value = counts.has(before) ? before : "";
    this.#kind.value = this.#kinds.value;
  }

  #showLog(): void {
    const [devices, device, kind] = [this.#devicesOf.value, this.#device.value, this.#kind.value];
    this.#view.state.version.value; // names come with the graph
    const rows = [...this.#placed.value.values()].filter(
      (row) => (device === null || row.device === device) && (kind === "" || row.kind === kind),
    );
    const where = device === null ? "" : ` on ${devices[device]?.label ?? "?"}`;
    this.#title.textContent = `${count(rows.length, "op")}${where}`;
    this.#ops.replaceChildren(...rows.slice(0, MOST_ROWS).map((row) => this.#logRow(row, devices)));
    if (rows.length > MOST_ROWS) this.#ops.append(more(rows.length - MOST_ROWS, "choose a device or a reason"));
    (this.#ops.firstElementChild as HTMLElement | null)?.setAttribute("tabindex", "0");
    untracked(() => this.#showSelected());
  }

  #logRow({ op, device, reason }: Placement, devices: readonly DeviceRow[]): HTMLElement {
    const { name, type } = this.#view.model.ops[op] ?? { name: "?", type: "" };
    const place = devices[device];
    const item = h(
      "li",
      { role: "option", tabindex: "-1", "aria-selected": "false" },
      h("code", { title: `${name}: (${type}): ${place?.name ?? ""}` }, `\u200e${name}`),
      placeChip(place),
      h("span", { class: "tft-reason" }, h("span", {}, `${type} · `), reason),
    );
    item.dataset.op = `${op}`;
    item.addEventListener("click", () => {
      this.#copy.value = null;
      this.#view.goTo(op);
    });
    return item;
  }

  #showSelected(): void {
    const { selected, version } = this.#view.state;
    const [id, chosen] = [selected.value, this.#copy.value];
    version.value;
    const node = untracked(() => this.#view.nodeOf(id));
    const members = new Set(node?.members ?? []);
    const own = node === undefined ? undefined : node.kind === "op" ? node.members[0] : undefined;
    let first: HTMLElement | null = null;
    for (const item of this.#ops.querySelectorAll<HTMLElement>("li[role=option]")) {
      const op = Number(item.dataset.op);
      item.setAttribute("aria-selected", `${op === own}`);
      item.classList.toggle("tft-inside", members.has(op) && op !== own);
      item.querySelector(".tft-asked")?.remove();
      if (!members.has(op)) continue;
      first ??= item;
      if (op !== own) continue;
      const { requested, device } = this.#placed.value.get(op)!;
      item.append(
        h(
          "div",
          { class: "tft-asked" },
          requested === "" ? "asked for nothing" : `asked for ${requested}`,
          h("br"),
          `got ${this.#devicesOf.value[device]?.name ?? "?"}`,
        ),
      );
    }
    if (first !== null) scrollTo(this.#ops, first);
    for (const [i, item] of [...this.#copies.querySelectorAll("li[role=option]")].entries()) {
      const copy = this.#moved.value[i];
      const touches = copy !== undefined && (members.has(copy.op) || copy.readers.some((r) => members.has(r)));
      item.setAttribute("aria-selected", `${copy !== undefined && copy === chosen}`);
      item.classList.toggle("tft-inside", touches);
    }
  }

  // --- copies ---

  #showCopies(): void {
    const [copies, devices] = [this.#moved.value, this.#devicesOf.value];
    this.#view.state.version.value; // names come with the graph
    const bytes = /; (.*)$/.exec(this.#summary.value)?.[1] ?? "";
    this.#copiesHead.hidden = this.#copies.hidden = copies.length === 0;
    this.#copiesTitle.textContent = bytes;
    this.#copies.replaceChildren(
      ...copies.slice(0, MOST_ROWS).map((copy) => {
        const tensor = `${this.#name(copy.op)}:${copy.port}`;
        return h(
          "li",
          {
            role: "option",
            tabindex: "-1",
            "aria-selected": "false",
            title: copy.measured ? "size of the last run" : "size by the static shape",
            onclick: () => {
              this.#copy.value = copy;
              if (copy.op >= 0) this.#view.goTo(copy.op);
            },
          },
          h("code", { title: tensor }, `\u200e${tensor}`),
          h("span", { class: "tft-bytes" }, copy.size),
          h(
            "span",
            { class: "tft-reason" },
            h("span", { class: "tft-way-words" }, placeChip(devices[copy.from]), "→", placeChip(devices[copy.to])),
            ` ${this.#what(copy)}`,
          ),
        );
      }),
    );
    if (copies.length > MOST_ROWS) this.#copies.append(more(copies.length - MOST_ROWS, "select a box to see its own"));
    (this.#copies.firstElementChild as HTMLElement | null)?.setAttribute("tabindex", "0");
  }

  #name(op: number): string {
    return this.#view.model.ops[op]?.name ?? "?";
  }

  /** The purpose of a copy. */
  #what({ fed, fetched, readers }: Copy): string {
    const ends = [...(fetched ? ["the fetch"] : []), ...readers.slice(0, 2).map((op) => this.#name(op))];
    return `${fed ? "fed, " : ""}for ${ends.join(", ")}${readers.length > 2 ? ` and ${readers.length - 2} more` : ""}`;
  }

  // --- the picture ---

  #decorate(node: SceneNode, marks: NodeMarks): NodeMarks {
    const devices = this.#devicesOf.value;
    const counts = new Map<number, number>();
    for (const op of node.node.members) {
      const device = this.#placed.value.get(op)?.device;
      if (device !== undefined) counts.set(device, (counts.get(device) ?? 0) + 1);
    }
    const here = [...counts.keys()].sort((a, b) => a - b);
    const { classes, badges } = withoutLikeness(marks);
    classes.push(
      here.length === 0
        ? "tft-unplaced"
        : here.length === 1
          ? `tft-dev-${devices[here[0]!]?.colour ?? 0}`
          : "tft-dev-mixed",
    );
    if (this.#device.value !== null && !counts.has(this.#device.value)) classes.push("tft-dim");
    const words = here.map((d) => devices[d]?.label ?? "?");
    if (!node.open) badges.push(...words.reverse().map((text): Badge => ({ text, kind: "device" })));
    const only = this.#placed.value.get(this.#view.model.opOf(node.node)?.index ?? -1);
    const why = only === undefined ? "" : `, ${only.reason}`;
    return {
      ...marks,
      classes,
      badges,
      label: `${marks.label}, on ${words.length > 0 ? words.join(" and ") : "no device"}${why}`,
    };
  }

  #copiesOn(base: readonly Base[]): Copy[] {
    const found = base.map(({ from, port, to }) => this.#copyOf.value.get(`${from}:${port}:${to}`));
    return [...new Set(found)].filter((copy) => copy !== undefined);
  }

  #note(base: readonly Base[]): EdgeNote | undefined {
    const copies = this.#copiesOn(base);
    const subject = copies.map(({ op, port, to }) => `${op}:${port}>${to}`).join();
    if (copies.length === 0) return undefined;
    if (copies.length > 1) return { text: `${copies.length} copies`, subject };
    return { text: /^\d/.test(copies[0]!.size) ? copies[0]!.size : "copy", subject };
  }
}

function more(rest: number, advice: string): HTMLElement {
  return h("li", { role: "presentation", class: "tft-muted" }, `and ${digits(rest)} more: ${advice}`);
}

function placeChip(device: DeviceRow | undefined): HTMLElement {
  return h("span", { class: `tft-place tft-dev-${device?.colour ?? 0}` }, device?.label ?? "?");
}

function memoryBar({ limit, current, peak, reserved }: DeviceRow): HTMLElement {
  const bar = h("span", { class: limit === null ? "tft-memory tft-memory-none" : "tft-memory", "aria-hidden": "true" });
  if (limit === null || limit === 0) return bar;
  const share = (bytes: number | null): string => `${Math.min(100, (100 * (bytes ?? 0)) / limit).toFixed(2)}%`;
  const part = (name: string, style: string): HTMLElement => h("span", { class: name, style });
  bar.append(part("tft-reserved", `width: ${share(reserved)}`));
  if ((current ?? 0) > 0) bar.append(part("tft-taken", `width: ${share(current)}`));
  if ((peak ?? 0) > 0) bar.append(part("tft-peak", `left: ${share(peak)}`));
  return bar;
}

function memoryText({ limit, current, peak, reserved, variables, variable_bytes: bytes }: DeviceRow): string {
  if (limit === null) return variables === 0 ? "no variables" : `${count(variables, "variable")}, ${bytesText(bytes)}`;
  const part = reserved === limit ? "" : ` · ${bytesText(reserved ?? 0)} reserved`;
  return `${bytesText(current ?? 0)} of ${bytesText(limit)} · peak ${bytesText(peak ?? 0)}${part}`;
}

/** Scrolls the list alone, never the page. */
function scrollTo(list: HTMLElement, item: HTMLElement): void {
  const [box, own] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
  if (own.top < box.top) list.scrollTop += own.top - box.top - 8;
  else if (own.bottom > box.bottom) list.scrollTop += Math.min(own.bottom - box.bottom + 8, own.top - box.top);
}

function onKey(event: KeyboardEvent, list: HTMLElement): void {
  const items = [...list.querySelectorAll<HTMLElement>("li[role=option]")];
  const at = items.indexOf(event.target as HTMLElement);
  if (at < 0) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (to !== undefined) {
    const next = items[Math.max(0, Math.min(items.length - 1, to))]!;
    items[at]!.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    items[at]!.click();
    items[at]!.focus();
  } else return;
  consume(event);
}

export default hosted((traits: Traits<PlacementTraits>, el) => new PlacementView(traits, el));
