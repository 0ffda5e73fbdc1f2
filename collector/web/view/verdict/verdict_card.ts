// The verdict: what a reader woken at night must know, in the order in which they ask.
import type { ActionLedger } from "../../model/action";
import { culpritName, isActive, type Evidence, type Verdict } from "../../model/verdict";
import { nodeLink } from "../../model/route";
import type { JobState } from "../../model/page_state";
import { decimal, measured, plural, seconds, times } from "../../text/quantity";
import { rankList, rankNames } from "../../text/ranks";
import { causeText, gradeMeaning, gradeStrength, ownerText } from "../../text/words";
import { actionState } from "../action/action_state";
import { commandLine } from "../dom/command_line";
import type { OnDeed } from "../action/deed_button";
import { element, present } from "../dom/element";
import { functionTable } from "./function_table";
import { agoTime, clockTime } from "../dom/time_text";
import { stackFlame } from "./stack_flame";
import { waitChain } from "./wait_chain";

const GRADE_STEPS = 3;
const EVIDENCE_SHOWN = 3;
const LONG_SENTENCE = 110; // characters; longer ones are set smaller
const FEW_GPU_HOURS = 0.02;

function gradeMark(grade: string): HTMLElement {
  const strength = gradeStrength(grade);
  const pips = element("span", { class: "pips", "aria-hidden": "true" });
  for (let i = 0; i < GRADE_STEPS; i++) pips.append(element("i", { class: i < strength ? "on" : "off" }));
  return element("span", { class: "grade", title: gradeMeaning(grade) }, pips, element("b", {}, grade),
    element("span", { class: "meaning" }, gradeMeaning(grade)));
}

function fact(name: string, main: (Node | string)[], ...more: (Node | string | false | null)[]): HTMLElement {
  return element("div", { class: "fact" }, element("dt", {}, name), element("dd", {},
    element("span", { class: "main" }, ...main), ...present(more).map((line) => element("span", { class: "more" }, line))));
}

function sinceFact(v: Verdict): HTMLElement {
  const iteration = v.since.iteration >= 0 ? `iteration ${v.since.iteration.toLocaleString("en-US")}` : "";
  if (v.since.unixMs <= 0) return fact("Since", [iteration || "not known"]);
  const over = v.until !== null && v.until.unixMs > 0;
  return fact("Since", [clockTime(v.since.unixMs)], iteration,
    over ? element("span", {}, "until ", clockTime(v.until!.unixMs)) : agoTime(v.since.unixMs));
}

function gpuTime(hours: number): string {
  return hours < FEW_GPU_HOURS ? `${decimal(hours * 3600)} GPU-seconds` : `${decimal(hours)} GPU-hours`;
}

function costFact(v: Verdict): HTMLElement {
  const lost = v.secondsPerIteration > 0 ? `${seconds(v.secondsPerIteration)} lost an iteration` : "";
  const hours = v.gpuHours > 0
    ? element("span", { title: "time lost × ranks; on CPU jobs a rank is a process" }, `${gpuTime(v.gpuHours)} so far`) : null;
  const further = v.gpuHoursPerMinute > 0 && isActive(v) ? `${gpuTime(v.gpuHoursPerMinute)} more each minute` : null;
  if (v.slowdown > 1) return fact("Cost", [`${times(v.slowdown)} normal`], lost || null, hours, further);
  if (lost) return fact("Cost", [lost], hours, further);
  return fact("Cost", [hours ?? "not known"], further);
}

function heading(v: Verdict): string {
  if (!isActive(v)) return "Verdict, over";
  if (v.grade === "established") return "Culprit found";
  return v.grade === "supported" ? "Likely culprit" : "A lead";
}

function culpritFact(v: Verdict, state: JobState | null): HTMLElement {
  const name = culpritName(v, rankNames);
  const info = v.entity.ranks.length === 1 ? state?.health?.ranks.find((r) => r.rank === v.entity.ranks[0]) : undefined;
  const node = v.entity.node || info?.node || "";
  const gpu = v.entity.gpu || info?.gpu || "";
  const known = state?.nodes.find((each) => each.name === node);
  const again = known && known.convictedJobs > 1 ? `convicted in ${plural(known.convictedJobs, "job")} of late` : null;
  return fact("Culprit", [element("span", { class: "culprit-name" }, element("span", { class: "mark", "aria-hidden": "true" }, "◆"), name)],
    known ? element("span", {}, name.includes(node) ? "" : "on ", element("a", { href: nodeLink(node) }, name.includes(node) ? "its history" : node))
      : node && !name.includes(node) ? `on ${node}` : null,
    gpu && !name.includes(gpu) ? `GPU ${gpu}` : null, again, info && info.pid > 0 ? `pid ${info.pid}` : null);
}

function victimsFact(v: Verdict): HTMLElement {
  if (v.victims.length === 0) return fact("Victims", ["none"]);
  return fact("Victims", [plural(v.victims.length, "rank")], rankList(v.victims));
}

function evidenceRow(row: Evidence): HTMLElement {
  const bare = row.value === 0 && row.reference === 0;
  return element("tr", {}, element("th", { scope: "row", title: row.source ? `from ${row.source}` : null }, row.statement),
    element("td", { class: "value" }, bare ? "" : measured(row.value, row.unit)),
    element("td", { class: "reference" }, row.reference === 0 ? "" : `against ${measured(row.reference, row.unit)}`));
}

function evidenceTable(rows: Evidence[]): HTMLElement {
  return element("table", {}, element("thead", { class: "unseen" }, element("tr", {},
    ...["Statement", "Measured", "Reference"].map((name) => element("th", { scope: "col" }, name)))),
  element("tbody", {}, ...rows.map(evidenceRow)));
}

// The strongest rows at once, the rest a click away: the reader has a minute.
function evidence(title: string, rows: Evidence[], empty: string): HTMLElement {
  const part = element("section", { class: "evidence" }, element("h3", {}, title));
  if (rows.length === 0) {
    part.append(element("p", { class: "none" }, empty));
    return part;
  }
  const first = rows.length <= EVIDENCE_SHOWN + 1 ? rows.length : EVIDENCE_SHOWN;
  part.append(evidenceTable(rows.slice(0, first)));
  if (rows.length > first) {
    part.append(element("details", { "data-keep": title }, element("summary", { "data-keep": `${title} more` }, `${rows.length - first} more`),
      evidenceTable(rows.slice(first))));
  }
  return part;
}

function wouldChange(v: Verdict): HTMLElement | null {
  if (v.wouldChange.length === 0) return null;
  return element("section", { class: "change" }, element("h3", {}, "What would change our mind"),
    element("ul", {}, ...v.wouldChange.map((item) => element("li", {}, item))));
}

function action(v: Verdict): HTMLElement | null {
  if (!v.actionText && !v.actionCommand) return null;
  const part = element("section", { class: "action" }, element("div", {}, element("h3", {}, "What to do"), element("p", {}, v.actionText)));
  if (!v.actionCommand) return part;
  part.append(commandLine(v.actionCommand));
  return part;
}

// `actions`: what fathom-cordon does about it; a saved page knows nothing of that.
export function verdictCard(v: Verdict, state: JobState | null, actions: { ledger: ActionLedger | null; onDeed: OnDeed } | null = null): HTMLElement {
  const over = !isActive(v);
  const card = element("article", { class: `card verdict ${over ? "over" : "open"}`, "data-grade": v.grade, "aria-label": "Verdict" });
  const sentence = v.sentence || `${culpritName(v, rankNames)}: ${causeText(v.cause)}`;
  const closed = over ? `over${v.closedBecause ? `: ${v.closedBecause}` : ""}` : "";
  card.append(
    element("p", { class: "kicker" }, element("span", { class: "role" }, heading(v)), gradeMark(v.grade),
      element("span", { class: "owner" }, v.owner ? `owner: ${ownerText(v.owner)}` : "")),
    element("h2", { class: sentence.length > LONG_SENTENCE ? "sentence long" : "sentence" }, sentence),
    element("dl", { class: "facts" }, culpritFact(v, state), fact("Cause", [causeText(v.cause)], v.cause),
      sinceFact(v), costFact(v), victimsFact(v)));
  if (closed) card.append(element("p", { class: "closed" }, closed));
  if (v.waits.length > 0) card.append(waitChain(v));
  if (v.stacks.length > 0) card.append(stackFlame(v));
  const functions = functionTable(v);
  if (functions) card.append(functions);
  card.append(element("div", { class: "reasons" }, evidence("Evidence", v.evidence, "No numbers were kept."),
    element("div", { class: "doubts" }, evidence("Against it", v.counterEvidence, "Nothing measured speaks against it."), wouldChange(v) ?? "")));
  const act = action(v);
  if (act) card.append(act);
  const onNode = actions && actionState(v, actions.ledger, actions.onDeed);
  if (onNode) card.append(onNode);
  return card;
}
