// Communicators with who came late and who waited in each, over the newest iterations.
import { boolean, number, numbers, object, objects, text } from "../api/json";
import { decodeMatrix } from "./iterations";

export interface Communicator {
  id: string;
  name: string;
  kind: string;
  membersKnown: boolean;
  ops: number; // an iteration
  ranks: number[]; // in the communicator's order
  late: Float32Array; // s, by place; NaN = did not report
  wait: Float32Array;
}

// What a rank that is stuck has on the way to a peer.
export interface LinkState {
  from: number;
  to: number;
  queuedBytes: number;
  unreadBytes: number;
  sinceReceivedS: number;
}

export interface Communicators {
  first: number; // iteration; −1 = none
  last: number;
  iterations: number;
  groups: Communicator[];
  links: LinkState[];
}

export function decodeCommunicators(value: unknown): Communicators {
  const answer = object(value);
  return {
    first: number(answer.first, -1),
    last: number(answer.last, -1),
    iterations: number(answer.iterations),
    groups: objects(answer.groups).map((group) => {
      const ranks = numbers(group.ranks);
      return {
        id: text(group.id), name: text(group.description) || text(group.name) || text(group.id), kind: text(group.kind),
        membersKnown: boolean(group.members_known), ops: number(group.ops), ranks,
        late: decodeMatrix([group.late_us], 1, ranks.length), wait: decodeMatrix([group.wait_us], 1, ranks.length),
      };
    }),
    links: objects(answer.links).map((link) => ({
      from: number(link.from), to: number(link.to), queuedBytes: number(link.queued_bytes), unreadBytes: number(link.unread_bytes),
      sinceReceivedS: number(link.since_received_s),
    })),
  };
}

// The place with the largest value; −1 where none is above zero.
export function mostAt(cells: Float32Array): number {
  let most = -1;
  cells.forEach((cell, i) => {
    if (cell > (most < 0 ? 0 : cells[most]!)) most = i;
  });
  return most;
}
