// The graph view.
import { GraphWithTools } from "../graph_view/graph_with_tools";
import type { GraphTraits } from "../kernel/graph_messages";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";

export default hosted((traits: Traits<GraphTraits>, el) => new GraphWithTools(traits, el).start());

export { decode } from "../kernel/graph_messages";
// For tests that hold pruning in the page against pruning in Python.
export { GraphModel } from "../model/graph";
export { prune } from "../model/prune";
