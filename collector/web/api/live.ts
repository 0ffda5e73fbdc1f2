// The live connection: reads the event stream, notices silence, comes back by itself.
//
// States: "connecting" until the first answer, "live" while bytes arrive, "lost" from the first
// failure or silence on, until it is live again. The heartbeat comes every 10 s; three missed ones
// mean that nobody is there, whatever the socket says.
import type { Client } from "./client";
import { EventParser, type ServerEvent } from "./event_parser";

const SILENCE_MS = 30_000;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 8_000;

export type LiveState = "connecting" | "live" | "lost";

export interface LiveListener {
  onState(state: LiveState): void;
  onEvent(event: ServerEvent): void;
}

export class Live {
  private abort = new AbortController();
  private retryMs = RETRY_FIRST_MS;
  private timer = 0;
  private stopped = false;

  constructor(
    private readonly client: Client,
    private readonly job: string | null,
    private readonly listener: LiveListener,
  ) {}

  start(): void {
    void this.connect();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.abort.abort();
  }

  // Does not wait for the next attempt: the reader asked, or the machine woke up.
  retryNow(): void {
    if (this.stopped || this.timer === 0) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.retryMs = RETRY_FIRST_MS;
    void this.connect();
  }

  private async connect(): Promise<void> {
    this.timer = 0;
    this.abort = new AbortController();
    try {
      const answer = await this.client.events(this.job, this.abort.signal);
      if (answer.ok && answer.body) await this.read(answer.body.getReader());
    } catch {
      // A refused, broken or silent connection: all the same to the reader of the page.
    }
    if (this.stopped) return;
    this.abort.abort();
    this.listener.onState("lost");
    this.timer = window.setTimeout(() => void this.connect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, RETRY_MOST_MS);
  }

  private async read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const parser = new EventParser();
    this.retryMs = RETRY_FIRST_MS;
    this.listener.onState("live");
    for (;;) {
      const watchdog = setTimeout(() => this.abort.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(watchdog));
      if (done || this.stopped) return;
      for (const event of parser.push(decoder.decode(value, { stream: true }))) this.listener.onEvent(event);
    }
  }
}
