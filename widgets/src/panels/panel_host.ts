// What panels and tools ask of the graph view that they belong to.
import type { Canvas } from "../drawing/canvas";
import type { Scene } from "../layout/scene";
import type { GraphModel, Node } from "../model/graph";
import type { Highlight } from "../model/highlight";
import type { ViewFrame } from "./toolbar";

export interface PanelHost {
  readonly model: GraphModel;
  readonly frame: ViewFrame;
  readonly canvas: Canvas;
  /** The picture as drawn. */
  readonly scene: Scene;
  /** What a run of the fetches needs. */
  readonly light: Highlight;
  /** The node of an id, or of a plain op name as Python writes it. */
  nodeOf(id: string): Node | undefined;
  isOpen(id: string): boolean;
  toggleOpen(id: string): void;
  select(id: string): void;
  /** Opens what hides an op, selects it and brings it into view. */
  goTo(index: number): void;
  toggleName(key: "fetches" | "feeds", name: string): void;
  /** Updates classes and badges without a new layout. */
  remark(): void;
}
