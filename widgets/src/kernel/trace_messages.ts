// Traced functions in transit, and the traits of the view that shows them.
import type { WireRows } from "./graph_messages";
import type { CodeBlock } from "./lines_messages";

export type WireCall = [
  at: string,
  text: string,
  inside: string,
  trace: number,
  isNew: boolean,
  runMs: number,
  args: string[],
];

/** A call of a function. */
export interface FunctionCall {
  number: number;
  at: string;
  text: string;
  /** The function whose trace called it; "" for a call of the program. */
  inside: string;
  trace: number;
  isNew: boolean;
  runMs: number;
  /** What was passed, as in the arguments of traces. */
  args: string[];
}

export const decodeCall = ([at, text, inside, trace, isNew, runMs, args]: WireCall, i: number): FunctionCall => ({
  number: i + 1,
  at,
  text,
  inside,
  trace,
  isNew,
  runMs,
  args,
});

export interface FunctionTrace {
  /** The number of the call that made it; 0 if the calls are not known. */
  call: number;
  kind: "first" | "made" | "object" | "context" | "asked" | "arguments";
  reason: string;
  /** The number of the trace that is most like it; 0 for none. */
  compared: number;
  differences: [argument: string, kind: string, before: string, now: string][];
  arguments: [name: string, text: string][];
  tracing_ms: number;
  ops: number;
}

export interface WireFunction {
  name: string;
  at: string;
  count: number;
  calls: WireCall[];
  traces: FunctionTrace[];
  made_variables: boolean;
  verdict: {
    kind: string;
    is_waste: boolean;
    sign: string;
    headline: string;
    cost: string;
    fix: string;
    code: string;
  };
  code: CodeBlock[];
  /** The code that AutoGraph wrote; null with a reason in `problem`. */
  converted: CodeBlock | null;
  problem: string;
  /** It has more than rewritten calls. */
  is_changed: boolean;
}

/** The ops of a trace, and the lines of those in its branches and loops. */
export interface TraceGraph {
  ops: WireRows;
  inner: Record<string, [file: string, line: number]>;
}

export interface TraceTraits {
  /** JSON of WireFunction[]. */
  _functions: string;
  /** JSON of a record: "function:trace" -> TraceGraph. */
  _graphs: string;
  function: number;
  call: number;
  height: number;
}
