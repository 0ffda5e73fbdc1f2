// Getting a sick job back: what would be done and what it costs, and how long each stage of the
// recoveries took that ran. Nothing is done from here: a person types the command.
import type { JobRecovery, Recovery, RecoveryPlan } from "../../model/recovery";
import { nodeLink } from "../../model/route";
import { isActive, type Verdict } from "../../model/verdict";
import { decimal, plural, seconds, span } from "../../text/quantity";
import { commandLine } from "../dom/command_line";
import { element, Slot } from "../dom/element";
import { draw } from "../dom/svg";
import { clockTime } from "../dom/time_text";

const WIDTH = 900, HEIGHT = 16;
const PLAIN = /^[A-Za-z0-9._-]+$/;

const ADVICE: Record<string, string> = { act: "worth it", "do not act": "not advised", unknown: "it depends" };

// `job` as one word of a shell.
function shellWord(job: string): string {
  return PLAIN.test(job) ? job : `'${job.replaceAll("'", "'\\''")}'`;
}

// Of a stage: some are over within a moment.
function lasted(value: number): string {
  return value < 1 ? seconds(value) : span(value);
}

function hours(value: number): string {
  return `${decimal(value)} GPU-hours`;
}

function fact(name: string, main: (Node | string)[], more: string): HTMLElement {
  return element("div", { class: "fact" }, element("dt", {}, name), element("dd", {},
    element("span", { class: "main" }, ...main), more !== "" && element("span", { class: "more" }, more)));
}

function node(name: string): HTMLElement {
  return element("a", { href: nodeLink(name) }, name);
}

function carryOn(plan: RecoveryPlan): HTMLElement {
  return fact("Carrying on", [`${hours(plan.perHour)} an hour`],
    plan.standsStill ? "the job stands still" : "for each hour of work that is left");
}

function notes(plan: RecoveryPlan): HTMLElement | null {
  const lines = [...plan.notKnown.map((line) => `not known: ${line}`), ...plan.noSpares.map((line) => `no spare: ${line}`)];
  if (lines.length === 0) return null;
  return element("details", { "data-keep": "recovery notes" },
    element("summary", { "data-keep": "recovery notes more" }, `${plural(lines.length, "note")} on this plan`),
    element("ul", {}, ...lines.map((line) => element("li", {}, line))));
}

function planPart(plan: RecoveryPlan, job: string): HTMLElement {
  const part = element("section", { class: "recovery-plan", "aria-label": "Recovery plan" },
    element("h3", {}, "Getting it back"),
    element("p", { class: "recovery-why" }, element("b", {}, ADVICE[plan.advice] ?? plan.advice), `: ${plan.why}`),
    element("dl", { class: "facts" },
      fact("Isolate", [node(plan.isolate)], ""),
      fact("Spare", [plan.spare ? node(plan.spare) : "none"], plan.spare ? plan.spareBecause : "no free, well node"),
      fact("Restart", [hours(plan.startHours)],
        `${span(plan.restartS)} for ${plural(plan.processes, "process", "processes")}, and the work since the last checkpoint; without one ${span(plan.lostWorkS)}`),
      carryOn(plan)));
  if (plan.spare !== "") {
    part.append(element("p", { class: "recovery-do" }, "A person starts it, with the job's own checkpoints and back-end:"),
      commandLine(`fathom recover run ${shellWord(job)} --config recover.yaml --checkpoints DIR`, " recovery"));
  }
  const more = notes(plan);
  if (more) part.append(more);
  return part;
}

// The stages one after the other, each as wide as it was long.
function bar(recovery: Recovery): SVGElement {
  const all = recovery.stages.reduce((sum, each) => sum + each.seconds, 0);
  const said = recovery.stages.map((each) => `${each.stage} ${lasted(each.seconds)}`).join(", ");
  const svg = draw("svg", { class: "stages", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `Stages: ${said}` });
  let x = 0;
  for (const { stage, seconds } of recovery.stages) {
    const width = all > 0 ? (seconds / all) * WIDTH : 0;
    svg.append(draw("rect", { class: kind(stage), x, y: 0, width, height: HEIGHT }, draw("title", {}, `${stage}: ${lasted(seconds)}`)));
    x += width;
  }
  return svg;
}

function kind(stage: string): string {
  return `stage-${stage.replace(" ", "-")}`;
}

function record(recovery: Recovery): HTMLElement {
  const what = recovery.spare ? `${recovery.isolate} → ${recovery.spare}` : recovery.isolate;
  const lost = recovery.lostHours === null ? "" : `, ${hours(recovery.lostHours)} of standing still and work done anew`;
  return element("li", { "data-state": recovery.state },
    element("p", { class: "recovery-line" }, element("b", {}, recovery.state), ` ${what}, `, clockTime(recovery.begunMs),
      `${recovery.by ? `, by ${recovery.by}` : ""}${lost}`),
    recovery.said !== "" && element("p", { class: "said" }, recovery.said),
    recovery.stages.length > 0 && bar(recovery),
    element("ul", { class: "stage-names" }, ...recovery.stages.map(({ stage, seconds }) =>
      element("li", {}, element("i", { class: kind(stage), "aria-hidden": "true" }), `${stage} ${lasted(seconds)}`))));
}

function records(recoveries: Recovery[]): HTMLElement {
  const [newest, ...older] = recoveries;
  return element("section", { class: "recoveries", "aria-label": "Recoveries" },
    element("h3", {}, newest!.state === "under way" ? "A recovery is under way" : "The last recovery"),
    element("ol", {}, record(newest!)),
    older.length > 0 && element("details", { "data-keep": "older recoveries" },
      element("summary", { "data-keep": "older recoveries more" }, `${older.length} earlier`), element("ol", {}, ...older.map(record))));
}

export class RecoveryPanel {
  readonly node = element("article", { class: "card recovery", "aria-label": "Recovery" });
  private readonly slot = new Slot(element("div", {}));

  constructor() {
    this.node.append(this.slot.node);
    this.node.hidden = true;
  }

  // The plan belongs to an open verdict; records outlive theirs.
  update(job: string, recovery: JobRecovery | null, verdict: Verdict | null): void {
    const plan = verdict !== null && isActive(verdict) ? recovery?.plan ?? null : null;
    const ran = recovery?.recoveries ?? [];
    this.node.hidden = plan === null && ran.length === 0;
    this.slot.show([job, plan, ran], () => [plan && planPart(plan, job), ran.length > 0 && records(ran)]);
  }
}
