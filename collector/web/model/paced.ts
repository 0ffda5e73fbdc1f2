// Runs a task when asked, never twice at once and never sooner than `gapMs` after the last start;
// requests in between fold into one that follows.
export class Paced {
  private running = false;
  private wanted = false;
  private timer = 0;
  private startedMs = -Infinity;

  constructor(
    private readonly task: () => Promise<void>,
    private readonly gapMs: number,
  ) {}

  request(): void {
    this.wanted = true;
    this.schedule();
  }

  stop(): void {
    this.wanted = false;
    clearTimeout(this.timer);
    this.timer = 0;
  }

  private schedule(): void {
    if (this.running || this.timer !== 0 || !this.wanted) return;
    const wait = Math.max(0, this.startedMs + this.gapMs - performance.now());
    this.timer = window.setTimeout(() => void this.run(), wait);
  }

  private async run(): Promise<void> {
    this.timer = 0;
    this.wanted = false;
    this.running = true;
    this.startedMs = performance.now();
    await this.task().finally(() => (this.running = false));
    this.schedule();
  }
}
