// The step between a person and a deed: what it is about, what will happen, and what came of it.
// Stands outside of what is rebuilt, so that no update takes the dialog from under the reader.
import { ApiError } from "../../api/client";
import type { ActionLedger } from "../../model/action";
import { deedCommand, deedText, needsReason, overtaken, type Deed } from "../../model/deed";
import { commandLine } from "../dom/command_line";
import { button, element, present } from "../dom/element";

const REASON_MOST = 300; // characters

export class DeedDialog {
  readonly node = element("dialog", { class: "deed-dialog", "aria-labelledby": "deed-title" });
  private readonly reason = element("input", { type: "text", id: "deed-reason", maxlength: REASON_MOST, autocomplete: "off" });
  private readonly said = element("div", { class: "deed-said", "aria-live": "polite" });
  private readonly confirm = element("button", { type: "submit", class: "deed" });
  private readonly leave = button("Cancel", () => this.node.close());
  private deed: Deed | null = null;
  private done = "";
  private opener = "";
  private state: "asked" | "sent" | "over" = "asked";

  // `tell` does it; rejects with what is wrong in words.
  constructor(private readonly tell: (deed: Deed, reason: string) => Promise<void>) {
    this.node.addEventListener("close", () => this.closed());
    this.node.addEventListener("cancel", (event) => this.state === "sent" && event.preventDefault());
    this.reason.addEventListener("input", () => this.enable());
  }

  open(deed: Deed, ledger: ActionLedger): void {
    this.deed = deed;
    this.state = "asked";
    this.opener = (document.activeElement as HTMLElement | null)?.dataset.keep ?? "";
    this.reason.value = "";
    this.said.replaceChildren();
    this.leave.textContent = "Cancel";
    this.node.replaceChildren(this.form(deed, ledger));
    this.enable();
    this.node.showModal();
    (needsReason(deed) ? this.reason : this.leave).focus();
  }

  // The ledger as it is now: somebody else may have been faster.
  update(ledger: ActionLedger | null): void {
    if (!this.deed || !ledger || this.state !== "asked") return;
    const why = overtaken(this.deed, ledger);
    if (why !== "") this.end(element("p", { class: "brake", role: "alert" }, why));
  }

  private form(deed: Deed, ledger: ActionLedger): HTMLElement {
    const said = deedText(deed, ledger);
    this.done = said.done;
    this.confirm.textContent = said.confirm;
    this.confirm.hidden = false;
    const facts = said.facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
    const form = element("form", {}, element("h2", { id: "deed-title" }, said.title), element("dl", { class: "deed-facts" }, ...facts),
      element("ul", { class: "deed-effect", "aria-label": "What will happen" }, ...said.effect.map((line) => element("li", {}, line))),
      needsReason(deed) && element("label", { for: "deed-reason" }, "Reason, for everybody to read", this.reason),
      element("p", { class: "none" }, `Logged as ${ledger.you.name}.`), this.said,
      element("div", { class: "deed-row" }, this.leave, this.confirm));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.send();
    });
    return form;
  }

  private enable(): void {
    const missing = this.deed !== null && needsReason(this.deed) && this.reason.value.trim() === "";
    this.confirm.disabled = this.state !== "asked" || missing;
    this.leave.disabled = this.state === "sent";
  }

  private async send(): Promise<void> {
    const { deed } = this;
    if (!deed || this.confirm.disabled) return;
    this.state = "sent";
    this.enable();
    this.said.replaceChildren(element("p", {}, "Asking fathom-cordon…"));
    try {
      await this.tell(deed, this.reason.value.trim());
      this.end(element("p", { class: "good" }, this.done));
    } catch (error) {
      const why = error instanceof ApiError ? error.message : "The collector did not answer, so it is not known whether this arrived. Look at the action before trying again.";
      this.end(element("p", { class: "brake", role: "alert" }, why), commandLine(deedCommand(deed), " dialog"));
    }
  }

  // Nothing more can be done here.
  private end(...lines: (Node | null)[]): void {
    this.state = "over";
    this.said.replaceChildren(...present(lines));
    this.confirm.hidden = true;
    this.leave.textContent = "Close";
    this.enable();
    this.leave.focus();
  }

  // Back to where the reader was, also where that was built anew meanwhile.
  private closed(): void {
    if (this.node.open) return; // a browser tells of it later, and it may have been opened again by then
    if (this.state === "sent") return this.node.showModal(); // a browser lets one Escape be refused, not two
    this.deed = null;
    const back = this.opener && document.querySelector<HTMLElement>(`[data-keep="${CSS.escape(this.opener)}"]`);
    (back || document.getElementById("main"))?.focus({ preventScroll: true });
  }
}
