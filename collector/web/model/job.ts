// What the collector knows of jobs, ranks, agents and signals, decoded from its API.
import { boolean, number, numbers, object, objects, text, unixMs } from "../api/json";

export interface Job {
  name: string;
  ranks: number;
  worldSize: number;
  nodes: number;
  state: string; // running, slow, hung, stalled, ended
  iteration: number;
  iterationS: number;
  baselineS: number; // 0 = not known yet
  slowdown: number; // 0 = not known yet
  verdicts: number;
  sentence: string;
  lastSeenMs: number;
}

export interface RankState {
  rank: number;
  node: string;
  gpu: string; // PCI bus id, or the number its process knows it by; empty: not known
  pid: number;
  state: string;
  lastEventAgeS: number;
  records: number;
  lost: number; // overwritten, torn, invalid and dropped by the tracer
  drops: [string, number][];
}

export interface AgentState {
  node: string;
  connected: boolean;
  lastSeenMs: number;
  version: string;
}

export interface Signal {
  name: string;
  state: string; // on, partly, off
  hides: string;
}

export interface Health {
  ranks: RankState[];
  agents: AgentState[];
  signals: Signal[];
}

export interface GroupInfo {
  id: string;
  name: string;
  kind: string; // world, tensor, pipeline, expert, context, data, unknown
  ranks: number[]; // in the communicator's order
}

export function decodeJob(value: unknown): Job {
  const job = object(value);
  return {
    name: text(job.name),
    ranks: number(job.ranks),
    worldSize: number(job.world_size),
    nodes: number(job.nodes),
    state: text(job.state) || "running",
    iteration: number(job.iteration, -1),
    iterationS: number(job.iteration_s),
    baselineS: number(job.baseline_s),
    slowdown: number(job.slowdown),
    verdicts: number(job.verdicts),
    sentence: text(job.sentence),
    lastSeenMs: unixMs(job.last_seen_unix_ns),
  };
}

export function decodeGroups(value: unknown): GroupInfo[] {
  return objects(object(value).groups).map((group) => ({
    id: text(group.id),
    name: text(group.description) || text(group.name),
    kind: text(group.kind),
    ranks: numbers(group.ranks),
  }));
}

function gpuName(value: unknown): string {
  const gpu = object(value);
  return text(gpu.bus_id) || ("number" in gpu ? String(number(gpu.number)) : "");
}

function decodeRank(rank: Record<string, unknown>): RankState {
  const drops: [string, number][] = [
    ["overwritten before they were read", number(rank.records_lost)],
    ["torn", number(rank.records_torn)],
    ["invalid", number(rank.records_invalid)],
  ];
  for (const [reason, count] of Object.entries(object(rank.tracer_drops))) drops.push([reason, number(count)]);
  const counted = drops.filter(([, count]) => count > 0);
  return {
    rank: number(rank.rank),
    node: text(rank.node),
    gpu: gpuName(rank.gpu),
    pid: number(rank.pid),
    state: text(rank.state),
    lastEventAgeS: number(rank.last_event_age_s, -1),
    records: number(rank.records_total),
    lost: counted.reduce((sum, [, count]) => sum + count, 0),
    drops: counted,
  };
}

export function decodeHealth(value: unknown): Health {
  const health = object(value);
  return {
    ranks: objects(health.ranks).map(decodeRank),
    agents: objects(health.agents).map((agent) => ({
      node: text(agent.node),
      connected: boolean(agent.connected),
      lastSeenMs: unixMs(agent.last_seen_unix_ns),
      version: text(agent.version),
    })),
    signals: objects(health.signals).map((signal) => ({
      name: text(signal.name),
      state: text(signal.state) || "off",
      hides: text(signal.hides),
    })),
  };
}
