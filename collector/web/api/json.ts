// Reading foreign JSON without trusting it. Proto-JSON writes 64-bit integers as strings, leaves
// defaults out, and writes "NaN" and "Infinity" as strings: every reader below takes all of that.

export type Json = Record<string, unknown>;

export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objects(value: unknown): Json[] {
  return list(value).map(object);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function texts(value: unknown): string[] {
  return list(value).map(text).filter((item) => item !== "");
}

export function number(value: unknown, otherwise = 0): number {
  const parsed = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : otherwise;
}

export function numbers(value: unknown): number[] {
  return list(value).map((item) => number(item));
}

export function boolean(value: unknown): boolean {
  return value === true;
}

// Nanoseconds since 1970 to milliseconds; the loss below a microsecond is of no interest here.
export function unixMs(value: unknown): number {
  return number(value) / 1e6;
}
