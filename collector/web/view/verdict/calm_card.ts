// No culprit: either all is well, or the job is in trouble and nobody is convicted. The two must
// not look alike.
import type { JobState } from "../../model/page_state";
import { verdictLink } from "../../model/route";
import { count, plural, seconds } from "../../text/quantity";
import { signalText, stateText } from "../../text/words";
import { element } from "../dom/element";
import { agoTime } from "../dom/time_text";

const SLOW_RATIO = 1.05; // diagnosis' own threshold of irregularity

interface Tone {
  kind: "calm" | "uneasy" | "waiting";
  kicker: string;
  sentence: string;
}

function toneOf(state: JobState): Tone {
  const job = state.job;
  const ranks = plural(job?.ranks ?? 0, "rank");
  if (!job || !state.report) return { kind: "waiting", kicker: "Loading", sentence: "Asking the collector." };
  // The collector's own sentence, so that terminal, API and page say the same.
  if (["hung", "stalled", "slow"].includes(job.state)) {
    return { kind: "uneasy", kicker: "No culprit named yet", sentence: job.sentence || `The job is ${stateText(job.state)}.` };
  }
  if (job.baselineS <= 0 && state.report.medianS <= 0) {
    return { kind: "waiting", kicker: "Learning", sentence: `${ranks} seen. The normal iteration time is not known yet.` };
  }
  if (job.state === "ended") {
    const open = state.report.abstained.length > 0 || job.slowdown > SLOW_RATIO;
    return open ? { kind: "uneasy", kicker: "No culprit named", sentence: "The job has ended without a verdict." }
      : { kind: "calm", kicker: "No culprit", sentence: "The job has ended, and nobody held it back." };
  }
  return { kind: "calm", kicker: "No culprit", sentence: `All ${ranks} keep pace.` };
}

function watched(state: JobState): string {
  const on = (state.health?.signals ?? []).filter((signal) => signal.state !== "off").map((s) => signalText(s.name));
  const groups = state.groups.length > 0 ? `arrival and wait in ${plural(state.groups.length, "communicator")}` : "";
  return ["iteration time", groups, ...on].filter((item) => item !== "").join(", ");
}

export function calmCard(state: JobState): HTMLElement {
  const tone = toneOf(state);
  const card = element("article", { class: `card ${tone.kind}`, "aria-label": "State" },
    element("p", { class: "kicker" }, element("span", { class: "role" }, tone.kicker)),
    element("h2", { class: "sentence" }, tone.sentence));
  if (tone.kind === "waiting" && !state.job) return card;
  const rows = element("dl", { class: "watched" });
  const row = (name: string, ...value: (Node | string)[]): void => {
    rows.append(element("dt", {}, name), element("dd", {}, ...value));
  };
  row("Watched", watched(state));
  const report = state.report;
  const median = report && report.medianS > 0 ? report.medianS : (state.job?.baselineS ?? 0);
  if (report && report.iterationCount > 0) {
    row("Judged", `${plural(report.iterationCount, "iteration")}, median ${seconds(median)}, ${count(report.irregular.length)} irregular`);
  }
  if (report && report.step.sentence !== "") row("Iteration", `${report.step.sentence} ${report.step.advice}`);
  const last = state.history[0];
  if (last && last.until) {
    const when = last.until.unixMs > 0 ? [" (over ", agoTime(last.until.unixMs), ")"] : [];
    row("Last finding", element("a", { href: verdictLink(last.id) }, last.sentence), ...when);
  }
  card.append(rows);
  return card;
}

export function abstentions(state: JobState): HTMLElement | null {
  const items = state.report?.abstained ?? [];
  if (items.length === 0) return null;
  return element("section", { class: "abstained", "aria-label": "Not judged" }, ...items.map((item) =>
    element("p", {}, element("b", {}, "Not judged: "), item.question, element("span", { class: "missing" },
      item.missing ? `missing: ${item.missing}` : ""))));
}
