// <time> elements that keep "14 min ago" true while the page stands open.
import { ago, moment, utc } from "../../text/moment";
import { element } from "./element";

export function clockTime(unixMs: number): HTMLElement {
  return element("time", { datetime: new Date(unixMs).toISOString(), title: utc(unixMs) }, moment(unixMs, Date.now()));
}

export function agoTime(unixMs: number): HTMLElement {
  return element("time", { "data-ago": unixMs, title: utc(unixMs) }, ago(unixMs, Date.now()));
}

export function refreshAgo(root: ParentNode): void {
  for (const node of root.querySelectorAll<HTMLElement>("time[data-ago]")) {
    const said = ago(Number(node.dataset.ago), Date.now());
    if (node.textContent !== said) node.textContent = said;
  }
}
