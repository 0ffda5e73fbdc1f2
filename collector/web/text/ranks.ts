// Rank lists in the fewest characters: "rank 2", "ranks 0, 2, 8–15", "312 ranks (0–7, 16–31, …)".

const RUNS_SHOWN = 4;

export function runs(ranks: number[]): string[] {
  const sorted = [...new Set(ranks)].sort((a, b) => a - b);
  const out: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j]! + 1) j++;
    if (j - i >= 2) {
      out.push(`${sorted[i]}–${sorted[j]}`);
    } else {
      for (let k = i; k <= j; k++) out.push(String(sorted[k]));
    }
    i = j + 1;
  }
  return out;
}

export function rankList(ranks: number[]): string {
  const parts = runs(ranks);
  if (parts.length <= RUNS_SHOWN) return parts.join(", ");
  return `${parts.slice(0, RUNS_SHOWN).join(", ")}, …`;
}

export function rankNames(ranks: number[]): string {
  if (ranks.length === 1) return `rank ${ranks[0]}`;
  return `ranks ${rankList(ranks)}`;
}
