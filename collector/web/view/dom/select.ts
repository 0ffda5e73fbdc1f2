// One of several choices, as a drop-down: for lists that are too long for buttons.
import { element } from "./element";

export interface Option<T extends string> {
  value: T;
  name: string;
  disabled?: boolean;
}

export class Select<T extends string> {
  readonly node: HTMLSelectElement;
  private shown = "";

  constructor(label: string, onChoose: (value: T) => void) {
    this.node = element("select", { "aria-label": label });
    this.node.addEventListener("change", () => onChoose(this.node.value as T));
  }

  // Untouched where nothing changed: an open list must not close under the reader's hand.
  show(options: Option<T>[], value: T): void {
    const key = JSON.stringify(options);
    if (key !== this.shown) {
      this.shown = key;
      this.node.replaceChildren(...options.map((o) => element("option", { value: o.value, disabled: o.disabled ?? false }, o.name)));
    }
    if (this.node.value !== value) this.node.value = value;
  }
}
