// All jobs, those in trouble first.
import type { Job } from "../../model/job";
import { jobLink } from "../../model/route";
import { count, seconds, times } from "../../text/quantity";
import { stateText } from "../../text/words";
import { element, Slot } from "../dom/element";
import { cell, gridHead } from "../dom/grid";
import { agoTime } from "../dom/time_text";

const ORDER = ["hung", "stalled", "slow", "running", "ended"];

export function stateMark(state: string): HTMLElement {
  return element("span", { class: `state ${state}` }, element("i", { "aria-hidden": "true" }), stateText(state));
}

function urgency(job: Job): number {
  const at = ORDER.indexOf(job.state);
  return (at < 0 ? ORDER.length : at) - (job.verdicts > 0 ? 0.5 : 0);
}

export class JobList {
  readonly node: HTMLElement;
  private readonly slot = new Slot(element("div", { class: "scroll" }));

  constructor() {
    this.node = element("section", { class: "panel jobs", "aria-label": "Jobs" },
      element("div", { class: "panel-head" }, element("h1", {}, "Jobs")), this.slot.node);
  }

  update(jobs: Job[]): this {
    const sorted = [...jobs].sort((a, b) => urgency(a) - urgency(b) || b.lastSeenMs - a.lastSeenMs || a.name.localeCompare(b.name));
    this.slot.show(sorted, () => [sorted.length === 0 ? this.none() : this.table(sorted)]);
    return this;
  }

  private none(): HTMLElement {
    return element("div", { class: "card waiting" }, element("h2", { class: "sentence" }, "No job has reported yet."),
      element("p", {}, "Start one with ", element("code", {}, "fathom run -- torchrun … train.py"), " and it appears here."));
  }

  private table(jobs: Job[]): HTMLElement {
    const head: [string, string][] = [["job", ""], ["state", ""], ["what is known", "say"], ["ranks", "num"], ["iteration", "num"],
      ["takes", "num"], ["against normal", "num"], ["last seen", "num"]];
    return element("table", { class: "grid" },
      gridHead(head),
      element("tbody", {}, ...jobs.map((job) => this.row(job))));
  }

  private row(job: Job): HTMLElement {
    return element("tr", {},
      element("th", { scope: "row" }, element("a", { href: jobLink(job.name) }, job.name)),
      cell("", stateMark(job.state)), cell("say", job.sentence), cell("num", count(job.ranks)),
      cell("num", job.iteration >= 0 ? count(job.iteration) : "–"), cell("num", job.iterationS > 0 ? seconds(job.iterationS) : "–"),
      cell("num key", job.slowdown > 0 && job.baselineS > 0 ? times(job.slowdown) : "–"),
      cell("num key", job.lastSeenMs > 0 ? agoTime(job.lastSeenMs) : "–"));
  }
}
