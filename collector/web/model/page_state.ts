// Everything the page shows, as plain values. The feed writes it, the views read it.
import type { LiveState } from "../api/live";
import type { ActionLedger } from "./action";
import type { Communicators } from "./communicator";
import type { Hardware } from "./hardware";
import type { Work } from "./work";
import type { GroupInfo, Health, Job } from "./job";
import { emptyIterations, type Iterations } from "./iterations";
import { defaultLook, type Look } from "./look";
import type { Losses } from "./losses";
import type { NodeHistory, NodeState } from "./node";
import type { LivePictures } from "./picture";
import type { JobRecovery } from "./recovery";
import type { Report } from "./report";
import { isActive, type Verdict } from "./verdict";

export type Route = { view: "home" } | { view: "job"; job: string } | { view: "verdict"; id: string }
  | { view: "nodes" } | { view: "node"; node: string } | { view: "losses" } | { view: "actions" };

export interface JobState {
  name: string;
  job: Job | null;
  groups: GroupInfo[];
  report: Report | null;
  history: Verdict[]; // newest first
  historyLacks: string; // why there may be more of them; empty = there are not
  health: Health | null;
  hardware: Hardware | null;
  work: Work | null;
  recovery: JobRecovery | null;
  nodes: NodeState[];
  iterations: Iterations;
  communicators: Communicators | null; // asked for while that part is open
  pictures: LivePictures | null; // likewise
  picturesProblem: string; // why there are none
}

export interface PageState {
  route: Route;
  look: Look;
  jobs: Job[] | null; // null = not asked yet
  current: JobState | null;
  nodes: NodeState[] | null;
  node: NodeHistory | null; // the one that is looked at
  losses: Losses | null; // of the last 30 days, once looked at
  ledger: ActionLedger | null;
  selected: Verdict | null; // the verdict a deep link asks for
  live: LiveState;
  dataMs: number; // when the newest data came in; 0 = never
  problem: string; // what to tell the reader instead of data
}

export function emptyJobState(name: string): JobState {
  return {
    name, job: null, groups: [], report: null, history: [], historyLacks: "", health: null, hardware: null, work: null, recovery: null, nodes: [],
    iterations: emptyIterations(), communicators: null, pictures: null, picturesProblem: "",
  };
}

export function emptyPageState(): PageState {
  return {
    route: { view: "home" }, look: defaultLook(), jobs: null, current: null, nodes: null, node: null, losses: null, ledger: null, selected: null,
    live: "connecting", dataMs: 0, problem: "",
  };
}

// The verdicts on the job now, strongest first. The report knows the order; what the store has
// opened since the report was made comes after it.
export function activeVerdicts(state: JobState): Verdict[] {
  const latest = new Map(state.history.map((verdict) => [verdict.id, verdict]));
  const ordered = (state.report?.verdicts ?? []).map((verdict) => latest.get(verdict.id) ?? verdict);
  const known = new Set(ordered.map((verdict) => verdict.id));
  return [...ordered, ...state.history.filter((verdict) => !known.has(verdict.id))].filter(isActive);
}

export function upsertVerdict(history: Verdict[], verdict: Verdict): Verdict[] {
  const at = history.findIndex((known) => known.id === verdict.id);
  if (at < 0) return [verdict, ...history];
  return history.map((known, i) => (i === at ? verdict : known));
}

// What the card at the top is about: the verdict asked for, else the strongest active one, else,
// once the job has ended, what was found last.
export function headline(page: PageState): { verdict: Verdict | null; others: Verdict[] } {
  const state = page.current;
  if (!state) return { verdict: page.selected, others: [] };
  const active = activeVerdicts(state);
  const selected = page.selected && (state.history.find((v) => v.id === page.selected?.id) ?? page.selected);
  const ended = state.job?.state === "ended";
  const last = ended ? (state.report?.verdicts[0] ?? state.history[0] ?? null) : null;
  const verdict = selected ?? active[0] ?? last;
  return { verdict, others: active.filter((other) => other.id !== verdict?.id) };
}
