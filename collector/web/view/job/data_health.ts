// What the verdict rests on: who reports, what was lost, what cannot be seen and so not be told.
import type { AgentState, RankState, Signal } from "../../model/job";
import type { JobState } from "../../model/page_state";
import { isActive } from "../../model/verdict";
import { decimal, count, plural, span } from "../../text/quantity";
import { rankNames } from "../../text/ranks";
import { processStateText, signalText } from "../../text/words";
import { Changes, element, Slot } from "../dom/element";
import { agoTime } from "../dom/time_text";

const SILENT_S = 5;
const RANKS_NAMED = 8;
const NODES_NAMED = 12;
const BUSY_RATIO = 0.9;
const ODD_STATES = new Set(["T", "t", "D", "Z", "X", "stopped", "uninterruptible", "zombie", "gone"]);

export class DataHealth {
  readonly node: HTMLElement;
  private readonly slot = new Slot(element("div", { class: "health" }));
  private readonly changes = new Changes();

  constructor() {
    this.node = element("section", { class: "panel", "aria-label": "Data health" },
      element("div", { class: "panel-head" }, element("h2", {}, "Data health")), this.slot.node);
  }

  update(state: JobState): void {
    const { health, nodes, report, job } = state;
    if (!this.changes.seen(health, nodes, report, job?.state)) return;
    if (!health) return this.slot.show("none", () => [element("p", { class: "none" }, "Not known yet.")]);
    const ages = health.ranks.map((rank) => Math.floor(Math.max(0, rank.lastEventAgeS)));
    const key = [health.ranks.map((r, i) => [r.state, r.lost, ages[i]! > SILENT_S ? ages[i] : 0]), total(health.ranks) >> 10,
      health.agents.map((a) => [a.node, a.connected]), health.signals, nodes.map((n) => [n.suspect, Math.round(n.cpuBusyRatio * 20)]),
      report?.ranksMissing, job?.worldSize, job?.state];
    this.slot.show(key, () => [
      row("Ranks", ranksLine(state), ...oddRanks(health.ranks, job?.state === "ended")),
      row("Records", `${count(total(health.ranks))} read`, lossLine(health.ranks)),
      row("Agents", agentsLine(health.agents), ...nodeLines(state)),
      ...signalRows(health.signals),
    ]);
  }
}

function row(name: string, first: string, ...more: (Node | null)[]): HTMLElement {
  return element("div", { class: "health-row" }, element("h3", {}, name), element("div", {}, element("p", {}, first), ...more));
}

function note(kind: "good" | "bad" | "off", text: string, ...rest: (Node | string)[]): HTMLElement {
  const sign = { good: "✓", bad: "!", off: "–" }[kind];
  return element("p", { class: `note ${kind}` }, element("span", { class: "sign", "aria-hidden": "true" }, sign), element("span", {}, text, ...rest));
}

function total(ranks: RankState[]): number {
  return ranks.reduce((sum, rank) => sum + rank.records, 0);
}

function ranksLine({ health, job, report }: JobState): string {
  const world = job?.worldSize ?? 0;
  const seen = health?.ranks.length ?? 0;
  const missing = report?.ranksMissing ?? [];
  if (missing.length > 0) return `${count(seen)} of ${count(world || seen + missing.length)} report; missing: ${rankNames(missing)}`;
  return world > seen ? `${count(seen)} of ${count(world)} report` : `all ${count(seen)} report`;
}

function oddRanks(ranks: RankState[], ended: boolean): HTMLElement[] {
  if (ended) return [];
  const odd = ranks.filter((rank) => ODD_STATES.has(rank.state) || rank.lastEventAgeS > SILENT_S);
  const notes = odd.slice(0, RANKS_NAMED).map((rank) => {
    const silent = rank.lastEventAgeS > SILENT_S ? `, silent for ${span(rank.lastEventAgeS)}` : "";
    return note("bad", `rank ${rank.rank}${rank.node ? ` on ${rank.node}` : ""}: ${processStateText(rank.state)}${silent}`);
  });
  if (odd.length > notes.length) notes.push(note("bad", `and ${plural(odd.length - notes.length, "more rank")}`));
  return notes;
}

function lossLine(ranks: RankState[]): HTMLElement {
  const lost = ranks.reduce((sum, rank) => sum + rank.lost, 0);
  if (lost === 0) return note("good", "none lost");
  const reasons = new Map<string, number>();
  for (const rank of ranks) for (const [reason, n] of rank.drops) reasons.set(reason, (reasons.get(reason) ?? 0) + n);
  const share = lost / Math.max(1, lost + total(ranks));
  const why = [...reasons].map(([reason, n]) => `${count(n)} ${signalText(reason)}`).join(", ");
  return note("bad", `${count(lost)} lost (${decimal(share * 100)} %): ${why}`);
}

function agentsLine(agents: AgentState[]): string {
  const there = agents.filter((agent) => agent.connected).length;
  return there === agents.length ? `${plural(there, "agent")} connected` : `${count(there)} of ${plural(agents.length, "agent")} connected`;
}

function nodeLines({ health, nodes, job, history }: JobState): HTMLElement[] {
  const gone = (health?.agents ?? []).filter((agent) => !agent.connected && job?.state !== "ended");
  const mine = new Set((health?.agents ?? []).map((agent) => agent.node));
  const lines = gone.slice(0, NODES_NAMED).map((agent) => note("bad", `${agent.node} is away, last seen `, agoTime(agent.lastSeenMs)));
  const own = new Set(history.filter(isActive).map((verdict) => verdict.entity.node));
  const busy = nodes.filter((node) => mine.has(node.name) && node.cpuBusyRatio >= BUSY_RATIO);
  const suspect = nodes.filter((node) => mine.has(node.name) && node.suspect && !own.has(node.name));
  for (const node of busy.slice(0, NODES_NAMED)) {
    lines.push(note("bad", `${node.name}: CPU ${Math.round(node.cpuBusyRatio * 100)} % busy, load ${decimal(node.load1)}`));
  }
  for (const node of suspect.slice(0, NODES_NAMED)) lines.push(note("bad", `${node.name} carries the culprit of another job`));
  return lines;
}

function signalRows(signals: Signal[]): HTMLElement[] {
  if (signals.length === 0) return [];
  const on = signals.filter((signal) => signal.state === "on").map((signal) => signalText(signal.name));
  const rest = signals.filter((signal) => signal.state !== "on");
  const first = on.length > 0 ? on.join(", ") : "none";
  return [row("Signals", first, ...rest.map((signal) => note(signal.state === "partly" ? "bad" : "off",
    `${signalText(signal.name)}: ${signal.state}`, signal.hides ? element("span", { class: "hides" }, `, hides ${signal.hides}`) : "")))];
}
