// Which rank stands in which row.
import { meanPerRank, type Iterations } from "../model/iterations";

export type Sorting = "rank" | "late";

export function rowOrder(data: Iterations, sorting: Sorting, from: number, to: number): Int32Array {
  const order = Int32Array.from(data.ranks, (_, i) => i);
  if (sorting === "rank") return order;
  const late = meanPerRank(data, "late", from, to);
  return order.sort((a, b) => late[b]! - late[a]! || a - b);
}
