// A saved page (`fathom analyze --html`): the same views as the live page, on the data in the file.
// It asks nobody for anything and opens without a network.
import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/recorded.css";
import { decodeRecorded, type Recorded } from "./model/recorded";
import { defaultLook, parseLook, withLook, type Look } from "./model/look";
import { parseRoute, verdictLink } from "./model/route";
import { culpritName, type Verdict } from "./model/verdict";
import { plural, seconds } from "./text/quantity";
import { rankNames } from "./text/ranks";
import { basis } from "./view/recorded/basis";
import { abstentions, calmCard } from "./view/verdict/calm_card";
import { element, Slot } from "./view/dom/element";
import { OpTimeline } from "./view/ops/op_timeline";
import { comparisonPanel, whatIfPanel } from "./view/recorded/other_runs";
import { RankTable } from "./view/job/rank_table";
import { applyTheme, themeButton } from "./view/dom/theme";
import { Timeline } from "./view/job/timeline";
import { TotalsTable } from "./view/recorded/totals_table";
import { verdictCard } from "./view/verdict/verdict_card";
import { workTables } from "./view/recorded/work_tables";

class RecordedPage {
  private readonly card = new Slot(element("div", { class: "verdicts" }));
  private readonly timeline = new Timeline((change) => this.looked(change));
  private readonly table = new RankTable();
  private readonly ops: OpTimeline;
  private readonly totals: TotalsTable;

  constructor(private readonly recorded: Recorded) {
    const culprits = (): Set<number> => new Set(this.shown()?.entity.ranks ?? []);
    this.ops = new OpTimeline(recorded.pictures, culprits);
    this.totals = new TotalsTable(recorded.totals, recorded.tables.ranks.some((rank) => rank.onDevice), culprits);
    this.timeline.node.append(this.table.node);
  }

  start(): void {
    const { recorded } = this;
    const brand = element("span", { class: "brand" }, "fathom");
    const header = element("header", { class: "bar" }, element("div", { class: "bar-row" }, brand,
      element("div", { class: "place" }, `recording · ${recorded.source}`), themeButton(() => this.update())));
    const parts = [this.line(), this.card.node, recorded.comparison ? comparisonPanel(recorded.comparison) : null, this.timeline.node,
      recorded.pictures.length > 0 ? this.ops.node : null, recorded.totals.length > 0 ? this.totals.node : null,
      ...workTables(recorded.tables), recorded.whatIf ? whatIfPanel(recorded.whatIf) : null, basis(recorded)];
    const page = element("div", { class: "job-page" }, ...parts);
    document.body.replaceChildren(header, element("main", { id: "main", tabindex: -1 }, page));
    window.addEventListener("hashchange", () => this.update());
    this.update();
  }

  private line(): HTMLElement {
    const { state } = this.recorded;
    const job = state.job!;
    const report = state.report!;
    const figures = [plural(job.ranks, "rank"), job.nodes > 0 ? plural(job.nodes, "node") : "",
      report.iterationCount > 0 ? plural(report.iterationCount, "iteration") : "",
      report.medianS > 0 ? `median ${seconds(report.medianS)}` : ""].filter((item) => item !== "");
    return element("div", { class: "job-line" }, element("h1", {}, job.name),
      element("ul", { class: "figures" }, ...figures.map((item) => element("li", {}, item))));
  }

  // The verdict that the address names, else the strongest.
  private shown(): Verdict | null {
    const verdicts = this.recorded.state.report!.verdicts;
    const route = parseRoute(location.hash);
    const asked = route.view === "verdict" ? verdicts.find((verdict) => verdict.id === route.id) : undefined;
    return asked ?? verdicts[0] ?? null;
  }

  private looked(change: Partial<Look>): void {
    history.replaceState(null, "", withLook(location.hash, { ...look(), ...change }));
    this.update();
  }

  private update(): void {
    const { state } = this.recorded;
    const verdict = this.shown();
    const others = state.report!.verdicts.filter((other) => other.id !== verdict?.id);
    this.card.show([verdict?.id], () => [
      verdict ? verdictCard(verdict, state) : calmCard(state),
      others.length > 0 && element("ul", { class: "others", "aria-label": "Other verdicts" }, ...others.map(other)),
      abstentions(state),
    ]);
    const now = look();
    this.timeline.update(state, verdict, now);
    this.table.update(state, ...this.timeline.range(), this.timeline.rows(), now.sort !== "rank", new Set(verdict?.entity.ranks ?? []));
    this.ops.update();
    this.totals.update();
    const found = verdict ? `◆ ${culpritName(verdict, rankNames)} · ` : "";
    document.title = `${found}${state.name} · fathom`;
  }
}

function look(): Look {
  return parseLook(location.hash) ?? defaultLook();
}

function other(v: Verdict): HTMLElement {
  return element("li", {}, element("span", { class: "mark", "aria-hidden": "true" }, "◆"),
    element("a", { href: verdictLink(v.id) }, v.sentence || culpritName(v, rankNames)), element("span", { class: "how" }, v.grade));
}

applyTheme();
const data = document.getElementById("recording")?.textContent ?? "{}";
new RecordedPage(decodeRecorded(JSON.parse(data))).start();
