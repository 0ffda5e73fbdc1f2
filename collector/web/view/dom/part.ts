// A part of the page that the reader opens, because what it shows is asked for only then. Which are
// open stands in the address.
import type { Look, Part as PartName } from "../../model/look";
import { element } from "./element";

export class Part {
  readonly node: HTMLDetailsElement;
  readonly caption = element("span", { class: "caption" });
  private look: Look | null = null;

  constructor(private readonly name: PartName, title: string, onLook: (change: Partial<Look>) => void, ...content: Node[]) {
    this.node = element("details", { class: "panel part", "aria-label": title },
      element("summary", {}, element("h2", {}, title), this.caption), ...content);
    this.node.addEventListener("toggle", () => {
      const open = this.look?.open ?? [];
      if (!this.look || open.includes(name) === this.node.open) return;
      onLook({ open: this.node.open ? [...open, name] : open.filter((other) => other !== name) });
    });
  }

  // Whether it is open.
  update(look: Look): boolean {
    this.look = look;
    const open = look.open.includes(this.name);
    if (this.node.open !== open) this.node.open = open;
    return open;
  }
}
