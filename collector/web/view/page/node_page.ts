// One node over all jobs: how often it was the culprit, and every verdict on it.
import type { NodeHistory } from "../../model/node";
import { jobLink, verdictLink } from "../../model/route";
import { isActive, type Verdict } from "../../model/verdict";
import { count, decimal, plural, times } from "../../text/quantity";
import { causeText } from "../../text/words";
import { element, Slot } from "../dom/element";
import { historyLacks } from "../verdict/verdict_history";
import { nodeMark } from "./node_list";
import { agoTime, clockTime } from "../dom/time_text";

const SHOWN = 200;

// In words, because a bare score says nothing to whoever must decide on the node.
function judgement({ node, repeatDays, repeatJobs, lacks }: NodeHistory): string {
  const days = plural(Math.round(repeatDays), "day");
  if (lacks !== "" && node.convictedJobs === 0) return `Whether fathom was ever sure of this node is not known now.`;
  if (node.convictedJobs === 0) return `No established verdict on this node itself in the last ${days}.`;
  const said = `fathom was sure of this node in ${plural(node.convictedJobs, "job")} of the last ${days}.`;
  return node.repeatOffender ? `${said} From ${repeatJobs} on it is a repeat offender: drain it, test it, send it back.`
    : `${said} From ${repeatJobs} on it counts as a repeat offender.`;
}

export class NodePage {
  readonly node = element("div", { class: "job-page" });
  private readonly slot = new Slot(this.node);

  update(history: NodeHistory): this {
    this.slot.show(history, () => [this.line(history), this.card(history), this.verdicts(history)]);
    return this;
  }

  private line({ node }: NodeHistory): HTMLElement {
    const figures = [plural(node.ranks, "rank"), node.cpuBusyRatio >= 0 ? `CPU ${decimal(node.cpuBusyRatio * 100)} % busy` : "",
      node.load1 >= 0 ? `load ${decimal(node.load1)}` : ""].filter((item) => item !== "");
    return element("div", { class: "job-line" }, element("h1", {}, node.name), nodeMark(node),
      element("ul", { class: "figures" }, ...figures.map((item) => element("li", {}, item)),
        node.lastSeenMs > 0 && element("li", {}, "last seen ", agoTime(node.lastSeenMs))));
  }

  private card(history: NodeHistory): HTMLElement {
    const kind = history.node.repeatOffender ? "card verdict open" : history.node.convictedJobs > 0 || history.node.suspect ? "card uneasy" : "card calm";
    return element("section", { class: `${kind} node-card`, "aria-label": "Judgement" },
      element("h2", { class: "sentence long" }, judgement(history)),
      element("p", { class: "none" }, "Counted: jobs with an established verdict on the node itself (compute, host, memory, a process that stopped or died), each job once."));
  }

  private verdicts({ verdicts: all, lacks }: NodeHistory): HTMLElement {
    const part = element("section", { class: "panel", "aria-label": "Verdicts on this node" },
      element("div", { class: "panel-head" }, element("h2", {}, "Verdicts on this node"),
        element("p", { class: "caption" }, all.length > SHOWN ? `the newest ${SHOWN} of ${count(all.length)}` : "newest first")));
    const list = element("div", { class: "history" },
      lacks !== "" ? historyLacks(lacks) : all.length === 0 ? element("p", { class: "none" }, "None.") : null,
      all.length > 0 && element("ol", {}, ...all.slice(0, SHOWN).map(verdictRow)));
    part.append(list);
    return part;
  }
}

function verdictRow(v: Verdict): HTMLElement {
  const how = [v.grade, causeText(v.cause), v.slowdown > 1 ? times(v.slowdown) : "", isActive(v) ? "open" : v.closedBecause || "over"];
  return element("li", { class: isActive(v) ? "open" : "over" },
    element("p", { class: "when" }, v.since.unixMs > 0 ? clockTime(v.since.unixMs) : `iteration ${v.since.iteration}`),
    element("p", { class: "what" }, element("a", { href: verdictLink(v.id) }, v.sentence || v.cause)),
    element("p", { class: "how" }, "job ", element("a", { href: jobLink(v.job) }, v.job), ` · ${how.filter((part) => part !== "").join(" · ")}`));
}
