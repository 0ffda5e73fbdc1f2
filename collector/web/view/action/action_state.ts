// What fathom-cordon did or would do about one verdict, for its card, and the words for it.
import { actionOn, holds, phaseText, planOn, waits, type Action, type ActionLedger } from "../../model/action";
import { deedOn } from "../../model/deed";
import type { Verdict } from "../../model/verdict";
import { deedButton, type OnDeed } from "./deed_button";
import { element, present } from "../dom/element";
import { agoTime } from "../dom/time_text";

export function phaseMark(action: Action): HTMLElement {
  const kind = waits(action) ? "due" : action.phase === "failed" ? "failed" : holds(action) ? "held" : "ended";
  return element("span", { class: `state ${kind}` }, element("i", { "aria-hidden": "true" }), phaseText(action));
}

// What stops every action: said wherever actions are shown.
export function brakes(ledger: ActionLedger): HTMLElement[] {
  const lines: string[] = [];
  if (ledger.paused) lines.push(`Paused: ${ledger.paused}`);
  if (ledger.tripped) lines.push(`The breaker stopped all actions: ${ledger.tripped}`);
  if (ledger.state === "away") lines.push(`fathom-cordon does not answer: ${ledger.why}${ledger.knownMs > 0 ? ". What follows may be old" : ""}`);
  return lines.map((line) => element("p", { class: "brake" }, line));
}

export function actionKey(v: Verdict | null, ledger: ActionLedger | null): unknown {
  if (!v || !ledger) return null;
  const plan = planOn(ledger, v.id);
  return [ledger.state, ledger.why, ledger.paused, ledger.tripped, ledger.you, actionOn(ledger, v.id), plan?.hindrance, plan?.mode];
}

export function actionState(v: Verdict, ledger: ActionLedger | null, onDeed: OnDeed): HTMLElement | null {
  if (!ledger || ledger.state === "off") return null;
  const action = actionOn(ledger, v.id);
  const plan = planOn(ledger, v.id);
  if (!action && !plan) return null;
  const node = action?.node || plan?.node || v.entity.node;
  const hindrance = plan?.hindrance ? element("p", {}, `In the way: ${plan.hindrance}`) : null;
  const deed = action ? deedOn(action) : null;
  return element("section", { class: "action-state", "aria-label": "Action on the node" },
    element("h3", {}, "Action on ", element("a", { href: "#/actions" }, node)),
    ...present(action ? [done(action), hindrance] : [element("p", {}, "Nothing was done yet."), hindrance]),
    ...brakes(ledger), deed ? deedButton(deed, ledger, onDeed, " action") : "");
}

function done(action: Action): HTMLElement {
  const how = action.text ? ` · ${action.text}` : "";
  return element("p", {}, phaseMark(action), ` by ${action.actor}, `, agoTime(action.changedMs), how);
}
