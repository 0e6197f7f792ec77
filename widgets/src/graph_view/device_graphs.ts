// The graphs that a run is cut into, one for each device, beside each other, with lines from each _Send to its _Recv.

import { button, h } from "../base/elements";
import { bytesText, count } from "../base/format";
import type { NodeMarks } from "../drawing/canvas";
import { withoutLikeness } from "../drawing/node_marks";
import { LocalTraits } from "../kernel/local_traits";
import type { DeviceLink, Parts } from "../kernel/view_messages";
import { decodeLink } from "../kernel/view_messages";
import { DeviceColumns } from "../layout/device_links";
import type { Base } from "../layout/edge_bundles";
import type { SceneNode } from "../layout/scene";
import type { EdgeNote } from "../layout/scope_layout";
import type { Node as GraphNode } from "../model/graph";
import { GraphView } from "./graph_view";

export class DeviceGraphs {
  readonly view: GraphView;
  readonly #colours: ReadonlyMap<string, number>;
  readonly #labels: string[];
  readonly #links: DeviceLink[];
  /** By the index of either end. */
  readonly #linkOf = new Map<number, DeviceLink>();

  constructor(parts: Parts, height: number, parent: HTMLElement) {
    this.#colours = new Map(parts.devices.map(({ label, colour }) => [`${label}/`, colour]));
    this.#labels = parts.devices.map(({ label }) => label);
    this.#links = parts.links.map(decodeLink);
    for (const link of this.#links) for (const end of [link.send, link.recv]) this.#linkOf.set(end, link);
    this.view = new GraphView(new LocalTraits(parts.ops, { depth: 2, labels: true, height }), parent, {
      isRun: true,
      devices: new DeviceColumns(),
      decorate: (node, marks) => this.#decorate(node, marks),
      edge: ({ base }, classes) => (this.#linksOn(base).length > 0 ? [...classes, "tft-copy"] : classes),
      note: ({ base }) => this.#note(base),
      longestNote: (base) => this.#note(base),
      details: (panel, node) => this.#details(panel, node),
      key: (key) => key === "f" || key === "d", // what runs was decided in the graph as a whole
    });
    this.view.frame.root.classList.add("tft-device-graphs");
    this.view.frame.bar.after(h("p", { class: "tft-parts-summary" }, parts.summary));
    this.view.start();
  }

  #linksOn(base: readonly Base[]): DeviceLink[] {
    const found = base.map(({ from, to }) => this.#linkOf.get(from)?.recv === to && this.#linkOf.get(from));
    return found.filter((link) => link !== undefined && link !== false);
  }

  #note(base: readonly Base[]): EdgeNote | undefined {
    const links = this.#linksOn(base);
    if (links.length === 0) return undefined;
    const subject = links.map(({ send }) => send).join();
    return { text: links.length > 1 ? total(links) : links[0]!.short, subject };
  }

  #decorate(node: SceneNode, marks: NodeMarks): NodeMarks {
    const { hovered, selectedBox, scene } = this.view.state;
    const { classes, badges } = withoutLikeness(marks);
    const colour = this.#colours.get(`${node.id.split("/", 1)[0]!}/`);
    classes.push(`tft-dev-${colour ?? 0}`);
    const ends = node.node.members.map((op) => this.#linkOf.get(op));
    const link = ends[0];
    if (link === undefined || ends.includes(undefined)) return { ...marks, classes, badges };
    if (node.node.kind !== "op") {
      const type = this.view.model.ops[node.node.members[0]!]!.type;
      return { ...marks, classes: [...classes, "tft-transfer"], badges, note: `${type} ×${ends.length}` };
    }
    const sends = link.send === node.node.members[0];
    const other = scene.value.boxOf.get(sends ? link.recv : link.send)?.id;
    if (other !== undefined && other === (hovered.value ?? selectedBox.value)) classes.push("tft-paired");
    classes.push("tft-transfer");
    const place = this.#labels[sends ? link.to : link.from]!;
    badges.push({ text: sends ? `→ ${place}` : `← ${place}`, kind: "device" });
    return { ...marks, classes, badges, label: `${marks.label}, ${this.#words(link, sends)}` };
  }

  #words({ tensor, what, from, to }: DeviceLink, sends: boolean): string {
    const way = sends ? `sent to ${this.#labels[to]!}` : `received from ${this.#labels[from]!}`;
    return `${tensor} ${way}, ${what}`;
  }

  #details(panel: HTMLElement, node: GraphNode): void {
    const index = node.kind === "op" ? node.members[0]! : -1;
    const link = this.#linkOf.get(index);
    if (link === undefined) return;
    const sends = link.send === index;
    const end = sends ? link.recv : link.send;
    const { name, type } = this.view.model.ops[end]!;
    panel.querySelector(".tft-details-buttons")?.after(
      h(
        "section",
        {},
        h("h4", {}, sends ? "Sends" : "Receives"),
        h("p", {}, this.#words(link, sends)),
        button(`${type} ${name}`, `Go to ${name}`, () => this.view.goTo(end), "tft-link"),
      ),
    );
  }
}

/** Several values between the same boxes, as the label of their line. */
function total(links: readonly DeviceLink[]): string {
  const values = links.filter(({ bytes }) => bytes !== -1);
  if (values.length === 0) return count(links.length, "control edge");
  const least = values.some(({ bytes }) => bytes === null) ? "≥ " : "";
  const size = values.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  return `${count(values.length, "value")} · ${least}${bytesText(size)}`;
}
