// The traits of the cluster view: tasks, and the messages of a step.

export type TaskState = "alive" | "slow" | "dead" | "unknown";

export interface ClusterTask {
  /** Such as "ps:0". */
  name: string;
  address: string;
  state: TaskState;
  /** How often it was started; 0 if nobody knows. */
  starts: number;
  devices: string[];
  ops: number;
  /** The most frequent types of these ops. */
  types: [type: string, count: number][];
  variables: { name: string; what: string; size: string }[];
  /** How many variables, and their size. */
  holds: string;
  /** Names of the sessions of which it is the master. */
  sessions: string[];
  /** The last lines that it printed. */
  output: string[];
}

export interface ClusterMessage {
  /** "^a" for the order alone. */
  tensor: string;
  /** Names of tasks, or "client". */
  source: string;
  target: string;
  /** In words; "" if it is not known. */
  size: string;
  /** Microseconds after the step's first op. */
  sent: number;
  received: number;
  when: string;
  why: string;
}

export interface ClusterTraits {
  _graph: string;
  _summary: string;
  _engine: string;
  _tasks: ClusterTask[];
  /** In the order of sending: feeds first, fetches last. */
  _messages: ClusterMessage[];
  /** Of each task the ops that it ran: start and end in microseconds, and the name. */
  _ran: Record<string, [start: number, end: number, name: string][]>;
  /** What was fetched; "" without a step. */
  _step: string;
  /** Microseconds of the step. */
  _span: number;
  problem: string;
  selected: string;
  height: number;
}
