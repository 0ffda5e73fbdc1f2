// What was used and lost over weeks, as /api/v1/losses tells it.
import { number, object, objects, text, unixMs, type Json } from "../api/json";

export interface LossSum {
  name: string; // of a cause, node, team or job; empty of a week
  weekMs: number; // begin of a week
  owner: string; // of a cause
  usedHours: number;
  lostHours: number;
  verdicts: number;
  jobs: number;
}

export interface Offender {
  node: string;
  convictedJobs: number;
  lastConvictedMs: number;
}

export interface StageLoss {
  stage: string;
  minutes: number;
  hours: number; // GPU-hours
}

export interface Losses {
  sinceMs: number;
  untilMs: number;
  verdictsSinceMs: number; // since when all verdicts are kept; 0 = none has left
  usedHours: number;
  lostHours: number;
  leadsHours: number;
  runs: number;
  jobs: number;
  byWeek: LossSum[];
  byCause: LossSum[];
  byNode: LossSum[];
  byTeam: LossSum[];
  byJob: LossSum[];
  offenders: Offender[];
  recoveries: number;
  recovered: number;
  stages: StageLoss[]; // of all recoveries
}

export function decodeLosses(value: unknown): Losses {
  const answer = object(value);
  const sums = (list: unknown): LossSum[] => objects(list).map(decodeSum);
  const recoveries = object(answer.recoveries);
  return {
    sinceMs: unixMs(answer.since_unix_ns), untilMs: unixMs(answer.until_unix_ns), verdictsSinceMs: unixMs(answer.verdicts_since_unix_ns),
    usedHours: number(answer.used_gpu_hours), lostHours: number(answer.lost_gpu_hours), leadsHours: number(answer.leads_gpu_hours),
    runs: number(answer.runs), jobs: number(answer.jobs),
    byWeek: sums(answer.by_week), byCause: sums(answer.by_cause), byNode: sums(answer.by_node), byTeam: sums(answer.by_team), byJob: sums(answer.by_job),
    offenders: objects(answer.repeat_offenders).map((node) => ({
      node: text(node.node), convictedJobs: number(node.convicted_jobs), lastConvictedMs: unixMs(node.last_convicted_unix_ns),
    })),
    recoveries: number(recoveries.count), recovered: number(recoveries.recovered),
    stages: objects(recoveries.stages).map((each) => ({ stage: text(each.stage), minutes: number(each.minutes), hours: number(each.gpu_hours) })),
  };
}

function decodeSum(sum: Json): LossSum {
  return {
    name: text(sum.name), weekMs: unixMs(sum.week_unix_ns), owner: text(sum.owner), usedHours: number(sum.used_gpu_hours),
    lostHours: number(sum.lost_gpu_hours), verdicts: number(sum.verdicts), jobs: number(sum.jobs),
  };
}

// Of the whole, 0 to 1.
export function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
