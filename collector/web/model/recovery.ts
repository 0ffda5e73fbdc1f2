// What would get a job to run well again, and the recoveries that ran, as /api/v1/jobs/JOB/recovery
// tells it.
import { boolean, number, object, objects, text, texts, unixMs, type Json } from "../api/json";

export interface RecoveryPlan {
  advice: string; // "act", "do not act", "unknown"
  why: string;
  verdict: string; // its id
  isolate: string;
  spare: string; // empty: there is none
  spareBecause: string;
  processes: number;
  standsStill: boolean;
  restartS: number;
  lostWorkS: number; // all work so far: the collector sees no checkpoint
  startHours: number; // GPU-hours of the start alone
  perHour: number; // GPU-hours lost in each hour of work that goes on as it is
  notKnown: string[];
  noSpares: string[];
}

export const STAGES = ["detection", "decision", "isolation", "restart", "warm-up", "lost work"] as const;
export type Stage = (typeof STAGES)[number];

export interface Recovery {
  id: string;
  state: string; // "under way", "being undone", "recovered", "undone", "given up"
  said: string;
  isolate: string;
  spare: string;
  by: string;
  begunMs: number;
  runningMs: number; // the first iteration without the sick node was seen; 0: not yet
  stages: { stage: Stage; seconds: number }[]; // those that are over; lost work once the job runs again
  lostHours: number | null; // null: not known
}

export interface JobRecovery {
  plan: RecoveryPlan | null;
  recoveries: Recovery[]; // newest first
}

const FIELDS: Record<Stage, string> = {
  detection: "detection_s", decision: "decision_s", isolation: "isolation_s", restart: "restart_s", "warm-up": "warm_up_s", "lost work": "lost_work_s",
};
const HOUR_S = 3600;

export function decodeRecovery(value: unknown): JobRecovery {
  const answer = object(value);
  return { plan: answer.plan ? decodePlan(object(answer.plan)) : null, recoveries: objects(answer.recoveries).map(decodeRecord) };
}

function decodePlan(plan: Json): RecoveryPlan {
  const processes = number(plan.processes);
  const restartS = number(plan.restart_s);
  return {
    advice: text(plan.advice), why: text(plan.why), verdict: text(plan.verdict), isolate: text(plan.isolate), spare: text(plan.spare),
    spareBecause: text(plan.spare_because), processes, standsStill: boolean(plan.stands_still), restartS, lostWorkS: number(plan.lost_work_s),
    startHours: (processes * restartS) / HOUR_S, perHour: number(plan.carry_on_gpu_hours_per_hour), notKnown: texts(plan.not_known), noSpares: texts(plan.no_spares),
  };
}

function decodeRecord(record: Json): Recovery {
  const stages = object(record.stages);
  return {
    id: text(record.id), state: text(record.state), said: text(record.said), isolate: text(record.isolate), spare: text(record.spare), by: text(record.by),
    begunMs: unixMs(record.begun_unix_ns), runningMs: unixMs(record.running_unix_ns),
    stages: STAGES.filter((stage) => stages[FIELDS[stage]] !== undefined && (stage !== "lost work" || stages.restart_s !== undefined)).map((stage) => ({ stage, seconds: number(stages[FIELDS[stage]]) })),
    lostHours: record.lost_gpu_hours === undefined ? null : number(record.lost_gpu_hours),
  };
}
