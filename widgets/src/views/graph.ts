// The graph view as an anywidget module.

import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { FullScreen } from "../base/full_screen";
import { download, picture, png } from "../drawing/export_picture";
import { Minimap } from "../drawing/minimap";
import { GraphView } from "../graph_view/graph_view";
import type { ColourBy, GraphTraits } from "../kernel/graph_messages";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import { Colours } from "../panels/colour_picker";
import { Tracing } from "../panels/trace_panel";

/** The view with its tools: colours, traces, a map, files, the whole screen. */
class GraphWithTools {
  private view: GraphView | null = null;
  private readonly colours: Colours;
  private readonly tracing = new Tracing(() => this.view!);
  private readonly screen: FullScreen;
  private readonly map: Minimap;
  private readonly cleanup = new Cleanup();

  constructor(traits: Traits<GraphTraits>, parent: HTMLElement) {
    const colourBy = (by: ColourBy): void => update(traits, { colour_by: by });
    this.colours = new Colours(
      () => traits.get("colour_by"),
      colourBy,
      () => traits.get("figures"),
    );
    this.view = new GraphView(traits, parent, {
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
    this.cleanup.onResize(view.frame.stage, () => this.map.follow());
    this.screen = new FullScreen(view.frame.root, () => {
      view.userMoved = false;
    });
    this.cleanup.add(() => this.screen.destroy());
    const bar = this.view.frame.root.querySelector(".tft-bar")!;
    bar.querySelector(".tft-space")!.after(this.colours.select);
    bar.append(
      h("span", { class: "tft-rule" }),
      button("SVG", "Save the picture as SVG", () => void this.save("svg")),
      button("PNG", "Save the picture as PNG", () => void this.save("png")),
      this.screen.button,
    );
    bar.after(this.colours.key, this.tracing.strip);
    this.cleanup.add(onChange(traits, ["colour_by", "figures"], () => view.remark()));
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

  destroy(): void {
    this.cleanup.end();
    this.view!.destroy();
  }
}

export default hosted((traits: Traits<GraphTraits>, el) => new GraphWithTools(traits, el));

export { decode } from "../kernel/graph_messages";
// For tests that hold pruning in the page against pruning in Python.
export { GraphModel } from "../model/graph";
export { prune } from "../model/prune";
