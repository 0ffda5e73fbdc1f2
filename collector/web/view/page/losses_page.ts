// The last 30 days: GPU-hours used, and lost to which cause, on which node, of whom.
import { share, type Losses, type LossSum } from "../../model/losses";
import { nodeLink } from "../../model/route";
import { count, decimal, plural } from "../../text/quantity";
import { element, Slot } from "../dom/element";
import { cell, gridHead } from "../dom/grid";

const MOST = 12; // lines of a table

export class LossesPage {
  readonly node: HTMLElement;
  private readonly slot = new Slot(element("div", {}));

  constructor() {
    this.node = element("section", { class: "panel losses", "aria-label": "Losses" },
      element("div", { class: "panel-head" }, element("h1", {}, "The last 30 days")), this.slot.node);
  }

  update(losses: Losses): this {
    this.slot.show(losses, () => [
      element("p", { class: "losses-sum" }, sentence(losses)),
      losses.verdictsSinceMs > losses.sinceMs && element("p", { class: "none" },
        `Verdicts from before ${day(losses.verdictsSinceMs)} have left the store: more was lost than is told.`),
      part("By week", ["week from", "used", "lost", "share"], losses.byWeek, (sum) => [day(sum.weekMs), hours(sum.usedHours), hours(sum.lostHours), percent(sum.lostHours, sum.usedHours)]),
      part("Lost by cause", ["cause", "owner", "lost", "share", "verdicts"], losses.byCause, (sum) => [sum.name, sum.owner, hours(sum.lostHours), percent(sum.lostHours, losses.lostHours), count(sum.verdicts)], ["owner"]),
      part("Lost by node", ["node", "lost", "share", "verdicts", "jobs"], losses.byNode, (sum) => [link(sum.name), hours(sum.lostHours), percent(sum.lostHours, losses.lostHours), count(sum.verdicts), count(sum.jobs)]),
      part("By team", ["team", "used", "lost", "share"], losses.byTeam, (sum) => [sum.name, hours(sum.usedHours), hours(sum.lostHours), percent(sum.lostHours, sum.usedHours)]),
      part("By job", ["job", "used", "lost", "share", "verdicts"], losses.byJob, (sum) => [sum.name, hours(sum.usedHours), hours(sum.lostHours), percent(sum.lostHours, sum.usedHours), count(sum.verdicts)]),
      recoveries(losses),
      offenders(losses),
    ]);
    return this;
  }
}

function sentence(losses: Losses): string {
  const leads = losses.leadsHours > 0 ? `; leads that nothing established claim ${hours(losses.leadsHours)} more` : "";
  return `${hours(losses.usedHours)} GPU-hours used in ${plural(losses.runs, "run")} of ${plural(losses.jobs, "job")}, `
    + `${hours(losses.lostHours)} lost (${percent(losses.lostHours, losses.usedHours)})${leads}.`;
}

// `left`: columns that are words; the first is one anyway.
function part(title: string, columns: string[], sums: LossSum[], cells: (sum: LossSum) => (Node | string)[], left: string[] = []): HTMLElement | null {
  if (sums.length === 0) return null;
  const kinds = columns.map((name, i) => (i === 0 || left.includes(name) ? "" : "num"));
  const rows = sums.slice(0, MOST).map((sum) => {
    const [first, ...rest] = cells(sum);
    return element("tr", {}, element("th", { scope: "row" }, first!), ...rest.map((content, i) => cell(kinds[i + 1]!, content)));
  });
  return element("section", { class: "losses-part", "aria-label": title },
    element("h2", {}, title),
    element("div", { class: "scroll" }, element("table", { class: "grid" },
      gridHead(columns.map((name, i) => [name, kinds[i]!])), element("tbody", {}, ...rows))),
    sums.length > MOST && element("p", { class: "none" }, `and ${sums.length - MOST} more: fathom report --top ${sums.length}`));
}

// Before the isolation and after the restart the job ran: what it lost then is its verdict's.
function recoveries(losses: Losses): HTMLElement | null {
  if (losses.recoveries === 0) return null;
  return element("section", { class: "losses-part", "aria-label": "Recoveries" },
    element("h2", {}, `Recoveries: ${count(losses.recoveries)}, ${count(losses.recovered)} of them to the end`),
    element("table", { class: "grid" }, gridHead([["stage", ""], ["minutes", "num"], ["GPU-hours", "num"]]),
      element("tbody", {}, ...losses.stages.map((each) => element("tr", {}, element("th", { scope: "row" }, each.stage),
        cell("num", decimal(each.minutes)), cell("num", each.hours > 0 ? hours(each.hours) : "–"))))));
}

function offenders(losses: Losses): HTMLElement | null {
  if (losses.offenders.length === 0) return null;
  return element("section", { class: "losses-part", "aria-label": "Repeat offenders" },
    element("h2", {}, "Repeat offenders"),
    element("ul", {}, ...losses.offenders.map((each) => element("li", {}, link(each.node), `: convicted in ${plural(each.convictedJobs, "job")}, last on ${day(each.lastConvictedMs)}`))));
}

function link(node: string): HTMLElement {
  return element("a", { href: nodeLink(node) }, node);
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function hours(value: number): string {
  return decimal(value);
}

function percent(part: number, whole: number): string {
  return `${decimal(Math.round(share(part, whole) * 1000) / 10)} %`;
}
