// What a view that is built on the graph view adds to it.
import type { NodeMarks } from "../drawing/canvas";
import type { SceneEdge, SceneNode } from "../layout/scene";
import type { Node as GraphNode } from "../model/graph";
import type { PanelHost } from "../panels/panel_host";

/** What a view built on this one adds. */
export interface Extensions {
  /** The smallest scale at which all of the picture is still better than a part that can be read. */
  least?: number;
  /** The graph is one run's, all of it: what is fetched is marked, nothing is pruned. */
  isRun?: boolean;
  /** Has the last word on how a box looks. */
  decorate?: (node: SceneNode, said: NodeMarks) => NodeMarks;
  /** Has the last word on the classes of a line, and on the words beside it. */
  edge?: (edge: SceneEdge, classes: string[]) => string[];
  edgeNote?: (edge: SceneEdge) => string | undefined;
  /** Takes a click on a box; true if it was meant for it. */
  click?: (id: string) => boolean;
  /** Called before boxes and lines get their marks, when the picture and what is needed are known. */
  before?: (view: PanelHost) => void;
  /** Called after each change of what is needed. */
  marked?: () => void;
  /** Called when the graph has changed, before it is drawn. */
  grown?: () => void;
  /** Called after each new picture. */
  drawn?: () => void;
  /** Takes a key pressed on a box (id "" for none); true if it was meant for it. */
  key?: (key: string, id: string) => boolean;
  hovered?: (id: string | null) => void;
  /** Takes Escape before the view does; true if there was something to leave. */
  escape?: () => boolean;
  /** Adds to the details of a box. */
  details?: (panel: HTMLElement, node: GraphNode) => void;
}
