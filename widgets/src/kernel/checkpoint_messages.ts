// The traits of the view of a checkpoint, and the rows in them.

type WireSavedVariable = [
  name: string,
  type: string,
  bytes: number,
  size: string,
  share: number,
  norm: string,
  bins: number[],
  ends: [low: string, high: string],
  wrong: number,
  change: string,
  kind: string,
];

export interface SavedVariable {
  name: string;
  /** Its type and shape. */
  type: string;
  bytes: number;
  size: string;
  /** Of the size of the largest. */
  share: number;
  norm: string;
  bins: number[];
  /** The smallest and the largest element. */
  ends: [low: string, high: string];
  /** How many elements are not finite. */
  wrong: number;
  /** Since the earlier checkpoint; "" without one. */
  change: string;
  kind: string;
}

export const decodeVariable = (row: WireSavedVariable): SavedVariable => {
  const [name, type, bytes, size, share, norm, bins, ends, wrong, change, kind] = row;
  return { name, type, bytes, size, share, norm, bins, ends, wrong, change, kind };
};

export interface CheckpointTraits {
  _summary: string;
  _paths: [path: string, before: string];
  _variables: WireSavedVariable[];
  /** Variables of the graph that cannot be restored, and what may be meant. */
  _missing: [name: string, why: string, near: string[]][];
  /** Variables that the graph does not have. */
  _extra: string[];
}
