// What was found before, newest first.
import type { JobState } from "../../model/page_state";
import { verdictLink } from "../../model/route";
import { isActive, type Verdict } from "../../model/verdict";
import { decimal, span, times } from "../../text/quantity";
import { element, Slot } from "../dom/element";
import { clockTime } from "../dom/time_text";

const SHOWN = 30;

function cost(v: Verdict): string {
  const parts = [v.slowdown > 1 ? times(v.slowdown) : "", v.gpuHours >= 0.001 ? `${decimal(v.gpuHours)} GPU-h` : ""];
  return parts.filter((part) => part !== "").join(", ");
}

function lasted(v: Verdict): string {
  if (isActive(v)) return "open";
  const closed = v.closedBecause ? `, ${v.closedBecause}` : "";
  return v.until!.unixMs > v.since.unixMs && v.since.unixMs > 0 ? `${span((v.until!.unixMs - v.since.unixMs) / 1e3)}${closed}` : `over${closed}`;
}

// What is not known must not look like what is not there.
export function historyLacks(why: string): HTMLElement {
  return element("p", { class: "none lacks" }, `Not known now whether there are more: ${why}.`);
}

export class VerdictHistory {
  readonly node: HTMLElement;
  private readonly slot = new Slot(element("div", { class: "history" }));

  constructor() {
    this.node = element("section", { class: "panel", "aria-label": "Verdict history" },
      element("div", { class: "panel-head" }, element("h2", {}, "Verdicts so far")), this.slot.node);
  }

  update(state: JobState, shown: Verdict | null): void {
    const history = state.history.slice(0, SHOWN);
    const lacks = state.historyLacks;
    this.slot.show([history, lacks, shown?.id], () => [
      lacks !== "" ? historyLacks(lacks) : history.length === 0 ? element("p", { class: "none" }, "None on this job.") : null,
      history.length > 0 && element("ol", {}, ...history.map((v) => this.row(v, v.id === shown?.id)))]);
  }

  private row(v: Verdict, shown: boolean): HTMLElement {
    return element("li", { class: isActive(v) ? "open" : "over" },
      element("p", { class: "when" }, v.since.unixMs > 0 ? clockTime(v.since.unixMs) : `iteration ${v.since.iteration}`),
      element("p", { class: "what" }, element("a", { href: verdictLink(v.id), "aria-current": shown ? "true" : null }, v.sentence || v.cause)),
      element("p", { class: "how" }, [v.grade, cost(v), lasted(v)].filter((part) => part !== "").join(" · ")));
  }
}
