// What a person can ask of fathom-cordon, in values and words: the same for button, dialog and request.
import { holds, onlyApproval, phaseText, planOn, waits, type Action, type ActionLedger } from "./action";
import { causeText } from "../text/words";

// `why`: what was shown as paused or tripped when it was offered.
export type Deed = { kind: "approve" | "undo"; action: Action } | { kind: "pause" } | { kind: "resume"; why: string } | { kind: "reset"; why: string };

// What the page says before it is done.
export interface DeedText {
  label: string; // of the button that opens the dialog
  title: string;
  confirm: string;
  facts: [string, string][];
  effect: string[]; // what will happen
  done: string;
}

export function deedOn(action: Action): Deed | null {
  if (waits(action)) return { kind: "approve", action };
  return holds(action) ? { kind: "undo", action } : null;
}

export function deedPath(deed: Deed): string {
  return "action" in deed ? `actions/${encodeURIComponent(deed.action.id)}/${deed.kind}` : `actions/${deed.kind}`;
}

export function needsReason(deed: Deed): boolean {
  return deed.kind === "pause";
}

// The ledger knows better by now: why the deed is none any more. Empty: it still is one.
export function overtaken(deed: Deed, ledger: ActionLedger): string {
  if (deed.kind === "pause") return ledger.paused ? `Meanwhile it was paused: ${ledger.paused}` : "";
  if (deed.kind === "resume") return another("it was paused again", "the pause was ended", deed.why, ledger.paused);
  if (deed.kind === "reset") return another("it tripped again", "the breaker was closed", deed.why, ledger.tripped);
  const now = ledger.actions.find((action) => action.id === deed.action.id);
  if (!now || deedOn(now)?.kind === deed.kind) return "";
  return `Meanwhile ${now.actor || "somebody"} was faster: it is ${phaseText(now)} now.`;
}

// Who ends one stop must not end another that came after it unseen.
function another(again: string, ended: string, shown: string, now: string): string {
  if (now === shown) return "";
  return now ? `Meanwhile ${again}: ${now}` : `Meanwhile ${ended}.`;
}

// That does the same.
export function deedCommand(deed: Deed): string {
  if ("action" in deed) return `fathom action ${deed.kind} ${deed.action.id}`;
  return `fathom action ${deed.kind}${needsReason(deed) ? " --reason '…'" : ""}`;
}

export function deedText(deed: Deed, ledger: ActionLedger): DeedText {
  switch (deed.kind) {
    case "approve":
      return {
        label: "Approve…", title: `Hold ${deed.action.node} back?`, confirm: "Approve", facts: facts(deed.action),
        effect: [HOLDS[ledger.backend] ?? "No new work is placed on it.", begins(deed.action, ledger), "It can be undone here."],
        done: "Approved.",
      };
    case "undo":
      return {
        label: "Undo…", title: `Let ${deed.action.node} go again?`, confirm: "Undo", facts: facts(deed.action),
        effect: [RELEASES[ledger.backend] ?? "New work may be placed on it again.", "fathom then leaves this node alone for a while, whatever the verdict says."],
        done: "The undo is asked for.",
      };
    case "pause":
      return {
        label: "Pause…", title: "Pause all new actions?", confirm: "Pause", facts: [],
        effect: ["fathom-cordon begins nothing new until somebody resumes. What is held back stays so, and can be undone."],
        done: "Paused.",
      };
    case "resume":
      return {
        label: "Resume…", title: "End the pause?", confirm: "Resume", facts: [["Paused", deed.why]],
        effect: ["What the limits allow begins again; in mode auto at once."], done: "Resumed.",
      };
    case "reset":
      return {
        label: "Close the breaker…", title: "Close the breaker?", confirm: "Close it", facts: [["It stopped all actions", deed.why]],
        effect: ["Look at why it tripped first. What the limits allow begins again; verdicts that ended meanwhile are not replayed."],
        done: "The breaker is closed.",
      };
  }
}

const HOLDS: Record<string, string> = {
  slurm: "Slurm drains it: jobs that run there go on, no new ones are placed.",
  kubernetes: "It is cordoned and tainted: pods that run there go on, no new ones are placed.",
  webhook: "Your own service is asked to hold it.",
};

const RELEASES: Record<string, string> = {
  slurm: "Slurm may place jobs on it again.",
  kubernetes: "fathom's cordon and taint are taken away, nobody else's; pods may be placed on it again.",
  webhook: "Your own service is asked to release it.",
};

function begins(action: Action, ledger: ActionLedger): string {
  const plan = planOn(ledger, action.verdict);
  if (!plan || onlyApproval(plan)) return "fathom-cordon does it at its next look.";
  return `Still in the way: ${plan.hindrance}. The approval waits for that, and is void if it could not be used in time.`;
}

function facts(action: Action): [string, string][] {
  const all: [string, string][] = [["Node", action.node], ["Cause", causeText(action.cause)], ["Because", action.evidence || `verdict ${action.verdict}`],
    ["Job", action.job], ["Last step", action.text ? `${action.actor}: ${action.text}` : ""]];
  return all.filter(([, value]) => value !== "");
}
