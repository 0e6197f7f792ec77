// The part of the graph view that its panels and tools use.
import type { Canvas } from "../drawing/canvas";
import type { GraphState } from "../drawing/graph_state";
import type { GraphModel, Node } from "../model/graph";
import type { ViewFrame } from "./toolbar";

export interface PanelHost {
  readonly model: GraphModel;
  readonly state: GraphState;
  readonly frame: ViewFrame;
  readonly canvas: Canvas;
  /** The node of an id, or of a plain op name as Python writes it. */
  nodeOf(id: string): Node | undefined;
  toggleOpen(id: string): void;
  select(id: string): void;
  /** Opens what hides an op, selects it and brings it into view. */
  goTo(index: number): void;
}
