// Keeps the page's state true: asks the collector, listens to its events, and tells the page that
// something changed. One feed a route; stop() ends everything it started.
import { ApiError, type Client } from "../api/client";
import type { ServerEvent } from "../api/event_parser";
import { Live, type LiveState } from "../api/live";
import { decodeJob } from "./job";
import { mergeIterations } from "./iterations";
import { OpenParts } from "./open_parts";
import { Paced } from "./paced";
import { emptyJobState, upsertVerdict, type PageState } from "./page_state";
import { decodeVerdict } from "./verdict";

const CELLS_KEPT = 300_000; // ranks × iterations
const ITERATIONS_LEAST = 300;
const ITERATIONS_MOST = 2000; // the API's limit
const REFRESH_MS = 5_000; // health and report also change without an event
const ACTED_MS = 10_000; // what the reader asked of fathom-cordon shows within so long

export class Feed {
  private readonly live: Live;
  private readonly iterations = new Paced(() => this.attempt(() => this.loadIterations()), 700);
  private readonly report = new Paced(() => this.attempt(() => this.loadReport()), 1000);
  private readonly health = new Paced(() => this.attempt(() => this.loadHealth()), 2000);
  private readonly jobs = new Paced(() => this.attempt(() => this.loadJobs()), 1000);
  private readonly nodes = new Paced(() => this.attempt(() => this.loadNodes()), 1000);
  private readonly actions = new Paced(() => this.attempt(() => this.loadActions()), 1000);
  private readonly opened: OpenParts;
  private interval = 0;
  private actedMs = 0;
  private stopped = false;
  private reload = true; // the whole window, not only what is new

  constructor(
    private readonly client: Client,
    private readonly state: PageState,
    private readonly job: string | null,
    private readonly changed: () => void,
  ) {
    this.opened = new OpenParts(client, state, (task) => this.attempt(task), () => this.arrived());
    this.live = new Live(client, job, {
      onState: (live) => this.onLive(live),
      onEvent: (event) => this.onEvent(event),
    });
  }

  start(): void {
    if (this.job !== null && this.state.current?.name !== this.job) this.state.current = emptyJobState(this.job);
    this.live.start();
    this.refresh();
    this.interval = window.setInterval(() => this.refresh(), REFRESH_MS);
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.interval);
    this.live.stop();
    for (const task of [this.iterations, this.report, this.health, this.jobs, this.nodes, this.actions]) task.stop();
    this.opened.stop();
  }

  // The reader went to another view that the same feed serves.
  moved(): void {
    this.refresh();
  }

  // The reader opened a part, or asks for another iteration.
  looked(): void {
    if (this.job !== null) this.opened.looked();
  }

  // The reader changed something: what comes of it is asked for at once and each second.
  acted(): void {
    this.actedMs = Date.now();
    this.actions.request();
  }

  tick(): void {
    if (Date.now() - this.actedMs < ACTED_MS) this.actions.request();
  }

  askAgain(): void {
    this.opened.again();
  }

  retryNow(): void {
    this.live.retryNow();
  }

  private refresh(): void {
    if (document.hidden && this.state.dataMs > 0) return;
    this.jobs.request();
    this.actions.request();
    if (this.job === null) return this.nodes.request();
    this.opened.refresh();
    this.report.request();
    this.health.request();
    this.iterations.request();
  }

  private onLive(live: LiveState): void {
    const back = live === "live" && this.state.live === "lost";
    this.state.live = live;
    if (back) {
      this.reload = true;
      this.refresh();
    }
    this.changed();
  }

  private onEvent({ event, data }: ServerEvent): void {
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      return;
    }
    if (event === "iterations" && !document.hidden) this.iterations.request();
    if (event === "job") this.onJob(value);
    if (event === "verdict") this.onVerdict(value);
  }

  private onJob(value: unknown): void {
    const job = decodeJob(value);
    if (job.name === this.job && this.state.current) this.state.current.job = job;
    const jobs = this.state.jobs ?? [];
    this.state.jobs = jobs.some((known) => known.name === job.name)
      ? jobs.map((known) => (known.name === job.name ? job : known))
      : [...jobs, job];
    this.arrived();
  }

  private onVerdict(value: unknown): void {
    const verdict = decodeVerdict(value);
    if (!this.state.current || (verdict.job !== "" && verdict.job !== this.job)) return this.jobs.request();
    this.state.current.history = upsertVerdict(this.state.current.history, verdict);
    // An onset found now lies in the past: iterations already here may have become irregular.
    this.reload = true;
    this.iterations.request();
    this.report.request();
    this.arrived();
  }

  private async loadJobs(): Promise<void> {
    const jobs = await this.client.jobs();
    if (this.stopped) return;
    this.state.jobs = jobs;
    const mine = jobs.find((job) => job.name === this.job);
    if (this.state.current && mine) this.state.current.job = mine;
    this.arrived();
  }

  private async loadActions(): Promise<void> {
    const ledger = await this.client.actions();
    if (this.stopped) return;
    this.state.ledger = ledger;
    this.arrived();
  }

  private async loadReport(): Promise<void> {
    const name = this.job!;
    const [{ job, groups }, report, verdicts] = await Promise.all([
      this.client.job(name), this.client.report(name), this.client.verdicts(name),
    ]);
    if (this.stopped || !this.state.current) return;
    Object.assign(this.state.current, { job, groups, report, ...verdicts });
    this.arrived();
  }

  private async loadHealth(): Promise<void> {
    const [health, nodes] = await Promise.all([this.client.health(this.job!), this.client.nodes()]);
    if (this.stopped || !this.state.current) return;
    Object.assign(this.state.current, { health, nodes });
    this.arrived();
    // Questions of their own: a collector of an older version has no answer, which hides these parts alone.
    const [hardware, work, recovery] = await Promise.all([this.client.hardware(this.job!).catch(() => null),
      this.client.work(this.job!).catch(() => null), this.client.recovery(this.job!).catch(() => null)]);
    if (this.stopped || !this.state.current) return;
    Object.assign(this.state.current, { hardware, work, recovery });
    this.arrived();
  }

  private async loadNodes(): Promise<void> {
    const { route } = this.state;
    if (route.view === "nodes") {
      const nodes = await this.client.nodes();
      if (this.leftFrom(route)) return;
      this.state.nodes = nodes;
    } else if (route.view === "node") {
      const node = await this.client.node(route.node);
      if (this.leftFrom(route)) return;
      this.state.node = node;
    } else if (route.view === "losses") {
      const losses = await this.client.losses();
      if (this.leftFrom(route)) return;
      this.state.losses = losses;
    } else {
      return;
    }
    this.arrived();
  }

  // What was asked for is not what the reader looks at any more.
  private leftFrom(route: PageState["route"]): boolean {
    return this.stopped || this.state.route !== route;
  }

  private async loadIterations(): Promise<void> {
    const current = this.state.current!;
    const limit = windowLimit(current.iterations.ranks.length || current.job?.ranks || 1);
    const last = current.iterations.index[current.iterations.index.length - 1];
    const whole = this.reload || last === undefined;
    this.reload = false;
    // Ranks report an iteration at different moments, so the newest few are asked for again.
    const overlap = current.iterations.ranks.length > 128 ? 3 : 10;
    const fresh = await this.client.iterations(current.name, whole ? null : last - overlap, limit);
    if (this.stopped) return;
    current.iterations = whole ? fresh : mergeIterations(current.iterations, fresh, limit);
    this.arrived();
  }

  private arrived(): void {
    this.state.dataMs = Date.now();
    this.state.problem = "";
    this.changed();
  }

  private async attempt(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      if (this.stopped) return;
      if (error instanceof ApiError) this.state.problem = this.state.current?.job ? "" : error.message;
      this.changed();
    }
  }
}

export function windowLimit(ranks: number): number {
  return Math.min(ITERATIONS_MOST, Math.max(ITERATIONS_LEAST, Math.floor(CELLS_KEPT / ranks)));
}

