// Where each rank stands in the job: its node, its pipeline stage, its place among its data-parallel
// peers. Told from the members of the communicators, in their order; −1 where no communicator says.
import type { Only, Subject } from "./look";
import type { JobState } from "./page_state";
import { activeVerdicts } from "./page_state";
import type { GroupInfo } from "./job";

export interface Placement {
  node: Map<number, string>;
  stage: Map<number, number>;
  data: Map<number, number>;
  suspects: Set<number>; // named by verdicts
}

// The place of each rank in the largest communicator of this kind that it is in. A communicator of
// one says nothing.
function places(groups: GroupInfo[], kind: string): Map<number, number> {
  const found = new Map<number, number>();
  const size = new Map<number, number>();
  for (const group of groups) {
    if (group.kind !== kind || group.ranks.length < 2) continue;
    group.ranks.forEach((rank, place) => {
      if ((size.get(rank) ?? 0) >= group.ranks.length) return;
      size.set(rank, group.ranks.length);
      found.set(rank, place);
    });
  }
  return found;
}

export function placementOf(state: JobState): Placement {
  return {
    node: new Map((state.health?.ranks ?? []).map((rank) => [rank.rank, rank.node])),
    stage: places(state.groups, "pipeline"),
    data: places(state.groups, "data"),
    suspects: new Set(activeVerdicts(state).flatMap((verdict) => verdict.entity.ranks)),
  };
}

// Where the rank stands, as text; empty = not known.
export function placeText(placement: Placement, subject: Exclude<Subject, "suspects">, rank: number): string {
  if (subject === "node") return placement.node.get(rank) ?? "";
  const place = placement[subject].get(rank);
  return place === undefined ? "" : String(place);
}

// Whether the rank is one of those chosen.
export function isAmong(placement: Placement, only: Only, rank: number): boolean {
  if (only.subject === "suspects") return placement.suspects.has(rank);
  return placeText(placement, only.subject, rank) === only.value;
}

// Values to choose from, in their natural order.
export function valuesOf(placement: Placement, subject: Subject): string[] {
  if (subject === "suspects") return [];
  const values = subject === "node" ? [...placement.node.values()] : [...placement[subject].values()].map(String);
  return [...new Set(values)].filter((value) => value !== "").sort(natural);
}

const collator = new Intl.Collator("en", { numeric: true });

export function natural(a: string, b: string): number {
  return collator.compare(a, b);
}
