// The script of a page that `view.save` wrote: it shows the views in the page, without a kernel and a network.

import { h } from "../base/elements";
import type { Answers } from "./saved_model";
import { SavedModel } from "./saved_model";

interface SavedView {
  title: string;
  /** An ES module of anywidget, and its style sheet. */
  module: string;
  style: string;
  state: Record<string, unknown>;
  answers: Answers | null;
}

interface SavedPage {
  views: SavedView[];
  /** The traits that the views have in common, as in the panel of `explore`. */
  linked: string[];
}

interface Widget {
  default: { render(context: { model: SavedModel; el: HTMLElement }): unknown };
}

/** What the page carries: JSON, compressed and in base64. */
async function unpacked(): Promise<SavedPage> {
  const bytes = Uint8Array.from(atob(document.getElementById("saved")!.textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as SavedPage;
}

/** Gives the other views the value that one of them has. */
function share(from: SavedModel, key: string, models: readonly SavedModel[]): void {
  const value = from.get(key);
  for (const other of models) {
    if (other === from || !other.has(key) || JSON.stringify(other.get(key)) === JSON.stringify(value)) continue;
    other.set(key, value);
    other.answer(new Set([key]));
  }
}

async function show({ module, style }: SavedView, model: SavedModel, el: HTMLElement): Promise<void> {
  const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  const widget = (await import(url)) as Widget;
  URL.revokeObjectURL(url);
  const inner = h("div", {});
  el.append(h("style", {}, style), inner);
  widget.default.render({ model, el: inner });
}

function fail(error: unknown): void {
  const said = document.getElementById("said")!;
  said.textContent = `This browser cannot show the view: ${error}. Its text is below.`;
  said.hidden = false;
  document.querySelector("details")?.setAttribute("open", "");
}

/** A button for each of several views; a view is shown when its button is first pressed. */
function showTabs(views: readonly SavedView[], models: readonly SavedModel[], main: HTMLElement): void {
  const panels = views.map(() => h("div", {}));
  const buttons = views.map((view, number) => {
    const choose = (): void => {
      buttons.forEach((each, i) => {
        each.setAttribute("aria-pressed", `${i === number}`);
      });
      panels.forEach((each, i) => {
        each.hidden = i !== number;
      });
      const panel = panels[number]!;
      if (panel.childElementCount === 0) show(view, models[number]!, panel).catch(fail);
    };
    return h("button", { type: "button", onclick: choose, "aria-pressed": "false" }, view.title);
  });
  main.append(h("div", { id: "tabs", role: "group", "aria-label": "Views" }, ...buttons), ...panels);
  buttons[0]?.click();
}

async function start(): Promise<void> {
  const { views, linked } = await unpacked();
  const models = views.map(({ state, answers }) => new SavedModel(state, answers));
  for (const model of models) {
    model.onSaved = (names) => {
      for (const key of linked) if (names.has(key)) share(model, key, models);
    };
  }
  const main = document.getElementById("views")!;
  if (views.length > 1) showTabs(views, models, main);
  else for (const view of views) await show(view, models[0]!, main);
}

start().catch(fail);
