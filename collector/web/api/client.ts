// One function for each question to the collector. Addresses are relative to the page, so that it
// also works behind a proxy under a path.
import { object, objects, text, type Json } from "./json";
import { decodeLedger, type ActionLedger } from "../model/action";
import { decodeCommunicators, type Communicators } from "../model/communicator";
import { decodeWork, type Work } from "../model/work";
import { decodeHardware, type Hardware } from "../model/hardware";
import { decodeGroups, decodeHealth, decodeJob, type GroupInfo, type Health, type Job } from "../model/job";
import { decodeIterations, type Iterations } from "../model/iterations";
import { decodeLosses, type Losses } from "../model/losses";
import { decodeReport, type Report } from "../model/report";
import { decodeNodeHistory, decodeNodes, type NodeHistory, type NodeState } from "../model/node";
import { decodeRecovery, type JobRecovery } from "../model/recovery";
import { decodeLivePictures, type LivePictures } from "../model/picture";
import { loginLink } from "../model/route";
import { decodeVerdict, type Verdict } from "../model/verdict";

const TIMEOUT_MS = 15_000;
const TRACE_TIMEOUT_MS = 60_000;
const COMMAND_TIMEOUT_MS = 20_000; // longer than the collector waits for fathom-cordon

export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export class Client {
  constructor(private readonly base = "api/v1") {}

  async jobs(): Promise<Job[]> {
    return objects((await this.get("jobs")).jobs).map(decodeJob);
  }

  async job(name: string): Promise<{ job: Job; groups: GroupInfo[] }> {
    const answer = await this.get(`jobs/${encodeURIComponent(name)}`);
    return { job: decodeJob(answer), groups: decodeGroups(answer) };
  }

  async report(name: string): Promise<Report> {
    return decodeReport(await this.get(`jobs/${encodeURIComponent(name)}/report`));
  }

  async health(name: string): Promise<Health> {
    return decodeHealth(await this.get(`jobs/${encodeURIComponent(name)}/health`));
  }

  async work(name: string): Promise<Work> {
    return decodeWork(await this.get(`jobs/${encodeURIComponent(name)}/work`));
  }

  async hardware(name: string): Promise<Hardware> {
    return decodeHardware(await this.get(`jobs/${encodeURIComponent(name)}/hardware`));
  }

  async recovery(name: string): Promise<JobRecovery> {
    return decodeRecovery(await this.get(`jobs/${encodeURIComponent(name)}/recovery`));
  }

  async nodes(): Promise<NodeState[]> {
    return decodeNodes(await this.get("nodes"));
  }

  async node(name: string): Promise<NodeHistory> {
    return decodeNodeHistory(await this.get(`nodes/${encodeURIComponent(name)}`));
  }

  // Of the last 30 days.
  async losses(): Promise<Losses> {
    return decodeLosses(await this.get("losses"));
  }

  // `historyLacks`: why there may be more of them; empty = there are not.
  async verdicts(job: string): Promise<{ history: Verdict[]; historyLacks: string }> {
    const answer = await this.get(`verdicts?job=${encodeURIComponent(job)}`);
    return { history: objects(answer.verdicts).map(decodeVerdict), historyLacks: text(answer.lacks) };
  }

  async verdict(id: string): Promise<Verdict> {
    return decodeVerdict(await this.get(`verdicts/${encodeURIComponent(id)}`));
  }

  async iterations(job: string, after: number | null, limit: number): Promise<Iterations> {
    const from = after === null ? "" : `after=${after}&`;
    return decodeIterations(await this.get(`jobs/${encodeURIComponent(job)}/iterations?${from}limit=${limit}`));
  }

  async actions(): Promise<ActionLedger> {
    return decodeLedger(await this.get("actions"));
  }

  // Tells fathom-cordon what the reader wants; an error says what came of it.
  async tell(path: string, reason: string): Promise<void> {
    await this.ask(path, COMMAND_TIMEOUT_MS, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ reason }) });
  }

  async communicators(job: string): Promise<Communicators> {
    return decodeCommunicators(await this.get(`jobs/${encodeURIComponent(job)}/communicators`));
  }

  // Without iterations those that are worth a picture.
  async pictures(job: string, iterations: number[], rank: number | null): Promise<LivePictures> {
    const query = [iterations.length === 0 ? "" : `iteration=${iterations.join(",")}`, rank === null ? "" : `rank=${rank}`].filter((part) => part !== "");
    return decodeLivePictures(await this.get(`jobs/${encodeURIComponent(job)}/pictures${query.length > 0 ? `?${query.join("&")}` : ""}`));
  }

  // The trace for Perfetto.
  async perfetto(job: string): Promise<Blob> {
    return (await this.ask(`jobs/${encodeURIComponent(job)}/perfetto`, TRACE_TIMEOUT_MS)).blob();
  }

  // The event stream; the caller reads the body.
  events(job: string | null, signal: AbortSignal): Promise<Response> {
    const query = job === null ? "" : `?job=${encodeURIComponent(job)}`;
    return fetch(`${this.base}/events${query}`, {
      signal, cache: "no-store", headers: { accept: "text/event-stream" },
    });
  }

  private async get(path: string): Promise<Json> {
    return object(await (await this.ask(path, TIMEOUT_MS)).json());
  }

  private async ask(path: string, timeoutMs: number, more: RequestInit = {}): Promise<Response> {
    const answer = await fetch(`${this.base}/${path}`, { ...more, signal: AbortSignal.timeout(timeoutMs), cache: "no-store" });
    if (answer.ok) return answer;
    if (answer.status === 401) location.assign(loginLink());
    const said = text(object(await answer.json().catch(() => null)).error);
    throw new ApiError(answer.status, said || `the collector answered ${answer.status}`);
  }
}
