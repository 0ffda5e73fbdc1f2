// How the reader looks at a job: order and choice of ranks, what is coloured, which parts are open.
// Kept in the address behind a "?", so that a link shows what its sender saw.

export const SORTINGS = ["rank", "suspicion", "node", "stage", "data"] as const;
export type Sorting = (typeof SORTINGS)[number];
export const SUBJECTS = ["suspects", "node", "stage", "data"] as const;
export type Subject = (typeof SUBJECTS)[number];
const SHOWN = ["both", "late", "wait"] as const;
export type Shown = (typeof SHOWN)[number];
const SPANS = ["auto", "100", "300", "all"] as const;
export type Span = (typeof SPANS)[number];
export const PARTS = ["iteration", "communicators"] as const;
export type Part = (typeof PARTS)[number];

// Only the ranks of one node, stage or place; of "suspects" the value is empty.
export interface Only {
  subject: Subject;
  value: string;
}

export interface Look {
  sort: Sorting;
  only: Only | null;
  shown: Shown;
  span: Span;
  open: Part[];
  iteration: number | null; // the one to be seen op by op; null = those worth it
  rank: number | null; // to be among its ranks
  find: string; // in the list of actions
}

export function defaultLook(): Look {
  return { sort: "rank", only: null, shown: "both", span: "auto", open: [], iteration: null, rank: null, find: "" };
}

function oneOf<T extends string>(value: string | null, choices: readonly T[], otherwise: T): T {
  return choices.find((choice) => choice === value) ?? otherwise;
}

function whole(value: string | null): number | null {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

function parseOnly(value: string | null): Only | null {
  const [, subject, rest] = value?.match(/^([a-z]+):?(.*)$/s) ?? [];
  const known = SUBJECTS.find((each) => each === subject);
  if (!known || (known !== "suspects" && !rest)) return null;
  return { subject: known, value: known === "suspects" ? "" : rest ?? "" };
}

// What the part of the address behind "?" says; null where there is none.
export function parseLook(hash: string): Look | null {
  const at = hash.indexOf("?");
  if (at < 0) return null;
  const query = new URLSearchParams(hash.slice(at + 1));
  const open = (query.get("open") ?? "").split(",");
  return {
    sort: oneOf(query.get("sort"), SORTINGS, "rank"),
    only: parseOnly(query.get("only")),
    shown: oneOf(query.get("show"), SHOWN, "both"),
    span: oneOf(query.get("span"), SPANS, "auto"),
    open: PARTS.filter((part) => open.includes(part)),
    iteration: whole(query.get("iteration")),
    rank: whole(query.get("rank")),
    find: query.get("find") ?? "",
  };
}

// The address with this look; what is as usual is left out.
export function withLook(hash: string, look: Look): string {
  const query = new URLSearchParams();
  const usual = defaultLook();
  if (look.sort !== usual.sort) query.set("sort", look.sort);
  if (look.only) query.set("only", look.only.value ? `${look.only.subject}:${look.only.value}` : look.only.subject);
  if (look.shown !== usual.shown) query.set("show", look.shown);
  if (look.span !== usual.span) query.set("span", look.span);
  if (look.open.length > 0) query.set("open", look.open.join(","));
  if (look.iteration !== null) query.set("iteration", String(look.iteration));
  if (look.rank !== null) query.set("rank", String(look.rank));
  if (look.find) query.set("find", look.find);
  const path = hash.replace(/\?.*$/s, "") || "#/";
  return query.size > 0 ? `${path}?${query}` : path;
}
