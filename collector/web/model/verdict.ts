// A verdict as the page shows it, decoded from fathom.v1.Verdict.
import { number, numbers, object, objects, text, texts, unixMs, type Json } from "../api/json";

export interface Evidence {
  statement: string;
  value: number;
  unit: string;
  reference: number; // 0 = nothing to compare with
  source: string;
}

export interface Moment {
  iteration: number; // −1 = not known
  unixMs: number; // 0 = not known
}

export interface Entity {
  type: string;
  ranks: number[];
  node: string;
  gpu: string;
  link: string;
}

// Ranks that wait in an op for the culprit (hop 1) or for ranks of the hop before.
export interface WaitStep {
  hop: number;
  ranks: number[];
  forRanks: number[];
  group: string;
  groups: number;
  op: string;
  number: number; // −1 = none
  seconds: number; // 0 = not known
}

// Ranks with the same stack.
export interface StackCluster {
  ranks: number[];
  frames: string[]; // innermost first
  culprit: boolean;
  source: string;
  pauseSeconds: number; // 0 = it was not stopped
}

// A place in the user's code, with the shares of their time that the culprit and its peers spend there.
export interface HotFunction {
  name: string;
  place: string; // "train.py:85"
  share: number;
  peersShare: number;
}

// What the cause is made of, as far as a capture of stacks or a reading of hardware tells.
export interface Detail {
  name: string; // of the function; empty = not known
  functions: HotFunction[]; // most beyond the peers first
  missing: string; // why no function is told, once stacks were captured
  counter: string;
}

export interface Verdict {
  id: string;
  job: string;
  grade: string;
  cause: string;
  problem: string;
  entity: Entity;
  sentence: string;
  since: Moment;
  until: Moment | null; // null while the episode lasts
  closedBecause: string;
  slowdown: number;
  secondsPerIteration: number;
  gpuHours: number;
  gpuHoursPerMinute: number; // 0 = the job does not stand still
  owner: string;
  victims: number[];
  waits: WaitStep[]; // of a job that stands still; nearest the culprit first
  stacks: StackCluster[]; // likewise; the culprit's first
  evidence: Evidence[];
  counterEvidence: Evidence[];
  wouldChange: string[];
  detail: Detail;
  actionText: string;
  actionCommand: string;
}

export interface Abstention {
  question: string;
  missing: string;
}

function decodeEvidence(value: unknown): Evidence[] {
  return objects(value).map((item) => ({
    statement: text(item.statement),
    value: number(item.value),
    unit: text(item.unit),
    reference: number(item.reference),
    source: text(item.source),
  }));
}

function decodeWaits(value: unknown): WaitStep[] {
  return objects(value).map((item) => ({
    hop: Math.max(1, number(item.hop, 1)),
    ranks: numbers(item.ranks),
    forRanks: numbers(item.for_ranks),
    group: text(item.group),
    groups: number(item.groups, 1),
    op: text(item.op),
    number: number(item.number, -1),
    seconds: number(item.waited_s),
  }));
}

function decodeStacks(value: unknown): StackCluster[] {
  return objects(value).map((item) => ({
    ranks: numbers(item.ranks),
    frames: texts(item.frames),
    culprit: item.culprit === true,
    source: text(item.source),
    pauseSeconds: number(item.pause_s),
  }));
}

function decodeMoment(value: Json): Moment {
  return { iteration: number(value.iteration, -1), unixMs: unixMs(value.time_unix_ns) };
}

function decodeEntity(value: Json): Entity {
  const link = object(value.link);
  const ends = [text(link.src), text(link.dst)].filter((end) => end !== "");
  return {
    type: text(value.type),
    ranks: numbers(value.ranks),
    node: text(value.node),
    gpu: text(value.gpu),
    link: ends.join(" → "),
  };
}

function decodeFunction(item: Json): HotFunction {
  const line = number(item.line);
  const file = text(item.file).split("/").pop() ?? "";
  return {
    name: text(item.function),
    place: line > 0 && file !== "" ? `${file}:${line}` : file,
    share: number(item.share),
    peersShare: number(item.peers_share),
  };
}

function decodeDetail(value: Json): Detail {
  return {
    name: text(value.function),
    functions: objects(value.functions).map(decodeFunction),
    missing: text(value.missing),
    counter: text(value.counter),
  };
}

export function decodeVerdict(value: unknown): Verdict {
  const v = object(value);
  const cost = object(v.cost);
  const action = object(v.action);
  const until = typeof v.until === "object" && v.until !== null ? decodeMoment(object(v.until)) : null;
  return {
    id: text(v.id),
    job: text(v.job),
    grade: text(v.grade) || "unknown",
    cause: text(v.cause) || "unknown",
    problem: text(v.class),
    entity: decodeEntity(object(v.entity)),
    sentence: text(v.sentence),
    since: decodeMoment(object(v.since)),
    until,
    closedBecause: text(v.closed_because),
    slowdown: number(cost.slowdown),
    secondsPerIteration: number(cost.seconds_per_iteration),
    gpuHours: number(cost.gpu_hours),
    gpuHoursPerMinute: number(cost.gpu_hours_per_minute),
    owner: text(v.owner),
    victims: numbers(v.victims),
    waits: decodeWaits(v.waits),
    stacks: decodeStacks(v.stacks),
    evidence: decodeEvidence(v.evidence),
    counterEvidence: decodeEvidence(v.counter_evidence),
    wouldChange: texts(v.would_change),
    detail: decodeDetail(object(v.detail)),
    actionText: text(action.text),
    actionCommand: text(action.command),
  };
}

export function decodeAbstentions(value: unknown): Abstention[] {
  return objects(value).map((item) => ({ question: text(item.question), missing: text(item.missing) }));
}

export function isActive(verdict: Verdict): boolean {
  return verdict.until === null;
}

// Who it is, in the fewest words: "rank 2", "ranks 8–15", "node gpu-07", "link a → b".
export function culpritName(verdict: Verdict, ranksText: (ranks: number[]) => string): string {
  const { type, ranks, node, gpu, link } = verdict.entity;
  if (type === "link" && link) return `link ${link}`;
  if ((type === "host" || type === "nic") && node) return `${type} ${node}`;
  if (type === "gpu" && gpu) return `gpu ${gpu}`;
  if (type && type !== "rank" && type !== "gpu") return ranks.length ? `${type} of ${ranksText(ranks)}` : type;
  return ranks.length ? ranksText(ranks) : type || "not known";
}
