// The iterations that a saved page holds op by op, with the choice between them.
import type { OneIteration } from "../../model/picture";
import { element } from "../dom/element";
import { iterationChoice, OpPicture, pictureCaption } from "./op_picture";

export class OpTimeline {
  readonly node: HTMLElement;
  private readonly picture = new OpPicture();
  private readonly caption = element("p", { class: "caption" });
  private shown = 0;

  constructor(private readonly pictures: OneIteration[], private readonly culprits: () => Set<number>) {
    const choice = pictures.length > 1 && iterationChoice(pictures, this.shown, (at) => {
      this.shown = at;
      this.update();
    });
    this.node = element("section", { class: "panel", "aria-label": "One iteration" },
      element("div", { class: "panel-head" }, element("h2", {}, "One iteration, op by op"), this.caption,
        choice && element("div", { class: "controls" }, choice)), this.picture.node);
  }

  update(): void {
    const picture = this.pictures[this.shown];
    if (!picture) return;
    this.caption.textContent = pictureCaption(picture);
    this.picture.show(picture, this.culprits());
  }
}
