// The user's code in transit: blocks of lines with what stands beside each line; and the traits of views that show it.

/** What a line did: the kind of note, its words, and a sentence that explains it. */
export type LineNote = [kind: string, text: string, about: string];

/** Consecutive lines; `file` is as in the source lines of ops. */
export interface CodeBlock {
  file: string;
  first: number;
  lines: [text: string, notes: LineNote[]][];
  /** Of rewritten code: for each line the line of the file that it comes from; 0 for none. */
  origins?: number[];
}

/** The lines of eager code, and the tapes that recorded them. */
export interface LinesTraits {
  /** JSON of CodeBlock[]. */
  _code: string;
  /** Op -> the numbers of the tapes that recorded it. */
  _taped: Record<string, number[]>;
  /** Op that computes a gradient -> the op whose gradient it is; "" for none. */
  _gradient_of: Record<string, string>;
  /** Op of a traced function -> its line; other ops have theirs. */
  _inner: Record<string, [file: string, line: number]>;
}
