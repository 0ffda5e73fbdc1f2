// Where all of a job's GPU time went so far (fathom.v1.JobLedger), cut into slices of time.
import { number, numbers, object, objects, text, unixMs } from "../api/json";

export interface Loss {
  who: { type: string; ranks: number[]; node: string }; // without ranks: a large communicator
  cause: string;
  owner: string;
  gpuS: number;
  rest: boolean; // several that are too small to be kept by name
}

export interface LedgerSlice {
  beginMs: number;
  first: number; // iteration
  iterations: number;
  usedGpuS: number;
  unexplainedGpuS: number;
  lostGpuS: number[]; // by loss; may be shorter
}

export interface JobLedger {
  iterations: number;
  usedGpuS: number;
  idealGpuS: number;
  lostGpuS: number;
  unexplainedGpuS: number;
  losses: Loss[]; // the largest first
  slices: LedgerSlice[];
}

// Null where the collector keeps none.
export function decodeJobLedger(value: unknown): JobLedger | null {
  const ledger = object(value);
  if (number(ledger.used_gpu_s) <= 0) return null;
  return {
    iterations: number(ledger.iterations),
    usedGpuS: number(ledger.used_gpu_s),
    idealGpuS: number(ledger.ideal_gpu_s),
    lostGpuS: number(ledger.lost_gpu_s),
    unexplainedGpuS: number(ledger.unexplained_gpu_s),
    losses: objects(ledger.shares).map((share) => {
      const entity = object(share.entity);
      return {
        who: { type: text(entity.type), ranks: numbers(entity.ranks), node: text(entity.node) },
        cause: text(share.cause), owner: text(share.owner), gpuS: number(share.lost_gpu_s), rest: share.rest === true,
      };
    }),
    slices: objects(ledger.over_time).map((slice) => ({
      beginMs: unixMs(slice.begin_unix_ns),
      first: number(slice.first_iteration, -1),
      iterations: number(slice.iterations),
      usedGpuS: number(slice.used_gpu_s),
      unexplainedGpuS: number(slice.unexplained_gpu_s),
      lostGpuS: numbers(slice.lost_gpu_s),
    })),
  };
}
