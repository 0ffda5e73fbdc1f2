// One iteration of a job that runs, op by op, and its trace for Perfetto. The collector asks the
// agents for the ops when this part is opened; what is chosen stays until the reader asks anew.
import type { Look } from "../../model/look";
import type { JobState } from "../../model/page_state";
import type { OneIteration } from "../../model/picture";
import { button, Changes, element } from "../dom/element";
import { iterationChoice, OpPicture, pictureCaption } from "./op_picture";
import { Part } from "../dom/part";

export interface LiveAsks {
  again(): void; // the ops of what is worth a picture now
  trace(): Promise<string>; // downloads it; the name of the file
}

export class LiveIteration {
  readonly node: HTMLElement;
  private readonly part: Part;
  private readonly picture = new OpPicture();
  private readonly choice = element("div", { class: "controls" });
  private readonly said = element("p", { class: "caption", role: "status" });
  private readonly none = element("p", { class: "none" });
  private readonly changes = new Changes();
  private shown = -1; // index of the iteration on show
  private culprits = new Set<number>();

  constructor(private readonly onLook: (change: Partial<Look>) => void, private readonly asks: LiveAsks) {
    const trace = button("Perfetto trace", () => void this.download(trace), { class: "quiet" });
    const controls = element("div", { class: "panel-head" }, this.choice, element("div", { class: "controls" },
      button("Ask again", () => this.anew(), { class: "quiet" }), trace));
    this.part = new Part("iteration", "One iteration, op by op", onLook, controls, this.none, this.picture.node, this.said);
    this.node = this.part.node;
  }

  update(state: JobState, look: Look, culprits: Set<number>): void {
    if (!this.part.update(look)) return;
    if (!this.changes.seen(state.pictures, state.picturesProblem, [...culprits].join())) return;
    const pictures = state.pictures?.pictures ?? [];
    this.none.textContent = this.why(state, pictures);
    this.none.hidden = this.none.textContent === "";
    this.picture.node.hidden = pictures.length === 0;
    this.culprits = culprits;
    this.choose(pictures);
    this.draw(pictures);
  }

  private why(state: JobState, pictures: OneIteration[]): string {
    if (state.picturesProblem) return state.picturesProblem;
    if (!state.pictures) return "Asking the agents for the ops.";
    if (pictures.length > 0) return "";
    if (state.pictures.asked > 0) return "Waiting for the agents' answers.";
    return state.pictures.kept.length === 0 ? "No iteration is kept op by op." : "The agents do not have the ops of these iterations any more.";
  }

  private choose(pictures: OneIteration[]): void {
    const kept = Math.max(0, pictures.findIndex((one) => one.index === this.shown));
    this.shown = pictures[kept]?.index ?? -1;
    this.choice.hidden = pictures.length < 2;
    if (pictures.length < 2) return;
    this.choice.replaceChildren(iterationChoice(pictures, kept, (at) => {
      this.shown = pictures[at]!.index;
      this.draw(pictures);
    }));
  }

  private draw(pictures: OneIteration[]): void {
    const picture = pictures.find((one) => one.index === this.shown);
    this.part.caption.textContent = picture ? pictureCaption(picture) : "";
    if (picture) this.picture.show(picture, this.culprits);
  }

  private anew(): void {
    this.shown = -1;
    this.onLook({ iteration: null, rank: null });
    this.asks.again();
  }

  private async download(trace: HTMLButtonElement): Promise<void> {
    trace.disabled = true;
    this.said.textContent = "Writing the trace.";
    try {
      const name = await this.asks.trace();
      this.said.textContent = `${name} is in your downloads. Open it in Perfetto (Open trace file): it is read in the browser and sent nowhere. ` +
        "Without the internet: a copy of the Perfetto UI in your network, or trace_processor_shell on the file.";
    } catch (error) {
      this.said.textContent = error instanceof Error ? `No trace: ${error.message}` : "No trace.";
    }
    trace.disabled = false;
  }
}
