// The button to a deed, or why there is none for this reader and what does the same.
import type { ActionLedger } from "../../model/action";
import { deedCommand, deedText, type Deed } from "../../model/deed";
import { loginLink } from "../../model/route";
import { commandLine } from "../dom/command_line";
import { button, element } from "../dom/element";

export type OnDeed = (deed: Deed) => void;

// `keep` names it among its neighbours, so that focus survives a rebuild (Slot).
export function deedButton(deed: Deed, ledger: ActionLedger, onDeed: OnDeed, keep = ""): HTMLElement {
  const { name, changes } = ledger.you;
  const offered = changes !== "off" && changes !== "sign_in";
  const may = changes === "on" && ledger.state !== "away";
  const why = changes === "on" ? ["fathom-cordon does not answer."] : rightText(name, changes);
  return element("div", { class: "deeds" },
    offered && button(deedText(deed, ledger).label, () => onDeed(deed), { class: "deed", "data-keep": `${deed.kind}${keep}`, disabled: !may }),
    !may && why.length > 0 && element("p", { class: "none" }, ...why),
    !may && commandLine(deedCommand(deed), keep));
}

// Who the reader is to fathom-cordon, for the head of the list.
export function readerText({ you }: ActionLedger): (Node | string)[] {
  if (you.changes === "on") return [`What you do here is logged as ${you.name}.`];
  const reason = rightText(you.name, you.changes);
  return reason.length > 0 ? reason : ["Approving and undoing takes an operator's token, at a terminal."];
}

function rightText(name: string, changes: string): (Node | string)[] {
  if (changes === "viewer") return [`Approving and undoing is for operators; you are ${name}, a viewer.`];
  if (changes === "sign_in") return [signIn("Sign in as an operator"), " to approve and undo here."];
  if (changes === "no_token") return [`fathom-cordon wants to see a token of your own, ${name}: `, signIn("sign in with it"), "."];
  return [];
}

function signIn(words: string): HTMLElement {
  const link = element("a", { href: loginLink() }, words);
  link.addEventListener("click", () => (link.href = loginLink())); // the look may have changed since
  return link;
}
