// The classic tables, the comparison and the what-if figures of a recording, from its report.
import { number, numbers, object, objects, text } from "../api/json";

export interface RankWork {
  rank: number;
  onDevice: boolean;
  overlapS: number;
  communicationS: number;
  hostWaitS: number;
  kernelWaitS: number;
  otherIdleS: number;
  launches: number;
  callS: number;
  delayS: number;
  delayP99S: number;
  queueMean: number;
  queueMax: number;
}

export interface Work {
  kind: string;
  name: string;
  count: number;
  sumS: number;
  meanS: number;
  maxS: number;
}

export interface Segment {
  rank: number;
  local: boolean;
  op: string;
  group: string;
  longest: string;
  count: number;
  sumS: number;
}

export interface Tables {
  ranks: RankWork[];
  ranksLeftOut: number;
  kinds: { kind: string; sumS: number }[];
  work: Work[];
  workLeftOut: number;
  copies: { kind: string; count: number; bytes: number; timeS: number; bandwidth: number }[];
  path: Segment[];
  pathS: number;
}

export interface Change {
  name: string;
  beforeS: number;
  afterS: number;
}

export interface Comparison {
  sentence: string;
  changes: Change[]; // the median iteration first; empty where nothing is compared
}

export interface WhatIf {
  stepS: number;
  idealS: number;
  lastStageShare: number;
  saved: { name: string; savedS: number }[];
}

export function decodeTables(value: unknown): Tables {
  const tables = object(value);
  return {
    ranks: objects(tables.ranks).map((rank) => ({
      rank: number(rank.rank), onDevice: rank.on_device === true, overlapS: number(rank.overlap_s), communicationS: number(rank.communication_s),
      hostWaitS: number(rank.host_wait_s), kernelWaitS: number(rank.kernel_wait_s), otherIdleS: number(rank.other_idle_s),
      launches: number(rank.launches), callS: number(rank.launch_call_s), delayS: number(rank.launch_delay_s),
      delayP99S: number(rank.launch_delay_p99_s), queueMean: number(rank.queue_mean), queueMax: number(rank.queue_max),
    })),
    ranksLeftOut: number(tables.ranks_left_out),
    kinds: objects(tables.kinds).map((kind) => ({ kind: text(kind.kind), sumS: number(kind.sum_s) })),
    work: objects(tables.work).map((work) => ({
      kind: text(work.kind), name: text(work.name), count: number(work.count), sumS: number(work.sum_s), meanS: number(work.mean_s), maxS: number(work.max_s),
    })),
    workLeftOut: number(tables.work_left_out),
    copies: objects(tables.copies).map((copy) => ({
      kind: text(copy.kind), count: number(copy.count), bytes: number(copy.bytes), timeS: number(copy.time_s), bandwidth: number(copy.bandwidth_bytes_per_s),
    })),
    path: objects(tables.path).map((segment) => ({
      rank: number(segment.rank), local: text(segment.segment) === "local", op: text(segment.op), group: text(segment.group),
      longest: text(segment.longest), count: number(segment.count), sumS: number(segment.sum_s),
    })),
    pathS: number(tables.path_s),
  };
}

export function decodeComparison(value: unknown): Comparison | null {
  const comparison = object(value);
  const sentence = text(comparison.sentence);
  if (sentence === "") return null;
  const change = (name: string, from: { before_s?: unknown; after_s?: unknown }): Change => ({ name, beforeS: number(from.before_s), afterS: number(from.after_s) });
  const parts = [...objects(comparison.kinds), ...objects(comparison.parts)].map((part) => change(text(part.name), part));
  const compared = text(comparison.result) !== "unrelated" && number(comparison.after_s) > 0;
  return { sentence, changes: compared ? [change("median iteration", comparison), ...parts] : [] };
}

export function decodeWhatIf(value: unknown): WhatIf | null {
  const whatIf = object(value);
  if (!(number(whatIf.ideal_s) > 0)) return null;
  const only = object(whatIf.only);
  const saved = [
    ...objects(only.stage).map((stage) => ({ name: `stage ${number(stage.index)}`, savedS: number(stage.saved_s) })),
    ...objects(only.worker).map((worker) => ({ name: `rank ${numbers(worker.ranks)[0] ?? "?"}`, savedS: number(worker.saved_s) })),
  ];
  return {
    stepS: number(whatIf.replayed_s), idealS: number(whatIf.ideal_s), lastStageShare: number(whatIf.last_stage_share),
    saved: saved.filter((one) => one.savedS > 0).sort((a, b) => b.savedS - a.savedS),
  };
}
