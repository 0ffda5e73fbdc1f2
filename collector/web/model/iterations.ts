// A window of iterations: duration of each, and per rank how late it came and how long it waited.
//
// Kept as flat arrays, one row of ranks an iteration, so that 1,000 ranks × 300 iterations stay
// cheap to merge and to draw. NaN stands for "this rank did not report".
import { list, number, numbers, object } from "../api/json";

export const QUANTITIES = ["late", "wait", "cpu", "blocked"] as const;
export type Quantity = (typeof QUANTITIES)[number];
const MICROSECONDS = 1e-6;

export interface Iterations {
  ranks: number[];
  index: number[];
  beginMs: number[];
  durationS: number[];
  irregular: boolean[];
  onset: number | null;
  // seconds; element [iteration × ranks.length + position of the rank]
  late: Float32Array;
  wait: Float32Array;
  cpu: Float32Array;
  blocked: Float32Array;
}

export function emptyIterations(): Iterations {
  const none = new Float32Array(0);
  return {
    ranks: [], index: [], beginMs: [], durationS: [], irregular: [], onset: null,
    late: none, wait: none, cpu: none, blocked: none,
  };
}

// µs as they come → s; NaN where there is no number.
export function decodeMatrix(value: unknown, rows: number, columns: number): Float32Array {
  const cells = new Float32Array(rows * columns).fill(NaN);
  list(value).slice(0, rows).forEach((row, i) => {
    list(row).slice(0, columns).forEach((cell, j) => {
      if (typeof cell === "number") cells[i * columns + j] = cell * MICROSECONDS;
    });
  });
  return cells;
}

export function decodeIterations(value: unknown): Iterations {
  const answer = object(value);
  const index = numbers(answer.iterations);
  const ranks = numbers(answer.ranks);
  const count = index.length;
  return {
    ranks,
    index,
    beginMs: numbers(answer.begin_unix_ms),
    durationS: numbers(answer.duration_us).map((us) => us * MICROSECONDS),
    irregular: index.map((_, i) => Boolean(list(answer.irregular)[i])),
    onset: answer.onset === null || answer.onset === undefined ? null : number(answer.onset, -1),
    late: decodeMatrix(answer.late_us, count, ranks.length),
    wait: decodeMatrix(answer.wait_us, count, ranks.length),
    cpu: decodeMatrix(answer.cpu_us, count, ranks.length),
    blocked: decodeMatrix(answer.blocked_us, count, ranks.length),
  };
}

function sameRanks(a: number[], b: number[]): boolean {
  return a.length === b.length && a.every((rank, i) => rank === b[i]);
}

// `newer` wins where both have an iteration; the oldest beyond `limit` go. When the ranks changed,
// or iterations between the two are missing, only `newer` is kept: a gap must not look like time.
export function mergeIterations(older: Iterations, newer: Iterations, limit: number): Iterations {
  const first = newer.index[0];
  if (first === undefined) return { ...older, onset: newer.onset };
  const lastOld = older.index[older.index.length - 1];
  if (lastOld === undefined || !sameRanks(older.ranks, newer.ranks) || first > lastOld + 1) return newer;
  const keptAll = older.index.findIndex((index) => index >= first);
  const kept = keptAll < 0 ? older.index.length : keptAll;
  const from = Math.max(0, kept + newer.index.length - limit);
  const join = <T>(a: T[], b: T[]): T[] => a.slice(Math.min(from, kept), kept).concat(b);
  const cells = (quantity: Quantity): Float32Array => {
    const width = older.ranks.length;
    const head = older[quantity].subarray(Math.min(from, kept) * width, kept * width);
    const joined = new Float32Array(head.length + newer[quantity].length);
    joined.set(head);
    joined.set(newer[quantity], head.length);
    return joined;
  };
  return {
    ranks: newer.ranks,
    index: join(older.index, newer.index),
    beginMs: join(older.beginMs, newer.beginMs),
    durationS: join(older.durationS, newer.durationS),
    irregular: join(older.irregular, newer.irregular),
    onset: newer.onset,
    late: cells("late"),
    wait: cells("wait"),
    cpu: cells("cpu"),
    blocked: cells("blocked"),
  };
}

// Mean of a quantity per rank over iterations [from, to), as positions; absent values do not count.
export function meanPerRank(data: Iterations, quantity: Quantity, from: number, to: number): Float32Array {
  const width = data.ranks.length;
  const cells = data[quantity];
  const sum = new Float64Array(width);
  const seen = new Uint32Array(width);
  for (let i = from; i < to; i++) {
    for (let j = 0; j < width; j++) {
      const cell = cells[i * width + j]!;
      if (cell === cell) {
        sum[j] = sum[j]! + cell;
        seen[j] = seen[j]! + 1;
      }
    }
  }
  return Float32Array.from(sum, (total, j) => (seen[j] ? total / seen[j]! : 0));
}
