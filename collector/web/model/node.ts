// A node as the collector sees it.
import { boolean, number, object, objects, text, unixMs } from "../api/json";

export interface NodeState {
  name: string;
  connected: boolean;
  ranks: number;
  lastSeenMs: number;
  suspect: boolean;
  cpuBusyRatio: number; // −1 = not known
  load1: number;
}

export function decodeNodes(value: unknown): NodeState[] {
  return objects(object(value).nodes).map((node) => ({
    name: text(node.name),
    connected: boolean(node.connected),
    ranks: Array.isArray(node.ranks) ? node.ranks.length : number(node.ranks),
    lastSeenMs: unixMs(node.last_seen_unix_ns),
    suspect: boolean(node.suspect),
    cpuBusyRatio: number(node.cpu_busy_ratio, -1),
    load1: number(node.load1, -1),
  }));
}
