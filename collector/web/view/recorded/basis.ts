// What a saved page rests on: the files, what they lack, what was noted on reading them.
import type { Recorded } from "../../model/recorded";
import type { Report } from "../../model/report";
import { plural, seconds } from "../../text/quantity";
import { rankNames } from "../../text/ranks";
import { signalText } from "../../text/words";
import { element } from "../dom/element";

const LISTED = 40;

function part(title: string, lines: (Node | string)[]): HTMLElement | null {
  if (lines.length === 0) return null;
  const shown = lines.slice(0, LISTED).map((line) => element("p", {}, line));
  if (lines.length > LISTED) shown.push(element("p", {}, `and ${lines.length - LISTED} more`));
  return element("div", { class: "health-row" }, element("h3", {}, title), element("div", {}, ...shown));
}

function files(recorded: Recorded): string[] {
  const counts = new Map<string, number>();
  for (const file of recorded.files) if (file.format) counts.set(file.format, (counts.get(file.format) ?? 0) + 1);
  return [...counts].map(([format, n]) => `${plural(n, "file")} read as ${format}`);
}

// Clocks of other ranks than the one that they are compared with.
function clocks(report: Report): string[] {
  return report.clocks.filter((clock) => clock.rank !== clock.reference)
    .map((clock) => `rank ${clock.rank}: ${clock.offsetS < 0 ? "−" : "+"}${seconds(Math.abs(clock.offsetS))} ` +
      `against rank ${clock.reference}, to within ${seconds(clock.residualS)}`);
}

export function basis(recorded: Recorded): HTMLElement {
  const report = recorded.state.report!;
  const ignored = recorded.files.filter((file) => !file.format).map((file) => file.path);
  const missing = report.ranksMissing.length > 0 ? [`no recording of ${rankNames(report.ranksMissing)}`] : [];
  const dropped = report.recordsDropped > 0 ? [`${plural(report.recordsDropped, "record")} lost`] : [];
  const signals = report.signals.filter((signal) => signal.state !== "on")
    .map((signal) => `${signalText(signal.name)}: ${signal.state}${signal.hides ? `, hides ${signal.hides}` : ""}`);
  return element("section", { class: "panel", "aria-label": "What this rests on" },
    element("div", { class: "panel-head" }, element("h2", {}, "What this rests on")),
    element("div", { class: "health" }, part("Files", files(recorded)), part("Missing", [...missing, ...dropped]),
      part("Signals", signals), part("Clocks", clocks(report)), part("Notes", recorded.notes), part("Ignored", ignored)));
}
