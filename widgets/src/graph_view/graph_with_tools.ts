// The graph view with its tools: colours, traces, a map, files, the whole screen.
import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { FullScreen } from "../base/full_screen";
import { download, picture, png } from "../drawing/export_picture";
import { Minimap } from "../drawing/minimap";
import type { GraphTraits } from "../kernel/graph_messages";
import type { Traits } from "../kernel/traits";
import { ColourPicker } from "../panels/colour_picker";
import { TracePanel } from "../panels/trace_panel";
import type { Extensions } from "./extensions";
import { GraphView } from "./graph_view";
import { tellUnknown, withUnknown } from "./unknown_ops";

export class GraphWithTools {
  readonly view: GraphView;
  readonly #colours: ColourPicker;
  readonly #trace: TracePanel;
  readonly #screen: FullScreen;
  readonly #map: Minimap;
  readonly #cleanup = new Cleanup();

  /** `more` are the hooks of a view around this one; they come after the tools. */
  constructor(traits: Traits<GraphTraits>, parent: HTMLElement, more: Extensions = {}) {
    const cleanup = this.#cleanup;
    const { decorate = (_, marks) => marks, edge = (_, classes) => classes } = more;
    this.view = new GraphView(traits, parent, {
      ...more,
      decorate: (node, marks) =>
        decorate(
          node,
          this.#trace.decorate(node, this.#colours.decorate(node, withUnknown(this.view.model, node, marks))),
        ),
      edge: (line, classes) => edge(line, this.#trace.edge(line, classes)),
      drawn: () => this.#map.draw(this.view.scene),
      escape: () => this.#trace.leave() || this.#screen.leave(),
      details: (panel, node) => {
        tellUnknown(this.view.model, panel, node);
        this.#trace.details(panel, node);
        more.details?.(panel, node);
      },
      key: (key, id) => this.#key(key, id),
    });
    const { view } = this;
    const { root, stage, bar, outlineButton } = view.frame;
    this.#colours = new ColourPicker(view, traits, cleanup);
    this.#trace = new TracePanel(view, cleanup);
    this.#map = new Minimap(stage, view.canvas, () => view.moved());
    view.canvas.onView = () => this.#map.follow();
    cleanup.onResize(stage, () => this.#map.follow());
    this.#screen = new FullScreen(root, cleanup, () => {
      view.userMoved = false;
    });
    outlineButton.before(this.#colours.select);
    bar.append(
      h("span", { class: "tft-rule" }),
      button("SVG", "Save the picture as SVG", () => void this.#save("svg")),
      button("PNG", "Save the picture as PNG", () => void this.#save("png")),
      this.#screen.button,
    );
    bar.after(this.#colours.key, this.#trace.strip);
    cleanup.add(() => view.destroy());
  }

  /** Draws the graph for the first time, once the view around this one is complete. */
  start(): this {
    this.view.start();
    return this;
  }

  #key(key: string, id: string): boolean {
    if (key === "i") this.#trace.toggle(id, "inputs");
    else if (key === "o") this.#trace.toggle(id, "outputs");
    else if (key === "c") this.#colours.next();
    else return false;
    return true;
  }

  async #save(kind: "svg" | "png"): Promise<void> {
    const { canvas, scene, model } = this.view;
    const drawn = picture(canvas.el, scene, `Graph of ${model.ops.length} ops`);
    try {
      download(kind === "svg" ? new Blob([drawn.svg], { type: "image/svg+xml" }) : await png(drawn), `graph.${kind}`);
      this.view.say(`Saved as graph.${kind}`);
    } catch (error) {
      this.view.say(`Not saved: ${(error as Error).message}`);
    }
  }

  destroy(): void {
    this.#cleanup.end();
  }
}
