// The report on a job (fathom.v1.Report), as far as the page needs it.
import { number, numbers, object, objects, text } from "../api/json";
import type { Signal } from "./job";
import { decodeJobLedger, type JobLedger } from "./job_ledger";
import { decodeAbstentions, decodeVerdict, type Abstention, type Verdict } from "./verdict";

export interface Report {
  verdicts: Verdict[]; // strongest first
  abstained: Abstention[];
  iterationCount: number;
  medianS: number;
  step: { sentence: string; advice: string }; // what bounds an iteration; empty where that is not told
  irregular: { index: number; durationS: number; kind: string }[];
  signals: Signal[];
  ranksMissing: number[];
  recordsDropped: number;
  clocks: { rank: number; offsetS: number; residualS: number; reference: number }[];
  ledger: JobLedger | null; // of the whole job; null: none is kept
}

export function decodeReport(value: unknown): Report {
  const report = object(value);
  const iterations = object(report.iterations);
  const coverage = object(report.coverage);
  return {
    verdicts: objects(report.verdicts).map(decodeVerdict),
    abstained: decodeAbstentions(report.abstained),
    iterationCount: number(iterations.count),
    medianS: number(iterations.median_s),
    step: { sentence: text(object(report.step).sentence), advice: text(object(report.step).advice) },
    irregular: objects(iterations.irregular).map((item) => ({
      index: number(item.index, -1),
      durationS: number(item.duration_s),
      kind: text(item.kind),
    })),
    signals: objects(coverage.signals).map((signal) => ({
      name: text(signal.name),
      state: text(signal.state) || "off",
      hides: text(signal.hides),
    })),
    ranksMissing: numbers(coverage.ranks_missing),
    recordsDropped: number(coverage.records_dropped),
    clocks: objects(coverage.clocks).map((clock) => ({
      rank: number(clock.rank),
      offsetS: number(clock.offset_s),
      residualS: number(clock.residual_s),
      reference: number(clock.reference),
    })),
    ledger: decodeJobLedger(report.job_ledger),
  };
}
