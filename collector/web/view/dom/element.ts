// Building DOM without markup strings: nothing from outside is ever parsed as HTML.

type Child = Node | string | null | undefined | false;
export type Attributes = Record<string, string | number | boolean | null | undefined>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...present(children));
  return node;
}

export function present(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false);
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const node = element("button", { type: "button", ...attributes }, label);
  node.addEventListener("click", onClick);
  return node;
}

// Rebuilds a part of the page only when what it shows has changed. What the reader has opened or
// stands on survives a rebuild where it carries data-keep.
export class Slot {
  private shown = "";
  constructor(readonly node: HTMLElement) {}

  show(key: unknown, build: () => Child[]): void {
    const text = JSON.stringify(key);
    if (text === this.shown) return;
    this.shown = text;
    const open = new Set(this.kept("details[open]").map((node) => node.dataset.keep));
    const focused = this.kept("*").find((node) => node === document.activeElement)?.dataset.keep;
    this.node.replaceChildren(...present(build()));
    for (const node of this.kept("details")) node.toggleAttribute("open", open.has(node.dataset.keep));
    if (focused !== undefined) this.kept("*").find((node) => node.dataset.keep === focused)?.focus({ preventScroll: true });
  }

  private kept(what: string): HTMLElement[] {
    return [...this.node.querySelectorAll<HTMLElement>(`${what === "*" ? "" : what}[data-keep]`)];
  }
}

// Whether any of the values is another one than last time; objects by identity.
export class Changes {
  private last: unknown[] = [];

  seen(...values: unknown[]): boolean {
    const same = values.length === this.last.length && values.every((value, i) => Object.is(value, this.last[i]));
    this.last = values;
    return !same;
  }
}

// One of several choices, as buttons.
export class Choice<T extends string> {
  readonly node: HTMLElement;
  private readonly buttons = new Map<T, HTMLButtonElement>();

  constructor(label: string, choices: [T, string][], private value: T, onChoose: (value: T) => void) {
    this.node = element("div", { class: "choice", role: "group", "aria-label": label });
    for (const [key, name] of choices) {
      const node = button(name, () => {
        this.set(key);
        onChoose(key);
      });
      this.buttons.set(key, node);
      this.node.append(node);
    }
    this.set(value);
  }

  set(value: T): void {
    this.value = value;
    for (const [key, node] of this.buttons) node.setAttribute("aria-pressed", String(key === this.value));
  }
}
