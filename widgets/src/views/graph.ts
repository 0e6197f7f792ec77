// The graph view as an anywidget module.

import { button, h } from "../base/elements";
import { FullScreen } from "../base/full_screen";
import type { ColourBy, Figures } from "../drawing/box_colours";
import { download, picture, png } from "../drawing/export_picture";
import { Minimap } from "../drawing/minimap";
import { GraphView } from "../graph_view/graph_view";
import { hosted } from "../kernel/host";
import type { WidgetModel } from "../kernel/messages";
import { Colours } from "../panels/colour_picker";
import { Tracing } from "../panels/trace_panel";

interface ToolState {
  colour_by: ColourBy;
  figures: Figures;
}

/** The view with its tools: colours, traces, a map, files, the whole screen. */
class GraphWithTools {
  private view: GraphView | null = null;
  private readonly colours: Colours;
  private readonly tracing = new Tracing(() => this.view!);
  private readonly screen: FullScreen;
  private readonly map: Minimap;
  private readonly undo: (() => void)[] = [];

  constructor(
    private readonly state: WidgetModel,
    parent: HTMLElement,
  ) {
    const any = state as unknown as {
      get: <K extends keyof ToolState>(key: K) => ToolState[K];
      set: (key: string, value: unknown) => void;
    };
    const colourBy = (by: ColourBy): void => {
      any.set("colour_by", by);
      state.save_changes();
    };
    this.colours = new Colours(
      () => any.get("colour_by"),
      colourBy,
      () => any.get("figures"),
    );
    this.view = new GraphView(state, parent, {
      decorate: (node, said) => this.tracing.decorate(node, this.colours.decorate(node, said)),
      edge: (edge, classes) => this.tracing.edge(edge, classes),
      before: (view) => this.colours.look(view),
      marked: () => this.colours.show(),
      drawn: () => this.map?.draw(this.view!.scene),
      grown: () => this.tracing.grown(),
      hovered: (id) => this.tracing.hover(id),
      escape: () => this.tracing.leave() || this.screen.leave(),
      details: (panel, node) => this.tracing.details(panel, node),
      key: (key, id) => {
        const keys: Record<string, () => void> = {
          i: () => this.tracing.toggle(id, "inputs"),
          o: () => this.tracing.toggle(id, "outputs"),
          c: () => colourBy(this.colours.next()),
        };
        keys[key]?.();
        return key in keys;
      },
    });
    const view = this.view;
    this.map = new Minimap(view.frame.stage, view.canvas, () => view.moved());
    view.canvas.onView = () => this.map.follow();
    const observer = new ResizeObserver(() => this.map.follow());
    observer.observe(view.frame.stage);
    this.undo.push(() => observer.disconnect());
    this.screen = new FullScreen(view.frame.root, () => (view.userMoved = false));
    this.undo.push(() => this.screen.destroy());
    const bar = this.view.frame.root.querySelector(".tft-bar")!;
    bar.querySelector(".tft-space")!.after(this.colours.select);
    bar.append(
      h("span", { class: "tft-rule" }),
      button("SVG", "Save the picture as SVG", () => void this.save("svg")),
      button("PNG", "Save the picture as PNG", () => void this.save("png")),
      this.screen.button,
    );
    bar.after(this.colours.key, this.tracing.strip);
    for (const name of ["colour_by", "figures"]) this.on(`change:${name}`, () => this.view!.remark());
    this.map.draw(view.scene);
    view.remark();
  }

  private async save(kind: "svg" | "png"): Promise<void> {
    const { canvas, scene, model } = this.view!;
    const drawn = picture(canvas.el, scene, `Graph of ${model.ops.length} ops`);
    try {
      download(kind === "svg" ? new Blob([drawn.svg], { type: "image/svg+xml" }) : await png(drawn), `graph.${kind}`);
      this.view!.say(`Saved as graph.${kind}`);
    } catch (error) {
      this.view!.say(`Not saved: ${(error as Error).message}`);
    }
  }

  private on(event: string, act: () => void): void {
    this.state.on(event, act);
    this.undo.push(() => this.state.off(event, act));
  }

  destroy(): void {
    for (const undo of this.undo) undo();
    this.view!.destroy();
  }
}

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const view = new GraphWithTools(model, el);
  return () => view.destroy();
}

export default hosted(render);

export { decode } from "../kernel/messages";
// For tests that hold pruning in the page against pruning in Python.
export { GraphModel } from "../model/graph";
export { prune } from "../model/prune";
