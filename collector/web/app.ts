// The page's start: theme before the first paint, then route → feed → views.
import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { ApiError, Client } from "./api/client";
import { fileName, saveAs } from "./api/download";
import { Feed } from "./model/feed";
import { deedPath, type Deed } from "./model/deed";
import { defaultLook, parseLook, withLook, type Look } from "./model/look";
import { emptyPageState, headline, type PageState, type Route } from "./model/page_state";
import { parseRoute } from "./model/route";
import { culpritName, isActive } from "./model/verdict";
import { rankNames } from "./text/ranks";
import { ActionList } from "./view/action/action_list";
import { DeedDialog } from "./view/action/deed_dialog";
import { element } from "./view/dom/element";
import { Header } from "./view/page/header";
import { JobList } from "./view/job/job_list";
import { JobPage } from "./view/job/job_page";
import { LossesPage } from "./view/page/losses_page";
import { NodeList } from "./view/page/node_list";
import { NodePage } from "./view/page/node_page";
import { applyTheme } from "./view/dom/theme";
import { refreshAgo } from "./view/dom/time_text";

const SECOND_MS = 1000;

class App {
  private readonly client = new Client();
  private readonly state: PageState = emptyPageState();
  private feed: Feed | null = null;
  private feedJob: string | null | undefined;
  private pending = 0;
  private readonly main = element("main", { id: "main", tabindex: -1 });
  private readonly header = new Header(() => this.changed(), () => this.feed?.retryNow());
  private readonly look = (change: Partial<Look>): void => this.looked(change);
  private readonly dialog = new DeedDialog((deed, reason) => this.tell(deed, reason));
  private readonly onDeed = (deed: Deed): void => this.dialog.open(deed, this.state.ledger!);
  private readonly jobPage = new JobPage(this.look, { again: () => this.feed?.askAgain(), trace: () => this.trace() }, this.onDeed);
  private readonly jobList = new JobList();
  private readonly nodeList = new NodeList();
  private readonly nodePage = new NodePage();
  private readonly lossesPage = new LossesPage();
  private readonly actionList = new ActionList(this.look, this.onDeed);
  private readonly problem = element("p", { class: "problem", role: "alert" });

  start(): void {
    const skip = element("a", { class: "skip", href: "#main" }, "Skip to the verdict");
    skip.addEventListener("click", (event) => {
      event.preventDefault();
      this.main.focus();
    });
    document.body.replaceChildren(skip, this.header.node, this.main, this.dialog.node);
    window.addEventListener("hashchange", () => void this.route());
    window.addEventListener("online", () => this.feed?.retryNow());
    document.addEventListener("visibilitychange", () => this.feed?.retryNow());
    window.setInterval(() => this.tick(), SECOND_MS);
    void this.route();
  }

  private async route(): Promise<void> {
    const route = parseRoute(location.hash);
    this.takeLook(route);
    this.state.route = route;
    this.state.problem = "";
    if (route.view !== "verdict") this.state.selected = null;
    if (route.view === "job") this.follow(route.job);
    // With one job there is nothing to choose, and its feed may go on.
    if (route.view === "home" && this.state.jobs?.length !== 1) this.follow(null);
    if (route.view === "nodes" || route.view === "node" || route.view === "losses" || route.view === "actions") this.lookAtNodes();
    if (route.view === "verdict") await this.openVerdict(route.id);
    this.feed?.looked();
    this.changed();
  }

  // A link says how to look; within one job what the reader chose goes on.
  private takeLook(route: Route): void {
    const asked = parseLook(location.hash);
    const before = this.jobOf(this.state.route);
    const goesOn = before !== null && this.jobOf(route) === before;
    if (asked || !goesOn) this.state.look = asked ?? defaultLook();
    else this.keepLook();
  }

  // A verdict is taken for one on the job at hand: links lead there from its page.
  private jobOf(route: Route): string | null {
    if (route.view === "job") return route.job;
    const here = route.view === "verdict" || (route.view === "home" && this.state.jobs?.length === 1);
    return here ? this.feedJob ?? null : null;
  }

  private looked(change: Partial<Look>): void {
    this.state.look = { ...this.state.look, ...change };
    this.keepLook();
    this.feed?.looked();
    this.changed();
  }

  // Into the address, without a step in the history: going back leads to the view before.
  private keepLook(): void {
    const hash = withLook(location.hash, this.state.look);
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }

  private async trace(): Promise<string> {
    const { current } = this.state;
    if (!current) throw new Error("no job is on show");
    const name = fileName(current.name, "pftrace");
    saveAs(await this.client.perfetto(current.name), name);
    return name;
  }

  private async tell(deed: Deed, reason: string): Promise<void> {
    try {
      await this.client.tell(deedPath(deed), reason);
    } finally {
      this.feed?.acted();
    }
  }

  private lookAtNodes(): void {
    const { route, node } = this.state;
    if (route.view !== "node" || node?.node.name !== route.node) this.state.node = null;
    if (this.feedJob === null) this.feed?.moved();
    else this.follow(null);
  }

  private async openVerdict(id: string): Promise<void> {
    try {
      const verdict = await this.client.verdict(id);
      if (this.state.route.view !== "verdict" || this.state.route.id !== id) return;
      this.state.selected = verdict;
      this.follow(verdict.job);
    } catch (error) {
      this.state.problem = error instanceof ApiError ? error.message : "The collector does not answer.";
    }
  }

  private follow(job: string | null): void {
    if (this.feedJob === job) return;
    this.feed?.stop();
    this.feedJob = job;
    if (job === null) this.state.current = null;
    this.feed = new Feed(this.client, this.state, job, () => this.changed());
    this.feed.start();
  }

  private changed(): void {
    if (this.pending === 0) this.pending = requestAnimationFrame(() => this.render());
  }

  private tick(): void {
    refreshAgo(document);
    this.feed?.tick();
    if (this.state.live === "lost") this.header.update(this.state);
  }

  private render(): void {
    this.pending = 0;
    const { state } = this;
    const only = state.jobs?.length === 1 ? state.jobs[0] : undefined;
    if (state.route.view === "home" && only) this.follow(only.name);
    this.header.update(state);
    this.dialog.update(state.ledger);
    this.problem.textContent = state.problem;
    const view = this.view();
    const shown = state.problem ? [this.problem] : view ? [view.node] : [];
    if (shown[0] !== this.main.firstChild) this.main.replaceChildren(...shown);
    document.title = this.title();
  }

  // The view that the route asks for, brought up to date; null while nothing is known.
  private view(): { node: HTMLElement } | null {
    const { state } = this;
    if (state.route.view === "nodes") return state.nodes && this.nodeList.update(state.nodes);
    if (state.route.view === "node") return state.node && this.nodePage.update(state.node);
    if (state.route.view === "losses") return state.losses && this.lossesPage.update(state.losses);
    if (state.route.view === "actions") return state.ledger && this.actionList.update(state.ledger, state.look);
    if (state.current) return this.jobPage.update(state);
    return state.jobs && this.jobList.update(state.jobs);
  }

  private title(): string {
    const { route } = this.state;
    if (route.view === "nodes" || route.view === "losses" || route.view === "actions") return `${route.view} · fathom`;
    if (route.view === "node") return `${route.node} · fathom`;
    const { current } = this.state;
    if (!current) return "fathom";
    const { verdict } = headline(this.state);
    const found = verdict && isActive(verdict) ? `◆ ${culpritName(verdict, rankNames)} · ` : "";
    return `${found}${current.name} · fathom`;
  }
}

applyTheme();
document.addEventListener("DOMContentLoaded", () => new App().start());
