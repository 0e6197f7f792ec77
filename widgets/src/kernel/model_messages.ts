// The traits of the view of a model's file, and the rows in them.
import type { GraphTraits } from "./graph_messages";

type WireTensor = [key: string, op: string, type: string];
type WireVariable = [...WireTensor, size: string, share: number, constant: boolean];

/** An end of a signature: `op` is its op in the graph. */
export interface ModelTensor {
  key: string;
  op: string;
  /** Its type and shape. */
  type: string;
}

export interface ModelVariable extends ModelTensor {
  size: string;
  /** Of the size of the largest. */
  share: number;
  constant: boolean;
}

export const decodeTensor = ([key, op, type]: WireTensor): ModelTensor => ({ key, op, type });

export const decodeVariable = ([key, op, type, size, share, constant]: WireVariable): ModelVariable => ({
  key,
  op,
  type,
  size,
  share,
  constant,
});

export interface WireModel {
  kind: string;
  title: string;
  /** The titles of the file's other graphs. */
  others: string[];
  summary: string;
  /** Says which op types tfteach does not have; "" if it has all. */
  unknown: string;
  signatures: { name: string; method: string; inputs: WireTensor[]; outputs: WireTensor[] }[];
  /** The files that the graph reads; the type is the size, or "missing". */
  assets: WireTensor[];
  variables: WireVariable[];
  /** How many variables are left out. */
  more: number;
}

export interface ModelTraits extends GraphTraits {
  _model: WireModel;
}
