// What fathom-cordon did to nodes, and would do: who, when, which node, why, and what approves or
// undoes it: a button for whoever may, else the command.
import { phaseText, type Action, type ActionLedger, type Outlook } from "../../model/action";
import { deedOn, type Deed } from "../../model/deed";
import type { Look } from "../../model/look";
import { nodeLink, verdictLink } from "../../model/route";
import { count, plural } from "../../text/quantity";
import { causeText } from "../../text/words";
import { brakes, phaseMark } from "./action_state";
import { deedButton, readerText, type OnDeed } from "./deed_button";
import { element, Slot } from "../dom/element";
import { agoTime, clockTime } from "../dom/time_text";

const SHOWN = 100;

export class ActionList {
  readonly node = element("div", { class: "job-page" });
  private readonly head = new Slot(element("section", { class: "card calm node-card", "aria-label": "fathom-cordon" }));
  private readonly plan = new Slot(element("section", { class: "panel", "aria-label": "What would be done now" }));
  private readonly list = new Slot(element("div", { class: "history" }));
  private readonly field = element("input", { type: "search", placeholder: "node, person, cause, job, state", "aria-label": "Filter the actions" });
  private readonly caption = element("p", { class: "caption", role: "status" });
  private readonly actions: HTMLElement;

  constructor(onLook: (change: Partial<Look>) => void, private readonly onDeed: OnDeed) {
    this.field.addEventListener("input", () => onLook({ find: this.field.value }));
    this.actions = element("section", { class: "panel", "aria-label": "Actions on nodes" },
      element("div", { class: "panel-head" }, element("h2", {}, "Actions on nodes"), this.caption, element("div", { class: "controls" }, this.field)), this.list.node);
    this.node.append(this.head.node, this.plan.node, this.actions);
  }

  update(ledger: ActionLedger, look: Look): this {
    if (this.field.value !== look.find) this.field.value = look.find;
    const off = ledger.state === "off";
    this.head.node.className = `card node-card ${ledger.state !== "on" || ledger.paused || ledger.tripped || ledger.problems.length > 0 ? "uneasy" : "calm"}`;
    this.head.show([ledger.state, ledger.why, ledger.where, ledger.backend, ledger.held, ledger.paused, ledger.tripped, ledger.problems, ledger.you, off || ledger.state === "away" && ledger.knownMs],
      () => (off ? notConnected() : standing(ledger, this.onDeed)));
    this.plan.node.hidden = ledger.plan.length === 0;
    this.plan.show(ledger.plan, () => planned(ledger.plan));
    this.actions.hidden = off;
    const found = ledger.actions.filter((action) => fits(action, look.find));
    this.caption.textContent = look.find ? `${count(found.length)} of ${count(ledger.actions.length)}` : plural(ledger.actions.length, "action");
    this.list.show([found.slice(0, SHOWN), ledger.actions.length, ledger.you, ledger.state], () => [found.length === 0
      ? element("p", { class: "none" }, ledger.actions.length === 0 ? "None so far." : "None of them fits the filter.")
      : element("ol", {}, ...found.slice(0, SHOWN).map((action) => row(action, ledger, this.onDeed))),
    found.length > SHOWN && element("p", { class: "caption" }, `the newest ${SHOWN}; the filter finds the others`)]);
    return this;
  }
}

function fits(action: Action, find: string): boolean {
  const all = [action.id, action.node, action.actor, action.cause, causeText(action.cause), action.job, action.mode, action.phase, phaseText(action), action.text, action.verdict]
    .join(" ").toLowerCase();
  return find.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

function notConnected(): HTMLElement[] {
  return [element("h1", { class: "sentence long" }, "No fathom-cordon is connected."),
    element("p", { class: "none" }, "The collector shows its actions where its setting ", element("code", {}, "cordon_http: HOST:PORT"), " names it.")];
}

function standing(ledger: ActionLedger, onDeed: OnDeed): (Node | null)[] {
  const known = ledger.knownMs > 0;
  const held = ledger.held === 0 ? "fathom holds no node back." : `fathom holds ${plural(ledger.held, "node")} back.`;
  const from = ledger.state === "away" && known ? element("p", { class: "none" }, "Known from ", agoTime(ledger.knownMs)) : null;
  return [element("h1", { class: "sentence long" }, known ? held : "fathom-cordon has not answered yet."), ...brakes(ledger),
    ...ledger.problems.map((problem) => element("p", { class: "brake" }, problem)), from,
    element("p", { class: "none" }, `fathom-cordon at ${ledger.where}${ledger.backend ? `, back-end ${ledger.backend}` : ""}. `, ...readerText(ledger)),
    ...stops(ledger, onDeed)];
}

// A pause and its end; closing the breaker. Who may not sees no row of commands for them.
function stops(ledger: ActionLedger, onDeed: OnDeed): HTMLElement[] {
  if (ledger.you.changes !== "on") return [];
  const deeds: Deed[] = [ledger.paused ? { kind: "resume", why: ledger.paused } : { kind: "pause" }];
  if (ledger.tripped) deeds.push({ kind: "reset", why: ledger.tripped });
  return deeds.map((deed) => deedButton(deed, ledger, onDeed));
}

function planned(plan: Outlook[]): HTMLElement[] {
  return [element("div", { class: "panel-head" }, element("h2", {}, "What would be done now")),
    element("div", { class: "history" }, element("ol", {}, ...plan.slice(0, SHOWN).map((each) => element("li", {},
      element("p", { class: "when" }, each.mode),
      element("p", { class: "what" }, element("a", { href: nodeLink(each.node) }, each.node), ` for ${causeText(each.cause)}, `,
        element("a", { href: verdictLink(each.verdict) }, `verdict ${each.verdict}`)),
      element("p", { class: "how" }, each.hindrance ? `in the way: ${each.hindrance}` : "nothing stands in the way")))))];
}

function row(action: Action, ledger: ActionLedger, onDeed: OnDeed): HTMLElement {
  const deed = deedOn(action);
  const evidence = element("a", { href: verdictLink(action.verdict) }, action.evidence || `verdict ${action.verdict}`);
  const details = [causeText(action.cause), `mode ${action.mode}`, action.job ? `job ${action.job}` : "", action.id];
  return element("li", {},
    element("p", { class: "when" }, action.changedMs > 0 ? clockTime(action.changedMs) : "–"),
    element("p", { class: "what" }, element("a", { href: nodeLink(action.node) }, action.node), " ", phaseMark(action),
      ` by ${action.actor || "–"}${action.text ? `: ${action.text}` : ""}`),
    element("p", { class: "how" }, "because: ", evidence), element("p", { class: "how" }, details.filter((part) => part !== "").join(" · ")),
    deed ? element("div", { class: "how" }, deedButton(deed, ledger, onDeed, ` ${action.id}`)) : "");
}
