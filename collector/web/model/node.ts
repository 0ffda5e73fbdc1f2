// A node as the collector sees it.
import { boolean, number, object, objects, text, unixMs, type Json } from "../api/json";
import { decodeVerdict, type Verdict } from "./verdict";

export interface NodeState {
  name: string;
  connected: boolean;
  ranks: number;
  lastSeenMs: number;
  suspect: boolean;
  cpuBusyRatio: number; // −1 = not known
  load1: number;
  convictedJobs: number; // different ones, within repeatDays
  lastConvictedMs: number;
  repeatOffender: boolean;
}

// A node over all jobs.
export interface NodeHistory {
  node: NodeState;
  repeatDays: number;
  repeatJobs: number; // so many make a repeat offender
  verdicts: Verdict[]; // newest first
  lacks: string; // why there may be more of them; empty = there are not
}

export function decodeNodes(value: unknown): NodeState[] {
  return objects(object(value).nodes).map(decodeNode);
}

export function decodeNodeHistory(value: unknown): NodeHistory {
  const answer = object(value);
  return {
    node: decodeNode(answer), repeatDays: number(answer.repeat_days), repeatJobs: number(answer.repeat_jobs),
    verdicts: objects(answer.verdicts).map(decodeVerdict), lacks: text(answer.lacks),
  };
}

function decodeNode(node: Json): NodeState {
  return {
    name: text(node.name),
    connected: boolean(node.connected),
    ranks: Array.isArray(node.ranks) ? node.ranks.length : number(node.ranks),
    lastSeenMs: unixMs(node.last_seen_unix_ns),
    suspect: boolean(node.suspect),
    cpuBusyRatio: number(node.cpu_busy_ratio, -1),
    load1: number(node.load1, -1),
    convictedJobs: number(node.convicted_jobs),
    lastConvictedMs: unixMs(node.last_convicted_unix_ns),
    repeatOffender: boolean(node.repeat_offender),
  };
}
