// The numbers under the pointer, beside it and never outside the window.
import { element } from "./element";

const AWAY_PX = 14;

export class Tooltip {
  readonly node = element("div", { class: "tooltip", hidden: true });

  show(title: string, rows: [string, string, string?][], x: number, y: number): void {
    const list = element("dl", {});
    for (const [name, value, mark] of rows) {
      list.append(element("dt", { class: mark ?? null }, name), element("dd", {}, value));
    }
    this.node.replaceChildren(element("strong", {}, title), list);
    this.node.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const left = x + AWAY_PX + width > window.innerWidth ? x - AWAY_PX - width : x + AWAY_PX;
    const top = Math.min(window.innerHeight - height - 8, y + AWAY_PX);
    this.node.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  hide(): void {
    this.node.hidden = true;
  }
}
