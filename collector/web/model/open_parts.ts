// Asks for what parts of the page show that are open: communicators again and again, the ops of
// iterations once, and until the agents that the collector had to ask have answered.
import { ApiError, type Client } from "../api/client";
import { Paced } from "./paced";
import type { PageState } from "./page_state";
import type { LivePictures, OneIteration } from "./picture";

const ASKS_MOST = 20; // half a second apart: the collector gives an agent two seconds, and asks again

export class OpenParts {
  private readonly communicators: Paced;
  private readonly pictures: Paced;
  private asked = ""; // what the pictures at hand were asked for
  private asks = 0;
  private wanted: LivePictures["wanted"] = []; // chosen once: what is newest moves on while agents answer
  private stopped = false;

  constructor(private readonly client: Client, private readonly state: PageState, attempt: (task: () => Promise<void>) => Promise<void>,
    private readonly arrived: () => void) {
    this.communicators = new Paced(() => attempt(() => this.loadCommunicators()), 2000);
    this.pictures = new Paced(() => attempt(() => this.loadPictures()), 500);
  }

  stop(): void {
    this.stopped = true;
    this.communicators.stop();
    this.pictures.stop();
  }

  refresh(): void {
    if (this.state.look.open.includes("communicators")) this.communicators.request();
    this.looked();
  }

  looked(): void {
    const { look, current } = this.state;
    if (!current) return;
    if (look.open.includes("communicators") && !current.communicators) this.communicators.request();
    if (!look.open.includes("iteration") || this.asked === this.question()) return;
    this.again();
  }

  again(): void {
    this.asked = this.question();
    this.asks = ASKS_MOST;
    const { iteration } = this.state.look;
    this.wanted = iteration === null ? [] : [{ index: iteration, why: "chosen" }];
    if (this.state.current) Object.assign(this.state.current, { pictures: null, picturesProblem: "" });
    this.pictures.request();
  }

  // As it was said when it was chosen.
  private whyOf({ index, why }: OneIteration): string {
    return this.wanted.find((each) => each.index === index)?.why ?? why;
  }

  private question(): string {
    const { look, current } = this.state;
    return JSON.stringify([current?.name, look.iteration, look.rank]);
  }

  private async loadCommunicators(): Promise<void> {
    const { current } = this.state;
    if (!current) return;
    const communicators = await this.client.communicators(current.name);
    if (this.stopped) return;
    current.communicators = communicators;
    this.arrived();
  }

  private async loadPictures(): Promise<void> {
    const { look, current } = this.state;
    if (!current) return;
    const question = this.question();
    this.asks--;
    try {
      const pictures = await this.client.pictures(current.name, this.wanted.map(({ index }) => index), look.rank);
      if (this.stopped || question !== this.question()) return;
      if (this.wanted.length === 0) this.wanted = pictures.wanted;
      current.pictures = { ...pictures, pictures: pictures.pictures.map((one) => ({ ...one, why: this.whyOf(one) })) };
      if (pictures.asked > 0 && this.asks > 0) this.pictures.request();
      else if (pictures.asked > 0 && pictures.pictures.length === 0) current.picturesProblem = "The agents have not answered.";
    } catch (error) {
      if (!(error instanceof ApiError) || this.stopped) throw error;
      current.picturesProblem = `No picture: ${error.message}`;
    }
    this.arrived();
  }
}
