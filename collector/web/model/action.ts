// What fathom-cordon did to nodes and would do, as the collector passes it on (/api/v1/actions).
import { number, object, objects, text, texts, unixMs } from "../api/json";

export interface Action {
  id: string;
  node: string;
  cause: string;
  verdict: string;
  job: string;
  mode: string;
  phase: string; // observed, advised, approved, acting, acted, undoing, undone, relinquished, failed, withdrawn
  actor: string; // who took the last step
  text: string; // why
  changedMs: number;
  evidence: string; // the verdict's sentence
}

// A verdict that could lead to an action, and what stands in the way.
export interface Outlook {
  node: string;
  cause: string;
  verdict: string;
  mode: string;
  hindrance: string; // empty: it would begin now
}

// Who the reader is, and whether their commands are passed on to fathom-cordon.
export interface Reader {
  name: string;
  changes: string; // on; off: never here; sign_in, viewer, no_token: not theirs
}

export interface ActionLedger {
  state: string; // off: no fathom-cordon; on; away: it does not answer
  why: string;
  where: string;
  knownMs: number; // when the rest is from; 0 = never
  backend: string;
  held: number;
  paused: string; // why; empty: it is not
  tripped: string; // likewise
  problems: string[];
  actions: Action[]; // newest first
  plan: Outlook[];
  you: Reader;
}

// How fathom-cordon says that only the approval is missing. It adds the command, which the page
// shows by itself.
const PERSON = "waits for a person";

export function decodeLedger(value: unknown): ActionLedger {
  const answer = object(value);
  const you = object(answer.you);
  return {
    state: text(answer.state) || "off",
    why: text(answer.why),
    where: text(answer.where),
    knownMs: unixMs(answer.known_unix_ns),
    backend: text(answer.backend),
    held: number(answer.held),
    paused: text(answer.paused),
    tripped: text(answer.tripped),
    problems: texts(answer.problems),
    actions: objects(answer.actions).map((a) => ({
      id: text(a.id), node: text(a.node), cause: text(a.cause), verdict: text(a.verdict), job: text(a.job),
      mode: text(a.mode), phase: text(a.phase), actor: text(a.actor), text: text(a.text), changedMs: unixMs(a.changed_unix_ns), evidence: text(a.evidence),
    })),
    plan: objects(answer.plan).map((p) => ({
      node: text(p.node), cause: text(p.cause), verdict: text(p.verdict), mode: text(p.mode), hindrance: text(p.hindrance).startsWith(PERSON) ? PERSON : text(p.hindrance),
    })),
    you: { name: text(you.name), changes: text(you.changes) || "off" },
  };
}

// A person can approve it.
export function waits(action: Action): boolean {
  return action.phase === "advised" && action.mode === "approve";
}

// Nothing but a person's word stands in the way.
export function onlyApproval(plan: Outlook): boolean {
  return plan.hindrance === "" || plan.hindrance === PERSON;
}

// Phase and mode in the words of whoever must decide.
export function phaseText(action: Action): string {
  if (waits(action)) return "waits for approval";
  return PHASES[action.phase] ?? action.phase;
}

const PHASES: Record<string, string> = {
  observed: "observed only", advised: "advised", approved: "approved", acting: "under way", acted: "held back", undoing: "being undone",
  undone: "undone", relinquished: "taken over by a person", failed: "failed", withdrawn: "withdrawn",
};

// fathom holds the node back, or may do so: it can be undone.
export function holds(action: Action): boolean {
  return action.phase === "acted" || action.phase === "acting";
}

export function actionOn(ledger: ActionLedger | null, verdict: string): Action | undefined {
  return ledger?.actions.find((action) => action.verdict === verdict);
}

export function planOn(ledger: ActionLedger, verdict: string): Outlook | undefined {
  return ledger.plan.find((each) => each.verdict === verdict);
}
