// The bar at the top: where the reader is, whether the data is live, the theme.
import { waits, type ActionLedger } from "../../model/action";
import type { PageState } from "../../model/page_state";
import { clock } from "../../text/moment";
import { button, element, Slot } from "../dom/element";
import { themeButton } from "../dom/theme";

const FRESH_MS = 8_000;

export class Header {
  readonly node = element("header", { class: "bar" });
  private readonly place = new Slot(element("nav", { class: "place", "aria-label": "Jobs and nodes" }));
  private readonly live = element("div", { class: "live", role: "status" });
  private readonly lost = element("div", { class: "lost", role: "alert", hidden: true });
  private readonly lostText = element("span");

  constructor(onTheme: () => void, retry: () => void) {
    const brand = element("a", { class: "brand", href: "#/", "aria-label": "fathom, all jobs" },
      element("img", { src: "favicon.svg", alt: "", width: 20, height: 20 }), "fathom");
    this.lost.append(this.lostText, button("Try now", retry, { class: "quiet" }));
    this.node.append(element("div", { class: "bar-row" }, brand, this.place.node, this.live, themeButton(onTheme)), this.lost);
  }

  update(state: PageState): void {
    const jobs = state.jobs ?? [];
    const { view } = state.route;
    const onNodes = view === "nodes" || view === "node" || view === "losses" || view === "actions";
    const away = onNodes || state.current !== null;
    const actions = actionsLink(state.ledger);
    this.place.show([away, view, jobs.length, actions], () => [
      away && (onNodes || jobs.length > 1) && element("a", { href: "#/" }, jobs.length > 1 ? `all ${jobs.length} jobs` : "jobs"),
      view !== "nodes" && element("a", { href: "#/nodes" }, "nodes"),
      view !== "losses" && element("a", { href: "#/losses" }, "losses"),
      actions && view !== "actions" && element("a", { href: "#/actions" }, ...actionsText(actions)),
    ]);
    this.updateLive(state);
  }

  private updateLive(state: PageState): void {
    const from = state.dataMs > 0 ? clock(state.dataMs) : "";
    const lost = state.live === "lost";
    const fresh = Date.now() - state.dataMs < FRESH_MS;
    this.live.className = `live ${state.live}`;
    const words = { connecting: "connecting", live: from ? `live · ${from}` : "live", lost: "not live" };
    if (this.live.textContent !== words[state.live]) this.live.textContent = words[state.live];
    this.lost.hidden = !lost;
    if (!lost) return;
    const said = from === "" ? "No connection to the collector yet. Trying again by itself."
      : fresh ? `No live events; the data of ${from} was asked for every few seconds.`
        : `Connection lost, data from ${from}. Trying again by itself.`;
    if (this.lostText.textContent !== said) this.lostText.textContent = said;
  }
}

// Null where there is no fathom-cordon; else what about it needs a person.
function actionsLink(ledger: ActionLedger | null): { waiting: number; stopped: string } | null {
  if (!ledger || ledger.state === "off") return null;
  return { waiting: ledger.actions.filter(waits).length, stopped: ledger.paused ? "paused" : ledger.tripped ? "stopped" : "" };
}

function actionsText({ waiting, stopped }: { waiting: number; stopped: string }): (Node | string)[] {
  if (waiting === 0) return [stopped ? `actions (${stopped})` : "actions"];
  return [`actions (${waiting}`, element("span", { class: "long" }, " to approve"), stopped ? `, ${stopped})` : ")"];
}
