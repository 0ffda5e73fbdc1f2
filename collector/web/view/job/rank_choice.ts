// Which ranks are shown, and in which order: the two questions above the heat map.
import { SORTINGS, SUBJECTS, type Look, type Only, type Sorting, type Subject } from "../../model/look";
import { valuesOf, type Placement } from "../../model/placement";
import { Select } from "../dom/select";

const SORTING_NAMES: Record<Sorting, string> = {
  rank: "By rank", suspicion: "Suspects, then latest", node: "By node", stage: "By pipeline stage", data: "By data-parallel rank",
};
const SUBJECT_NAMES: Record<Subject, string> = { suspects: "Only suspects", node: "Only node …", stage: "Only pipeline stage …", data: "Only data-parallel rank …" };

export class RankChoice {
  readonly sort: Select<Sorting>;
  readonly subject: Select<Subject | "all">;
  readonly value: Select<string>;
  private placement: Placement | null = null;
  private only: Only | null = null;

  constructor(private readonly onLook: (change: Partial<Look>) => void) {
    this.sort = new Select("Order of ranks", (sort) => onLook({ sort }));
    this.subject = new Select("Which ranks", (subject) => this.choose(subject));
    this.value = new Select("Which of them", (value) => this.only && onLook({ only: { subject: this.only.subject, value } }));
  }

  update(look: Look, placement: Placement): void {
    this.placement = placement;
    this.only = look.only;
    const none = { node: placement.node.size === 0, stage: placement.stage.size === 0, data: placement.data.size === 0 };
    const lacks = (subject: string): boolean => (subject in none ? none[subject as keyof typeof none] : false);
    this.sort.show(SORTINGS.map((value) => ({ value, name: `${SORTING_NAMES[value]}${lacks(value) ? " (not known)" : ""}`, disabled: lacks(value) })), look.sort);
    this.subject.show([{ value: "all" as const, name: "All ranks" }, ...SUBJECTS.map((value) => ({
      value, name: `${SUBJECT_NAMES[value]}${lacks(value) ? " (not known)" : ""}`, disabled: lacks(value),
    }))], look.only?.subject ?? "all");
    const values = look.only ? valuesOf(placement, look.only.subject) : [];
    this.value.node.hidden = values.length === 0;
    // A link may ask for what this job does not have; it is shown as asked.
    if (look.only && !values.includes(look.only.value)) values.push(look.only.value);
    this.value.show(values.map((value) => ({ value, name: value })), look.only?.value ?? "");
  }

  private choose(subject: Subject | "all"): void {
    if (subject === "all") return this.onLook({ only: null });
    const value = this.placement ? valuesOf(this.placement, subject)[0] ?? "" : "";
    this.onLook({ only: { subject, value } });
  }
}

// The choice in words, for captions.
export function onlyText(only: Only | null): string {
  if (!only) return "";
  const words: Record<Subject, string> = { suspects: "under suspicion", node: "on node ", stage: "of pipeline stage ", data: "of data-parallel rank " };
  return `${words[only.subject]}${only.value}`;
}
