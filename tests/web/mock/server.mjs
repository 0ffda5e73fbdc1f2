// A stand-in for the collector's HTTP side: serves the built page with the same security headers
// and the API from scenarios. What tests change (time goes on, a verdict opens, the server goes
// away) they change through the methods of MockCollector.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const TYPES = { "/": ["index.html", "text/html; charset=utf-8"], "/app.js": ["app.js", "text/javascript; charset=utf-8"],
  "/app.css": ["app.css", "text/css; charset=utf-8"], "/favicon.svg": ["favicon.svg", "image/svg+xml"] };
const HEADERS = {
  "content-security-policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cross-origin-resource-policy": "same-origin", "cache-control": "no-cache",
};
const HEARTBEAT_MS = 10_000;

export class MockCollector {
  constructor(site, scenarios) {
    this.site = site;
    this.jobs = new Map(scenarios.map((scenario) => [scenario.name, scenario]));
    this.listeners = new Set();
    this.port = 0;
    this.requests = [];
    this.ledger = { state: "off", why: "", where: "", known_unix_ns: 0 };
    this.commands = []; // what the reader told fathom-cordon
    this.onCommand = () => [200, { done: true }];
  }

  async start(port = 0) {
    this.server = createServer((request, response) => this.answer(request, response));
    await new Promise((resolve, reject) => this.server.once("error", reject).listen(port, "127.0.0.1", resolve));
    this.port = this.server.address().port;
    return this;
  }

  // As kill -9 would: every connection ends at once.
  async stop() {
    for (const { response } of this.listeners) response.destroy();
    this.listeners.clear();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url() {
    return `http://127.0.0.1:${this.port}/`;
  }

  advance(name, by = 1) {
    const scenario = this.jobs.get(name);
    scenario.last += by;
    this.publish(name, "iterations", { job: name, last: scenario.last });
    this.publish(name, "job", scenario.job());
  }

  openVerdict(name, verdict) {
    this.jobs.get(name).verdicts.unshift(verdict);
    this.publish(name, "verdict", verdict);
  }

  publish(name, event, value) {
    const text = `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
    for (const { job, response } of this.listeners) if (job === null || job === name) response.write(text);
  }

  answer(request, response) {
    const url = new URL(request.url, this.url);
    this.requests.push(url.pathname + url.search);
    if (url.pathname === "/api/v1/events") return this.events(url, request, response);
    if (request.method === "POST") return void this.command(url, request, response);
    const [type, status, body] = this.body(url);
    response.writeHead(status, { ...HEADERS, "content-type": type });
    response.end(body);
  }

  // What the collector takes by POST is fathom-cordon's to answer: onCommand(path, body) does.
  async command(url, request, response) {
    let body = "";
    for await (const piece of request) body += piece;
    const path = url.pathname.replace("/api/v1/actions/", "");
    this.commands.push({ path, body: JSON.parse(body), type: request.headers["content-type"], origin: request.headers.origin });
    const answer = await this.onCommand(path, JSON.parse(body));
    if (!answer) return response.destroy();
    response.writeHead(answer[0], { ...HEADERS, "content-type": "application/json" });
    response.end(JSON.stringify(answer[1]));
  }

  body(url) {
    const page = TYPES[url.pathname];
    if (url.pathname.endsWith("/perfetto")) return this.trace(url);
    if (page) return [page[1], 200, readFileSync(join(this.site, page[0]))];
    const value = this.api(url.pathname.split("/").slice(3).map(decodeURIComponent), url.searchParams);
    return ["application/json", value ? 200 : 404, JSON.stringify(value ?? { error: `nothing at ${url.pathname}; see /api/v1/jobs` })];
  }

  trace(url) {
    const job = this.jobs.get(decodeURIComponent(url.pathname.split("/")[4]));
    return job && !job.noTrace ? ["application/octet-stream", 200, Buffer.from(`trace of ${job.name}`)]
      : ["application/json", 503, JSON.stringify({ error: "no memory for the trace" })];
  }

  api([what, name, part], query) {
    const jobs = [...this.jobs.values()];
    const verdicts = jobs.flatMap((job) => [...job.verdicts, ...(job.history ?? [])]);
    if (what === "jobs" && !name) return { jobs: jobs.map((job) => job.job()) };
    if (what === "actions") return this.ledger;
    if (what === "verdicts" && name) return verdicts.find((verdict) => verdict.id === name);
    if (what === "verdicts") return { ...this.away(), verdicts: verdicts.filter((verdict) => verdict.job === query.get("job")) };
    if (what === "losses") return this.losses;
    if (what === "nodes" && name) return this.node(name, verdicts);
    if (what === "nodes") return { nodes: jobs.flatMap((job) => nodesOf(job)) };
    const job = what === "jobs" ? this.jobs.get(name) : undefined;
    if (!job) return undefined;
    if (!part) return job.detail();
    if (part === "report") return job.report();
    if (part === "health") return job.health();
    if (part === "recovery") return { job: name, plan: null, why_no_plan: "no verdict stands", recoveries: [], ...job.recovery };
    if (part === "hardware") return job.hardware ?? { nodes: [] };
    if (part === "work") return job.work ?? { of_iterations: 0, iterations: [], ranks: [] };
    if (part === "communicators") return job.communicators();
    if (part === "pictures") return job.pictures((query.get("iteration") ?? "").split(",").filter(Boolean).map(Number), query.has("rank") ? Number(query.get("rank")) : null);
    return job.iterations(Number(query.get("after") ?? -1), Number(query.get("limit") ?? 300));
  }

  // What lists say while the history does not answer: `historyAway` has why.
  away() {
    return this.historyAway ? { lacks: this.historyAway } : {};
  }

  node(name, verdicts) {
    const node = [...this.jobs.values()].flatMap((job) => nodesOf(job)).find((known) => known.name === name);
    const mine = verdicts.filter((verdict) => verdict.entity.node === name);
    return node && { ...node, repeat_days: 30, repeat_jobs: 3, ...this.away(), verdicts: mine };
  }

  events(url, request, response) {
    const listener = { job: url.searchParams.get("job"), response };
    response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream" });
    response.write("retry: 2000\n\n");
    this.listeners.add(listener);
    const heartbeat = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
    request.on("close", () => {
      clearInterval(heartbeat);
      this.listeners.delete(listener);
    });
  }
}

function nodesOf(job) {
  const suspects = new Set(job.active().map((verdict) => verdict.entity.node));
  return job.health().agents.map(({ node }) => ({
    name: node, connected: true, ranks: Math.ceil(job.ranks / job.nodes), last_seen_unix_ns: 0, suspect: suspects.has(node), cpu_busy_ratio: 0.62, load1: 3.1,
    convicted_jobs: job.convictedJobs ?? 0, last_convicted_unix_ns: 0, repeat_offender: (job.convictedJobs ?? 0) >= 3,
  }));
}
