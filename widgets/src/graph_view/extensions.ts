// Hooks for views that are built on the graph view.
import type { NodeMarks } from "../drawing/canvas";
import type { Base } from "../layout/edge_bundles";
import type { Scene, SceneEdge, SceneNode } from "../layout/scene";
import type { DeviceLayout, EdgeNote } from "../layout/scope_layout";
import type { Node as GraphNode } from "../model/graph";

/** Functions that read signals are called again when these change. */
export interface Extensions {
  /** The smallest scale at which all of the picture is still better than a part that can be read. */
  least?: number;
  /** The graph is one run's, all of it: what is fetched is marked, nothing is pruned. */
  isRun?: boolean;
  /** The graph is a record of what ran or was traced: nothing can be fetched or fed. */
  isRecord?: boolean;
  /** Whether the ops of the run are said to run, or to be needed. */
  verb?: () => "run" | "needed";
  /** The outermost boxes are devices; `complete` adds the lines between them. */
  devices?: DeviceLayout & { complete: (scene: Scene) => void };
  /** Has the last word on how a box looks. */
  decorate?: (node: SceneNode, marks: NodeMarks) => NodeMarks;
  /** Has the last word on the classes of a line. */
  edge?: (edge: SceneEdge, classes: string[]) => string[];
  /** The words on a line in place of its label; undefined keeps that. */
  note?: (edge: SceneEdge) => EdgeNote | undefined;
  /** The longest of those words while a picture stands, if these change: room is kept for them. */
  longestNote?: (base: readonly Base[]) => EdgeNote | undefined;
  /** Handles a click on a box; true if it did. */
  click?: (id: string) => boolean;
  /** Handles a key pressed on a box (id "" for none); true if it did. */
  key?: (key: string, id: string) => boolean;
  /** Handles Escape before the view does; true if there was something to leave. */
  escape?: () => boolean;
  /** Called after each new picture. */
  drawn?: () => void;
  /** Adds to the details of a box. */
  details?: (panel: HTMLElement, node: GraphNode) => void;
}
