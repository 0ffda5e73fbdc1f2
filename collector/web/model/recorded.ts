// What a saved page was made of: the JSON that `fathom analyze --html` puts into it.
import { number, object, objects, text, texts, type Json } from "../api/json";
import { decodeIterations } from "./iterations";
import { decodeGroups, type Job } from "./job";
import { emptyJobState, type JobState } from "./page_state";
import { decodePictures, type OneIteration } from "./picture";
import { decodeReport } from "./report";
import { decodeComparison, decodeTables, decodeWhatIf, type Comparison, type Tables, type WhatIf } from "./tables";

export interface RankTotals {
  rank: number;
  node: string;
  computeS: number;
  nonComputeS: number;
  communicationS: number;
  waitS: number;
  idleS: number;
  lateS: number;
}

export interface Recorded {
  state: JobState;
  source: string;
  totals: RankTotals[];
  tables: Tables;
  comparison: Comparison | null;
  whatIf: WhatIf | null;
  pictures: OneIteration[];
  notes: string[];
  files: { path: string; format: string }[];
}

// A recording is a job that has ended; its figures stand in the report.
function jobOf(report: Json): Job {
  const job = object(report.job);
  const iterations = object(report.iterations);
  const seen = number(iterations.count);
  const first = objects(report.verdicts)[0];
  return {
    name: text(job.name), ranks: number(job.ranks), worldSize: number(job.ranks), nodes: number(job.nodes), state: "ended",
    iteration: -1, iterationS: number(iterations.median_s), baselineS: 0,
    slowdown: seen > 0 && first ? number(object(first.cost).slowdown) : 0,
    verdicts: objects(report.verdicts).length, sentence: first ? text(first.sentence) : "", lastSeenMs: 0,
  };
}

export function decodeRecorded(value: unknown): Recorded {
  const data = object(value);
  const report = object(data.report);
  const job = jobOf(report);
  const state = emptyJobState(job.name);
  state.job = job;
  state.report = decodeReport(report);
  state.history = state.report.verdicts;
  state.iterations = decodeIterations(data.iterations);
  const irregular = new Set(state.report.irregular.map((one) => one.index));
  state.iterations.irregular = state.iterations.index.map((index) => irregular.has(index));
  state.groups = decodeGroups(report.job);
  state.health = {
    ranks: objects(data.ranks).map((rank) => ({
      rank: number(rank.rank), node: text(rank.node), gpu: "", pid: number(rank.pid), state: text(rank.state), lastEventAgeS: -1, records: 0, lost: 0, drops: [],
    })),
    agents: [],
    signals: state.report.signals,
  };
  return {
    state,
    source: text(object(report.job).source),
    totals: objects(report.ranks).map((rank) => ({
      rank: number(rank.rank), node: text(rank.node), computeS: number(rank.compute_s), nonComputeS: number(rank.non_compute_s),
      communicationS: number(rank.communication_s), waitS: number(rank.wait_s), idleS: number(rank.idle_s), lateS: number(rank.late_s),
    })),
    tables: decodeTables(report.tables),
    comparison: decodeComparison(report.comparison),
    whatIf: decodeWhatIf(report.what_if),
    pictures: decodePictures(data.pictures),
    notes: texts(data.notes),
    files: objects(data.files).map((file) => ({ path: text(file.path), format: text(file.format) })),
  };
}
