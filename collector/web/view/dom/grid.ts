// What the page's lists and tables are made of: a kind ("num", "say", …) is a class, "" is none.
import { element } from "./element";

export function gridHead(columns: [name: string, kind: string][]): HTMLElement {
  return element("thead", {}, element("tr", {},
    ...columns.map(([name, kind]) => element("th", { scope: "col", class: kind || null }, name))));
}

export function cell(kind: string, ...content: (Node | string)[]): HTMLElement {
  return element("td", { class: kind || null }, ...content);
}
