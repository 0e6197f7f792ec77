// The view of a model's file: its graph, beside the signatures and the variables.
import { breakable, h } from "../base/elements";
import { count } from "../base/format";
import { GraphWithTools } from "../graph_view/graph_with_tools";
import { hosted } from "../kernel/host";
import type { ModelTensor, ModelTraits, ModelVariable, WireModel } from "../kernel/model_messages";
import { decodeTensor, decodeVariable } from "../kernel/model_messages";
import type { Traits } from "../kernel/traits";

class ModelView {
  readonly #graph: GraphWithTools;
  readonly #root = h("div", { class: "tfteach-model" });

  constructor(traits: Traits<ModelTraits>, parent: HTMLElement) {
    parent.append(this.#root);
    this.#graph = new GraphWithTools(traits, this.#root);
    const model = traits.get("_model");
    const { bar, body } = this.#graph.view.frame;
    bar.after(about(model));
    if (model.signatures.length + model.assets.length + model.variables.length > 0) body.prepend(this.#contents(model));
    this.#graph.start();
  }

  destroy(): void {
    this.#graph.destroy();
    this.#root.remove();
  }

  #contents({ signatures, assets, variables, more }: WireModel): HTMLElement {
    const parts: HTMLElement[] = [];
    for (const { name, method, inputs, outputs } of signatures) {
      parts.push(
        h("h3", {}, name),
        h("p", { class: "tft-muted" }, method),
        h("h4", {}, "Inputs"),
        h("ul", {}, ...inputs.map((row) => h("li", {}, this.#tensor(decodeTensor(row))))),
        h("h4", {}, "Outputs"),
        h("ul", {}, ...outputs.map((row) => h("li", {}, this.#tensor(decodeTensor(row))))),
      );
    }
    if (assets.length > 0) {
      const rows = assets.map(decodeTensor).map((asset) => {
        const el = this.#tensor(asset);
        el.classList.toggle("tft-missing", asset.type === "missing");
        return h("li", {}, el);
      });
      parts.push(h("h3", {}, count(assets.length, "asset")), h("ul", {}, ...rows));
    }
    const all = variables.map(decodeVariable);
    for (const constant of [false, true]) {
      const some = all.filter((row) => row.constant === constant);
      if (some.length === 0) continue;
      parts.push(
        h("h3", {}, count(some.length, constant ? "large constant" : "variable")),
        h("ul", {}, ...some.map((row) => h("li", {}, this.#variable(row)))),
      );
    }
    if (more > 0) parts.push(h("p", { class: "tft-muted" }, `and ${more} more`));
    return h("section", { class: "tft-model-contents", "aria-label": "Signatures and variables" }, ...parts);
  }

  #tensor({ key, op, type }: ModelTensor): HTMLElement {
    return h(
      "button",
      { type: "button", class: "tft-model-row", title: `Go to ${op}`, onclick: () => this.#go(op) },
      h("code", {}, ...breakable(key)),
      " ",
      h("span", { class: "tft-muted" }, type),
    );
  }

  #variable(row: ModelVariable): HTMLElement {
    const el = this.#tensor(row);
    el.append(
      " ",
      h("span", { class: "tft-model-size" }, row.size),
      h(
        "span",
        { class: "tft-meter", "aria-hidden": "true" },
        h("span", { style: `width: ${(100 * row.share).toFixed(1)}%` }),
      ),
    );
    return el;
  }

  #go(op: string): void {
    const { view } = this.#graph;
    const index = view.model.byName.get(op);
    if (index === undefined) view.say(`${op} is not in the graph`);
    else view.goTo(index);
  }
}

function about({ kind, title, others, summary, unknown }: WireModel): HTMLElement {
  const el = h("div", { class: "tft-model-about" }, h("b", {}, kind), title === "" ? null : h("span", {}, title));
  el.append(h("span", {}, summary));
  if (others.length > 0) el.append(h("span", { class: "tft-muted" }, `also in the file: ${others.join("; ")}`));
  if (unknown !== "") el.append(h("span", { class: "tft-muted" }, unknown));
  return el;
}

export default hosted((traits: Traits<ModelTraits>, el) => new ModelView(traits, el));
