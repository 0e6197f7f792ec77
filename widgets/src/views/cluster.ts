// The cluster view: tasks as machines, what each holds of the graph, and the messages of a step as they travel.
import { Cleanup } from "../base/cleanup";
import { breakable, consume, focusNear, h } from "../base/elements";
import { timeText } from "../base/format";
import { Player } from "../base/player";
import { drawer, s } from "../base/svg";
import { arrowAt, dot, isBetween, LabelPlaces, pathOf, pointOn, wayBetween } from "../drawing/machine_ways";
import type { ClusterMessage, ClusterTask, ClusterTraits } from "../kernel/cluster_messages";
import { hosted } from "../kernel/host";
import { shareSelection } from "../kernel/shared_selection";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import { shorten } from "../layout/box_style";

const MOST_VARIABLES = 3; // on a machine; the details have all
const MOMENTS = 240; // of a step
const CLIENT = "client";
const SIGNS = { alive: "●", slow: "◐", dead: "✕", unknown: "○" };
const MOST_IN_ROW = 4; // machines

class ClusterView {
  readonly #traits: Traits<ClusterTraits>;
  readonly #title = h("h3");
  readonly #slider = h("input", { type: "range", min: "0", max: `${MOMENTS}`, "aria-label": "Time in the step" });
  readonly #when = h("span", { class: "tft-when", "aria-live": "polite" });
  readonly #transport: HTMLElement;
  readonly #player: Player;
  readonly #machines = h("div", { class: "tft-machines" });
  readonly #ways = s("svg", { class: "tft-ways", "aria-hidden": "true" });
  readonly #stage: HTMLElement;
  readonly #details = h("div", { class: "tft-cluster-details", "aria-live": "polite" });
  readonly #list = h("ol", { role: "listbox", "aria-label": "Messages, in the order of sending" });
  readonly #head = h("h4");
  readonly #log: HTMLElement;
  readonly #problem = h("p", { class: "tft-cluster-problem", role: "status" });
  readonly #root: HTMLElement;
  readonly #drawLater: () => void;
  readonly #cleanup = new Cleanup();
  /** Of `MOMENTS`; null before anything was played or chosen: all ways are then shown alike. */
  #moment: number | null = null;
  #message: number | null = null;
  #task = "";

  constructor(traits: Traits<ClusterTraits>, parent: HTMLElement) {
    this.#traits = traits;
    this.#player = new Player(
      {
        first: () => 0,
        last: () => MOMENTS,
        position: () => this.#moment ?? 0,
        seek: (to) => this.#go(to),
        moves: () => !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
      },
      { shortest: 25, longest: 40, whole: 8000 },
      { play: "▶ Play", title: "Play the step: see its messages travel" },
      this.#cleanup,
    );
    this.#transport = h(
      "div",
      { class: "tft-transport", role: "group", "aria-label": "The step" },
      this.#player.button,
      this.#slider,
      this.#when,
    );
    this.#stage = h("div", { class: "tft-cluster-stage" }, this.#ways, this.#machines);
    this.#log = h("section", { class: "tft-run-log" }, this.#head, this.#list);
    this.#root = h(
      "div",
      {
        class: "tfteach-graph tfteach-cluster",
        role: "group",
        "aria-label": "Cluster",
        "data-lm-suppress-shortcuts": "true",
      },
      h("div", { class: "tft-cluster-bar" }, this.#title, this.#transport),
      this.#problem,
      h(
        "div",
        { class: "tft-cluster-body" },
        h("div", { class: "tft-cluster-main" }, this.#stage, this.#details),
        this.#log,
      ),
    );
    parent.append(this.#root);
    this.#slider.addEventListener("input", () => this.#player.seek(Number(this.#slider.value)));
    this.#transport.addEventListener("keydown", (event) => {
      if (event.target === this.#slider) this.#player.key(event);
    });
    this.#list.addEventListener("keydown", (event) => this.#onKey(event));
    this.#drawLater = drawer(this.#stage, () => this.#draw(), this.#cleanup);
    this.#cleanup.add(
      onChange(traits, ["_tasks", "_summary", "problem", "height"], () => this.#later()),
      onChange(traits, ["_messages", "_step"], () => {
        this.#message = this.#moment = null; // another step
        this.#later();
      }),
      shareSelection(traits),
      () => this.#root.remove(),
    );
    this.#show();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #waits = false;

  /** Several attributes change at a time: one drawing for all of them. */
  #later(): void {
    if (this.#waits) return;
    this.#waits = true;
    queueMicrotask(() => {
      this.#waits = false;
      this.#show();
    });
  }

  #show(): void {
    const traits = this.#traits;
    const [step, engine] = [traits.get("_step"), traits.get("_engine")];
    this.#title.replaceChildren(
      traits.get("_summary"),
      engine === "" ? "" : h("span", {}, engine === "tensorflow" ? "TensorFlow's servers" : "tfteach's servers"),
    );
    this.#problem.textContent = traits.get("problem");
    this.#problem.hidden = traits.get("problem") === "";
    this.#transport.hidden = this.#log.hidden = step === "";
    this.#root.classList.toggle("tft-stepless", step === "");
    const height = traits.get("height");
    this.#log.style.maxHeight = height > 0 ? `${height}px` : "";
    this.#showMachines();
    this.#showMessages();
    this.#showDetails();
    this.#showMoment();
  }

  // --- time ---

  get #now(): number {
    return ((this.#moment ?? 0) / MOMENTS) * Math.max(1, this.#traits.get("_span"));
  }

  #go(moment: number): void {
    this.#moment = moment;
    this.#message = null;
    this.#showMessages();
    this.#showMoment();
  }

  #showMoment(): void {
    const span = this.#traits.get("_span");
    const messages = this.#traits.get("_messages");
    for (const [i, item] of [...this.#list.children].entries()) {
      const isLater = this.#moment !== null && i !== this.#message && startOf(messages[i]!, span) > this.#now;
      item.classList.toggle("tft-later", isLater);
    }
    for (const machine of this.#machines.querySelectorAll<HTMLElement>("button"))
      for (const doing of machine.querySelectorAll(".tft-doing"))
        doing.replaceChildren(...this.#doing(machine.dataset.task!));
    this.#slider.value = `${this.#moment ?? 0}`;
    this.#when.textContent =
      this.#moment === null ? `a step of ${timeText(span)}` : `${timeText(this.#now)} of ${timeText(span)}`;
    this.#slider.setAttribute("aria-valuetext", this.#when.textContent);
    this.#drawLater();
  }

  /** What a task does at the moment: the op that it runs, or what it waits for. */
  #doing(task: string): (Node | string)[] {
    if (this.#moment === null) return [];
    const now = this.#now;
    const ran = this.#traits.get("_ran")[task] ?? [];
    const op = ran.find(([start, end]) => start <= now && now <= end);
    if (op !== undefined) return ["runs ", h("code", {}, shorten(op[2], 24))];
    if (!ran.some(([start]) => start > now)) return [ran.length > 0 ? "has ended its part" : "has no part in it"];
    const [next] = this.#traits
      .get("_messages")
      .filter((message) => message.target === task && message.received > now)
      .sort((a, b) => a.received - b.received);
    return next === undefined ? ["between ops"] : ["waits for ", h("code", {}, shorten(words(next.tensor), 20))];
  }

  /** How far a message has come, from 0 to 1; null if it is not on its way. */
  #progress({ source, target, sent, received }: ClusterMessage): number | null {
    if (this.#moment === null) return null;
    const span = Math.max(1, this.#traits.get("_span"));
    const [from, to] =
      source === CLIENT
        ? [0, span * 0.04]
        : target === CLIENT
          ? [span * 0.96, span]
          : [sent, Math.max(received, sent + span * 0.02)];
    const now = this.#now;
    return now < from || now > to ? null : (now - from) / (to - from);
  }

  // --- machines ---

  #showMachines(): void {
    const tasks = this.#traits.get("_tasks");
    const focused = focusNear(this.#machines)?.getAttribute("data-task") ?? "";
    const isClients = tasks.some((task) => task.sessions.length > 0) || this.#traits.get("_step") !== "";
    const servers = tasks.filter((task) => jobOf(task) === "ps");
    const others = tasks.filter((task) => jobOf(task) !== "ps");
    this.#machines.replaceChildren(
      isClients
        ? h(
            "div",
            { class: "tft-machine-column" },
            h(
              "div",
              { class: "tft-machine tft-client", "data-task": CLIENT },
              h("b", {}, "client"),
              h("span", { class: "tft-machine-more" }, "this program"),
            ),
          )
        : "",
      h(
        "div",
        { class: "tft-machine-rows" },
        ...[servers, others]
          .filter((row) => row.length > 0)
          .map((row) =>
            h(
              "div",
              {
                class: "tft-machine-row",
                style: `grid-template-columns: repeat(${Math.min(MOST_IN_ROW, row.length)}, minmax(0, 230px))`,
              },
              ...row.map((task) => this.#machine(task)),
            ),
          ),
      ),
    );
    if (focused !== "")
      this.#machines.querySelector<HTMLElement>(`[data-task="${focused}"]`)?.focus({ preventScroll: true });
  }

  #machine(task: ClusterTask): HTMLElement {
    const { name, address, state, starts, ops, variables, sessions } = task;
    const more = variables.length - MOST_VARIABLES;
    const says = state === "alive" ? "" : state === "unknown" ? "not started here" : state;
    const press = h(
      "button",
      {
        type: "button",
        class: `tft-machine tft-${state}`,
        "data-task": name,
        "aria-pressed": name === this.#task,
        onclick: () => {
          this.#task = this.#task === name ? "" : name;
          for (const other of this.#machines.querySelectorAll("button"))
            other.setAttribute("aria-pressed", `${other.dataset.task === this.#task}`);
          this.#showDetails();
        },
      },
      h(
        "span",
        { class: "tft-machine-head" },
        h("span", { class: "tft-state-sign", "aria-hidden": "true" }, SIGNS[state]),
        h("b", {}, name),
        h("span", { class: "tft-says" }, says === "" ? h("span", { class: "tft-sr" }, "alive") : says),
      ),
      h("span", { class: "tft-machine-more" }, starts > 1 ? `${address}, started ${starts} times` : address),
      ...variables
        .slice(0, MOST_VARIABLES)
        .map((variable) =>
          h(
            "span",
            { class: "tft-held", title: `${variable.name}: ${variable.what}` },
            h("code", {}, shorten(variable.name, 26)),
            h("span", {}, variable.size),
          ),
        ),
      more > 0 ? h("span", { class: "tft-machine-more" }, `and ${more} more: ${task.holds} in all`) : null,
      h("span", { class: "tft-machine-more" }, ops === 0 ? "nothing of the graph" : `${ops} op${ops === 1 ? "" : "s"}`),
      sessions.length > 0 ? h("span", { class: "tft-machine-more" }, `master of ${sessions.join(", ")}`) : null,
      this.#traits.get("_step") === "" ? null : h("span", { class: "tft-doing" }),
    );
    return press;
  }

  // --- messages ---

  #showMessages(): void {
    const messages = this.#traits.get("_messages");
    const focused = this.#list.contains(focusNear(this.#list));
    const count = messages.filter((m) => m.source !== CLIENT && m.target !== CLIENT).length;
    this.#head.textContent = `${count} message${count === 1 ? "" : "s"} between tasks`;
    this.#list.replaceChildren(
      ...messages.map((message, i) => {
        const item = h(
          "li",
          {
            role: "option",
            tabindex: i === (this.#message ?? 0) ? "0" : "-1",
            "aria-selected": i === this.#message,
            class: message.source === CLIENT || message.target === CLIENT ? "tft-clients" : "",
          },
          h("span", { class: "tft-route" }, h("b", {}, message.source), " → ", h("b", {}, message.target)),
          h("span", { class: "tft-size" }, message.size),
          h("code", {}, ...breakable(words(message.tensor))),
          h("span", { class: "tft-did" }, micro([message.when, message.why].filter((said) => said !== "").join("; "))),
        );
        item.addEventListener("click", () => this.#choose(i));
        return item;
      }),
    );
    const chosen = this.#list.querySelector<HTMLElement>("[tabindex='0']");
    if (chosen === null) return;
    if (focused) chosen.focus({ preventScroll: true });
    if (this.#message === null) return;
    const [box, own] = [this.#list.getBoundingClientRect(), chosen.getBoundingClientRect()];
    if (own.top < box.top) this.#list.scrollTop += own.top - box.top;
    else if (own.bottom > box.bottom) this.#list.scrollTop += own.bottom - box.bottom;
  }

  /** Stops the step where a message is half way. */
  #choose(index: number): void {
    const messages = this.#traits.get("_messages");
    const message = messages[Math.max(0, Math.min(messages.length - 1, index))];
    if (message === undefined) return;
    this.#player.pause();
    const span = Math.max(1, this.#traits.get("_span"));
    const middle =
      message.source === CLIENT
        ? 0.02 * span
        : message.target === CLIENT
          ? 0.98 * span
          : (message.sent + message.received) / 2;
    this.#moment = Math.round((middle / span) * MOMENTS);
    this.#message = messages.indexOf(message);
    update(this.#traits, { selected: message.tensor.replace(/^\^/, "").replace(/:\d+$/, "") });
    this.#showMessages();
    this.#showMoment();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#message;
    const last = this.#traits.get("_messages").length - 1;
    const to = {
      ArrowUp: at === null ? last : at - 1,
      ArrowDown: at === null ? 0 : at + 1,
      Home: 0,
      End: last,
      Enter: at ?? 0,
    }[event.key];
    if (event.key === " ") this.#player.toggle();
    else if (to === undefined) return;
    else this.#choose(to);
    consume(event);
  }

  // --- details ---

  #showDetails(): void {
    const task = this.#traits.get("_tasks").find(({ name }) => name === this.#task);
    if (task === undefined) {
      this.#details.replaceChildren(h("span", { class: "tft-muted" }, "Choose a machine to see all that it holds."));
      return;
    }
    const { name, state, holds, variables, ops, types, devices, output } = task;
    const all = types.map(([type, count]) => `${type} ${count}`).join(", ");
    this.#details.replaceChildren(
      h("b", {}, `${name} is ${state === "unknown" ? "a task that was not started here" : state}`),
      h(
        "p",
        {},
        ops === 0
          ? "It holds nothing of this graph."
          : `${ops} op${ops === 1 ? "" : "s"} of the graph: ${all}${types.length < 5 ? "" : ", ..."}`,
      ),
      h("p", {}, `${state === "dead" && variables.length > 0 ? "Lost with it: " : "It holds "}${holds}.`),
      variables.length === 0
        ? ""
        : h(
            "ul",
            {},
            ...variables.map((each) =>
              h("li", {}, h("code", {}, ...breakable(each.name)), ` ${each.what}, ${each.size}`),
            ),
          ),
      devices.length > 0 ? h("p", {}, `Devices: ${devices.join(", ")}`) : "",
      output.length > 0 ? h("pre", { tabindex: "0", "aria-label": `What ${name} printed` }, output.join("\n")) : "",
    );
  }

  // --- ways ---

  #draw(): void {
    const box = this.#stage.getBoundingClientRect();
    this.#ways.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    this.#ways.setAttribute("width", `${box.width}`);
    this.#ways.setAttribute("height", `${box.height}`);
    const places = new Map<string, DOMRect>();
    for (const machine of this.#machines.querySelectorAll<HTMLElement>("[data-task]")) {
      const own = machine.getBoundingClientRect();
      places.set(machine.dataset.task!, new DOMRect(own.x - box.x, own.y - box.y, own.width, own.height));
    }
    const messages = this.#traits.get("_messages");
    const routes = new Map<string, ClusterMessage[]>();
    for (const message of messages) {
      const route = `${message.source} ${message.target}`;
      routes.set(route, [...(routes.get(route) ?? []), message]);
    }
    const chosen = this.#message === null ? undefined : messages[this.#message];
    const [lines, dots] = [s("g"), s("g")];
    const labels = new LabelPlaces(box.width, [...places.values()]);
    const hasChosen = (of: ClusterMessage[]): boolean => chosen !== undefined && of.includes(chosen);
    // The chosen message has the best place for its label.
    for (const of of [...routes.values()].sort((a, b) => Number(hasChosen(b)) - Number(hasChosen(a)))) {
      const { source, target } = of[0]!;
      const [from, to] = [places.get(source), places.get(target)];
      if (from === undefined || to === undefined) continue;
      const between = [...places].some(
        ([name, place]) => name !== source && name !== target && isBetween(place, from, to),
      );
      const way = wayBetween(from, to, routes.has(`${target} ${source}`), between);
      const travelling = of
        .map((message) => ({ message, at: this.#progress(message) }))
        .filter((each): each is { message: ClusterMessage; at: number } => each.at !== null);
      const isChosen = hasChosen(of);
      const classes = `tft-route-line${travelling.length > 0 ? " tft-busy" : ""}${isChosen ? " tft-chosen" : ""}`;
      const isClients = source === CLIENT || target === CLIENT;
      lines.append(
        s("path", { class: isClients ? `${classes} tft-clients` : classes, d: pathOf(way) }),
        arrowAt(way, classes),
      );
      if (this.#moment === null) {
        const count = of.length === 1 ? "1 tensor" : `${of.length} tensors`;
        dots.append(labels.beside(way, [total(of), count, `${of.length}`], "tft-route-label"));
      }
      const shown = isChosen ? travelling.filter(({ message }) => message === chosen) : travelling;
      for (const { at } of isChosen ? travelling : []) dots.append(dot(pointOn(way, at), "tft-dot tft-dim"));
      for (const [i, { message, at }] of shown.entries()) {
        const place = pointOn(way, at);
        dots.append(dot(place, `tft-dot${message === chosen ? " tft-chosen" : ""}`));
        if (i < 3) {
          const said = [shorten(words(message.tensor), 26), message.size].filter((word) => word !== "").join(", ");
          const y = place.y + (way.side === 0 ? 24 : 0);
          dots.append(labels.near({ x: place.x, y }, said, "tft-dot-label", way.side));
        }
      }
    }
    this.#ways.replaceChildren(lines, dots);
  }
}

const jobOf = ({ name }: ClusterTask): string => name.replace(/:\d+$/, "");

/** When a message is sent, as it is shown: feeds and fetches have no time. */
const startOf = ({ source, target, sent }: ClusterMessage, span: number): number =>
  source === CLIENT ? 0 : target === CLIENT ? 0.96 * span : sent;

const micro = (said: string): string => said.replace(/(\d) us\b/g, "$1 µs");

const words = (tensor: string): string => (tensor.startsWith("^") ? `after ${tensor.slice(1)}` : tensor);

function total(messages: readonly ClusterMessage[]): string {
  const { tensor, size } = messages[0]!;
  if (messages.length > 1) return `${messages.length} tensors`;
  return [shorten(words(tensor), 30), size].filter((word) => word !== "").join(", ");
}

export default hosted((traits: Traits<ClusterTraits>, el) => new ClusterView(traits, el));
