// One job: what is wrong first, then the picture of it, then what it rests on.
import { headline, type JobState, type PageState } from "../../model/page_state";
import { defaultLook, type Look, type Part } from "../../model/look";
import { jobLink, verdictLink } from "../../model/route";
import { culpritName, isActive, type Verdict } from "../../model/verdict";
import { count, plural, seconds, times } from "../../text/quantity";
import { rankNames } from "../../text/ranks";
import { actionKey } from "../action/action_state";
import { abstentions, calmCard } from "../verdict/calm_card";
import { CommunicatorMatrix } from "../ops/communicator_matrix";
import { DataHealth } from "./data_health";
import type { OnDeed } from "../action/deed_button";
import { element, Slot } from "../dom/element";
import { HardwareStrips } from "./hardware_strips";
import { stateMark } from "./job_list";
import { LedgerBar } from "./ledger_bar";
import { LiveIteration, type LiveAsks } from "../ops/live_iteration";
import { RecoveryPanel } from "../verdict/recovery_panel";
import { RankTable } from "./rank_table";
import { agoTime } from "../dom/time_text";
import { Timeline } from "./timeline";
import { verdictCard } from "../verdict/verdict_card";
import { VerdictHistory } from "../verdict/verdict_history";
import { WorkStrips } from "./work_strips";

export class JobPage {
  readonly node: HTMLElement;
  private readonly line = new Slot(element("div", { class: "job-line" }));
  private readonly card = new Slot(element("div", { class: "verdicts" }));
  private readonly spoken = element("p", { class: "unseen", role: "status" });
  private readonly recovery = new RecoveryPanel();
  private readonly ledger = new LedgerBar();
  private readonly timeline: Timeline;
  private readonly hardware = new HardwareStrips();
  private readonly work = new WorkStrips();
  private readonly iteration: LiveIteration;
  private readonly communicators: CommunicatorMatrix;
  private readonly table = new RankTable();
  private readonly health = new DataHealth();
  private readonly history = new VerdictHistory();
  private saidId = "";
  private look = defaultLook();

  constructor(onLook: (change: Partial<Look>) => void, asks: LiveAsks, private readonly onDeed: OnDeed) {
    this.timeline = new Timeline(onLook, (iteration, rank) => onLook({ iteration, rank, open: [...new Set<Part>([...this.look.open, "iteration"])] }));
    this.iteration = new LiveIteration(onLook, asks);
    this.communicators = new CommunicatorMatrix(onLook);
    this.timeline.node.append(this.table.node);
    this.node = element("div", { class: "job-page" }, this.line.node, this.spoken, this.card.node, this.recovery.node, this.ledger.node, this.timeline.node,
      this.work.node, this.hardware.node, this.iteration.node, this.communicators.node, element("div", { class: "pair" }, this.health.node, this.history.node));
  }

  update(page: PageState): this {
    const state = page.current!;
    const { verdict, others } = headline(page);
    this.updateLine(state);
    this.card.show([page.selected?.id, cardKey(state, verdict, others), actionKey(verdict, page.ledger)], () => [
      page.selected && element("p", { class: "back" }, element("a", { href: jobLink(state.name) }, "← the job as it is now")),
      verdict ? verdictCard(verdict, state, { ledger: page.ledger, onDeed: this.onDeed }) : calmCard(state),
      others.length > 0 && element("ul", { class: "others", "aria-label": "Other open verdicts" }, ...others.map(otherRow)),
      abstentions(state),
    ]);
    this.recovery.update(state.name, state.recovery, verdict);
    this.ledger.update(state.report?.ledger ?? null, state.recovery?.recoveries ?? []);
    const culprits = new Set(verdict?.entity.ranks ?? []);
    const look = (this.look = page.look);
    this.timeline.update(state, verdict, look);
    this.table.update(state, ...this.timeline.range(), this.timeline.rows(), look.sort !== "rank", culprits);
    this.work.update(state.work);
    this.hardware.update(state.hardware, verdict, culpritNodes(state, verdict));
    this.iteration.update(state, look, culprits);
    this.communicators.update(state, look, culprits);
    this.health.update(state);
    this.history.update(state, verdict);
    this.announce(verdict);
    return this;
  }

  private updateLine({ job, name }: JobState): void {
    if (!job) return this.line.show(name, () => [element("h1", {}, name)]);
    const pace = job.iterationS > 0 ? `${seconds(job.iterationS)} an iteration` : "";
    const against = job.baselineS > 0 ? `normal ${seconds(job.baselineS)}${job.slowdown > 1.02 ? ` (${times(job.slowdown)})` : ""}` : "";
    const figures = [plural(job.ranks, "rank"), plural(job.nodes, "node"),
      job.iteration >= 0 ? `iteration ${count(job.iteration)}` : "", pace, against].filter((item) => item !== "");
    const away = job.state === "ended" || job.state === "stalled" || job.state === "hung";
    this.line.show([name, job.state, figures, away && job.lastSeenMs], () => [
      element("h1", {}, name), stateMark(job.state),
      element("ul", { class: "figures" }, ...figures.map((item) => element("li", {}, item)),
        away && job.lastSeenMs > 0 && element("li", {}, "last seen ", agoTime(job.lastSeenMs)))]);
  }

  // Screen readers hear a new verdict, and nothing of the updates of a known one.
  private announce(verdict: Verdict | null): void {
    const id = verdict && isActive(verdict) ? verdict.id : "";
    if (id === this.saidId) return;
    this.saidId = id;
    this.spoken.textContent = verdict && id ? verdict.sentence : "";
  }
}

function culpritNodes(state: JobState, verdict: Verdict | null): Set<string> {
  const ranks = new Set(verdict?.entity.ranks ?? []);
  const nodes = (state.health?.ranks ?? []).filter((rank) => ranks.has(rank.rank)).map((rank) => rank.node);
  return new Set(verdict?.entity.node ? [verdict.entity.node, ...nodes] : nodes);
}

function otherRow(v: Verdict): HTMLElement {
  return element("li", {}, element("span", { class: "mark", "aria-hidden": "true" }, "◆"),
    element("a", { href: verdictLink(v.id) }, v.sentence || culpritName(v, rankNames)), element("span", { class: "how" }, v.grade));
}

function cardKey(state: JobState, verdict: Verdict | null, others: Verdict[]): unknown {
  const culprit = verdict?.entity.ranks[0];
  const info = state.health?.ranks.find((rank) => rank.rank === culprit);
  const abstained = state.report?.abstained ?? [];
  const node = state.nodes.find((known) => known.name === (verdict?.entity.node || info?.node));
  if (verdict) return [verdict, others, abstained, info?.pid, info?.node, node?.convictedJobs];
  const { job, report, health, groups, history } = state;
  return [job?.state, job?.ranks, job?.slowdown.toFixed(2), job?.baselineS, report?.iterationCount, report?.medianS,
    report?.irregular.length, health?.signals, groups.length, history[0], abstained, job === null, report === null];
}
