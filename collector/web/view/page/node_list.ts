// All nodes, those that come again and again first: what to drain, what to send back.
import type { NodeState } from "../../model/node";
import { nodeLink } from "../../model/route";
import { count, decimal, plural } from "../../text/quantity";
import { element, Slot } from "../dom/element";
import { cell, gridHead } from "../dom/grid";
import { agoTime } from "../dom/time_text";

function urgency(node: NodeState): number {
  return (node.repeatOffender ? 4 : 0) + (node.suspect ? 2 : 0) + (node.connected ? 0 : 1);
}

export function nodeMark(node: NodeState): HTMLElement {
  const [kind, words] = node.suspect ? ["slow", "suspect now"] : node.connected ? ["running", "fine"]
    : ["ended", node.lastSeenMs > 0 ? "agent away" : "no agent"];
  return element("span", { class: `state ${kind}` }, element("i", { "aria-hidden": "true" }), words!);
}

export class NodeList {
  readonly node: HTMLElement;
  private readonly slot = new Slot(element("div", { class: "scroll" }));

  constructor() {
    this.node = element("section", { class: "panel jobs", "aria-label": "Nodes" },
      element("div", { class: "panel-head" }, element("h1", {}, "Nodes")), this.slot.node);
  }

  update(nodes: NodeState[]): this {
    const sorted = [...nodes].sort((a, b) => urgency(b) - urgency(a) || b.convictedJobs - a.convictedJobs || a.name.localeCompare(b.name));
    this.slot.show(sorted, () => [sorted.length === 0 ? element("p", { class: "none" }, "No agent has reported yet.") : table(sorted)]);
    return this;
  }
}

function table(nodes: NodeState[]): HTMLElement {
  const head: [string, string][] = [["node", ""], ["state", ""], ["convicted in", "num"], ["last time", "num"], ["ranks", "num"],
    ["CPU busy", "num"], ["last seen", "num"]];
  return element("table", { class: "grid" },
    gridHead(head),
    element("tbody", {}, ...nodes.map(row)));
}

function row(node: NodeState): HTMLElement {
  const convicted = node.convictedJobs > 0 ? plural(node.convictedJobs, "job") : "–";
  return element("tr", {},
    element("th", { scope: "row" }, element("a", { href: nodeLink(node.name) }, node.name)),
    cell("", nodeMark(node)), cell(node.repeatOffender ? "num key again" : "num key", node.repeatOffender ? `◆ ${convicted}` : convicted),
    cell("num key", node.lastConvictedMs > 0 ? agoTime(node.lastConvictedMs) : "–"), cell("num", count(node.ranks)),
    cell("num", node.cpuBusyRatio >= 0 ? `${decimal(node.cpuBusyRatio * 100)} %` : "–"),
    cell("num", node.lastSeenMs > 0 ? agoTime(node.lastSeenMs) : "–"));
}
