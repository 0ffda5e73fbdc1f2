// The button to a deed, or why there is none for this reader and what does the same.
import type { ActionLedger } from "../model/action";
import { deedText, type Deed } from "../model/deed";
import { commandLine } from "./command_line";
import { button, element, present } from "./element";

export type OnDeed = (deed: Deed) => void;

// `keep` names it among its neighbours, so that focus survives a rebuild (Slot).
export function deedButton(deed: Deed, ledger: ActionLedger, onDeed: OnDeed, keep = ""): HTMLElement {
  const said = deedText(deed, ledger);
  const hindrance = whyNot(ledger);
  const offered = ledger.you.changes !== "off" && ledger.you.changes !== "sign_in";
  const opener = offered ? button(said.label, () => onDeed(deed), { class: "deed", "data-keep": `${deed.kind}${keep}`, disabled: hindrance.length > 0 }) : null;
  const without = hindrance.length > 0 || !offered;
  return element("div", { class: "deeds" }, opener, hindrance.length > 0 && element("p", { class: "none" }, ...hindrance),
    without && commandLine(said.command, keep));
}

// Who the reader is to fathom-cordon, for the head of the list.
export function readerText({ you }: ActionLedger): (Node | string)[] {
  if (you.changes === "on") return [`What you do here is logged as ${you.name}.`];
  const reason = rightText(you.name, you.changes);
  return reason.length > 0 ? reason : ["Approving and undoing takes an operator's token, at a terminal."];
}

function whyNot(ledger: ActionLedger): (Node | string)[] {
  if (ledger.you.changes === "on") return ledger.state === "away" ? ["fathom-cordon does not answer."] : [];
  return present(rightText(ledger.you.name, ledger.you.changes));
}

function rightText(name: string, changes: string): (Node | string)[] {
  if (changes === "viewer") return [`Approving and undoing is for operators; you are ${name}, a viewer.`];
  if (changes === "sign_in") return [signIn("Sign in as an operator"), " to approve and undo here."];
  if (changes === "no_token") return [`fathom-cordon wants to see a token of your own, ${name}: `, signIn("sign in with it"), "."];
  return [];
}

function signIn(words: string): HTMLElement {
  return element("a", { href: `login?at=${encodeURIComponent(location.hash)}` }, words);
}
