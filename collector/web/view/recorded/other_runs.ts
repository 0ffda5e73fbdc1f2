// A recording against others: against another one of the job, and against itself without what
// straggled.
import type { Change, Comparison, WhatIf } from "../../model/tables";
import { seconds } from "../../text/quantity";
import { element } from "../dom/element";
import { tablePanel } from "./work_tables";

function growth(change: Change): string {
  const by = change.afterS - change.beforeS;
  if (Math.abs(by) < 0.5e-6) return "–";
  const relative = change.beforeS > 0 ? ` (${by > 0 ? "+" : "−"}${Math.abs((100 * by) / change.beforeS).toFixed(0)} %)` : "";
  return `${by > 0 ? "+" : "−"}${seconds(Math.abs(by))}${relative}`;
}

function panel(title: string, words: string, table: HTMLElement | null): HTMLElement {
  const box = table ?? element("section", { class: "panel", "aria-label": title }, element("div", { class: "panel-head" }, element("h2", {}, title)));
  const head = box.querySelector(".panel-head")!;
  head.querySelector(".caption")?.remove();
  head.append(element("p", { class: "caption" }, words));
  return box;
}

export function comparisonPanel(comparison: Comparison): HTMLElement {
  const title = "Against the other recording";
  return panel(title, comparison.sentence, tablePanel(title, "", comparison.changes, [
    ["an iteration", "say", (row) => row.name], ["before", "num", (row) => seconds(row.beforeS)], ["after", "num", (row) => seconds(row.afterS)],
    ["change", "num", growth],
  ]));
}

export function whatIfPanel(whatIf: WhatIf): HTMLElement {
  const title = "What if nothing straggled";
  const lost = whatIf.stepS - whatIf.idealS;
  const above = whatIf.lastStageShare > 1 ? "; above 100 %, as the other stages take less than the mean already" : "";
  const share = lost > 0 ? ` The last stage, by the measure of the what-if paper: ${(100 * whatIf.lastStageShare).toFixed(0)} % of that${above}.` : "";
  const words = `Ops of usual length everywhere would save ${lost > 0 ? seconds(lost) : "nothing"} of ${seconds(whatIf.stepS)} a step.${share}`;
  return panel(title, words, tablePanel(title, "", whatIf.saved.slice(0, 8), [
    ["repaired alone", "", (row) => row.name], ["would save, a step", "num", (row) => seconds(row.savedS)],
  ]));
}
